"""ReplyQueue: replies in the order of their requests, and when the next request must wait."""

from barnabas.net.limits import ConnectionLimits
from barnabas.net.pending import PendingReply
from barnabas.net.reply_queue import ReplyQueue


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


def test_what_is_pending_is_abandoned_when_the_connection_goes():
    abandoned = []
    harness = Harness()
    harness.queue.add(PendingReply(on_abandon=lambda: abandoned.append(1)))
    harness.queue.add([b"later"])
    harness.queue.clear()
    assert abandoned == [1]
    assert not harness.queue.pending
    assert not harness.queue.unsent
