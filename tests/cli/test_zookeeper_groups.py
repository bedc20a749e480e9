"""Groups of the ZooKeeper high-level consumer on the command line: a real ZooKeeper, our broker."""

import asyncio
import json
import re
import uuid
from pathlib import Path

import pytest
from support.cli.golden import compare
from support.clients.connector_world import wait_until
from support.cluster.zookeeper_broker import register

from barnabas import Consumer, ConsumerConnector, Producer, TopicPartition
from barnabas.testing import Broker

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("zookeeper")]


START_MS = 1_700_000_000_000


class World:
    """A chroot with one broker; `billing` has a living member, `gone` and `moved` have none."""

    def __init__(self, broker, connect):
        self.broker = broker
        self.zookeeper = connect
        self.member = self.join("billing", "C1", 2)

    def join(self, group, name, streams=1):
        connector = ConsumerConnector(
            {
                "zookeeper.connect": self.zookeeper,
                "group.id": group,
                "consumer.id": name,
                "auto.commit.enable": "false",
            }
        )
        connector.create_message_streams({"orders": streams})
        return connector

    def commit(self, group, offsets):
        """Offsets of a group whose member has left."""
        member = self.join(group, "C0")
        member.commit_offsets({TopicPartition("orders", p): at for p, at in offsets.items()})
        member.shutdown()

    def offsets(self, group):
        """The offsets committed in Kafka."""
        found = self.broker.admin.list_group_offsets([group])[group]
        return {place.partition: at.offset for place, at in found.items()}


@pytest.fixture(scope="module")
def world(zookeeper):
    with Broker() as broker:
        broker.topic("orders", partitions=3)
        with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
            for partition in (0, 0, 0, 0, 0, 1, 1, 1):
                producer.send("orders", b"v", partition=partition, timestamp=START_MS)
        connect = f"{zookeeper.connect_string}/{uuid.uuid4().hex}"
        asyncio.run(register(connect, broker, {"orders": 3}))
        world = World(broker, connect)
        try:
            world.member.commit_offsets({TopicPartition("orders", 0): 3})
            world.commit("gone", {0: 5, 1: 1})
            yield world
        finally:
            world.member.shutdown()


@pytest.fixture
def zk(cli, world):
    """Runs a command line with --zookeeper, while the member owns all (a session may get lost)."""
    wait_until(lambda: len(world.member.owned_partitions()) == 3, 30)
    return lambda *words: cli(*words, "--zookeeper", world.zookeeper)


@pytest.fixture
def group(world):
    """A group without members, at 4 and 2."""
    name = f"moved-{uuid.uuid4().hex[:8]}"
    world.commit(name, {0: 4, 1: 2})
    return name


COMMANDS = {
    "groups-describe-zookeeper": ["groups", "describe", "billing", "gone"],
    "groups-members-zookeeper": ["groups", "describe", "billing", "--members"],
    "groups-migrate": ["groups", "migrate", "gone"],
    "groups-delete-zookeeper": ["groups", "delete", "billing", "gone", "--dry-run"],
}


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_command(zk, name, form):
    compare(f"{name}.{form}", zk(*COMMANDS[name], "--format", form))


@pytest.mark.parametrize("form", ["table", "json"])
def test_list(zk, world, form):
    # Other tests here have groups of their own.
    wanted = ["--state", "stable", "--type", "zookeeper"]
    compare(f"groups-list-zookeeper.{form}", zk("groups", "list", *wanted, "--format", form))
    rows = json.loads(zk("groups", "list", "--format", "json").out)
    assert {"group": "gone", "state": "Empty", "type": "ZooKeeper", "protocol": None} in rows


def test_apaches_describe(zk):
    tool = ("kafka-consumer-groups", "--describe", "--group", "billing", "--group", "gone")
    ran = zk(*tool)
    compare("kafka-consumer-groups-zookeeper.txt", ran)
    assert "Consumer group 'gone' has no active members." in ran.err
    assert "only show information about consumers that use ZooKeeper" in ran.err
    ran = zk("kafka-consumer-groups", "--list")
    assert {"billing", "gone"} <= set(ran.lines)
    ran = zk("kafka-consumer-groups", "--describe", "--group", "absent")
    assert (ran.code, ran.out) == (1, "")
    assert "Error: The consumer group 'absent' does not exist." in ran.err
    assert zk("kafka-consumer-groups", "--describe").code == 1
    assert zk("kafka-consumer-groups", "--reset-offsets", "--to-latest").code == 1


def test_lag_can_be_checked(zk):
    assert zk("groups", "describe", "billing", "--max-lag", "1").code == 3
    assert zk("groups", "describe", "billing", "--max-lag", "100").code == 0


def test_an_unknown_group_and_a_dead_zookeeper(cli, zk):
    ran = zk("groups", "describe", "absent")
    assert (ran.code, ran.out) == (1, "")
    assert "no consumer group 'absent'" in ran.err
    options = ("-X", "zookeeper.connection.timeout.ms=300", "--zookeeper", "127.0.0.1:1")
    ran = cli("groups", "list", *options)
    assert (ran.code, ran.out) == (1, "")
    assert "127.0.0.1:1" in ran.err


def test_migration_there_and_back(zk, world, group):
    plan = zk("groups", "migrate", group)
    assert plan.code == 0, plan.err
    assert world.offsets(group) == {}
    ran = zk("groups", "migrate", group, "--execute", "--format", "json")
    assert ran.code == 0, ran.err
    assert [row["status"] for row in json.loads(ran.out)] == ["OK", "OK"]
    assert world.offsets(group) == {0: 4, 1: 2}

    # On the way back one partition has gone on and the other went back.
    offsets = {TopicPartition("orders", 0): 5, TopicPartition("orders", 1): 1}
    world.broker.admin.alter_group_offsets(group, offsets).check()
    back = ("groups", "migrate", group, "--to", "zookeeper", "--format", "json")
    rows = json.loads(zk(*back).out)
    assert [(row["step"], row["status"]) for row in rows] == [
        ("advance", "PLANNED"),
        ("rewind", "SKIPPED"),
    ]
    assert zk(*back, "--execute").code == 0
    described = json.loads(zk("groups", "describe", group, "--format", "json").out)
    assert [row["current_offset"] for row in described] == [5, 2]
    assert zk(*back, "--execute", "--allow-rewind").code == 0
    described = json.loads(zk("groups", "describe", group, "--format", "json").out)
    assert [row["current_offset"] for row in described] == [5, 1]


def test_groups_in_use_are_not_migrated(zk, world, group):
    ran = zk("groups", "migrate", "billing", "--execute")
    assert (ran.code, ran.out) == (1, "")
    assert "billing_C1" in ran.err
    assert world.offsets("billing") == {}

    settings = {"bootstrap.servers": world.broker.bootstrap_servers, "group.id": group}
    with Consumer(settings) as consumer:
        consumer.subscribe(["orders"])
        while not consumer.assignment():
            consumer.poll(0.1)
        ran = zk("groups", "migrate", group, "--execute")
    assert (ran.code, ran.out) == (1, "")
    assert "is active" in ran.err
    ran = zk("groups", "migrate", "absent", "--execute")
    assert (ran.code, ran.out) == (1, "")
    assert "no offsets" in ran.err


def test_deletion(zk, world, group):
    tool = ("kafka-consumer-groups", "--delete", "--group")
    ran = zk(*tool, group, "--topic", "orders")
    place = f"for group '{group}' topic 'orders'"
    assert ran.out == f"Deleted consumer group information {place} in zookeeper.\n"
    assert json.loads(zk("groups", "describe", group, "--format", "json").out) == []
    ran = zk(*tool, group)
    gone = f"Deleted all consumer group information for group '{group}' in zookeeper.\n"
    assert (ran.code, ran.out) == (0, gone)
    ran = zk(*tool, group)
    error = f"Error: Delete for group '{group}' failed because group does not exist.\n"
    assert (ran.code, ran.out) == (1, error)
    ran = zk(*tool, "billing")
    error = "Error: Delete for group 'billing' failed because its consumers are still active.\n"
    assert (ran.code, ran.out) == (1, error)

    world.commit(group, {0: 1})
    assert zk("groups", "delete", group).code == 2
    assert zk("groups", "delete", group, "--yes").code == 0
    assert group not in zk("kafka-consumer-groups", "--list").lines


def test_the_example_of_the_documentation(zk, world):
    page = Path(__file__).parents[2] / "docs" / "zookeeper-consumer.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    here = block.replace("localhost:2181", world.zookeeper)
    exec(compile(here, page.name, "exec"), {})
    assert "reports" in zk("kafka-consumer-groups", "--list").lines
