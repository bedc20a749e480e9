"""Tools that need several brokers: elections, reassignment, replicas in the doctor's eyes."""

import json
import threading
import uuid

import pytest
from support.cluster.throttles import set_rate, throttled_replicas

from barnabas import ConsumerConnector, TopicPartition
from barnabas.admin import ConfigResource
from barnabas.model.error_codes import ErrorCode
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from barnabas.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("cluster")]


@pytest.fixture
def topic(cluster):
    """A topic with two replicas of one partition."""
    name = f"moved-{uuid.uuid4().hex[:8]}"
    cluster.admin.create_topic(name, 1, 2)
    assert cluster.wait_until_known(name)
    return name


def replicas(cluster, topic):
    return list(cluster.admin.describe_topic(topic).partitions[0].replicas)


def eventually(look, right):
    for _ in range(600):
        found = look()
        if right(found):
            break
        threading.Event().wait(0.1)
    return found


def test_reassignment(cli, cluster, topic, tmp_path):
    every = {node.id for node in cluster.admin.describe_cluster().brokers}
    before = replicas(cluster, topic)
    wanted = [*(every - set(before)), before[0]]
    path = tmp_path / "moves.json"
    moves = [{"topic": topic, "partition": 0, "replicas": wanted}]
    path.write_text(json.dumps({"version": 1, "partitions": moves}))
    tool = ("kafka-reassign-partitions", "--bootstrap-server", cluster.bootstrap_servers)
    file = ("--reassignment-json-file", path)

    ran = cli(*tool, "--execute", *file)
    assert ran.code == 0, ran.err
    assert f"Successfully started partition reassignment for {topic}-0" in ran.lines
    assert json.loads(ran.lines[2])["partitions"][0]["replicas"] == before

    done = f"Reassignment of partition {topic}-0 is completed."
    cleared = [
        "Clearing broker-level throttles on brokers 1,2,3",
        f"Clearing topic-level throttles on topic {topic}",
    ]
    # Throttles stay while anything in the cluster moves, of another test too.
    wanted_lines = ["Status of partition reassignment:", done, "", *cleared]
    lines = eventually(lambda: cli(*tool, "--verify", *file).lines, lambda x: x == wanted_lines)
    assert lines == wanted_lines
    assert replicas(cluster, topic) == wanted
    assert cli(*tool, "--cancel", *file).lines == [
        "None of the specified partition reassignments are active.",
        "None of the specified partition moves are active.",
        *cleared,
    ]
    assert "No partition reassignments found." in cli(*tool, "--list").out


@pytest.fixture
def throttled(cluster):
    """A topic that was born throttled: of a change all brokers hear only a moment later."""
    name = f"throttled-{uuid.uuid4().hex[:8]}"
    cluster.admin.create_topic(name, 1, 2, configs=throttled_replicas())
    assert cluster.wait_until_known(name)
    yield name
    set_rate(cluster, None)


def test_throttled_reassignment(cli, cluster, throttled, tmp_path):
    """A throttle of nothing holds the move; raising it lets it go, and --verify takes it away."""
    cluster.produce(throttled, "a", "b", "c", partition=0)
    before = replicas(cluster, throttled)
    added = next(n for n in (1, 2, 3) if n not in before)
    path = tmp_path / "moves.json"
    moves = [{"topic": throttled, "partition": 0, "replicas": [before[0], added]}]
    path.write_text(json.dumps({"version": 1, "partitions": moves}))
    tool = ("kafka-reassign-partitions", "--bootstrap-server", cluster.bootstrap_servers)
    file = ("--reassignment-json-file", path)

    def settings():
        resources = [ConfigResource.topic(throttled), ConfigResource.broker(added)]
        found = cluster.admin.describe_configs(resources).check()
        entries = (entry for group in found.values() for entry in group.values())
        return {e.name: e.value for e in entries if "throttled" in e.name and not e.is_default}

    ran = cli(*tool, "--execute", *file, "--throttle", 0)
    assert ran.code == 0, ran.err
    assert ran.lines[-3:] == [
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure "
        "the throttle is removed.",
        "The inter-broker throttle limit was set to 0 B/s",
        f"Successfully started partition reassignment for {throttled}-0",
    ]
    pairs = ",".join(f"0:{number}" for number in sorted(before))
    expected = {
        "leader.replication.throttled.replicas": pairs,
        "follower.replication.throttled.replicas": f"0:{added}",
        "leader.replication.throttled.rate": "0",
        "follower.replication.throttled.rate": "0",
    }
    assert eventually(settings, lambda found: found == expected) == expected
    going = f"Reassignment of partition {throttled}-0 is still in progress."
    assert cli(*tool, "--verify", *file).lines == ["Status of partition reassignment:", going, ""]
    ran = cli(*tool, "--execute", *file, "--throttle", 0)
    assert (ran.code, ran.out) == (1, "")
    assert "Use --additional to override this" in ran.err

    ran = cli(*tool, "--execute", *file, "--throttle", 100_000_000, "--additional")
    assert ran.code == 0, ran.err
    done = f"Reassignment of partition {throttled}-0 is completed."
    cleared = f"Clearing topic-level throttles on topic {throttled}"
    # The controller may know that a move is over before the broker that is asked for the replicas.
    lines = eventually(
        lambda: cli(*tool, "--verify", *file).lines, lambda x: done in x and x[-1] == cleared
    )
    assert done in lines
    assert lines[-1] == cleared
    assert eventually(settings, lambda found: not found) == {}


def test_preferred_election(cli, cluster, topic):
    tool = ("kafka-leader-election", "--bootstrap-server", cluster.bootstrap_servers)
    ran = cli(*tool, "--election-type", "preferred", "--topic", topic, "--partition", "0")
    assert (ran.code, ran.out) == (0, f"Valid replica already elected for partitions {topic}-0\n")
    assert cli(*tool, "--election-type", "preferred").code == 1
    assert cli(*tool, "--election-type", "other", "--all-topic-partitions").code == 1


def test_any_broker_serves_the_requests_that_javas_tools_send_to_any(cluster, topic):
    """Followers know the producers of their own log; quotas are not for the controller alone."""
    entity = EntityData(entity_type="ip", entity_name="10.255.0.1")
    limit = OpData(key="connection_creation_rate", value=9, remove=False)
    quotas = AlterClientQuotasRequest(entries=[EntryData([entity], [limit])], validate_only=True)
    producers = DescribeProducersRequest([TopicRequest(topic, [0])])
    holding = replicas(cluster, topic)
    for node in cluster.admin.describe_cluster().brokers:
        address = Address(node.host, node.port)
        connection = BlockingConnection.open(address, ConnectionOptions())
        try:
            changed = connection.send(quotas, timeout_s=30)
            described = connection.send(producers, timeout_s=30)
        finally:
            connection.close()
        assert [item.error_code for item in changed.entries] == [0]
        (answer,) = described.topics[0].partitions
        code = 0 if node.id in holding else ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert answer.error_code == code, node


def test_the_doctor_sees_every_broker(cli, cluster):
    ran = cli("doctor", "--format", "json", servers=cluster.bootstrap_servers)
    findings = json.loads(ran.out)["findings"]
    asked = {item["target"] for item in findings if item["check"] == "advertised protocol"}
    assert len(asked) == 3


def test_a_group_of_the_zookeeper_consumer(cli, cluster):
    """Owners and offsets from ZooKeeper, lag from three brokers; then its offsets move to Kafka."""
    topic = cluster.topic(f"old-{uuid.uuid4().hex[:8]}", partitions=3)
    for partition in range(3):
        cluster.produce(topic, "a", "b", partition=partition)
    zookeeper = ("--zookeeper", cluster.zookeeper_connect)
    settings = {"zookeeper.connect": cluster.zookeeper_connect, "group.id": topic}
    settings |= {"consumer.id": "C1", "auto.commit.enable": "false"}
    with ConsumerConnector(settings) as connector:
        connector.create_message_streams({topic: 3})
        connector.commit_offsets({TopicPartition(topic, n): n for n in range(3)})
        expected = [
            [topic, topic, str(n), str(n), "2", str(2 - n), f"{topic}_C1-{n}"] for n in range(3)
        ]

        def rows():
            tool = ("kafka-consumer-groups", *zookeeper, "--describe", "--group", topic)
            return [line.split() for line in cli(*tool).lines[1:]]

        assert eventually(rows, lambda found: found == expected) == expected
        ran = cli("groups", "migrate", topic, *zookeeper, "--execute")
        assert (ran.code, f"{topic}_C1" in ran.err) == (1, True)
    ran = cli("groups", "migrate", topic, *zookeeper, "--execute", "--format", "json")
    assert ran.code == 0, ran.err
    committed = cluster.admin.list_group_offsets([topic])[topic]
    assert {topic_partition.partition: at.offset for topic_partition, at in committed.items()} == {
        0: 0,
        1: 1,
        2: 2,
    }


def test_topics_with_replicas(cli, cluster, topic):
    ran = cli("topics", "describe", topic, "--format", "json", servers=cluster.bootstrap_servers)
    (document,) = json.loads(ran.out)
    assert document["replication_factor"] == 2
    assert len(document["partition_details"][0]["isr"]) == 2
