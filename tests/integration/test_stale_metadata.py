"""Requests of clients whose metadata still has a deleted topic with many partitions.

As in Kafka, each partition of the deleted topic gets an error, and the other partitions of the
request are served.
"""

import pytest
from support.groups.requests import find_coordinator
from support.network.requests import batch, create_topic, fetch, list_offset, produce

from barnabas.broker.fetch_sessions import INITIAL_EPOCH
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

pytestmark = pytest.mark.integration

PARTITIONS = 12_000
KEPT = "kept"
DELETED = "deleted"
DELETED_ID = Uuid(b"deleted topic id")
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
TIMEOUT = 60


def codes(partitions, field="error_code"):
    return {getattr(one, field) for one in partitions}


def produce_request(acks, topic_id):
    records = batch(b"x")
    deleted = [PartitionProduceData(number, records) for number in range(PARTITIONS)]
    topics = [
        TopicProduceData(name=DELETED, topic_id=DELETED_ID, partition_data=deleted),
        TopicProduceData(
            name=KEPT, topic_id=topic_id, partition_data=[PartitionProduceData(0, records)]
        ),
    ]
    return ProduceRequest(acks=acks, timeout_ms=5000, topic_data=topics)


@pytest.mark.parametrize(
    ("version", "expected"), [(9, UNKNOWN), (12, UNKNOWN), (13, ErrorCode.UNKNOWN_TOPIC_ID)]
)
async def test_produce(peer, version, expected):
    topic_id = await create_topic(peer, KEPT)
    response = await peer.call(produce_request(-1, topic_id), version, timeout=TIMEOUT)
    deleted, kept = response.responses
    assert [one.index for one in deleted.partition_responses] == list(range(PARTITIONS))
    assert codes(deleted.partition_responses) == {expected}
    assert codes(kept.partition_responses) == {0}
    assert (await list_offset(peer, KEPT, -1)).offset == 1


async def test_produce_without_acknowledgement_writes_the_other_partitions(
    peer, connect, broker_app
):
    topic_id = await create_topic(peer, KEPT)
    sender = await connect(broker_app)
    sender.send(produce_request(0, topic_id), 9)
    assert await sender.is_closed(TIMEOUT)
    assert (await list_offset(peer, KEPT, -1)).offset == 1


def fetch_request(topic_id, **fields):
    deleted = [FetchPartition(number, partition_max_bytes=1 << 20) for number in range(PARTITIONS)]
    kept = [FetchPartition(0, partition_max_bytes=1 << 20)]
    topics = [FetchTopic(DELETED, DELETED_ID, deleted), FetchTopic(KEPT, topic_id, kept)]
    defaults = {"max_wait_ms": 10_000, "min_bytes": 1 << 20, "max_bytes": 1 << 26}
    return FetchRequest(topics=topics, **defaults | fields)


@pytest.mark.parametrize(
    ("version", "expected"), [(11, UNKNOWN), (12, UNKNOWN), (17, ErrorCode.UNKNOWN_TOPIC_ID)]
)
@pytest.mark.parametrize("epoch", [-1, INITIAL_EPOCH])
async def test_fetch(peer, version, expected, epoch):
    topic_id = await create_topic(peer, KEPT)
    await produce(peer, KEPT, batch(b"x"))
    request = fetch_request(topic_id, session_epoch=epoch)
    response = await peer.call(request, version, timeout=TIMEOUT)
    deleted, kept = response.responses
    assert [one.partition_index for one in deleted.partitions] == list(range(PARTITIONS))
    assert codes(deleted.partitions) == {expected}
    assert codes(kept.partitions) == {0}
    assert len(kept.partitions[0].records) > 0
    assert bool(response.session_id) == (epoch == INITIAL_EPOCH)


async def test_a_session_forgets_the_deleted_topic(peer):
    topic_id = await create_topic(peer, KEPT)
    response = await peer.call(fetch_request(topic_id, session_epoch=0), 12, timeout=TIMEOUT)
    forgotten = [ForgottenTopic(DELETED, partitions=list(range(PARTITIONS)))]
    request = FetchRequest(
        session_id=response.session_id, session_epoch=1, forgotten_topics_data=forgotten
    )
    response = await peer.call(request, 12, timeout=TIMEOUT)
    assert (response.error_code, response.responses) == (0, [])
    await produce(peer, KEPT, batch(b"y"))
    assert (await fetch(peer, KEPT, 0)).error_code == 0


async def test_list_offsets(peer):
    await create_topic(peer, KEPT)
    deleted = [ListOffsetsPartition(number, timestamp=-1) for number in range(PARTITIONS)]
    topics = [
        ListOffsetsTopic(DELETED, deleted),
        ListOffsetsTopic(KEPT, [ListOffsetsPartition(0, timestamp=-1)]),
    ]
    response = await peer.call(ListOffsetsRequest(-1, topics=topics), 7, timeout=TIMEOUT)
    deleted, kept = response.topics
    assert [one.partition_index for one in deleted.partitions] == list(range(PARTITIONS))
    assert codes(deleted.partitions) == {UNKNOWN}
    assert codes(kept.partitions) == {0}


async def test_offsets_of_a_group(peer):
    await create_topic(peer, KEPT)
    await find_coordinator(peer, "g")
    deleted = [OffsetCommitRequestPartition(number, 5) for number in range(PARTITIONS)]
    topics = [
        OffsetCommitRequestTopic(DELETED, partitions=deleted),
        OffsetCommitRequestTopic(KEPT, partitions=[OffsetCommitRequestPartition(0, 5)]),
    ]
    commit = OffsetCommitRequest("g", -1, topics=topics)
    response = await peer.call(commit, 8, timeout=TIMEOUT)
    deleted, kept = response.topics
    assert len(deleted.partitions) == PARTITIONS
    assert codes(deleted.partitions) == {UNKNOWN}
    assert codes(kept.partitions) == {0}

    asked = [
        OffsetFetchRequestTopics(DELETED, partition_indexes=list(range(PARTITIONS))),
        OffsetFetchRequestTopics(KEPT, partition_indexes=[0]),
    ]
    groups = [OffsetFetchRequestGroup("g", topics=asked)]
    response = await peer.call(OffsetFetchRequest(groups=groups), 8, timeout=TIMEOUT)
    (group,) = response.groups
    deleted, kept = group.topics
    assert [one.partition_index for one in deleted.partitions] == list(range(PARTITIONS))
    assert codes(deleted.partitions, "committed_offset") == {-1}
    assert codes(kept.partitions, "committed_offset") == {5}


async def test_partitions_of_a_transaction(peer):
    """Kafka adds no partition if one does not exist."""
    await create_topic(peer, KEPT)
    await find_coordinator(peer, "x", kind=1)
    identity = await peer.call(InitProducerIdRequest("x", 60_000), 4, timeout=TIMEOUT)
    topics = [
        AddPartitionsToTxnTopic(DELETED, list(range(PARTITIONS))),
        AddPartitionsToTxnTopic(KEPT, [0]),
    ]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="x",
        v3_and_below_producer_id=identity.producer_id,
        v3_and_below_producer_epoch=identity.producer_epoch,
        v3_and_below_topics=topics,
    )
    response = await peer.call(request, 3, timeout=TIMEOUT)
    results = [
        one
        for topic in response.results_by_topic_v3_and_below
        for one in topic.results_by_partition
    ]
    assert len(results) == PARTITIONS + 1
    assert codes(results, "partition_error_code") == {UNKNOWN}
