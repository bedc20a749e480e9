"""A follower's fetch as a request, and its response as the types of replication."""

import pytest

from barnabas.broker.cluster.replica_source import WireSource
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.ports import (
    FetchPartition,
    OffsetsPlan,
    ReplicaFetchLimits,
    ReplicaFetchPlan,
)
from barnabas.wire.messages import fetch, list_offsets

ID = Uuid(b"t" * 16)
TOPIC_PARTITION = TopicPartition("t", 3)
ASKED = FetchPartition(TOPIC_PARTITION, ID, 5, 100, 4, 10)


class Link:
    def __init__(self, *answers):
        self.requests = []
        self._answers = list(answers)

    async def request(self, message, *, version=None, timeout_s=None):
        self.requests.append(message)
        return self._answers.pop(0)

    def close(self):
        self.requests.append("closed")


def source(*answers):
    link = Link(*answers)
    return link, WireSource(link, 2, lambda: 77, 30.0)


def fetch_answer(**more):
    data = fetch.PartitionData(3, more.pop("error_code", 0), 90, 90, 10, **more)
    return fetch.FetchResponse(responses=[fetch.FetchableTopicResponse("", ID, [data])])


async def test_a_fetch_names_replica_epochs_and_position():
    link, wire = source(fetch_answer(records=memoryview(b"batch")))
    (got,) = await wire.fetch(ReplicaFetchPlan((ASKED,), ReplicaFetchLimits()))
    (sent,) = link.requests
    assert (sent.replica_state.replica_id, sent.replica_state.replica_epoch) == (2, 77)
    assert (sent.session_id, sent.session_epoch) == (0, 0)
    (part,) = sent.topics[0].partitions
    assert (part.partition, part.current_leader_epoch, part.fetch_offset) == (3, 5, 100)
    assert (part.last_fetched_epoch, part.log_start_offset) == (4, 10)
    assert (got.topic_partition, got.error, got.high_watermark) == (
        TOPIC_PARTITION,
        ErrorCode.NONE,
        90,
    )
    assert bytes(got.records) == b"batch"
    assert got.diverging_epoch is None


def in_session(session_id=9, error_code=0):
    return fetch.FetchResponse(error_code=error_code, session_id=session_id)


def named(request):
    return [part.partition for topic in request.topics for part in topic.partitions]


async def test_a_session_names_only_what_changed():
    other = FetchPartition(TopicPartition("t", 4), ID, 5, 0, 4, 0)
    link, wire = source(in_session(), in_session(), in_session())
    await wire.fetch(ReplicaFetchPlan((ASKED, other), ReplicaFetchLimits()))
    moved = FetchPartition(TOPIC_PARTITION, ID, 5, 101, 5, 10)
    await wire.fetch(ReplicaFetchPlan((moved, other), ReplicaFetchLimits()))
    await wire.fetch(ReplicaFetchPlan((moved,), ReplicaFetchLimits()))
    first, second, third = link.requests
    assert (first.session_epoch, named(first)) == (0, [3, 4])
    assert (second.session_id, second.session_epoch, named(second)) == (9, 1, [3])
    assert (third.session_epoch, named(third)) == (2, [])
    (gone,) = third.forgotten_topics_data
    assert (gone.topic_id, gone.partitions) == (ID, [4])


async def test_a_leader_without_the_session_gets_a_full_request():
    unknown = in_session(0, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    link, wire = source(in_session(), unknown, in_session(10))
    plan = ReplicaFetchPlan((ASKED,), ReplicaFetchLimits())
    for _ in range(3):
        assert not await wire.fetch(plan)
    assert [(r.session_id, r.session_epoch) for r in link.requests] == [(0, 0), (9, 1), (0, 0)]
    assert named(link.requests[-1]) == [3]


async def test_divergence_comes_through():
    _, wire = source(fetch_answer(diverging_epoch=fetch.EpochEndOffset(3, 80), records=None))
    (got,) = await wire.fetch(ReplicaFetchPlan((ASKED,), ReplicaFetchLimits()))
    assert got.diverging_epoch == LogEpochEnd(3, 80)
    assert got.records == b""


async def test_an_error_for_all_is_raised():
    _, wire = source(fetch.FetchResponse(error_code=ErrorCode.KAFKA_STORAGE_ERROR))
    with pytest.raises(BrokerError) as failed:
        await wire.fetch(ReplicaFetchPlan((ASKED,), ReplicaFetchLimits()))
    assert failed.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def offsets_answer(offset, code=0):
    item = list_offsets.ListOffsetsPartitionResponse(3, code, -1, offset)
    return list_offsets.ListOffsetsResponse(
        topics=[list_offsets.ListOffsetsTopicResponse("t", [item])]
    )


async def test_start_and_end_offsets_are_requested():
    link, wire = source(offsets_answer(20), offsets_answer(120))
    (got,) = await wire.leader_offsets(OffsetsPlan((ASKED,)))
    assert (got.error, got.start_offset, got.end_offset) == (ErrorCode.NONE, 20, 120)
    stamps = [request.topics[0].partitions[0].timestamp for request in link.requests]
    assert stamps == [-2, -1]


async def test_an_error_of_either_end_is_the_partitions():
    fenced = ErrorCode.FENCED_LEADER_EPOCH
    _, wire = source(offsets_answer(20), offsets_answer(-1, fenced))
    (got,) = await wire.leader_offsets(OffsetsPlan((ASKED,)))
    assert got.error is fenced
