"""Requests about offsets; an impossible response is an error and never becomes an offset."""

import pytest

from barnabas.clients.core.apis.committed_offsets import (
    check_offset_commit,
    offset_fetch_request,
    read_requested_committed,
)
from barnabas.clients.core.apis.list_offsets import (
    OffsetQuery,
    list_offsets_request,
    read_requested_offsets,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, IsolationLevel, OffsetAndMetadata
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from barnabas.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

A, B = TopicPartition("t", 0), TopicPartition("u", 1)


def listed(*items):
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=list(items))])


@pytest.mark.parametrize(
    ("timestamp", "offset", "fits"),
    [
        (-2, 0, True),
        (-1, 7, True),
        (-2, -1, False),
        (-1, -1, False),
        (99, -1, True),
        (99, -2, False),
    ],
)
def test_an_impossible_offset_is_a_protocol_error(timestamp, offset, fits):
    response = listed(ListOffsetsPartitionResponse(partition_index=0, offset=offset))
    found = read_requested_offsets(response, {A: OffsetQuery(timestamp, 3)})[A]
    assert found.offset == offset if fits else isinstance(found, ProtocolError)


def test_a_missing_partition_is_a_retriable_error():
    error = read_requested_offsets(listed(), {A: OffsetQuery(-1, 3)})[A]
    assert isinstance(error, BrokerError)
    assert error.retriable


def test_a_request_names_epochs():
    request = list_offsets_request(
        {A: OffsetQuery(-1, 3), B: OffsetQuery(5)}, IsolationLevel.READ_COMMITTED
    )
    assert [topic.name for topic in request.topics] == ["t", "u"]
    assert request.topics[0].partitions[0].current_leader_epoch == 3
    assert (request.replica_id, request.isolation_level) == (-1, 1)


def fetched(offset, code=0, group_code=0):
    item = OffsetFetchResponsePartitions(
        partition_index=0, committed_offset=offset, metadata=None, error_code=code
    )
    topic = OffsetFetchResponseTopics(name="t", partitions=[item])
    group = OffsetFetchResponseGroup(group_id="g", topics=[topic], error_code=group_code)
    return OffsetFetchResponse(groups=[group])


def test_missing_or_impossible_committed_offsets_are_errors():
    assert read_requested_committed(fetched(5), [A]) == {A: OffsetAndMetadata(5, "", -1)}
    assert read_requested_committed(fetched(-1), [A]) == {A: None}
    with pytest.raises(ProtocolError):
        read_requested_committed(fetched(-7), [A])
    with pytest.raises(ProtocolError, match="leaves out"):
        read_requested_committed(fetched(5), [A, B])
    with pytest.raises(BrokerError, match="UNSTABLE_OFFSET_COMMIT"):
        read_requested_committed(fetched(5, code=ErrorCode.UNSTABLE_OFFSET_COMMIT), [A])
    with pytest.raises(BrokerError, match="NOT_COORDINATOR"):
        read_requested_committed(fetched(5, group_code=ErrorCode.NOT_COORDINATOR), [A])


def test_committed_offsets_of_old_brokers():
    item = OffsetFetchResponsePartition(partition_index=0, committed_offset=5, metadata="m")
    response = OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="t", partitions=[item])])
    assert read_requested_committed(response, [A]) == {A: OffsetAndMetadata(5, "m", -1)}


def test_only_a_member_sends_its_id_and_epoch():
    plain = offset_fetch_request(GroupMetadata("g"), [A, B]).groups[0]
    assert (plain.member_id, plain.member_epoch) == (None, -1)
    member = offset_fetch_request(GroupMetadata("g", 4, "m"), [A]).groups[0]
    assert (member.member_id, member.member_epoch) == ("m", 4)


def test_a_commit_raises_the_error_of_its_partition():
    def response(code):
        item = OffsetCommitResponsePartition(partition_index=0, error_code=code)
        topic = OffsetCommitResponseTopic(name="t", partitions=[item])
        return OffsetCommitResponse(topics=[topic])

    check_offset_commit(response(0), {A: OffsetAndMetadata(1)})
    with pytest.raises(BrokerError, match="ILLEGAL_GENERATION"):
        check_offset_commit(response(ErrorCode.ILLEGAL_GENERATION), {A: OffsetAndMetadata(1)})
    with pytest.raises(ProtocolError, match="leaves out"):
        check_offset_commit(response(0), {A: OffsetAndMetadata(1), B: OffsetAndMetadata(1)})
