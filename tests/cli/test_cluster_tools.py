"""Tools that need several brokers: elections, reassignment, replicas in the doctor's eyes."""

import json
import threading
import uuid

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("cluster")]


@pytest.fixture
def topic(cluster):
    """A topic with two replicas of one partition."""
    name = f"moved-{uuid.uuid4().hex[:8]}"
    cluster.admin.create_topic(name, 1, 2)
    return name


def replicas(cluster, topic):
    return list(cluster.admin.describe_topic(topic).partitions[0].replicas)


def eventually(look, right):
    for _ in range(150):
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
    lines = eventually(lambda: cli(*tool, "--verify", *file).lines, lambda x: done in x)
    assert lines == ["Status of partition reassignment:", done]
    assert replicas(cluster, topic) == wanted
    assert (
        cli(*tool, "--cancel", *file).out == "None of the specified partition moves are active.\n"
    )
    assert "No partition reassignments found." in cli(*tool, "--list").out


def test_preferred_election(cli, cluster, topic):
    tool = ("kafka-leader-election", "--bootstrap-server", cluster.bootstrap_servers)
    ran = cli(*tool, "--election-type", "preferred", "--topic", topic, "--partition", "0")
    assert (ran.code, ran.out) == (0, f"Valid replica already elected for partitions {topic}-0\n")
    assert cli(*tool, "--election-type", "preferred").code == 2
    assert cli(*tool, "--election-type", "other", "--all-topic-partitions").code == 2


def test_the_doctor_sees_every_broker(cli, cluster):
    ran = cli("doctor", "--format", "json", servers=cluster.bootstrap_servers)
    findings = json.loads(ran.out)["findings"]
    asked = {item["target"] for item in findings if item["check"] == "advertised protocol"}
    assert len(asked) == 3


def test_topics_with_replicas(cli, cluster, topic):
    ran = cli("topics", "describe", topic, "--format", "json", servers=cluster.bootstrap_servers)
    (document,) = json.loads(ran.out)
    assert document["replication_factor"] == 2
    assert len(document["partition_details"][0]["isr"]) == 2
