"""The admin client with three brokers: each request reaches the right broker."""

import pytest
from support.cluster.workload import wait_until

from barnabas import Admin, TopicPartition
from barnabas.admin import EARLIEST, LATEST, ConfigResource, ElectionType, NewTopic
from barnabas.testing.server import unique_name

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("cluster")]


@pytest.fixture
def topic(cluster):
    return cluster.topic(partitions=6)


def test_changes_reach_the_controller_from_every_bootstrap(cluster):
    """Passes when both changes succeed with each broker as the only bootstrap address."""
    for broker in cluster.brokers.values():
        name = unique_name("anywhere")
        with Admin({"bootstrap.servers": broker.address}) as admin:
            admin.create_topics([NewTopic(name, 1, 3)]).check()
            admin.delete_topic(name)


def test_offsets_and_records_of_all_leaders_in_one_call(cluster, topic):
    topic_partitions = [TopicPartition(topic, number) for number in range(6)]
    for topic_partition in topic_partitions:
        cluster.produce(topic, *"abc", partition=topic_partition.partition)
    assert len({item.leader for item in cluster.admin.describe_topic(topic).partitions}) > 1
    ends = cluster.admin.list_offsets(dict.fromkeys(topic_partitions, LATEST)).check()
    assert {found.offset for found in ends.values()} == {3}
    gone = cluster.admin.delete_records(dict.fromkeys(topic_partitions, 2)).check()
    assert set(gone.values()) == {2}
    starts = cluster.admin.list_offsets(dict.fromkeys(topic_partitions, EARLIEST)).check()
    assert {found.offset for found in starts.values()} == {2}


def test_groups_of_all_coordinators(cluster, topic):
    groups = [unique_name("group") for _ in range(12)]
    topic_partition = TopicPartition(topic, 0)
    for group in groups:
        cluster.admin.alter_group_offsets(group, {topic_partition: 1}).check()
    _spread_coordinators(cluster)
    assert set(groups) <= {listing.group_id for listing in cluster.admin.list_groups()}
    described = cluster.admin.describe_groups(groups).check()
    assert len({group.coordinator.id for group in described.values()}) > 1
    offsets = cluster.admin.list_group_offsets(groups).check()
    assert {found[topic_partition].offset for found in offsets.values()} == {1}
    cluster.admin.delete_groups(groups).check()


def _spread_coordinators(cluster):
    """Coordinators stay where some fail-over took them until preferred leaders are elected."""
    offsets_topic = "__consumer_offsets"

    def led_by_the_preferred():
        partitions = cluster.admin.describe_topic(offsets_topic).partitions
        moved = [item.partition for item in partitions if item.leader != item.replicas[0]]
        topic_partitions = [TopicPartition(offsets_topic, number) for number in moved]
        if (
            topic_partitions
        ):  # refused, and asked again, while a restarted broker is still catching up
            cluster.admin.elect_leaders(ElectionType.PREFERRED, topic_partitions)
        return not topic_partitions

    wait_until(led_by_the_preferred, what="preferred leaders of the coordinators' topic")


def test_each_broker_tells_its_own(cluster, topic):
    resources = [ConfigResource.broker(number) for number in (1, 2, 3)]
    described = cluster.admin.describe_configs(resources, names=["broker.id"]).check()
    assert [each["broker.id"].value for each in described.values()] == ["1", "2", "3"]
    dirs = cluster.admin.describe_log_dirs(partitions=[TopicPartition(topic, 0)]).check()
    assert sorted(dirs) == [1, 2, 3]
    assert all(found[0].replicas for found in dirs.values())


def test_a_dead_controller_and_its_leaders_are_found_again(cluster, topic):
    topic_partitions = [TopicPartition(topic, number) for number in range(6)]
    with Admin({"bootstrap.servers": cluster.bootstrap_servers}) as admin:
        dead = admin.describe_cluster().controller
        cluster.kill(dead)
        try:
            name = unique_name("after")
            admin.create_topics([NewTopic(name, 2, 2)], timeout=30).check()
            ends = admin.list_offsets(dict.fromkeys(topic_partitions, LATEST), timeout=30).check()
            assert {found.offset for found in ends.values()} == {0}
            described = admin.describe_cluster()
            assert described.controller != dead
            assert len(described.brokers) == 2
        finally:
            cluster.start(dead)
