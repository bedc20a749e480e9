"""The transport of a client connection without TLS.

asyncio's own transport copies a request up to three times before the socket has it: it joins the
parts, slices off what the socket accepted, and appends the rest to its buffer. A Produce request
has up to a megabyte, so here large parts stay where they are (`OutputQueue`). The socket is also
read in one call from the selector if the loop is a `DirectEventLoop`. While a large response
arrives, the loop wakes up for half a megabyte at a time and not for each packet (SO_RCVLOWAT).

It does not connect, and it does not interpret bytes: the protocol object does.
"""

import asyncio
import socket
import sys
from collections.abc import Iterable
from typing import Any

from barnabas.net.replies import Buffer
from barnabas.net.reply_queue import OutputQueue
from barnabas.net.stream import TcpStream

HIGH_WATER_BYTES = 64 * 1024
"""The protocol pauses while more bytes than this are unsent, as with asyncio's transport."""

SMALL_PART_BYTES = 64 * 1024
"""Parts are joined if their average is smaller: a copy costs less than handling each of them."""


LOW_WATER_BYTES = 512 * 1024
"""While a large response arrives, the socket is readable when it has this many bytes of it."""

_HAS_LOW_WATER = sys.platform == "linux"


class ResponseProtocol(asyncio.BufferedProtocol):
    """A protocol object that tells how much of a large response is missing."""

    @property
    def missing_bytes(self) -> int:
        """Bytes that must arrive before there is anything to do; 0 if that is not known."""
        return 0


class ClientTransport(asyncio.Transport):
    """Connects a protocol object to a connected socket. Owned by its event loop.

    The parts of a request must not change until they are sent or the transport is closed.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        protocol: ResponseProtocol,
    ) -> None:
        """Calls `protocol.connection_made` and starts to read.

        Raises:
            NotImplementedError: the loop cannot watch sockets (Windows).
        """
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._stream = TcpStream(loop, sock)
        self._output = OutputQueue()
        self._closed = False
        self._paused = False
        self._low_water = 1
        self._stream.watch_readable(self._on_readable)
        protocol.connection_made(self)

    def is_closing(self) -> bool:
        return self._closed

    def write(self, data: Buffer) -> None:
        """Sends the data, or keeps it until the socket accepts it."""
        if isinstance(data, bytes) and not self._closed and not self._output.unsent_bytes:
            self._send_small(data)
        else:
            self.writelines([data])

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        """Sends the parts, or keeps them until the socket accepts them."""
        if self._closed:
            return
        waiting = self._output.unsent_bytes > 0
        parts = list(list_of_data)
        if sum(map(len, parts)) < SMALL_PART_BYTES * len(parts):
            parts = [b"".join(parts)]
            if not waiting:
                self._send_small(parts[0])
                return
        self._output.append(parts)
        if not waiting:
            self._flush()
        elif not self._paused:
            self._pause_if_full()

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        """Closes at once and drops unsent bytes; `connection_lost` follows."""
        self._end(None)

    # -- callbacks of the loop -----------------------------------------------------------------

    def _on_readable(self) -> None:
        protocol = self._protocol
        try:
            count = self._stream.recv_into(memoryview(protocol.get_buffer(-1)))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)
            return
        if count == 0:
            self._end(None)
            return
        try:
            protocol.buffer_updated(count)
            if _HAS_LOW_WATER and not self._closed:
                self._set_low_water(protocol.missing_bytes)
        except Exception as error:  # noqa: BLE001 - a defect must fail the requests, not hang them
            message = "a response could not be handled"
            self._loop.call_exception_handler({"message": message, "exception": error})
            self._end(error)

    def _flush(self) -> None:
        try:
            self._output.flush(self._stream)
        except OSError as error:
            self._end(error)
            return
        if self._output.unsent_bytes:
            self._stream.watch_writable(self._flush)
            self._pause_if_full()
            return
        self._stream.watch_writable(None)
        if self._paused:
            self._paused = False
            self._protocol.resume_writing()

    # -- internal ------------------------------------------------------------------------------

    def _send_small(self, data: bytes) -> None:
        """Sends small data; the queue keeps what the socket does not accept."""
        try:
            sent = self._stream.send_bytes(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._end(error)
            return
        if sent < len(data):
            self._output.append([memoryview(data)[sent:]])
            self._flush()

    def _set_low_water(self, missing: int) -> None:
        """Lets the socket be readable when enough of the missing bytes have arrived.

        The kernel reports less if the connection ends or its memory is full.
        """
        wanted = LOW_WATER_BYTES if missing >= LOW_WATER_BYTES else 1
        if wanted != self._low_water:
            self._low_water = wanted
            self._stream.set_low_water(wanted)

    def _pause_if_full(self) -> None:
        if not self._paused and self._output.unsent_bytes > HIGH_WATER_BYTES:
            self._paused = True
            self._protocol.pause_writing()

    def _end(self, error: Exception | None) -> None:
        if self._closed:
            return
        self._closed = True
        self._output.clear()
        self._stream.close()
        # Not at once: the caller may be in the middle of sending a request.
        self._loop.call_soon(self._protocol.connection_lost, error)
