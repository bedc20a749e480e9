"""Control characters in records and names never reach the terminal, except as raw bytes."""

import pytest

from barnabas import Consumer, Producer
from barnabas.cli.commands import COMMANDS

pytestmark = pytest.mark.integration
RED = "\x1b[31m"


@pytest.fixture
def hostile(broker, topic_name):
    """A topic with a hostile record, and a group of hostile names that has read it."""
    broker.topic(topic_name)
    group = f"{topic_name}{RED}"
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(topic_name, f"{RED}v\x9b2J".encode(), RED.encode()).result(60)
    settings = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": group,
        "client.id": f"client{RED}",
        "auto.offset.reset": "earliest",
    }
    with Consumer(settings) as consumer:
        consumer.subscribe([topic_name])
        assert consumer.poll(60)
        consumer.commit()
        yield topic_name, group


def escaped(ran):
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.out + ran.err
    assert "\x9b" not in ran.out
    return "1b[31m" in ran.out


@pytest.mark.parametrize("form", ["table", "json", "yaml", "tsv"])
def test_records(cli, broker, hostile, form):
    topic, _ = hostile
    command = ["consume", topic, "-o", ":end", "--format", form]
    assert escaped(cli(*command, servers=broker.bootstrap_servers))


def test_raw_records_are_bytes(cli, broker, hostile):
    topic, _ = hostile
    ran = cli("consume", topic, "-o", ":end", "--format", "raw", servers=broker.bootstrap_servers)
    assert ran.out == f"{RED}v\x9b2J\n"


def test_groups_and_clients(cli, broker, hostile):
    _, group = hostile
    servers = broker.bootstrap_servers
    assert escaped(cli("groups", "list", servers=servers))
    assert escaped(cli("groups", "describe", group, servers=servers))
    where = ["--bootstrap-server", servers]
    assert escaped(cli("kafka-consumer-groups", "--list", *where))
    assert escaped(cli("kafka-consumer-groups", "--describe", "--group", group, *where))
    members = ["--describe", "--members", "--group", group]
    assert escaped(cli("kafka-consumer-groups", *members, *where))


def test_errors(cli, broker):
    ran = cli("groups", "describe", f"none{RED}", servers=broker.bootstrap_servers)
    assert "\x1b" not in ran.out + ran.err


@pytest.mark.parametrize("name", [name for name, item in COMMANDS.items() if item.apache])
def test_apaches_tools_without_arguments_print_their_help(cli, name):
    ran = cli(name)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"usage: barnabas {name}")
    assert "options:" in ran.err
