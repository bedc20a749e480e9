"""The transport of a client: all bytes in order, without changes, and one end of the connection."""

import asyncio
import socket
import sys

import pytest

from barnabas.net._frame_receiver_hot import FrameReceiver
from barnabas.net.client_transport import (
    HIGH_WATER_BYTES,
    LOW_WATER_BYTES,
    ClientTransport,
    ResponseProtocol,
)
from barnabas.net.event_loop import DirectEventLoop


class Recorder(ResponseProtocol):
    """Keeps what it receives and the calls of the transport."""

    def __init__(self):
        self.buffer = bytearray(1000)
        self.received = bytearray()
        self.calls = []
        self.fails = False
        self.expected = 0
        self.lost = asyncio.get_running_loop().create_future()

    def get_buffer(self, sizehint):
        return memoryview(self.buffer)

    @property
    def missing_bytes(self):
        return max(self.expected - len(self.received), 0)

    def buffer_updated(self, nbytes):
        if self.fails:
            raise ValueError("a defect")
        self.received += self.buffer[:nbytes]

    def pause_writing(self):
        self.calls.append("pause")

    def resume_writing(self):
        self.calls.append("resume")

    def connection_lost(self, exc):
        self.lost.set_result(exc)


class Responses(Recorder):
    """Keeps the responses that it receives, as a client's connection does."""

    def __init__(self):
        super().__init__()
        self.receiver = FrameReceiver()
        self.frames = []

    def get_buffer(self, sizehint):
        return self.receiver.buffer()

    @property
    def missing_bytes(self):
        return self.receiver.missing_bytes

    receives_in_thread = True

    def receive_rest(self, fd):
        return self.receiver.receive_rest(fd)

    def buffer_updated(self, nbytes):
        self.frames += [bytes(frame) for frame in self.receiver.filled(nbytes)]


@pytest.fixture(params=[asyncio.SelectorEventLoop, DirectEventLoop])
def run(request):
    """Runs a test with a transport and the socket of its peer, on each kind of loop."""

    def run(test, make_protocol=Recorder):
        async def main():
            near, far = _connected()
            protocol = make_protocol()
            transport = ClientTransport(asyncio.get_running_loop(), near, protocol)
            try:
                await asyncio.wait_for(test(transport, protocol, far), 10)
            finally:
                transport.abort()
                far.close()
                await protocol.lost

        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(main())

    return run


def _connected():
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    far.setblocking(False)
    return near, far


async def read(sock, size):
    loop, found = asyncio.get_running_loop(), bytearray()
    while len(found) < size:
        found += await loop.sock_recv(sock, 1 << 16)
    return bytes(found)


def test_parts_of_many_requests_arrive_in_order(run):
    requests = [[b"head %d" % n, bytearray([n]) * 3_000_000, memoryview(b"tail")] for n in range(4)]
    whole = b"".join(bytes(part) for parts in requests for part in parts)

    async def test(transport, protocol, far):
        for parts in requests:
            transport.writelines(parts)
        assert protocol.calls == ["pause"], "more is unsent than the socket accepts"
        assert await read(far, len(whole)) == whole
        transport.write(b"small")
        assert await read(far, 5) == b"small"
        assert protocol.calls == ["pause", "resume"]

    assert len(whole) > HIGH_WATER_BYTES
    run(test)


def test_many_small_parts_arrive_in_order(run):
    parts = [b"batch %d" % number for number in range(1000)]

    async def test(transport, protocol, far):
        transport.writelines(parts)
        transport.writelines([])
        assert await read(far, sum(map(len, parts))) == b"".join(parts)

    run(test)


def test_small_requests_that_the_socket_does_not_accept_wait_in_order(run):
    requests = [bytes([number % 251]) * 40_000 for number in range(300)]

    async def test(transport, protocol, far):
        for request in requests:
            transport.write(request)
        assert protocol.calls == ["pause"], "more is unsent than the socket accepts"
        assert await read(far, sum(map(len, requests))) == b"".join(requests)
        assert protocol.calls == ["pause", "resume"]

    run(test)


def test_received_bytes_reach_the_protocol(run):
    """Passes when the protocol has received as many bytes as were sent."""

    async def test(transport, protocol, far):
        await asyncio.get_running_loop().sock_sendall(far, bytes(5000))
        while len(protocol.received) < 5000:
            await asyncio.sleep(0)

    run(test)


def test_end_of_the_peer_is_the_end_of_the_connection(run):
    async def test(transport, protocol, far):
        far.close()
        assert await asyncio.shield(protocol.lost) is None
        assert transport.is_closing()
        transport.write(b"ignored")

    run(test)


def test_write_to_a_reset_connection_reports_the_error_later(run):
    async def test(transport, protocol, far):
        await asyncio.get_running_loop().sock_sendall(far, b"x")
        far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        far.close()  # with a reset
        transport.write(b"request")
        assert not protocol.lost.done()
        assert isinstance(await asyncio.shield(protocol.lost), OSError)

    run(test)


def test_defect_while_a_response_is_handled_ends_the_connection(run):
    async def test(transport, protocol, far):
        found = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: found.append(context["exception"]))
        protocol.fails = True
        await loop.sock_sendall(far, b"x")
        error = await asyncio.shield(protocol.lost)
        assert (str(error), found) == ("a defect", [error])

    run(test)


def test_abort_drops_unsent_bytes(run):
    async def test(transport, protocol, far):
        transport.write(bytes(8_000_000))
        transport.abort()
        transport.abort()
        assert await asyncio.shield(protocol.lost) is None
        received = 0
        loop = asyncio.get_running_loop()
        while chunk := await loop.sock_recv(far, 1 << 16):
            received += len(chunk)
        assert received < 8_000_000

    run(test)


def low_water(transport):
    return transport._stream._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


def test_the_loop_waits_for_many_bytes_of_a_large_response(run):
    async def test(transport, protocol, far):
        loop = asyncio.get_running_loop()
        protocol.buffer = bytearray(1 << 20)
        protocol.expected = 3 * LOW_WATER_BYTES
        whole = bytes(range(256)) * (protocol.expected // 256)
        far.send(whole[:1000])
        supported = sys.platform == "linux"
        await condition(lambda: len(protocol.received) == 1000)
        assert low_water(transport) == (LOW_WATER_BYTES if supported else 1)
        await loop.sock_sendall(far, whole[1000:-1000])
        await condition(lambda: protocol.missing_bytes == 1000)
        assert low_water(transport) == 1, "the rest is less than the limit"
        far.send(whole[-1000:] + b"next")
        await condition(lambda: len(protocol.received) == len(whole) + 4)
        assert protocol.received == whole + b"next"

    run(test)


def test_a_connection_that_ends_within_a_large_response_is_lost(run):
    async def test(transport, protocol, far):
        protocol.expected = 3 * LOW_WATER_BYTES
        far.send(bytes(1000))
        await condition(lambda: len(protocol.received) == 1000)
        far.send(bytes(1000))
        far.close()
        await asyncio.shield(protocol.lost)
        assert len(protocol.received) == 2000

    run(test)


def response(number, size):
    """Returns a frame with `size` bytes that differ from those of other responses."""
    content = (bytes(range(256)) * (size // 256 + 1))[number : number + size]
    return len(content).to_bytes(4, "big") + content


def test_large_and_small_responses_arrive_in_order(run):
    sizes = [6 * LOW_WATER_BYTES, 10, 2 * LOW_WATER_BYTES + 1, 100_000, 3 * LOW_WATER_BYTES, 7]
    frames = [response(number, size) for number, size in enumerate(sizes)]

    async def test(transport, protocol, far):
        await asyncio.get_running_loop().sock_sendall(far, b"".join(frames))
        await condition(lambda: len(protocol.frames) == len(frames))
        assert protocol.frames == [frame[4:] for frame in frames]
        assert low_water(transport) == 1, "the next small response must be noticed"

    run(test, Responses)


def test_a_large_response_that_arrives_with_pauses_is_complete(run):
    frame = response(1, 4 * LOW_WATER_BYTES)

    async def test(transport, protocol, far):
        loop = asyncio.get_running_loop()
        step = LOW_WATER_BYTES * 2 // 3
        for start in range(0, len(frame), step):
            await loop.sock_sendall(far, frame[start : start + step])
            await asyncio.sleep(0.015)
        await loop.sock_sendall(far, response(2, 5))
        await condition(lambda: len(protocol.frames) == 2)
        assert protocol.frames[0] == frame[4:]

    run(test, Responses)


def test_a_connection_is_aborted_while_a_large_response_is_received(run):
    async def test(transport, protocol, far):
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(far, response(1, 4 * LOW_WATER_BYTES)[: 2 * LOW_WATER_BYTES])
        await condition(lambda: protocol.missing_bytes)
        transport.abort()
        assert await asyncio.shield(protocol.lost) is None
        await condition(lambda: transport._stream._socket.fileno() < 0)
        assert await ended(far)
        assert protocol.frames == []

    run(test, Responses)


def test_a_reset_within_a_large_response_reports_the_error(run):
    async def test(transport, protocol, far):
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(far, response(1, 4 * LOW_WATER_BYTES)[:1000])
        await condition(lambda: protocol.missing_bytes)
        far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        far.close()
        assert isinstance(await asyncio.shield(protocol.lost), OSError)

    run(test, Responses)


async def ended(sock):
    """Whether the other side has ended the connection."""
    try:
        return await asyncio.get_running_loop().sock_recv(sock, 1) == b""
    except ConnectionResetError:
        return True


async def condition(holds):
    """Waits until it holds; the test has a deadline."""
    while not holds():
        await asyncio.sleep(0.001)
