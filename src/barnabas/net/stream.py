"""The stream port of the server side, and TCP.

A stream is non-blocking: `recv_into`, `send` and `send_file` do what they can now and raise
BlockingIOError when that is nothing; `watch_readable` and `watch_writable` call back from the
loop while the stream is ready (level-triggered). A connection written against this port runs
unchanged over TCP and over the in-memory stream of the tests.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from typing import Protocol

from barnabas.net.parts import Buffer, FilePart

_ALLOW_MORE = getattr(socket, "MSG_MORE", 0)
# One sendfile call moves at most this much, so that one fast reader cannot hold the loop.
_MAX_SENDFILE_BYTES = 1 << 20

_TCP_INFO = getattr(socket, "TCP_INFO", 0)
_PEER_GONE = frozenset({7, 8})  # Linux: TCP_CLOSE, TCP_CLOSE_WAIT

Address = tuple[str, int]


class Stream(Protocol):
    """A two-way byte stream owned by one loop."""

    @property
    def peer(self) -> Address: ...

    @property
    def local(self) -> Address: ...

    def recv_into(self, buffer: memoryview) -> int:
        """Receive into `buffer`; 0 means the peer closed its side."""
        ...

    def send(self, buffers: Sequence[Buffer], more: bool) -> int:
        """Send the start of `buffers`; `more` says that further bytes follow at once."""
        ...

    def send_file(self, part: FilePart, offset: int) -> int:
        """Send some bytes of `part` from `offset` within it; 0 means the file ended early."""
        ...

    def peer_is_gone(self) -> bool:
        """Whether the peer has closed its side, even if it sent bytes that nobody has read."""
        ...

    def watch_readable(self, callback: Callable[[], None] | None) -> None: ...

    def watch_writable(self, callback: Callable[[], None] | None) -> None: ...

    def close(self) -> None: ...


def plain_address(address: tuple[str, int] | tuple[str, int, int, int]) -> Address:
    """Host and port; an IPv4 peer of a dual-stack socket by its IPv4 address."""
    return address[0].removeprefix("::ffff:"), address[1]


class TcpStream:
    """A connected, non-blocking TCP socket on the running asyncio loop."""

    __slots__ = ("_fd", "_loop", "_reading", "_socket", "_writing", "local", "peer")

    def __init__(self, loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._loop = loop
        self._socket = sock
        self._fd = sock.fileno()
        self._reading = False
        self._writing = False
        self.peer: Address = plain_address(sock.getpeername())
        self.local: Address = plain_address(sock.getsockname())

    def recv_into(self, buffer: memoryview) -> int:
        return self._socket.recv_into(buffer)

    def send(self, buffers: Sequence[Buffer], more: bool) -> int:
        if len(buffers) == 1:
            return self._socket.send(buffers[0], _ALLOW_MORE if more else 0)
        return self._socket.sendmsg(buffers, (), _ALLOW_MORE if more else 0)

    def send_file(self, part: FilePart, offset: int) -> int:
        if part.fd < 0:  # a file that is nowhere but in memory
            return self._socket.send(memoryview(part.read())[offset:])
        count = min(len(part) - offset, _MAX_SENDFILE_BYTES)
        return os.sendfile(self._fd, part.fd, part.position + offset, count)

    def peer_is_gone(self) -> bool:
        if not _TCP_INFO:
            return False
        state = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)[0]
        return state in _PEER_GONE

    def watch_readable(self, callback: Callable[[], None] | None) -> None:
        if callback is not None:
            self._loop.add_reader(self._fd, callback)
        elif self._reading:
            self._loop.remove_reader(self._fd)
        self._reading = callback is not None

    def watch_writable(self, callback: Callable[[], None] | None) -> None:
        if callback is not None:
            self._loop.add_writer(self._fd, callback)
        elif self._writing:
            self._loop.remove_writer(self._fd)
        self._writing = callback is not None

    def close(self) -> None:
        self.watch_readable(None)
        self.watch_writable(None)
        self._socket.close()
