"""A pair of connected in-memory streams, with the same port as TCP, for tests.

Each direction holds at most `capacity` bytes, so back-pressure can be tested without filling
kernel buffers. Callbacks run from the loop's next turns, as long as the stream is ready.
"""

import asyncio
from collections.abc import Callable, Sequence

from barnabas.net.replies import Buffer, FilePart
from barnabas.net.stream import Address


class _Pipe:
    """One direction."""

    def __init__(self, capacity: int) -> None:
        self.data = bytearray()
        self.capacity = capacity
        self.ended = False

    def write(self, data: Buffer) -> int:
        room = self.capacity - len(self.data)
        taken = memoryview(data)[:room]
        self.data += taken
        return len(taken)


class MemoryStream:
    """One end of the pair; see `memory_pair`."""

    def __init__(self, inbound: _Pipe, outbound: _Pipe, local: Address, peer: Address) -> None:
        self._in = inbound
        self._out = outbound
        self._other: MemoryStream | None = None
        self._on_readable: Callable[[], None] | None = None
        self._on_writable: Callable[[], None] | None = None
        self._scheduled = False
        self.closed = False
        self.local = local
        self.peer = peer

    def join(self, other: "MemoryStream") -> None:
        """Name the other end, to be woken when bytes move."""
        self._other = other

    def recv_into(self, buffer: memoryview) -> int:
        data = self._in.data
        if not data:
            if self._in.ended:
                return 0
            raise BlockingIOError
        count = min(len(data), len(buffer))
        buffer[:count] = data[:count]
        del data[:count]
        self._moved()
        return count

    def send(self, buffers: Sequence[Buffer], more: bool) -> int:
        if self._out.ended:
            raise BrokenPipeError
        sent = 0
        for buffer in buffers:
            taken = self._out.write(buffer)
            sent += taken
            if taken < len(buffer):
                break
        if sent == 0 and any(len(buffer) for buffer in buffers):
            raise BlockingIOError
        self._moved()
        return sent

    def send_bytes(self, data: bytes, /) -> int:
        return self.send((data,), False)

    def send_file(self, part: FilePart, offset: int) -> int:
        rest = part.read()[offset:]
        return self.send([rest], more=False) if rest else 0

    def peer_is_gone(self) -> bool:
        return self._in.ended

    def watch_readable(self, callback: Callable[[], None] | None) -> None:
        self._on_readable = callback
        self.wake()

    def watch_writable(self, callback: Callable[[], None] | None) -> None:
        self._on_writable = callback
        self.wake()

    def close(self) -> None:
        self.closed = True
        self._in.ended = self._out.ended = True
        self._on_readable = self._on_writable = None
        self._moved()

    def wake(self) -> None:
        """Look for readiness on the loop's next turn."""
        if not self._scheduled and (self._on_readable or self._on_writable):
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _moved(self) -> None:
        self.wake()
        if self._other is not None:
            self._other.wake()

    def _run(self) -> None:
        self._scheduled = False
        if self._on_readable is not None and (self._in.data or self._in.ended):
            self._on_readable()
            self.wake()
        if self._on_writable is not None and len(self._out.data) < self._out.capacity:
            self._on_writable()
            self.wake()


def memory_pair(capacity: int = 1 << 20) -> tuple[MemoryStream, MemoryStream]:
    """Two ends of one connection: (client's, server's)."""
    up, down = _Pipe(capacity), _Pipe(capacity)
    client_address, server_address = ("127.0.0.1", 50000), ("127.0.0.1", 9092)
    client = MemoryStream(down, up, client_address, server_address)
    server = MemoryStream(up, down, server_address, client_address)
    client.join(server)
    server.join(client)
    return client, server
