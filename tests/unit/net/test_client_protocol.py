"""Frames out of a byte stream, and responses paired with requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.errors import ProtocolError
from barnabas.model.ids import ZERO_UUID
from barnabas.net._frame_receiver_hot import FrameReceiver
from barnabas.net.client_protocol import ClientProtocol
from barnabas.wire._produce_hot import AppendedBatch
from barnabas.wire.headers import encode_response
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)


def feed(receiver, data, sizes):
    frames = []
    position = 0
    for size in sizes:
        buffer = receiver.buffer()
        count = min(size, len(buffer), len(data) - position)
        buffer[:count] = data[position : position + count]
        frames.extend(bytes(frame) for frame in receiver.filled(count))
        position += count
    while position < len(data):
        buffer = receiver.buffer()
        count = min(len(buffer), len(data) - position)
        buffer[:count] = data[position : position + count]
        frames.extend(bytes(frame) for frame in receiver.filled(count))
        position += count
    return frames


def framed(bodies):
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


@given(
    st.lists(st.binary(min_size=4, max_size=300), max_size=20),
    st.lists(st.integers(1, 200), max_size=50),
)
def test_frames_come_out_whole_however_they_arrive(bodies, sizes):
    assert feed(FrameReceiver(), framed(bodies), sizes) == bodies


def test_a_frame_larger_than_the_scratch_buffer_comes_out_whole():
    bodies = [b"x" * 200_000, b"y" * 10, b"z" * 70_000]
    assert feed(FrameReceiver(), framed(bodies), [7, 100]) == bodies


@pytest.mark.parametrize("head", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x03", b"HTTP", b"\x7fabc"])
def test_a_nonsense_size_is_rejected_before_it_is_allocated(head):
    receiver = FrameReceiver(max_bytes=1_000_000)
    receiver.buffer()[:4] = head
    with pytest.raises(ProtocolError, match="does not use Kafka"):
        receiver.filled(4)


def answer(correlation_id):
    body = b"".join(MetadataResponse(controller_id=7).encode(1))
    return memoryview(correlation_id.to_bytes(4, "big") + body)


def test_responses_answer_requests_in_order():
    protocol = ClientProtocol("me")
    for _ in range(2):
        protocol.send(MetadataRequest(topics=[]), 1)
    assert protocol.in_flight == 2
    assert protocol.receive(answer(0)).controller_id == 7
    assert protocol.receive(answer(1)).controller_id == 7
    assert protocol.in_flight == 0


def test_a_response_out_of_order_is_the_peers_error():
    protocol = ClientProtocol("me")
    protocol.send(MetadataRequest(topics=[]), 1)
    with pytest.raises(ProtocolError, match="request 5 where 0 was due"):
        protocol.receive(answer(5))


def test_response_without_a_pending_request_is_a_protocol_error():
    with pytest.raises(ProtocolError, match="without a pending request"):
        ClientProtocol("me").receive(answer(0))


@pytest.mark.parametrize(("code", "kind"), [(0, AppendedBatch), (6, ProduceResponse)])
def test_the_response_of_a_batch_that_was_not_appended_is_decoded_completely(code, kind):
    protocol = ClientProtocol("me")
    form = protocol.single_form(13, bytes(7) + b"\2" + bytes(16) + b"\2" + bytes(4), b"\0\0\0")
    protocol.send_batch(form, bytearray(100))
    partition = PartitionProduceResponse(index=0, error_code=code, base_offset=5)
    topic = TopicProduceResponse("", ZERO_UUID, [partition])
    parts = encode_response(0, ProduceResponse([topic]), ProduceRequest.API_KEY, 13)
    response = protocol.receive(memoryview(b"".join(bytes(part) for part in parts)[4:]))
    assert isinstance(response, kind)
    assert protocol.in_flight == 0


def test_the_response_of_another_request_is_refused_for_a_batch():
    protocol = ClientProtocol("me")
    form = protocol.single_form(13, bytes(7) + b"\2" + bytes(16) + b"\2" + bytes(4), b"\0\0\0")
    protocol.send_batch(form, bytearray(100))
    with pytest.raises(ProtocolError, match="request 7 where 0 was due"):
        protocol.receive(memoryview(b"\0\0\0\7\0\1\0\0\0\0\0"))
