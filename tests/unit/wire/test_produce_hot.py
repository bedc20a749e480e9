"""The short path of Produce: the same bytes and fields as the generated code, or None."""

import pytest
from support.records.hot_records import load_source

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire import _produce_hot
from barnabas.wire.headers import (
    RequestHeader,
    encode_request,
    encode_response,
    request_header_end,
)
from barnabas.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

VERSIONS = range(9, 14)
TOPIC_ID = Uuid(bytes(range(16)))
PRODUCE = ProduceRequest.API_KEY
PURE = load_source("barnabas.wire._produce_hot")


def decode_single(frame: memoryview, start: int, version: int = 9) -> ProduceRequest | None:
    """The result of both implementations, which must be equal."""
    found = _produce_hot.decode_single(frame, start, version)
    assert PURE.decode_single(frame, start, version) == found
    return found


def encode_single(correlation_id: int, response: ProduceResponse, version: int) -> bytes | None:
    encoded = _produce_hot.encode_single(correlation_id, response, version)
    assert PURE.encode_single(correlation_id, response, version) == encoded
    return None if encoded is None else b"".join(encoded)


def body_of(request: ProduceRequest, version: int = 9) -> bytes:
    return b"".join(bytes(part) for part in request.encode(version))


def single(size: int = 100, *, name: str = "orders", acks: int = -1) -> ProduceRequest:
    data = PartitionProduceData(7, memoryview(bytes(size)))
    return ProduceRequest(None, acks, 30_000, [TopicProduceData(name, TOPIC_ID, [data])])


def decode_response(frame: memoryview, start: int, version: int) -> ProduceResponse | None:
    found = _produce_hot.decode_single_response(frame, start, version)
    assert PURE.decode_single_response(frame, start, version) == found
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 16_382, 16_383, 70_000, 2_200_000])
def test_one_batch_is_decoded_as_by_the_generated_code(version, size):
    frame = memoryview(b"header" + body_of(single(size), version) + b"ignored")
    assert decode_single(frame, 6, version) == ProduceRequest.decode(frame, version, 6)


@pytest.mark.parametrize("acks", [0, 1, -1, 2])
def test_acks_and_a_name_in_utf_8_are_decoded(acks):
    frame = memoryview(body_of(single(name="caf\u00e9", acks=acks)))
    assert decode_single(frame, 0) == ProduceRequest.decode(frame, 9)


def test_the_batch_is_a_view_of_the_frame():
    frame = bytearray(body_of(single()))
    found = decode_single(memoryview(frame), 0)
    assert found is not None
    records = found.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame


def other_requests() -> list[bytes]:
    two = single()
    two.topic_data *= 2
    partitions = single()
    partitions.topic_data[0].partition_data *= 2
    none = ProduceRequest(None, -1, 1, [])
    null = single()
    null.topic_data[0].partition_data[0].records = None
    transactional = single()
    transactional.transactional_id = "id"
    requests = [two, partitions, none, null, transactional, single(name="x" * 127)]
    return [body_of(request) for request in requests]


@pytest.mark.parametrize("body", other_requests())
def test_another_request_is_left_to_the_generated_code(body):
    assert decode_single(memoryview(body), 0) is None


@pytest.mark.parametrize("version", [9, 13])
def test_a_cut_request_is_left_to_the_generated_code(version):
    body = body_of(single(200), version)
    for size in range(len(body)):
        assert decode_single(memoryview(body[:size]), 0, version) is None


def test_tags_and_invalid_bytes_are_left_to_the_generated_code():
    body = body_of(single())
    assert decode_single(memoryview(body[:-1] + b"\1\0\0"), 0) is None
    assert decode_single(memoryview(body.replace(b"orders", b"order\xff")), 0) is None
    endless = body[:16] + bytes(4) + b"\xff" * 40
    assert decode_single(memoryview(endless), 0) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_response_has_the_bytes_of_the_generated_code(version):
    answer = PartitionProduceResponse(7, 0, 123_456_789_012, 5, 3)
    response = ProduceResponse([TopicProduceResponse("orders", TOPIC_ID, [answer])], 9)
    expected = b"".join(bytes(part) for part in encode_response(42, response, PRODUCE, version))
    assert encode_single(42, response, version) == expected


def other_responses() -> list[ProduceResponse]:
    def response(*answers: PartitionProduceResponse, name: str = "t") -> ProduceResponse:
        return ProduceResponse([TopicProduceResponse(name, partition_responses=list(answers))])

    plain = PartitionProduceResponse(0)
    hinted = response(plain)
    hinted.node_endpoints = [NodeEndpoint(1, "h", 1)]
    return [
        ProduceResponse([]),
        response(),
        response(plain, plain),
        response(plain, name="x" * 127),
        response(PartitionProduceResponse(0, ErrorCode.NOT_LEADER_OR_FOLLOWER)),
        response(PartitionProduceResponse(0, error_message="m")),
        response(PartitionProduceResponse(0, record_errors=[BatchIndexAndErrorMessage(0)])),
        response(PartitionProduceResponse(0, current_leader=LeaderIdAndEpoch(1, 1))),
        hinted,
    ]


@pytest.mark.parametrize("response", other_responses())
def test_another_response_is_left_to_the_generated_code(response):
    assert encode_single(1, response, 12) is None


@pytest.mark.parametrize("version", [8, 14])
def test_another_version_is_left_to_the_generated_code(version):
    answer = PartitionProduceResponse(0)
    response = ProduceResponse([TopicProduceResponse("t", partition_responses=[answer])])
    assert encode_single(1, response, version) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_response_is_decoded_as_by_the_generated_code(version):
    answer = PartitionProduceResponse(7, 0, 123_456_789_012, 5, 3)
    response = ProduceResponse([TopicProduceResponse("orders", TOPIC_ID, [answer])], 9)
    body = b"".join(bytes(part) for part in response.encode(version))
    frame = memoryview(b"header" + body + b"ignored")
    found = decode_response(frame, 6, version)
    assert found is not None
    assert found == ProduceResponse.decode(frame, version, 6)


@pytest.mark.parametrize("response", other_responses()[:3] + other_responses()[4:])
@pytest.mark.parametrize("version", [12, 13])
def test_another_response_is_decoded_by_the_generated_code(response, version):
    body = b"".join(bytes(part) for part in response.encode(version))
    assert decode_response(memoryview(body), 0, version) is None


@pytest.mark.parametrize("version", [12, 13])
def test_a_cut_response_is_left_to_the_generated_code(version):
    answer = PartitionProduceResponse(7, 0, 5, -1, 0)
    response = ProduceResponse([TopicProduceResponse("orders", TOPIC_ID, [answer])])
    body = b"".join(bytes(part) for part in response.encode(version))
    for size in range(len(body)):
        assert decode_response(memoryview(body[:size]), 0, version) is None


def test_a_response_with_an_invalid_name_is_left_to_the_generated_code():
    answer = PartitionProduceResponse(7, 0, 5, -1, 0)
    response = ProduceResponse([TopicProduceResponse("orders", partition_responses=[answer])])
    body = b"".join(bytes(part) for part in response.encode(12))
    invalid = body.replace(b"orders", b"order\xff")
    assert decode_response(memoryview(invalid), 0, 12) is None


def forms(version: int) -> list[object]:
    """The form of requests of `single`, compiled and as plain Python."""
    records = bytearray(61)
    body = body_of(single(61), version)
    begin = body.index(bytes(records)) - 1  # the length of the batch has one byte
    head, tail = body[:begin], body[begin + 1 + len(records) :]
    end = request_header_end(PRODUCE, version, "me")
    return [module.SingleBatchForm(version, end, head, tail) for module in (_produce_hot, PURE)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 16_382, 16_383, 70_000, 2_200_000])
def test_a_form_makes_the_frame_of_the_generated_code(version, size):
    header = RequestHeader(PRODUCE, version, 2**31 - 1, "me")
    whole = b"".join(bytes(part) for part in encode_request(header, single(size)))
    for form in forms(version):
        assert form.version == version
        assert form.frame(2**31 - 1, bytearray(size)) == whole


def appended(version: int, **changes: object) -> ProduceResponse:
    fields = {"index": 7, "error_code": 0, "base_offset": 2**40, "log_append_time_ms": 5}
    partition = PartitionProduceResponse(**{**fields, "log_start_offset": 3, **changes})
    topic = TopicProduceResponse("orders", TOPIC_ID, [partition])
    return ProduceResponse([topic], throttle_time_ms=11)


def frame_of(response: ProduceResponse, version: int, correlation_id: int = 9) -> memoryview:
    parts = encode_response(correlation_id, response, PRODUCE, version)
    return memoryview(b"".join(bytes(part) for part in parts)[4:])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_form_reads_the_response_of_an_appended_batch(version):
    frame = frame_of(appended(version), version)
    for form in forms(version):
        found = form.read(frame, 9)
        assert (found.base_offset, found.log_append_time_ms) == (2**40, 5)
        assert found.throttle_time_ms == 11
        assert form.read(frame, 8) is None
        assert all(form.read(frame[:size], 9) is None for size in range(len(frame)))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_form_leaves_other_responses_to_the_generated_code(version):
    other_topic = appended(version)
    other_topic.responses[0].name, other_topic.responses[0].topic_id = "others", Uuid(bytes(16))
    two = appended(version)
    two.responses *= 2
    responses = [
        other_topic,
        two,
        ProduceResponse([]),
        appended(version, index=8),
        appended(version, error_code=6),
        appended(version, error_message="no"),
        appended(version, record_errors=[BatchIndexAndErrorMessage(0, None)]),
    ]
    if version >= 10:
        responses.append(appended(version, current_leader=LeaderIdAndEpoch(1, 2)))
    for form in forms(version):
        for response in responses:
            assert form.read(frame_of(response, version), 9) is None
