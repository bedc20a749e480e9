"""The stream interface of the server side, and its implementation for TCP.

A stream is non-blocking: `recv_into`, `send` and `send_file` transfer the bytes that are possible
now and raise BlockingIOError if there are none; `watch_readable` and `watch_writable` call back
from the loop while the stream is ready (level-triggered). A connection uses only this
interface, so it works with TCP and with the in-memory stream of the tests.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from barnabas.net.event_loop import DirectEventLoop
from barnabas.net.replies import Buffer, FilePart

_ALLOW_MORE = getattr(socket, "MSG_MORE", 0)
# Maximum of one sendfile call, so that one fast reader cannot block the loop.
_MAX_SENDFILE_BYTES = 1 << 20

_TCP_CONGESTION = getattr(socket, "TCP_CONGESTION", 0)
_PACING = b"bbr"  # the start of the names of all its versions
_NOT_PACING = b"reno"  # part of every Linux kernel, and allowed for every process

_TCP_INFO = getattr(socket, "TCP_INFO", 0)
_PEER_GONE = frozenset({7, 8})  # Linux: TCP_CLOSE, TCP_CLOSE_WAIT

Address = tuple[str, int]


class ByteStream(Protocol):
    """A two-way byte stream owned by one loop."""

    @property
    def peer(self) -> Address: ...

    @property
    def local(self) -> Address: ...

    def recv_into(self, buffer: memoryview) -> int:
        """Receives into `buffer`; returns 0 if the peer closed its side."""
        ...

    def send(self, buffers: Sequence[Buffer], more: bool) -> int:
        """Sends the start of `buffers`; `more` means that further bytes follow immediately."""
        ...

    def send_bytes(self, data: bytes, /) -> int:
        """Sends the start of `data`, after which nothing follows immediately."""
        ...

    def send_file(self, part: FilePart, offset: int) -> int:
        """Sends bytes of `part` from `offset` within it; returns 0 if the file is too short."""
        ...

    def peer_is_gone(self) -> bool:
        """Whether the peer has closed its side, even if there are unread bytes."""
        ...

    def watch_readable(self, callback: Callable[[], None] | None) -> None: ...

    def watch_writable(self, callback: Callable[[], None] | None) -> None: ...

    def close(self) -> None: ...


def plain_address(address: tuple[str, int] | tuple[str, int, int, int]) -> Address:
    """Returns host and port; converts the IPv4-mapped addresses of dual-stack sockets."""
    return address[0].removeprefix("::ffff:"), address[1]


def _stop_pacing(sock: socket.socket) -> None:
    """Replaces BBR as the congestion control of a connection within one machine.

    There is no network to adapt to, and BBR measures the speed of two processes as that of a
    network: it sends a response of some megabytes in small parts with pauses.
    """
    with suppress(OSError):
        if sock.getsockopt(socket.IPPROTO_TCP, _TCP_CONGESTION, 16).startswith(_PACING):
            sock.setsockopt(socket.IPPROTO_TCP, _TCP_CONGESTION, _NOT_PACING)


class TcpStream:
    """A connected, non-blocking TCP socket on the running asyncio loop."""

    __slots__ = (
        "_loop",
        "_reading",
        "_socket",
        "_watch",
        "_writing",
        "fd",
        "local",
        "peer",
        "recv_into",
        "send_bytes",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._loop = loop
        self._socket = sock
        self.fd = sock.fileno()
        # The socket's own methods: a method here would be one more call for each request.
        self.recv_into: Callable[[memoryview], int] = sock.recv_into
        self.send_bytes: Callable[[bytes], int] = sock.send
        self._watch = loop.watch_readable if isinstance(loop, DirectEventLoop) else None
        self._reading = False
        self._writing = False
        self.peer: Address = plain_address(sock.getpeername())
        self.local: Address = plain_address(sock.getsockname())
        if _TCP_CONGESTION and self.peer[0] == self.local[0]:
            _stop_pacing(sock)

    def send(self, buffers: Sequence[Buffer], more: bool) -> int:
        if len(buffers) == 1:
            return self._socket.send(buffers[0], _ALLOW_MORE if more else 0)
        return self._socket.sendmsg(buffers, (), _ALLOW_MORE if more else 0)

    def send_file(self, part: FilePart, offset: int) -> int:
        if part.fd < 0:  # a file that exists only in memory
            return self._socket.send(memoryview(part.read())[offset:])
        count = min(len(part) - offset, _MAX_SENDFILE_BYTES)
        return os.sendfile(self.fd, part.fd, part.position + offset, count)

    def set_low_water(self, count: int) -> None:
        """Lets the socket be readable when `count` bytes have arrived, or when the peer closed."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)

    def peer_is_gone(self) -> bool:
        if not _TCP_INFO:
            return False
        state = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)[0]
        return state in _PEER_GONE

    def watch_readable(self, callback: Callable[[], None] | None) -> None:
        if self._watch is not None:
            if callback is not None or self._reading:
                self._watch(self.fd, callback)
        elif callback is not None:
            self._loop.add_reader(self.fd, callback)
        elif self._reading:
            self._loop.remove_reader(self.fd)
        self._reading = callback is not None

    def watch_writable(self, callback: Callable[[], None] | None) -> None:
        if callback is not None:
            self._loop.add_writer(self.fd, callback)
        elif self._writing:
            self._loop.remove_writer(self.fd)
        self._writing = callback is not None

    def shut_down(self) -> None:
        """Ends the connection, but keeps the descriptor for a thread that uses it; `close()`
        follows.
        """
        self.watch_readable(None)
        self.watch_writable(None)
        with suppress(OSError):  # the peer has ended it
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.watch_readable(None)
        self.watch_writable(None)
        self._socket.close()
