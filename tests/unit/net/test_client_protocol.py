"""Frames out of a byte stream, and responses paired with requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.model.errors import ProtocolError
from barnabas.net.client_protocol import ClientProtocol, FrameReceiver
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse


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
