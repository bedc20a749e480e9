"""The controller killed while topics are created or partitions are moved.

Each topic exists completely or not at all; moves continue under the next controller.
"""

import threading

import pytest
from support.cluster.throttles import set_rate, throttle, throttled_replicas
from support.cluster.workload import leaders, topic_in_zookeeper, wait_until

from barnabas import Admin, TopicPartition
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster")]

TOPICS = 40
PARTITIONS = 3
REPLICAS = 2  # two brokers are left


def test_controller_killed_during_topic_creation(cluster, topic_name):
    names = [f"{topic_name}-{number}" for number in range(TOPICS)]
    created, halfway = [], threading.Event()

    def create():
        with Admin({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
            for name in names:
                try:
                    admin.create_topic(name, PARTITIONS, REPLICAS, timeout=20)
                except BrokerError as error:
                    if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:  # its answer was lost
                        raise
                created.append(name)
                if len(created) == TOPICS // 4:
                    halfway.set()

    victim = cluster.admin.describe_cluster().controller
    creator = threading.Thread(target=create)
    creator.start()
    assert halfway.wait(60)
    cluster.kill(victim)
    made_before = len(created)
    creator.join(60)
    wait_until(lambda: cluster.admin.describe_cluster().controller not in (None, victim))
    cluster.start(victim)
    assert made_before < TOPICS, "the kill came too late"
    assert created == names
    wait_until(lambda: all(is_whole(cluster, name) for name in names), what="whole topics")
    assert {m.partition for m in cluster.produce(names[-1], b"one", partition=2)} == {2}


def test_controller_killed_during_a_move(cluster, topic_name):
    """A throttle holds the moves until it is dead; its successor finishes them."""
    names = [TopicPartition(topic_name, number) for number in range(12)]
    cluster.admin.create_topic(topic_name, len(names), REPLICAS, configs=throttled_replicas())
    for number in range(len(names)):
        cluster.produce(topic_name, b"x" * 10_000, partition=number)
    controller = cluster.admin.describe_cluster().controller
    others = tuple({1, 2, 3} - {controller})
    with throttle(cluster, 0):
        cluster.admin.alter_partition_reassignments(dict.fromkeys(names, others))
        cluster.kill(controller)
        unfinished = topic_in_zookeeper(cluster, topic_name)["adding_replicas"]
        wait_until(lambda: cluster.admin.describe_cluster().controller in others)
        assert cluster.admin.list_partition_reassignments()
        set_rate(cluster, None)
        wait_until(lambda: not cluster.admin.list_partition_reassignments(), what="the moves' end")
        cluster.start(controller)
    print(f"{len(unfinished)} moves were in progress when the controller died")
    assert unfinished, "the kill came too late"
    found = leaders(cluster, topic_name)
    assert {p.replicas for p in found.values()} == {others}
    assert len(cluster.records(topic_name, at_least=len(names))) == len(names)


def is_whole(cluster, name):
    found = leaders(cluster, name)
    return len(found) == PARTITIONS and all(
        p.leader is not None and len(p.isr) == REPLICAS for p in found.values()
    )
