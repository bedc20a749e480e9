"""ReplyQueue: replies in the order of their requests, and when the next request must wait."""

import pytest

from barnabas.net.frame_reader import ConnectionLimits
from barnabas.net.replies import PendingReply
from barnabas.net.reply_queue import ReplyQueue
from barnabas.runtime.metrics import Histogram


class Sink:
    """A stream that takes all, and keeps it."""

    def __init__(self) -> None:
        self.taken = b""

    def send(self, buffers, more):
        self.taken += b"".join(buffers)
        return sum(map(len, buffers))


class Harness:
    def __init__(self, **limits):
        self.ready = 0
        self.queue = ReplyQueue(ConnectionLimits(**limits), self._on_ready)

    def _on_ready(self) -> None:
        self.ready += 1

    def sent(self) -> bytes:
        sink = Sink()
        self.queue.collect()
        self.queue.send(sink)
        return sink.taken


def test_a_reply_that_is_there_waits_for_the_one_before_it():
    harness = Harness()
    slow = PendingReply(pipelined=True)
    harness.queue.add(slow)
    harness.queue.add([b"two"])
    assert harness.sent() == b""
    slow.complete([b"one "])
    assert harness.ready == 1
    assert harness.sent() == b"one two"
    assert not harness.queue.pending
    assert not harness.queue.unsent


class SlowSink(Sink):
    """A stream that takes a few bytes per call."""

    def send(self, buffers, more):
        data = b"".join(buffers)[:4]
        if not data or len(self.taken) % 4:
            raise BlockingIOError
        self.taken += data
        return len(data)


def test_the_send_time_of_a_response_ends_with_its_last_byte():
    harness, fetch, produce = Harness(), Histogram(), Histogram()
    slow = PendingReply(pipelined=True)
    harness.queue.add(slow, fetch)
    harness.queue.add([b"5678"], produce)
    harness.queue.add([b"9"], produce)
    slow.complete([b"1234"])
    harness.queue.collect()
    sink = SlowSink()
    harness.queue.send(sink)
    assert (fetch.count, produce.count) == (1, 2)
    assert sink.taken == b"123456789"
    harness.queue.add([b"unsent"], fetch)
    harness.queue.send(sink)
    assert fetch.count == 1
    harness.queue.clear()
    assert fetch.count == 1


def test_a_request_that_must_not_be_overtaken_holds_the_next():
    harness = Harness()
    harness.queue.add(PendingReply(pipelined=True))
    assert not harness.queue.full
    harness.queue.add(PendingReply())
    assert harness.queue.full


def test_too_many_pending_or_too_much_unsent_hold_the_next():
    harness = Harness(max_pending_replies=2, max_unsent_bytes=10)
    harness.queue.add([b"x" * 11])
    assert harness.queue.full
    harness.sent()
    assert not harness.queue.full
    for _ in range(2):
        harness.queue.add(PendingReply(pipelined=True))
    assert harness.queue.full


def test_a_request_without_a_reply_adds_nothing():
    harness = Harness()
    harness.queue.add(None)
    silent = PendingReply()
    harness.queue.add(silent)
    silent.complete(None)
    assert harness.sent() == b""
    assert not harness.queue.pending


def test_pending_replies_are_abandoned_when_the_connection_closes():
    abandoned = []
    harness = Harness()
    harness.queue.add(PendingReply(on_abandon=lambda: abandoned.append(1)))
    harness.queue.add([b"later"])
    harness.queue.clear()
    assert abandoned == [1]
    assert not harness.queue.pending
    assert not harness.queue.unsent


class File:
    """A file part; `missing` bytes are not in the file."""

    fd, position = 7, 0

    def __init__(self, size: int, missing: int = 0) -> None:
        self.size = size
        self.missing = missing
        self.released = 0

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        return b"f" * (self.size - self.missing)

    def release(self) -> None:
        self.released += 1


class Calls:
    """A stream that keeps each call and takes at most `room` bytes at a time."""

    def __init__(self, room: int = 1 << 30) -> None:
        self.room = room
        self.calls: list[tuple[str, bytes, bool]] = []

    def send(self, buffers, more):
        data = b"".join(buffers)[: self.room]
        self.calls.append(("send", data, more))
        return len(data)

    def send_file(self, part, offset):
        data = part.read()[offset:][: self.room]
        self.calls.append(("send_file", data, False))
        return len(data)


def test_a_small_file_part_is_sent_with_the_bytes_around_it():
    harness, file, stream = Harness(), File(100), Calls()
    harness.queue.add([b"head", file, b"tail"])
    assert harness.queue.send(stream) == 108
    assert stream.calls == [("send", b"head" + b"f" * 100 + b"tail", False)]
    assert file.released == 1
    assert not harness.queue.unsent


def test_a_large_file_part_is_sent_from_its_file():
    harness, file, stream = Harness(), File(100_000), Calls()
    harness.queue.add([b"head", file, b"tail"])
    harness.queue.send(stream)
    assert [call[0] for call in stream.calls] == ["send", "send_file", "send"]
    assert stream.calls[0] == ("send", b"head", True)
    assert file.released == 1


@pytest.mark.parametrize("size", [100, 10_000])
def test_parts_are_sent_completely_in_small_steps(size):
    harness, file, stream = Harness(), File(size), Calls(room=3)
    harness.queue.add([b"head", file, b"tail"])
    harness.queue.add([b"next"])
    while harness.queue.unsent:
        assert harness.queue.send(stream)
    sent = b"".join(data for _, data, _ in stream.calls)
    assert sent == b"head" + b"f" * size + b"tailnext"
    assert file.released == 1


def test_a_single_byte_string_is_sent_in_parts():
    harness, stream = Harness(), Calls(room=3)
    harness.queue.add([b"abcdefgh"])
    harness.queue.send(stream)
    assert [data for _, data, _ in stream.calls] == [b"abc", b"def", b"gh"]
    assert not harness.queue.unsent


@pytest.mark.parametrize("size", [100, 100_000])
def test_a_file_that_is_too_short_ends_the_connection(size):
    harness, file = Harness(), File(size, missing=size)
    harness.queue.add([b"head", file])
    with pytest.raises(ConnectionAbortedError, match="shorter than announced"):
        harness.queue.send(Calls())
    harness.queue.clear()
    assert file.released == 1


def test_a_reply_of_many_small_parts_is_sent_in_several_turns():
    """Other connections wait for one turn, so its length must not depend on the parts."""
    harness = Harness()
    parts = [b"%05d" % number for number in range(20_000)]
    harness.queue.add(parts)
    harness.queue.collect()
    sink, turns = Sink(), 0
    while harness.queue.unsent:
        harness.queue.send(sink)
        turns += 1
    assert sink.taken == b"".join(parts)
    assert turns == 10
