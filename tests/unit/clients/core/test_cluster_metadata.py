"""The client's picture of the cluster: epochs never go back, another id is another topic."""

import pytest

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

FIRST, SECOND = Uuid(b"1" * 16), Uuid(b"2" * 16)
ORDERS = TopicPartition("orders", 0)


def response(leader, epoch, topic_id=FIRST, error=ErrorCode.NONE):
    partition = MetadataResponsePartition(
        partition_index=0,
        leader_id=leader,
        leader_epoch=epoch,
        replica_nodes=[1, 2],
        isr_nodes=[1, 2],
        offline_replicas=[],
    )
    topic = MetadataResponseTopic(
        error_code=error, name="orders", topic_id=topic_id, partitions=[partition]
    )
    brokers = [
        MetadataResponseBroker(node_id=number, host="h", port=9000 + number, rack=None)
        for number in (1, 2)
    ]
    return MetadataResponse(brokers=brokers, topics=[topic], controller_id=1, cluster_id="c")


def test_leaders_are_found_with_their_epoch():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=1, epoch=3))
    node, epoch = metadata.leader_of(ORDERS)
    assert (node.id, str(node.address), epoch) == (1, "h:9001", 3)
    assert metadata.partition_count("orders") == 1
    assert metadata.partition_count("nothing") is None


def test_an_older_epoch_does_not_overwrite_a_newer_one():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=2, epoch=5))
    metadata.apply(response(leader=1, epoch=4))
    assert metadata.leader_of(ORDERS)[1] == 5


def test_another_topic_id_starts_epochs_over():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=2, epoch=5))
    metadata.apply(response(leader=1, epoch=0, topic_id=SECOND))
    assert metadata.leader_of(ORDERS)[1] == 0
    assert metadata.topic_names == {SECOND: "orders"}


def test_no_leader_is_none():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=-1, epoch=1))
    assert metadata.leader_of(ORDERS) is None
    assert metadata.leader_of(TopicPartition("orders", 9)) is None


def test_a_leader_hint_counts_only_when_it_is_news():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=1, epoch=3))
    metadata.move_leader(ORDERS, leader=2, epoch=3)
    assert metadata.leader_of(ORDERS)[0].id == 1
    metadata.move_leader(ORDERS, leader=2, epoch=4)
    assert metadata.leader_of(ORDERS)[0].id == 2


def test_forgotten_topics_are_gone():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=1, epoch=3))
    metadata.forget(["orders", "never known"])
    assert metadata.topics == {}
    assert metadata.topic_names == {}


@pytest.mark.parametrize(
    ("topic_partition", "code", "words"),
    [
        (ORDERS, ErrorCode.LEADER_NOT_AVAILABLE, "orders-0 has no leader"),
        (
            TopicPartition("orders", 7),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "'orders' has 1 partitions, no partition 7",
        ),
        (TopicPartition("mistyped", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "'mistyped': "),
    ],
)
def test_why_there_is_no_leader(topic_partition, code, words):
    metadata = ClusterMetadata()
    metadata.apply(response(leader=-1, epoch=3))
    error = metadata.no_leader_error(topic_partition)
    assert error.code is code
    assert words in str(error)


def test_a_topic_that_is_forbidden_is_named():
    metadata = ClusterMetadata()
    metadata.apply(response(1, 3, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED))
    assert metadata.permanent_error(["another"]) is None
    assert "'orders'" in str(metadata.permanent_error(["another", "orders"]))


def test_a_complete_response_drops_topics_that_it_does_not_name():
    metadata = ClusterMetadata()
    metadata.apply(response(leader=1, epoch=3))
    others = response(leader=1, epoch=0)
    others.topics = []
    metadata.apply(others)
    assert "orders" in metadata.topics, "an answer about other topics says nothing of this one"
    metadata.apply(others, complete=True)
    assert "orders" not in metadata.topics
    assert metadata.deleted == {"orders"}
    metadata.apply(response(leader=1, epoch=0, topic_id=SECOND))
    assert metadata.deleted == set()
