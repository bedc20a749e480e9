"""Listener over real sockets: accepting, caps, files through sendfile, running out of files."""

import asyncio
import contextlib
import os
import resource
import socket
import struct

import pytest

from barnabas.net.admission import ConnectionAdmission, ConnectionSlots, SlotLimits
from barnabas.net.close_reasons import CloseReason
from barnabas.net.listener import Listener, listen_on
from barnabas.testing.virtual_clock import VirtualClock


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class FdSlice:
    def __init__(self, fd, position, size):
        self.fd, self.position, self.size, self.released = fd, position, size, 0

    def __len__(self):
        return self.size

    def release(self):
        self.released += 1


def admission(limits):
    return ConnectionAdmission(ConnectionSlots(limits))


@pytest.fixture
async def listen():
    started = []

    def start(handler, limits=None):
        listener = Listener(handler, clock=VirtualClock(), admission=admission(limits))
        listener.start(listen_on("127.0.0.1", 0))
        started.append(listener)
        return listener

    yield start
    for listener in started:
        await listener.stop(grace_s=0.1)


async def connect(listener):
    return await asyncio.open_connection(*listener.address)


async def shut(*writers):
    for writer in writers:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_echo_over_tcp(listen):
    listener = listen(echo)
    reader, writer = await connect(listener)
    writer.write(frame(b"hello") + frame(bytes(200_000)))
    assert await reader.readexactly(9) == frame(b"hello")
    assert await reader.readexactly(200_004) == frame(bytes(200_000))
    await shut(writer)


async def test_file_parts_go_out_with_sendfile(listen, tmp_path):
    path = tmp_path / "segment"
    content = os.urandom(5 << 20)
    path.write_bytes(content)
    with path.open("rb") as file:
        part = FdSlice(file.fileno(), 100, (5 << 20) - 100)
        listener = listen(lambda connection, data: [b"<<<<", part, b">>>>"])
        reader, writer = await connect(listener)
        writer.write(frame(b"fetch"))
        assert await reader.readexactly(len(part) + 8) == b"<<<<" + content[100:] + b">>>>"
        assert part.released == 1
        await shut(writer)


async def test_a_file_that_ends_early_closes_the_connection(listen, tmp_path):
    path = tmp_path / "segment"
    path.write_bytes(b"short")
    with path.open("rb") as file:
        part = FdSlice(file.fileno(), 0, 100)
        listener = listen(lambda connection, data: [part])
        reader, writer = await connect(listener)
        writer.write(frame(b"fetch"))
        assert await reader.read() == b"short"
        assert part.released == 1
        await shut(writer)


async def exchange(reader, writer):
    writer.write(frame(b"a"))
    return await reader.readexactly(5)


def echo(connection, data):
    return [frame(bytes(data))]


async def test_a_connection_too_many_of_an_address_is_closed(listen):
    listener = listen(echo, SlotLimits(per_ip=1))
    reader, writer = await connect(listener)
    await exchange(reader, writer)
    over, over_writer = await connect(listener)
    assert await over.read() == b""
    assert listener.closed_connections.counts == {CloseReason.TOO_MANY_FROM_IP: 1}
    await shut(writer, over_writer)


async def test_addresses_of_a_dual_stack_socket_are_counted_too():
    listener = Listener(echo, clock=VirtualClock(), admission=admission(SlotLimits(per_ip=1)))
    listener.start(listen_on("", 0))
    port = listener.address[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await exchange(reader, writer)
    over, over_writer = await asyncio.open_connection("127.0.0.1", port)
    assert await over.read() == b""
    await shut(writer, over_writer)
    await listener.stop(grace_s=0.1)


async def test_connections_beyond_the_limit_wait_for_one_to_close(listen):
    listener = listen(echo, SlotLimits(total=1))
    reader, writer = await connect(listener)
    await exchange(reader, writer)
    waiting, waiting_writer = await connect(listener)
    answer = asyncio.ensure_future(exchange(waiting, waiting_writer))
    await exchange(reader, writer)  # the loop has been round: it would have been accepted
    assert len(listener.connections) == 1
    assert not answer.done()
    await shut(writer)
    assert await answer == frame(b"a")
    await shut(waiting_writer)


async def test_out_of_files_pauses_accepting_and_recovers(listen):
    listener = listen(echo)
    client = socket.socket()
    client.setblocking(False)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    taken = []
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(client.fileno()))
        await asyncio.get_running_loop().sock_connect(client, listener.address)
        async with asyncio.timeout(10):
            while not listener.closed_connections.counts:
                await asyncio.sleep(0.001)
        assert listener.closed_connections.counts == {CloseReason.OUT_OF_FILES: 1}
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    reader, writer = await asyncio.open_connection(sock=client)
    writer.write(frame(b"late"))
    assert await reader.readexactly(8) == frame(b"late")
    await shut(writer)


async def test_an_address_that_is_taken_is_an_error(listen):
    listener = listen(lambda connection, data: None)
    host, port = listener.address
    with pytest.raises(OSError, match=f"in use: '{host}:{port}'"):
        listen_on(host, port)


def test_a_host_that_is_not_this_machine():
    with pytest.raises(OSError, match=r"no address of this machine: '192\.0\.2\.1'"):
        listen_on("192.0.2.1", 0)


@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1"])
async def test_every_address_of_a_host_shares_one_port(host):
    sockets = listen_on(host, 0)
    assert len({sock.getsockname()[1] for sock in sockets}) == 1
    with socket.create_connection(("127.0.0.1", sockets[0].getsockname()[1])):
        pass
    for sock in sockets:
        sock.close()
