"""The exact output of each command, as a table and as JSON.

The expected texts are in golden/; UPDATE_GOLDEN=1 writes them again after an intended change.
"""

import re

import pytest
from support.cli.golden import compare

from barnabas import Producer, TopicPartition
from barnabas.testing import Broker

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("golden")]

START_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A broker with two topics, a group and a transactional id that are always the same."""
    with Broker(data_dir=tmp_path_factory.mktemp("barnabas-golden")) as broker:
        broker.topic("orders", partitions=2, config={"retention.ms": -1})
        broker.topic("empty")
        with Producer(
            {"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 60_000}
        ) as producer:
            for number in range(5):
                value = None if number == 4 else f"v{number}".encode()
                key, headers = f"k{number}".encode(), [("h", b"1")] if number == 0 else []
                producer.send("orders", value, key, headers, number % 2, START_MS + number)
            producer.send("orders", b"\xff\x00", b"bin", [], 0, START_MS + 5)
        positions = {TopicPartition("orders", 0): 3, TopicPartition("orders", 1): 2}
        broker.admin.alter_group_offsets("billing", positions).check()
        settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx"}
        with Producer(settings) as producer:
            producer.init_transactions()
        yield broker


COMMANDS = {
    "topics-list": ["topics", "list"],
    "topics-describe": ["topics", "describe", "orders"],
    "topics-create": ["topics", "create", "new", "--dry-run", "-p", "2"],
    "topics-create-twice": ["topics", "create", "orders", "--dry-run"],
    "topics-alter": ["topics", "alter", "orders", "-c", "retention.ms=-1", "--dry-run"],
    "topics-copy": ["topics", "copy", "orders", "copied", "--dry-run"],
    "topics-delete": ["topics", "delete", "orders", "absent", "--dry-run"],
    "configs-describe": ["configs", "describe", "topic", "orders"],
    "configs-alter": ["configs", "alter", "topic", "orders", "--set", "segment.ms=x", "--dry-run"],
    "groups-list": ["groups", "list"],
    "groups-describe": ["groups", "describe", "billing"],
    "groups-reset": ["groups", "reset", "billing", "-t", "orders", "--to-earliest"],
    "groups-copy": ["groups", "copy", "billing", "copy-of-billing", "--dry-run"],
    "groups-delete": ["groups", "delete", "billing", "--dry-run"],
    "groups-delete-offsets": ["groups", "delete-offsets", "billing", "orders:0", "--dry-run"],
    "groups-watch": ["groups", "watch", "billing", "--count", "1", "--interval", "0"],
    "consume": ["consume", "orders:0", "-o", ":end"],
    "offsets-get": ["offsets", "get", "orders", "--at", "@1700000000003"],
    "records-delete": ["records", "delete", "orders", "-o", "1", "--dry-run"],
    "cluster-info": ["cluster", "info"],
    "cluster-versions": ["cluster", "versions"],
    "transactions-list": ["transactions", "list"],
    "transactions-describe": ["transactions", "describe", "tx"],
    "transactions-producers": ["transactions", "producers", "orders:0"],
    "log-dirs": ["log-dirs", "-t", "orders"],
    "doctor": ["doctor"],
}
APACHE = {
    "kafka-topics-describe": ["kafka-topics", "--describe", "--topic", "orders"],
    "kafka-topics-list": ["kafka-topics", "--list"],
    "kafka-configs": ["kafka-configs", "--describe", "--topic", "orders", "--all"],
    "kafka-consumer-groups": ["kafka-consumer-groups", "--describe", "--group", "billing"],
    "kafka-consumer-groups-state": ["kafka-consumer-groups", "--list", "--state"],
    "kafka-consumer-groups-reset": [
        *("kafka-consumer-groups", "--reset-offsets", "--shift-by", "-1", "--dry-run"),
        *("--group", "billing", "--topic", "orders"),
    ],
    "kafka-get-offsets": ["kafka-get-offsets", "--topic", "orders"],
    "kafka-log-dirs": ["kafka-log-dirs", "--describe", "--topic-list", "orders"],
    "kafka-transactions-list": ["kafka-transactions", "list"],
    "kafka-transactions-describe": ["kafka-transactions", "describe", "--transactional-id", "tx"],
    "kafka-transactions-producers": [
        *("kafka-transactions", "describe-producers", "--topic", "orders", "--partition", "0"),
    ],
    "kafka-console-consumer": [
        *("kafka-console-consumer", "--topic", "orders", "--partition", "0", "--from-beginning"),
        *("--max-messages", "4", "--property", "print.key=true", "--property"),
        *("print.timestamp=true", "--property", "print.headers=true", "--property"),
        *("print.partition=true", "--property", "print.offset=true"),
    ],
}


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_command(cli, world, name, form):
    ran = cli(*COMMANDS[name], "--format", form, servers=world.bootstrap_servers)
    compare(f"{name}.{form}", ran)


@pytest.mark.parametrize("name", APACHE)
def test_apache_command(cli, world, name):
    command, *rest = APACHE[name]
    ran = cli(command, "--bootstrap-server", world.bootstrap_servers, *rest)
    compare(f"{name}.txt", ran)


@pytest.mark.parametrize("form", ["table", "json"])
def test_restore(cli, world, form):
    lines = cli("topics", "dump", "orders", servers=world.bootstrap_servers).out
    restore = ("topics", "restore", "again", "--dry-run", "--format", form)
    ran = cli(*restore, servers=world.bootstrap_servers, stdin=lines.encode())
    compare(f"topics-restore.{form}", ran)


@pytest.mark.parametrize("form", ["table", "json"])
def test_segment(cli, world, form):
    segment = world.data_dir / "orders-0" / ("0" * 20 + ".log")
    compare(f"dump-log.{form}", cli("dump-log", segment, "--records", "--format", form))


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("verb", ["produce", "consume"])
def test_figures(cli, broker, topic_name, verb, form):
    """Measured values differ between runs; columns and keys do not."""
    broker.topic(topic_name)
    broker.produce(topic_name, "a")
    words = (
        "perf",
        verb,
        topic_name,
        "--format",
        form,
        *(("-n", "9") if verb == "produce" else ()),
    )
    ran = cli(*words, servers=broker.bootstrap_servers)
    assert ran.code == 0, ran.err
    text = re.sub(r"(?<!\w)\d+(\.\d+)?(?!\w)", "N", ran.out)
    compare(f"perf-{verb}.{form}", re.sub(" +", " ", text))


@pytest.mark.parametrize("form", ["yaml", "tsv"])
def test_other_formats(cli, world, form):
    ran = cli("topics", "list", "--format", form, servers=world.bootstrap_servers)
    compare(f"topics-list.{form}", ran)


@pytest.mark.parametrize("form", ["table", "json"])
def test_open_transaction(cli, broker, topic_name, form):
    """Producer ids and topics differ from run to run; the rest of the text does not."""
    broker.topic(topic_name)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic_name}
    with Producer(settings) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic_name, b"v", partition=0).result(timeout=30)
        words = ("transactions", "abort", f"{topic_name}:0", "--start-offset", "0", "--dry-run")
        ran = cli(*words, "--format", form, servers=broker.bootstrap_servers)
        producer.abort_transaction()
    assert ran.code == 0, ran.err
    text = re.sub(r"(?<!\w)\d+(?!\w)", "N", ran.out.replace(topic_name, "TOPIC"))
    compare(f"transactions-abort.{form}", re.sub(" +", " ", text))


@pytest.mark.parametrize("form", ["lines", "json"])
def test_produced(cli, broker, topic_name, form):
    broker.topic(topic_name)
    line = b"hello" if form == "lines" else b'{"key": "k", "value": "hello"}'
    words = ("produce", topic_name, "--format", form, "-v")
    ran = cli(*words, servers=broker.bootstrap_servers, stdin=line + b"\n")
    assert ran.code == 0, ran.err
    compare(f"produce.{form}", (ran.out + ran.err).replace(topic_name, "TOPIC"))
