"""The topic metadata of groups, and when it must be refreshed."""

import pytest

from barnabas.broker.coordinators.group_coordinator import TopicsView
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.model.control import LEADER_DURING_DELETE, PartitionState, UpdateMetadataCommand
from barnabas.model.ids import BrokerId, TopicPartition, Uuid

ID = Uuid(b"i" * 16)


@pytest.fixture
def metadata():
    return MetadataCache()


@pytest.fixture
def view(metadata):
    return TopicsView(metadata)


def tell(metadata, view, *partitions, leader=1, topic_id=ID, leader_epoch=0):
    states = tuple(
        PartitionState(
            topic_partition=TopicPartition("t", number),
            topic_id=topic_id,
            leader=BrokerId(leader),
            leader_epoch=leader_epoch,
            isr=(BrokerId(1),),
            replicas=(BrokerId(1),),
        )
        for number in partitions
    )
    metadata.apply(UpdateMetadataCommand(BrokerId(1), 1, 1, states, ()))
    view.refresh()


def test_topics_come_grow_and_go(metadata, view):
    assert view.partition_count("t") == 0
    tell(metadata, view, 0, 1)
    assert (view.partition_count("t"), view.topic_id("t"), view.topic_name(ID)) == (2, ID, "t")
    assert list(view.topic_names()) == ["t"]
    first = view.version
    tell(metadata, view, 2)
    assert view.partition_count("t") == 3
    assert view.version > first
    tell(metadata, view, 0, 1, 2, leader=LEADER_DURING_DELETE)
    assert (view.partition_count("t"), view.topic_id("t")) == (0, None)


def test_version_does_not_follow_leaders(metadata, view):
    tell(metadata, view, 0)
    version = view.version
    tell(metadata, view, 0, leader=2, leader_epoch=1)
    assert view.version == version


def test_recreated_topic_is_another(metadata, view):
    tell(metadata, view, 0)
    version = view.version
    other = Uuid(b"j" * 16)
    tell(metadata, view, 0, topic_id=other)
    assert view.version > version
    assert view.topic_id("t") == other
