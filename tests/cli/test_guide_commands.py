"""Every command line of a guide to Kafka's tools, as written there, on a real ZooKeeper cluster.

Only the script's path is `kafka-…`, hosts are ours, and commands that never end get a limit.
"""

import shlex
import threading
import uuid

import pytest

from barnabas.admin import NewTopic
from barnabas.model.ids import TopicPartition

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("cluster")]


@pytest.fixture
def guide(cli, cluster):
    """Runs a line of the guide with its hosts replaced."""

    def run(line, *more):
        zookeeper = cluster.zookeeper_connect
        for number in (1, 2, 3):
            line = line.replace(f"hadoopdatanode{number}:2181", zookeeper)
            line = line.replace(f"hadoopdatanode{number}:9092", cluster.bootstrap_servers)
        words = shlex.split(line)
        words[0] = words[0].rpartition("/")[2]
        return cli(*words, *more)

    return run


def eventually(look, right):
    """Calls `look` until its result is right, for a minute at most; returns the last result."""
    for _ in range(600):
        found = look()
        if right(found):
            break
        threading.Event().wait(0.1)
    return found


def remove(cluster, name):
    """Delete a topic of an earlier test and wait until the controller has done it."""
    cluster.admin.delete_topics([name])
    wanted = [NewTopic(name, 1, 1)]
    again = eventually(
        lambda: cluster.admin.create_topics(wanted, validate_only=True).errors,
        lambda errors: not errors,
    )
    assert not again


@pytest.fixture
def topic(cluster):
    """The guide's topic, made anew for the test."""

    def make(name, *values, partitions=1, key=None):
        remove(cluster, name)
        cluster.topic(name, partitions=partitions)
        cluster.produce(name, *values, key=key)
        return name

    return make


COLUMNS = (
    "GROUP",
    "TOPIC",
    "PARTITION",
    "CURRENT-OFFSET",
    "LOG-END-OFFSET",
    "LAG",
    "CONSUMER-ID",
    "HOST",
    "CLIENT-ID",
)
CONSOLE_OPTIONS = (
    "--bootstrap-server",
    "--consumer-property",
    "--consumer.config",
    "--enable-systest-events",
    "--formatter",
    "--from-beginning",
    "--group",
    "--help",
    "--isolation-level",
    "--key-deserializer",
    "--max-messages",
    "--offset",
    "--partition",
    "--property",
    "--skip-message-on-error",
    "--timeout-ms",
    "--topic",
    "--value-deserializer",
    "--version",
    "--whitelist",
)
BIN = "~/kafka_2.12-2.6.0/bin"
PATENT = "patent-grant"


def test_list(guide, topic):
    topic(PATENT)
    ran = guide(f"{BIN}/kafka-topics.sh --zookeeper hadoopdatanode1:2181 --list")
    assert ran.code == 0, ran.err
    assert PATENT in ran.lines


def test_create_describe_and_delete(guide, cluster):
    remove(cluster, PATENT)
    three = "hadoopdatanode1:2181,hadoopdatanode2:2181,hadoopdatanode3:2181"
    three = "hadoopdatanode1:2181" if "," in cluster.zookeeper_connect else three
    ran = guide(
        f"{BIN}/kafka-topics.sh --zookeeper {three} --create --partitions 6 "
        f"--replication-factor 2 --topic {PATENT}"
    )
    assert (ran.code, ran.out) == (0, f"Created topic {PATENT}.\n"), ran.err
    assert cluster.wait_until_known(PATENT)

    line = f"{BIN}/kafka-topics.sh --zookeeper hadoopdatanode1:2181 --describe --topic {PATENT}"
    ran = guide(line)
    assert ran.code == 0
    head, *partitions = ran.lines
    assert head.startswith(f"Topic: {PATENT}\tTopicId: ")
    assert "PartitionCount: 6\tReplicationFactor: 2\tConfigs: " in head
    assert len(partitions) == 6
    fields = dict(field.split(": ", 1) for field in partitions[0].lstrip().split("\t"))
    assert (fields["Topic"], fields["Partition"]) == (PATENT, "0")
    assert len(fields["Replicas"].split(",")) == 2
    assert fields["Leader"] in fields["Isr"].split(",")

    # The guide has a single dash before `topic`.
    line = f"{BIN}/kafka-topics.sh --zookeeper hadoopdatanode1:2181 --delete -topic {PATENT}"
    assert guide(line)[:2] == (0, "")
    names = eventually(
        lambda: [item.name for item in cluster.admin.list_topics()], lambda x: PATENT not in x
    )
    assert PATENT not in names


@pytest.mark.parametrize(("when", "offset"), [("-1", 3), ("-2", 1)])
def test_get_offset_shell(guide, topic, cluster, when, offset):
    topic(PATENT, "a", "b", "c")
    cluster.admin.delete_records({TopicPartition(PATENT, 0): 1}).check()
    ran = guide(
        f"{BIN}/kafka-run-class.sh kafka.tools.GetOffsetShell --broker-list "
        f"hadoopdatanode1:9092 --time {when} --topic {PATENT}"
    )
    assert (ran.code, ran.out) == (0, f"{PATENT}:0:{offset}\n")


def test_alter_and_describe_configs(guide, topic):
    topic("extractor-patent")
    configs = f"{BIN}/kafka-configs.sh --bootstrap-server hadoopdatanode1:9092"
    entity = "--entity-type topics --entity-name extractor-patent"

    ran = guide(f"{configs} --describe {entity}")
    assert (ran.code, ran.out) == (0, "Dynamic configs for topic extractor-patent are:\n")

    ran = guide(f"{configs} --alter {entity} --add-config retention.ms=2592000000")
    assert (ran.code, ran.out) == (0, "Completed updating config for topic extractor-patent.\n")

    # Any broker may answer, and the others hear of the change through ZooKeeper.
    lines = eventually(lambda: guide(f"{configs} --describe {entity}").lines, lambda x: len(x) == 2)
    head, value = lines
    assert head == "Dynamic configs for topic extractor-patent are:"
    assert value.startswith(
        "  retention.ms=2592000000 sensitive=false "
        "synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=2592000000"
    )


def test_groups(guide, topic, cluster):
    topic("patent-app", "a", "b", "c")
    cluster.admin.alter_group_offsets("log-consumer", {TopicPartition("patent-app", 0): 2}).check()
    groups = f"{BIN}/kafka-consumer-groups.sh --bootstrap-server hadoopdatanode1:9092"

    assert "log-consumer" in guide(f"{groups} --list").lines

    ran = guide(f"{groups} --describe --group log-consumer")
    head, row = ran.out.strip().splitlines()
    assert head.split() == [
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    ]
    assert row.split() == ["log-consumer", "patent-app", "0", "2", "3", "1", "-", "-", "-"]
    assert "Consumer group 'log-consumer' has no active members." in ran.err

    # The guide has a single dash before `to-offset`.
    ran = guide(
        f"{groups} --reset-offsets -to-offset 0 --execute --topic patent-app --group log-consumer"
    )
    head, row = ran.out.strip().splitlines()
    assert head.split() == ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]
    assert row.split() == ["log-consumer", "patent-app", "0", "0"]
    committed = cluster.admin.list_group_offsets(["log-consumer"])["log-consumer"]
    assert committed[TopicPartition("patent-app", 0)].offset == 0

    ran = guide(f"{groups} --delete --group log-consumer")
    assert ran.out == "Deletion of requested consumer groups ('log-consumer') was successful.\n"
    assert "log-consumer" not in [item.group_id for item in cluster.admin.list_groups()]


def test_old_groups_in_zookeeper(guide, cluster):
    """The old form of the list: groups of the high-level consumer are nodes of ZooKeeper."""
    from kazoo.client import KazooClient

    group = f"old-{uuid.uuid4().hex[:8]}"
    client = KazooClient(hosts=cluster.zookeeper_connect)
    client.start(60)
    try:
        client.ensure_path(f"/consumers/{group}/offsets")
        ran = guide(f"{BIN}/kafka-consumer-groups.sh --zookeeper hadoopdatanode1:2181 --list")
        assert ran.code == 0, ran.err
        assert group in ran.lines
    finally:
        client.delete(f"/consumers/{group}", recursive=True)
        client.stop()
        client.close()


CONSOLE = f"{BIN}/kafka-console-consumer.sh --bootstrap-server hadoopdatanode1:9092"


def test_consume_from_the_beginning(guide, topic):
    topic("log-collect", *"abc")
    ran = guide(f"{CONSOLE} --from-beginning --topic log-collect", "--max-messages", 3)
    assert (ran.code, ran.out) == (0, "a\nb\nc\n")
    assert "Processed a total of 3 messages" in ran.err


def test_consume_ten_with_keys(guide, topic):
    topic("log-collect", *(str(n) for n in range(12)), key="k")
    ran = guide(
        f"{CONSOLE} --from-beginning --max-messages 10 --property print.key=true "
        "--topic log-collect"
    )
    assert ran.lines == [f"k\t{n}" for n in range(10)]


def test_consume_partition_and_offset(guide, topic):
    topic("log-collect", *"abcd")
    ran = guide(f"{CONSOLE} --partition 0 --offset 2 --topic log-collect", "--max-messages", 2)
    assert ran.out == "c\nd\n"


def test_consume_beyond_the_end_waits_there(guide, topic):
    """As Apache's: offset 219000 of a short log is out of range, and resets to the latest."""
    topic("log-collect", *"abcd")
    line = f"{CONSOLE} --partition 0 --offset 219000 --topic log-collect"
    assert guide(line, "--timeout-ms", 1500)[:2] == (0, "")


def test_consume_from_the_end(guide, topic):
    topic("log-collect", *"abcd")
    line = f"{CONSOLE} --partition 0 --offset latest --topic log-collect"
    assert guide(line, "--timeout-ms", 1500)[:2] == (0, "")


def test_every_option_of_the_console_consumer_is_known(cli):
    help_text = cli("kafka-console-consumer", "--help").out
    for option in CONSOLE_OPTIONS:
        assert option in help_text
