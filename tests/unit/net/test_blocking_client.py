"""Large responses on a blocking socket: one call receives all of it, until the deadline."""

import socket
import struct
import threading
import time

import pytest

from barnabas.model.errors import DeadlineError
from barnabas.net import blocking_client
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.wire.messages.metadata import MetadataRequest

LARGE = bytes(range(256)) * 4096


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def connection():
    return BlockingConnection(Address("nowhere", 1), ConnectionOptions())


def soon(seconds=5.0):
    return time.monotonic() + seconds


def test_a_large_frame_in_pieces_then_a_small_one(ends, connection):
    ours, theirs = ends

    def send():
        framed = struct.pack(">i", len(LARGE)) + LARGE
        for start in range(0, len(framed), 100_000):
            theirs.sendall(framed[start : start + 100_000])
        theirs.sendall(struct.pack(">i", 5) + b"small")

    thread = threading.Thread(target=send)
    thread.start()
    assert connection._next_frame(ours, soon()) == LARGE
    assert connection._next_frame(ours, soon()) == b"small"
    thread.join()


@pytest.mark.parametrize("limit", [0.02, 0.0])
def test_a_large_frame_that_stays_away(ends, connection, limit):
    ours, theirs = ends
    theirs.sendall(struct.pack(">i", len(LARGE)) + b"begun")
    with pytest.raises(TimeoutError):
        connection._next_frame(ours, soon(limit))


def test_a_large_frame_whose_sender_leaves(ends, connection):
    ours, theirs = ends
    theirs.sendall(struct.pack(">i", len(LARGE)) + b"begun")
    theirs.close()
    with pytest.raises(Exception, match="closed the connection"):
        connection._next_frame(ours, soon())


class Trickle:
    """A peer that reads everything and sends a few bytes per second, on its own clock."""

    def __init__(self, answer, step):
        self.seconds = 0.0
        self._left = memoryview(answer)
        self._step = step

    def monotonic(self):
        return self.seconds

    def sendall(self, data):
        self.seconds += 1

    def recv_into(self, buffer, size=0, flags=0):
        count = min(self._step, len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        self.seconds += 1
        return count

    def settimeout(self, seconds):
        assert seconds is None or 0 < seconds <= 10

    def setsockopt(self, level, option, value):
        seconds, micros = blocking_client.TIMEVAL.unpack(value)
        assert 0 < seconds + micros / 1e6 <= 10

    def close(self):
        pass


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        pytest.param(struct.pack(">i", 100) + bytes(100), 1, id="small"),
        pytest.param(struct.pack(">i", len(LARGE)) + LARGE, 1000, id="large"),
    ],
)
def test_a_peer_that_trickles_has_no_more_than_the_requests_time(
    connection, monkeypatch, answer, step
):
    peer = Trickle(answer, step)
    monkeypatch.setattr(blocking_client, "time", peer)
    monkeypatch.setattr(connection, "_socket", peer)
    with pytest.raises(DeadlineError, match="MetadataRequest in 10 s"):
        connection.send(MetadataRequest(), version=1, timeout_s=10)
    assert peer.seconds == 10
    assert connection.closed
