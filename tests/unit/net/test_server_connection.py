"""ServerConnection over the in-memory stream: framing, order, mute, deadlines, memory."""

import asyncio
import struct

import pytest
from support.network.memory_stream import MemoryStream, memory_pair

from barnabas.model.errors import ProtocolError
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.frame_reader import ConnectionLimits
from barnabas.net.listener import Listener
from barnabas.net.replies import PendingReply
from barnabas.testing.virtual_clock import VirtualClock


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def received(stream: MemoryStream) -> bytes:
    buffer = memoryview(bytearray(1 << 22))
    try:
        return bytes(buffer[: stream.recv_into(buffer)])
    except BlockingIOError:
        return b""


class Harness:
    """A listener with one served memory stream and a scripted handler."""

    def __init__(self, handler=None, *, capacity=1 << 22, **limits):
        self.frames: list[bytes] = []
        self.clock = VirtualClock()
        self.listener = Listener(
            handler or self.echo, clock=self.clock, limits=ConnectionLimits(**limits)
        )
        self.client, server = memory_pair(capacity)
        self.connection = self.listener.serve(server)

    def echo(self, connection, data):
        self.frames.append(bytes(data))
        return [frame(bytes(data))]

    async def send(self, data: bytes) -> None:
        self.client.send([data], more=False)
        await turns()


async def test_a_frame_split_at_every_byte_is_one_frame():
    harness = Harness()
    data = frame(b"hello world")
    for cut in range(1, len(data)):
        await harness.send(data[:cut])
        await harness.send(data[cut:])
    assert harness.frames == [b"hello world"] * (len(data) - 1)
    assert received(harness.client) == data * (len(data) - 1)


async def test_many_frames_in_one_read_are_answered_in_order():
    harness = Harness()
    await harness.send(b"".join(frame(b"%d" % n) for n in range(100)))
    assert received(harness.client) == b"".join(frame(b"%d" % n) for n in range(100))


async def test_a_large_frame_is_received_whole_and_writable():
    seen = []

    def handler(connection, data):
        data[0] = 0x7A
        seen.append(bytes(data))

    harness = Harness(handler, capacity=100_000)
    body = bytes(range(256)) * 20_000
    data = frame(body)
    while data:
        try:
            sent = harness.client.send([data], more=False)
        except BlockingIOError:
            sent = 0
        data = data[sent:]
        await turns(3)
    assert seen == [b"z" + body[1:]]
    assert harness.listener.budget.used == 0


async def test_memory_follows_what_arrives_not_what_is_claimed():
    harness = Harness()
    await harness.send(struct.pack(">i", 100 * 1024 * 1024) + b"only this")
    assert harness.listener.budget.used == 1 << 20


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (struct.pack(">i", -1), CloseReason.FRAME_SIZE),
        (struct.pack(">i", 0), CloseReason.FRAME_SIZE),
        (struct.pack(">i", 100 * 1024 * 1024 + 1), CloseReason.FRAME_SIZE),
        (b"\x16\x03\x01\x02\x00\x01", CloseReason.LOOKS_LIKE_TLS),
        (b"GET / HTTP/1.1\r\n", CloseReason.LOOKS_LIKE_HTTP),
    ],
)
async def test_an_impossible_size_closes_with_its_reason(start, reason, caplog):
    harness = Harness()
    await harness.send(start)
    assert harness.connection.closed
    assert harness.listener.closed_connections.counts == {reason: 1}
    assert len(caplog.records) == 1
    assert f"reason={reason.value}" in caplog.text


async def test_requests_before_a_rejected_one_are_answered():
    def handler(connection, data):
        if data == b"bad":
            raise ProtocolError("bad")
        return [frame(bytes(data))]

    harness = Harness(handler)
    await harness.send(frame(b"1") + frame(b"2") + frame(b"bad") + frame(b"3"))
    assert harness.connection.closed
    assert received(harness.client) == frame(b"1") + frame(b"2")


async def test_a_pending_reply_mutes_the_connection_until_it_is_there():
    first = PendingReply()
    seen = []

    def handler(connection, data):
        seen.append(bytes(data))
        return first if data == b"wait" else [frame(bytes(data))]

    harness = Harness(handler)
    await harness.send(frame(b"wait") + frame(b"next"))
    await harness.send(frame(b"third"))
    assert seen == [b"wait"]
    assert received(harness.client) == b""
    first.complete([frame(b"waited")])
    await turns()
    assert seen == [b"wait", b"next", b"third"]
    assert received(harness.client) == frame(b"waited") + frame(b"next") + frame(b"third")


async def test_pipelined_replies_keep_the_order_of_requests():
    replies = {}

    def handler(connection, data):
        if data == b"now":
            return [frame(b"now")]
        replies[bytes(data)] = PendingReply(pipelined=True)
        return replies[bytes(data)]

    harness = Harness(handler)
    await harness.send(frame(b"a") + frame(b"b") + frame(b"now"))
    assert set(replies) == {b"a", b"b"}
    replies[b"b"].complete([frame(b"B")])
    await turns()
    assert received(harness.client) == b""
    replies[b"a"].complete([frame(b"A")])
    await turns()
    assert received(harness.client) == frame(b"A") + frame(b"B") + frame(b"now")


async def test_no_more_than_the_allowed_number_of_replies_is_pending():
    replies = []

    def handler(connection, data):
        replies.append(PendingReply(pipelined=True))
        return replies[-1]

    harness = Harness(handler, max_pending_replies=3)
    await harness.send(b"".join(frame(b"%d" % n) for n in range(10)))
    assert len(replies) == 3
    replies[0].complete([frame(b"0")])
    await turns()
    assert len(replies) == 4


async def test_a_reader_that_does_not_read_gets_back_pressure():
    handled = []

    def handler(connection, data):
        handled.append(1)
        return [frame(bytes(10_000))]

    harness = Harness(handler, capacity=20_000, max_unsent_bytes=30_000)
    for _ in range(5):
        await harness.send(b"".join(frame(b"x") for _ in range(20)))
    assert len(handled) < 10
    for _ in range(2000):
        if len(handled) == 100 and not received(harness.client):
            break
        received(harness.client)
        await turns(3)
    assert len(handled) == 100


async def test_a_file_part_is_sent_between_bytes_and_released_once():
    class FakeSlice:
        fd, position, released = 0, 0, 0

        def __len__(self):
            return 50_000

        def read(self):
            return b"f" * 50_000

        def release(self):
            self.released += 1

    part = FakeSlice()
    harness = Harness(lambda connection, data: [b"head", part, b"tail"], capacity=20_000)
    await harness.send(frame(b"x"))
    out = b""
    while len(out) < 50_008:
        out += received(harness.client)
        await turns(2)
    assert out == b"head" + b"f" * 50_000 + b"tail"
    assert part.released == 1


async def test_closing_releases_files_and_abandons_pending_replies():
    abandoned = []
    pending = PendingReply(on_abandon=lambda: abandoned.append(1))
    harness = Harness(lambda connection, data: pending)
    await harness.send(frame(b"x"))
    harness.connection.close()
    assert abandoned == [1]

    class Slice:
        released = 0

        def __len__(self):
            return 5

        def release(self):
            self.released += 1

    late = Slice()
    pending.complete([late])
    assert late.released == 1
    assert harness.listener.connections == set()


async def test_a_handler_that_rejects_closes_without_an_answer(caplog):
    def handler(connection, data):
        raise ConnectionClosedError(CloseReason.NOT_STARTED, "api 99")

    harness = Harness(handler)
    await harness.send(frame(b"x") + frame(b"y"))
    assert harness.connection.closed
    assert received(harness.client) == b""
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("sent", [b"", b"\x00\x00", struct.pack(">i", 10) + b"12345"])
async def test_a_peer_that_owes_bytes_is_closed_at_the_deadline(sent):
    harness = Harness()
    if sent:
        await harness.send(frame(b"ok") + sent)
    harness.clock.advance(29_999)
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert not harness.connection.closed
    harness.clock.advance(1)
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert harness.connection.closed
    assert harness.listener.closed_connections.counts == {CloseReason.SLOW_PEER: 1}


async def test_an_idle_connection_is_closed_quietly_but_not_while_a_request_is_in_progress():
    pending = PendingReply()
    harness = Harness(lambda connection, data: pending)
    await harness.send(frame(b"x"))
    harness.clock.advance(700_000)
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert not harness.connection.closed
    pending.complete([frame(b"y")])
    await turns()
    harness.clock.advance(600_000)
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert harness.connection.closed
    assert not harness.listener.closed_connections.counts


async def test_a_peer_that_never_reads_is_closed_at_the_deadline():
    harness = Harness(lambda connection, data: [bytes(50_000)], capacity=10_000)
    await harness.send(frame(b"x"))
    harness.clock.advance(30_000)
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert harness.connection.closed


async def test_when_memory_is_short_a_stuck_holder_loses_its_frame():
    harness = Harness(max_partial_bytes=1 << 20)
    await harness.send(struct.pack(">i", 50 << 20) + b"x")
    other, server = memory_pair()
    second = harness.listener.serve(server)
    harness.clock.advance(2_000)
    other.send([struct.pack(">i", 2 << 20) + b"y"], more=False)
    await turns()
    assert harness.connection.closed
    assert not second.closed
    assert harness.listener.closed_connections.counts == {CloseReason.MEMORY: 1}


async def test_stop_answers_what_is_in_progress():
    pending = PendingReply()
    harness = Harness(lambda connection, data: pending)
    await harness.send(frame(b"x"))
    stopping = asyncio.create_task(harness.listener.stop())
    await turns()
    assert not harness.connection.closed
    pending.complete([frame(b"done")])
    await stopping
    assert received(harness.client) == frame(b"done")
    assert harness.connection.closed


async def test_a_peer_that_left_while_its_request_waits_is_noticed():
    abandoned = []
    pending = PendingReply(on_abandon=lambda: abandoned.append(1))
    harness = Harness(lambda connection, data: pending)
    await harness.send(frame(b"x") + frame(b"not read while the first one waits"))
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert not harness.connection.closed
    harness.client.close()
    harness.connection.check_deadlines(harness.clock.monotonic_ms())
    assert harness.connection.closed
    assert abandoned == [1]


async def test_requests_behind_a_large_answer_that_went_out_at_once_are_served():
    harness = Harness(lambda connection, data: [frame(bytes(40_000))], max_unsent_bytes=30_000)
    await harness.send(b"".join(frame(b"x") for _ in range(5)) + b"\x00")
    assert len(received(harness.client)) == 5 * 40_004


async def test_an_unsupported_request_is_rejected_after_a_delay():
    """Tools that ignore ApiVersions connect again at once: this slows them down."""

    def handler(connection, data):
        raise ConnectionClosedError(CloseReason.UNSUPPORTED, "FETCH version 99")

    harness = Harness(handler)
    later = []
    harness.listener.call_later = lambda delay_s, callback: later.append((delay_s, callback))
    await harness.send(frame(b"x") * 3)
    assert not harness.connection.closed
    assert harness.listener.closed_connections.counts[CloseReason.UNSUPPORTED] == 1
    ((delay_s, close),) = later
    assert delay_s == 0.5
    close()
    assert harness.connection.closed


async def test_the_start_of_a_size_does_not_keep_the_loop_busy():
    harness = Harness()
    await harness.send(frame(b"x") + b"\x00\x00")
    rounds = []
    harness.listener.call_soon = rounds.append
    await harness.send(b"\x00")
    assert rounds == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError(), CloseReason.MEMORY), (KeyError("oops"), CloseReason.INTERNAL)],
)
async def test_an_unexpected_exception_closes_one_connection_only(error, reason, caplog):
    def handler(connection, data):
        if bytes(data) == b"bad":
            raise error
        return [frame(bytes(data))]

    escaped = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: escaped.append(context))
    harness = Harness(handler)
    other, server = memory_pair(1 << 22)
    harness.listener.serve(server)
    await harness.send(frame(b"good") + frame(b"bad"))
    assert harness.connection.closed
    assert harness.listener.closed_connections.counts[reason] == 1
    other.send([frame(b"fine")], more=False)
    await turns()
    assert received(other) == frame(b"fine")
    assert escaped == []
    assert ("KeyError" in caplog.text) is (reason is CloseReason.INTERNAL)
