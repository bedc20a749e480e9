"""The short path of Fetch: the same bytes and fields as the generated code, or None."""

import pytest
from support.records.hot_records import load_source

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire import _fetch_hot
from barnabas.wire.headers import encode_response
from barnabas.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
    SnapshotId,
)

VERSIONS = range(12, 19)
FETCH = FetchRequest.API_KEY
TOPIC_ID = Uuid(bytes(range(16)))
PURE = load_source("barnabas.wire._fetch_hot")


def decode_single(frame: memoryview, start: int, version: int) -> FetchRequest | None:
    """The result of both implementations, which must be equal."""
    found = _fetch_hot.decode_single(frame, start, version)
    assert PURE.decode_single(frame, start, version) == found
    return found


def encode_single(correlation_id: int, response: FetchResponse, version: int) -> bytes | None:
    encoded = _fetch_hot.encode_single(correlation_id, response, version)
    assert PURE.encode_single(correlation_id, response, version) == encoded
    return None if encoded is None else b"".join(bytes(part) for part in encoded)


def body_of(request: FetchRequest, version: int) -> bytes:
    return b"".join(bytes(part) for part in request.encode(version))


def single(name: str = "orders") -> FetchRequest:
    partition = FetchPartition(7, 3, 1 << 40, 2, 5, 1_048_576)
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=50_000_000,
        isolation_level=1,
        session_id=77,
        session_epoch=8,
        topics=[FetchTopic(name, TOPIC_ID, [partition])],
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["t", "orders", "caf\u00e9", "x" * 126])
def test_one_partition_is_decoded_as_by_the_generated_code(version, name):
    frame = memoryview(b"header" + body_of(single(name), version) + b"ignored")
    found = decode_single(frame, 6, version)
    assert found is not None
    assert found == FetchRequest.decode(frame, version, 6)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_session_without_changes_is_decoded(version):
    request = single()
    request.topics = []
    frame = memoryview(body_of(request, version))
    found = decode_single(frame, 0, version)
    assert found is not None
    assert found == FetchRequest.decode(frame, version)


def other_requests() -> list[FetchRequest]:
    two, partitions, forgets, rack, cluster, long = (single() for _ in range(6))
    two.topics *= 2
    partitions.topics[0].partitions *= 2
    forgets.forgotten_topics_data = [ForgottenTopic("t", TOPIC_ID, [1])]
    rack.rack_id = "a"
    cluster.cluster_id = "c"
    long.topics[0].partitions = []
    return [two, partitions, forgets, rack, cluster, long]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("request_", other_requests())
def test_other_requests_are_left_to_the_generated_code(version, request_):
    assert decode_single(memoryview(body_of(request_, version)), 0, version) is None


def test_a_long_name_and_a_follower_are_left_to_the_generated_code():
    assert decode_single(memoryview(body_of(single("x" * 127), 12)), 0, 12) is None
    follower = single()
    follower.replica_state = ReplicaState(2, 9)
    assert decode_single(memoryview(body_of(follower, 17)), 0, 17) is None


@pytest.mark.parametrize("version", [11, 19])
def test_other_versions_are_left_to_the_generated_code(version):
    assert decode_single(memoryview(body_of(single(), 12)), 0, version) is None
    assert encode_single(1, FetchResponse(), version) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_truncated_request_is_left_to_the_generated_code(version):
    whole = body_of(single(), version)
    for size in range(len(whole)):
        assert decode_single(memoryview(whole[:size]), 0, version) is None


def test_a_name_that_is_not_utf_8_is_left_to_the_generated_code():
    wrong = body_of(single(), 12).replace(b"orders", b"order\xff")
    assert decode_single(memoryview(wrong), 0, 12) is None


def answer(size: int = 100, **more: object) -> FetchResponse:
    data = PartitionData(7, 0, 1 << 40, 90, 5, records=bytes(size), **more)  # type: ignore[arg-type]
    topic = FetchableTopicResponse("orders", TOPIC_ID, [data])
    return FetchResponse(throttle_time_ms=3, session_id=77, responses=[topic])


def generated(response: FetchResponse, version: int) -> bytes:
    parts = encode_response(42, response, FETCH, version)
    return b"".join(bytes(part) for part in parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 16_382, 16_383, 70_000, 2_200_000])
@pytest.mark.parametrize("aborted", [None, []])
def test_one_partition_is_encoded_as_by_the_generated_code(version, size, aborted):
    response = answer(size, aborted_transactions=aborted)
    assert encode_single(42, response, version) == generated(response, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_response_without_partitions_is_encoded(version):
    response = FetchResponse(session_id=4)
    assert encode_single(42, response, version) == generated(response, version)


def other_responses() -> list[FetchResponse]:
    two, partitions, failed, null, long, endpoints = (answer() for _ in range(6))
    two.responses *= 2
    partitions.responses[0].partitions *= 2
    failed.responses[0].partitions[0].error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    null.responses[0].partitions[0].records = None
    long.responses[0].topic = "x" * 127
    long.responses[0].topic_id = None  # type: ignore[assignment]
    endpoints.node_endpoints = [NodeEndpoint(1, "h", 2)]
    return [
        two,
        partitions,
        failed,
        null,
        long,
        endpoints,
        answer(aborted_transactions=[AbortedTransaction(1, 2)]),
        answer(diverging_epoch=EpochEndOffset(1, 2)),
        answer(current_leader=LeaderIdAndEpoch(1, 2)),
        answer(snapshot_id=SnapshotId(1, 2)),
        answer(preferred_read_replica=None),
        FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=4),
    ]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("response", other_responses())
def test_other_responses_are_left_to_the_generated_code(version, response):
    assert encode_single(42, response, version) is None
