"""TCP streams: the congestion control of connections within one machine."""

import asyncio
import socket

import pytest

from barnabas.net.stream import TcpStream

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "TCP_CONGESTION"), reason="only Linux selects a congestion control"
)


def control(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")


def with_control(sock, name):
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
    except OSError as error:
        pytest.skip(f"this machine has no {name.decode()}: {error.strerror}")
    return sock


@pytest.fixture
def connection():
    """Returns a function that connects from an address to 127.0.0.1 and returns both sockets."""
    opened = []

    def connect(source):
        with socket.create_server(("127.0.0.1", 0)) as server:
            opened.append(socket.create_connection(server.getsockname(), 10, (source, 0)))
            opened.append(server.accept()[0])
        return opened[-2:]

    yield connect
    for sock in opened:
        sock.close()


@pytest.mark.parametrize("side", [0, 1], ids=["client", "server"])
async def test_bbr_does_not_pace_a_connection_within_one_machine(connection, side):
    sock = with_control(connection("127.0.0.1")[side], b"bbr")
    TcpStream(asyncio.get_running_loop(), sock)
    assert control(sock) == b"reno"


async def test_bbr_stays_between_two_addresses(connection):
    sock = with_control(connection("127.0.0.2")[0], b"bbr")
    TcpStream(asyncio.get_running_loop(), sock)
    assert control(sock) == b"bbr"


async def test_another_congestion_control_stays(connection):
    sock = with_control(connection("127.0.0.1")[0], b"cubic")
    TcpStream(asyncio.get_running_loop(), sock)
    assert control(sock) == b"cubic"
