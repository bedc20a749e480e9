"""Preferred leaders and moves of partitions on a cluster."""

import pytest
from support.cluster.workload import BarnabasWriter, judge, leaders, replicas_differ, wait_until

from barnabas import TopicPartition
from barnabas.admin import ElectionType

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("cluster")]


def test_preferred_leaders_lead_again_when_asked(cluster, topic_name):
    cluster.topic(topic_name, partitions=3)
    wait_until(lambda: in_sync(cluster, topic_name) == 3)
    cluster.stop(1)
    cluster.start(1)
    wait_until(lambda: in_sync(cluster, topic_name) == 3)
    assert 1 not in {p.leader for p in leaders(cluster, topic_name).values()}
    cluster.admin.elect_leaders(ElectionType.PREFERRED)
    wait_until(lambda: {p.leader for p in leaders(cluster, topic_name).values()} == {1, 2, 3})


def test_a_partition_is_moved_under_load(cluster, topic_name):
    cluster.admin.create_topic(topic_name, 1, 2)
    before = leaders(cluster, topic_name)[0].replicas
    spare = ({1, 2, 3} - set(before)).pop()
    writer = BarnabasWriter("b", cluster, topic_name, 1)
    writer.start()
    wait_until(lambda: len(writer.acknowledged.offsets) > 100, what="the first records")
    target = (spare, before[1])
    cluster.admin.alter_partition_reassignments({TopicPartition(topic_name, 0): target})
    wait_until(lambda: not cluster.admin.list_partition_reassignments(), what="the move's end")
    moved = leaders(cluster, topic_name)[0]
    assert moved.replicas == target
    assert moved.leader in target
    writer.stop()
    figures = judge(cluster, topic_name, [writer])
    assert writer.acknowledged.errors == []
    assert {name: figures[name] for name in ("lost", "duplicates", "reordered")} == {
        "lost": 0,
        "duplicates": 0,
        "reordered": 0,
    }
    gone = cluster.brokers[before[0]].data_dir / f"{topic_name}-0"
    wait_until(lambda: not gone.exists(), what="the deletion of the old replica")
    assert replicas_differ(cluster, topic_name, 1, brokers=target) == []


def in_sync(cluster, topic):
    return min(len(p.isr) for p in leaders(cluster, topic).values())
