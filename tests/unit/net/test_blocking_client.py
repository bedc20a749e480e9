"""Large responses on a blocking socket: all of it in one call, but not for ever."""

import socket
import struct
import threading

import pytest

from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address, ConnectionOptions

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


def test_a_large_frame_in_pieces_then_a_small_one(ends, connection):
    ours, theirs = ends

    def send():
        framed = struct.pack(">i", len(LARGE)) + LARGE
        for start in range(0, len(framed), 100_000):
            theirs.sendall(framed[start : start + 100_000])
        theirs.sendall(struct.pack(">i", 5) + b"small")

    thread = threading.Thread(target=send)
    thread.start()
    assert connection._next_frame(ours, 5.0) == LARGE
    ours.settimeout(5)
    assert connection._next_frame(ours, 5.0) == b"small"
    thread.join()


@pytest.mark.parametrize("limit", [0.02, 0.0])
def test_a_large_frame_that_stays_away(ends, connection, limit):
    ours, theirs = ends
    theirs.sendall(struct.pack(">i", len(LARGE)) + b"begun")
    with pytest.raises(TimeoutError):
        connection._next_frame(ours, limit)


def test_a_large_frame_whose_sender_leaves(ends, connection):
    ours, theirs = ends
    theirs.sendall(struct.pack(">i", len(LARGE)) + b"begun")
    theirs.close()
    with pytest.raises(Exception, match="closed the connection"):
        connection._next_frame(ours, 5.0)
