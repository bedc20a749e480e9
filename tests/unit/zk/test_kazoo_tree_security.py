"""TLS connections to ZooKeeper that fail leave no open file."""

import contextlib
import os
import socket
import threading

import pytest

from barnabas.zk.kazoo_tree import TlsHandler
from barnabas.zk.zookeeper_security import ZooKeeperSecurity


def open_files():
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a Path per file would be slow


@pytest.fixture
def handler():
    return TlsHandler(ZooKeeperSecurity(tls=True, check_host=False))


def connect(handler, port):
    """Returns the exception, whose traceback keeps a socket that is not closed."""
    with pytest.raises(OSError) as failed:  # noqa: PT011 - refused, reset or an error of TLS
        handler.create_connection(address=("127.0.0.1", port), hostname="localhost", timeout=5)
    return failed


def test_a_refused_connection_is_closed(handler):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    before = open_files()
    kept = [connect(handler, port) for _ in range(3)]
    assert open_files() == before
    del kept


def test_a_failed_handshake_closes_the_connection(handler):
    with socket.create_server(("127.0.0.1", 0)) as server:
        before = open_files()
        answering = threading.Thread(target=answer_without_tls, args=(server,))
        answering.start()
        kept = connect(handler, server.getsockname()[1])
        answering.join(10)
        assert open_files() == before
        del kept


def answer_without_tls(server):
    peer, _ = server.accept()
    with peer, contextlib.suppress(OSError):
        peer.recv(1)
        peer.sendall(b"not a TLS record")
