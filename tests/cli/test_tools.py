"""The smaller tools: records, perf, completion, configs, groups' changes, reassignment."""

import json

import pytest

from barnabas import SimpleConsumer
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.java_hash import coordinator_partition

pytestmark = pytest.mark.integration


@pytest.fixture
def five(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    broker.produce(topic_name, *"abcde", partition=0)
    return topic_name


def test_delete_records(cli, broker, five, tmp_path):
    ran = cli(
        "records", "delete", f"{five}:0", "-o", "2", "--yes", servers=broker.bootstrap_servers
    )
    assert ran.code == 0, ran.err
    assert [r.value for r in broker.records(five)] == [b"c", b"d", b"e"]
    path = tmp_path / "offsets.json"
    partitions = [{"topic": five, "partition": 0, "offset": 4}]
    path.write_text(json.dumps({"partitions": partitions, "version": 1}))
    ran = cli(
        *("kafka-delete-records", "--bootstrap-server", broker.bootstrap_servers),
        *("--offset-json-file", path),
    )
    assert ran.lines == [
        "Executing records delete operation",
        "Records delete operation completed:",
        f"partition: {five}-0\tlow_watermark: 4",
    ]
    path.write_text("{}")
    ran = cli("records", "delete", "--from-file", path, servers=broker.bootstrap_servers)
    assert ran.code == 2


def test_group_offsets_change_and_go(cli, broker, five):
    servers, group = broker.bootstrap_servers, f"g-{five}"
    topic_partition = TopicPartition(five, 0)

    def committed():
        found = broker.admin.list_group_offsets([group])[group]
        return {p: at.offset for p, at in found.items()}

    def reset(*rule):
        ran = cli("groups", "reset", group, "-t", f"{five}:0", *rule, "--execute", servers=servers)
        assert ran.code == 0, ran.err
        return committed()[topic_partition]

    plan = cli("groups", "reset", group, "-t", five, "--to-latest", servers=servers)
    assert "PLANNED" in plan.out
    assert committed() == {}
    assert reset("--to-offset", "3") == 3
    assert reset("--shift-by", "-2") == 1
    assert reset("--shift-by", "100") == 5
    assert reset("--to-earliest") == 0
    assert reset("--by-duration", "1h") == 0
    assert reset("--to-datetime", "2100-01-01T00:00:00Z") == 5
    assert reset("--to-current") == 5

    ran = cli("groups", "copy", group, f"{group}-2", servers=servers)
    assert ran.code == 0, ran.err
    ran = cli(
        "groups", "reset", group, "-t", five, "--to-offset", "2", "--execute", servers=servers
    )
    ran = cli("groups", "reset", f"{group}-2", "--from-group", group, "--execute", servers=servers)
    assert ran.code == 0, ran.err
    found = broker.admin.list_group_offsets([f"{group}-2"])[f"{group}-2"]
    assert found[topic_partition].offset == 2

    ran = cli("groups", "delete-offsets", group, f"{five}:0", "--yes", servers=servers)
    assert ran.code == 0, ran.err
    assert topic_partition not in committed()
    assert cli("groups", "delete", group, f"{group}-2", "--yes", servers=servers).code == 0


def test_export_and_import_of_offsets(cli, broker, five, tmp_path):
    servers, group = broker.bootstrap_servers, f"g-{five}"
    apache = ("kafka-consumer-groups", "--bootstrap-server", servers, "--group", group)
    ran = cli(*apache, "--reset-offsets", "--topic", f"{five}:0", "--to-offset", "3", "--execute")
    assert ran.code == 0, ran.err
    ran = cli(*apache, "--reset-offsets", "--all-topics", "--export")
    assert ran.out == f"{five},0,3\n\n"
    path = tmp_path / "offsets.csv"
    path.write_text(f"{five},0,1\n")
    ran = cli(*apache, "--reset-offsets", "--from-file", path, "--execute")
    assert ran.out.split()[-4:] == [group, five, "0", "1"]
    ran = cli(*apache, "--delete-offsets", "--topic", five)
    assert "Successful" in ran.out
    cli(*apache, "--delete")


def test_perf(cli, broker, topic_name):
    servers = broker.bootstrap_servers
    broker.topic(topic_name)
    ran = cli("perf", "produce", topic_name, "-n", "500", "--format", "json", servers=servers)
    assert json.loads(ran.out)[0]["records"] == 500
    ran = cli("perf", "consume", topic_name, "--format", "json", servers=servers)
    assert json.loads(ran.out)[0]["records"] == 500
    ran = cli(
        *("kafka-producer-perf-test", "--topic", topic_name, "--num-records", "100"),
        *("--record-size", "10", "--throughput", "-1"),
        *("--producer-props", f"bootstrap.servers={servers}", "acks=1"),
    )
    assert ran.out.startswith("100 records sent, ")
    assert ran.out.endswith("99.9th.\n")
    ran = cli(
        *("kafka-consumer-perf-test", "--bootstrap-server", servers, "--topic", topic_name),
        *("--messages", "600", "--timeout", "20000"),
    )
    assert ran.lines[0].startswith("start.time, end.time, data.consumed.in.MB")
    assert ran.lines[1].split(", ")[4] == "600"


def figures_of(ran):
    """The table of --print-metrics."""
    lines = ran.lines[ran.lines.index("") + 2 :]
    return {name.strip(): float(value) for name, _, value in (x.rpartition(" : ") for x in lines)}


def test_a_producer_run_in_detail(cli, broker, topic_name):
    broker.topic(topic_name)
    ran = cli(
        *("kafka-producer-perf-test", "--topic", topic_name, "--num-records", "301"),
        *("--record-size", "10", "--throughput", "-1", "--reporting-interval", "0"),
        *("--warmup-records", "100", "--transaction-duration-ms", "1", "--print-metrics"),
        *("--bootstrap-server", broker.bootstrap_servers),
    )
    assert ran.code == 0, ran.err
    windows = [line for line in ran.lines if line.endswith("max latency.")]
    assert [int(line.split()[0]) for line in windows] == [1, 100, 100, 100]
    total, steady = (line for line in ran.lines if line.endswith("99.9th."))
    assert total.startswith("301 records sent, ")
    assert steady.startswith("201 steady state records sent, ")
    figures = figures_of(ran)
    tags = "{client-id=perf-producer-client}"
    assert figures[f"producer-metrics:record-send-total:{tags}"] == 301
    assert figures[f"producer-metrics:txn-commit-total:{tags}"] >= 1
    (listed,) = broker.admin.list_transactions(pattern="performance-producer-.*")
    assert listed.state == "CompleteCommit"
    settings = {"bootstrap.servers": broker.bootstrap_servers, "isolation.level": "read_committed"}
    with SimpleConsumer(settings) as consumer:
        first, end = consumer.earliest_offset(topic_name, 0), consumer.latest_offset(topic_name, 0)
        assert (first, end) == (0, 301 + figures[f"producer-metrics:txn-commit-total:{tags}"])


def test_a_consumer_run_in_detail(cli, broker, five):
    tool = ("kafka-consumer-perf-test", "--bootstrap-server", broker.bootstrap_servers)
    wanted = ("--topic", five, "--messages", "5", "--timeout", "20000", "--fetch-max-wait-ms", "5")
    more = ("--print-metrics", "--socket-buffer-size", "65536", "--date-format", "yyyy")
    ran = cli(*tool, *wanted, *more)
    assert ran.code == 0, ran.err
    year, _, _, _, count, *_ = ran.lines[1].split(", ")
    assert (len(year), count) == (4, "5")
    tags = "{client-id=perf-consumer-client}"
    metrics = "consumer-fetch-manager-metrics"
    assert figures_of(ran)[f"{metrics}:records-consumed-total:{tags}"] == 5
    detailed = ("--show-detailed-stats", "--reporting-interval", "0", "--threads", "3")
    ran = cli(*tool, *wanted, *detailed)
    assert ran.lines[0].startswith("time, threadId, data.consumed.in.MB")
    assert [line.split(", ")[1] for line in ran.lines[1:]] == ["0"] * len(ran.lines[1:])
    assert ran.lines[-1].split(", ")[4] == "5"
    assert "will be ignored" in ran.err
    assert cli(*tool, *wanted, "--date-format", "QQ").code == 1


def test_wrong_producer_runs(cli):
    tool = ("kafka-producer-perf-test", "--topic", "t", "--num-records", "5", "--record-size", "1")
    tool = (*tool, "--throughput", "-1", "--bootstrap-server", "127.0.0.1:1")
    assert cli(*tool, "--warmup-records", "5").code == 1
    assert cli(*tool, "--transaction-duration-ms", "0").code == 1


def test_configs(cli, broker, five):
    servers = broker.bootstrap_servers
    ran = cli("configs", "alter", "topic", five, "--set", "retention.ms=5", servers=servers)
    assert ran.code == 0, ran.err
    ran = cli("configs", "describe", "topic", five, "--format", "tsv", servers=servers)
    assert ran.out == "retention.ms\t5\tDYNAMIC_TOPIC_CONFIG\tno\n"
    apache = ("kafka-configs", "--bootstrap-server", servers, "--entity-type", "topics")
    ran = cli(*apache, "--entity-name", five, "--alter", "--delete-config", "retention.ms")
    assert ran.out == f"Completed updating config for topic {five}.\n"
    ran = cli(
        *apache, "--entity-name", five, "--alter", "--add-config", "cleanup.policy=[compact,delete]"
    )
    assert ran.code == 0, ran.err
    ran = cli("configs", "describe", "topic", five, "--format", "tsv", servers=servers)
    assert ran.out.startswith("cleanup.policy\tcompact,delete\t")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "kafka-configs --describe --entity-type brokers --entity-name x",
            "'x' is not a broker id",
        ),
        ("configs describe broker x", "'x' is not a broker id"),
        (
            "kafka-configs --alter --entity-type users --entity-name ann "
            "--add-config SCRAM-SHA-256=[iterations=x,password=y]",
            "SCRAM-SHA-256: iterations='x': must be a whole number",
        ),
        (
            "kafka-get-offsets --topic t --partitions 0,x",
            "--partitions expects a comma separated list of numeric partition ids, "
            "but received: 0,x",
        ),
        ("kafka-get-offsets --topic t(", "'t(' is not a regular expression"),
        ("kafka-get-offsets --topic-partitions t(:0", "'t(' is not a regular expression"),
        ("kafka-topics --list --topic t(", "'t(' is not a regular expression"),
        ("kafka-log-dirs --describe --broker-list 1,x", "--broker-list '1,x': must look like 1,2"),
        (
            "kafka-reassign-partitions --generate --topics-to-move-json-file f --broker-list x",
            "--broker-list 'x': must look like 1,2",
        ),
        ("kafka-consumer-groups --list --state bogus", "Invalid state list 'bogus'. Valid states "),
        ("kafka-consumer-groups --list --type bogus", "Invalid types list 'bogus'. Valid types "),
        ("groups list --state bogus", "Invalid state list 'bogus'. Valid states are: Assigning, "),
        ("groups list --type bogus", "Invalid types list 'bogus'. Valid types are: Classic, "),
    ],
)
def test_a_wrong_value_is_named(cli, broker, line, error):
    tool, *rest = line.split()
    servers = broker.bootstrap_servers
    if tool.startswith("kafka-"):
        rest += ["--bootstrap-server", servers]
    ran = cli(tool, *rest, servers=servers)
    assert ran.code == (1 if tool.startswith("kafka-") else 2)
    assert error in ran.err
    assert ran.out == ""


def test_loggers_of_all_brokers(cli, broker):
    apache = ("kafka-configs", "--bootstrap-server", broker.bootstrap_servers, "--describe")
    ran = cli(*apache, "--entity-type", "broker-loggers")
    assert (ran.code, ran.err) == (0, "")
    assert "root=" in ran.out


def test_a_reset_beyond_the_log_prints_the_offset_that_is_used(cli, broker, five):
    servers = broker.bootstrap_servers
    apache = ("kafka-consumer-groups", "--bootstrap-server", servers, "--reset-offsets")
    apache = (*apache, "--group", "g", "--topic", f"{five}:0", "--dry-run")
    warning = (
        f"WARN: New offset (300) is higher than latest offset for topic partition {five}-0. "
        "Value will be set to 5\n"
    )
    assert cli(*apache, "--to-offset", "300").err == warning
    assert cli(*apache, "--to-offset", "5").err == ""
    ours = ("groups", "reset", "g", "--topic", f"{five}:0", "--to-offset", "300")
    assert warning in cli(*ours, servers=servers).err


def test_completion(cli, broker, five):
    def words(*typed):
        return cli("completion", "words", *typed, servers=broker.bootstrap_servers).lines

    assert words("topi") == ["topic", "topics"]
    assert "describe" in words("topics", "")
    assert words("topics", "create", "--part") == ["--partitions"]
    assert five in words("topics", "describe", five[:5])
    assert words("topics", "list", "--format", "j") == ["json"]
    assert words("nonsense", "x") == []
    for shell in ("bash", "zsh", "fish"):
        assert "barnabas completion words" in cli("completion", shell).out


def test_completion_of_a_dead_cluster_is_silent(cli):
    ran = cli("completion", "words", "topics", "describe", "", servers="127.0.0.1:1")
    assert ran == (0, "", "")


def test_reassignment_is_proposed(cli, broker, five, tmp_path):
    path = tmp_path / "topics.json"
    path.write_text(json.dumps({"topics": [{"topic": five}], "version": 1}))
    broker_id = broker.admin.describe_cluster().brokers[0].id
    ran = cli(
        *("kafka-reassign-partitions", "--bootstrap-server", broker.bootstrap_servers),
        *("--generate", "--topics-to-move-json-file", path, "--broker-list", broker_id),
    )
    assert ran.code == 0, ran.err
    assert ran.lines[0] == "Current partition replica assignment"
    proposed = json.loads(ran.lines[-1])
    assert [item["replicas"] for item in proposed["partitions"]] == [[broker_id]] * 2


def test_options_without_effect_print_a_warning(cli, broker, five):
    servers = ("--bootstrap-server", broker.bootstrap_servers)
    ran = cli("kafka-get-offsets", *servers, "--topic", five, "--offsets", "1")
    assert ran.lines == [f"{five}:0:5", f"{five}:1:0"]
    assert "WARNING: --offsets has no effect" in ran.err
    ran = cli("kafka-get-offsets", *servers, "--topic", five, "--time", "max-timestamp")
    (line,) = ran.lines  # an empty partition has no such record
    assert line.startswith(f"{five}:0:")
    limit = ("--partition-size-limit-per-response", "10")
    ran = cli("kafka-topics", *servers, "--describe", "--topic", five, *limit)
    assert "has no effect" in ran.err
    ran = cli("kafka-console-producer", *servers, "--topic", five, "--reader", "com.example.Odd")
    assert (ran.code, "is unknown" in ran.err) == (1, True)


def test_events_of_the_console_consumer(cli, broker, five):
    ran = cli(
        *("kafka-console-consumer", "--bootstrap-server", broker.bootstrap_servers),
        *("--topic", five, "--partition", "0", "--from-beginning", "--max-messages", "5"),
        "--enable-systest-events",
    )
    assert ran.lines == [*"abcde", "shutdown_complete"]


def test_a_time_limit_for_groups(cli, broker):
    tool = ("kafka-consumer-groups", "--bootstrap-server", broker.bootstrap_servers, "--list")
    broker.fail("LIST_GROUPS", ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, times=None)
    try:
        ran = cli(*tool, "--timeout", "300")
    finally:
        broker.heal()
    assert (ran.code, ran.out) == (1, "")


def test_formatters_of_the_internal_topics(cli, broker, five):
    group, commit = f"g-{five}", {TopicPartition(five, 0): 3}
    broker.admin.alter_group_offsets(group, commit).check()
    partitions = len(broker.admin.describe_topic("__consumer_offsets").partitions)
    topic_partition = TopicPartition("__consumer_offsets", coordinator_partition(group, partitions))
    # Fewer than offsets, when other tests' groups were compacted away or their markers lie there.
    written = [
        item
        for item in broker.records(topic_partition.topic)
        if item.partition == topic_partition.partition
    ]
    ran = cli(
        *("kafka-console-consumer", "--bootstrap-server", broker.bootstrap_servers),
        *(
            "--topic",
            topic_partition.topic,
            "--partition",
            topic_partition.partition,
            "--from-beginning",
        ),
        *("--max-messages", len(written), "--timeout-ms", "60000"),
        *("--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"),
    )
    documents = [json.loads(line) for line in ran.lines]
    (mine,) = [item for item in documents if item["key"]["data"]["group"] == group]
    data = {"group": group, "topic": five, "partition": 0}
    assert mine["key"] == {"type": 1, "data": data}
    assert mine["value"]["version"] == 3
    assert set(mine["value"]["data"]) == {"offset", "leaderEpoch", "metadata", "commitTimestamp"}
