"""The transport of a client connection without TLS.

asyncio's own transport copies a request up to three times before the socket has it: it joins the
parts, slices off what the socket accepted, and appends the rest to its buffer. A Produce request
has up to a megabyte, so here large parts stay where they are (`OutputQueue`). The socket is also
read in one call from the selector if the loop is a `DirectEventLoop`. While a large response
arrives, the loop wakes up for half a megabyte at a time and not for each packet (SO_RCVLOWAT).

If the protocol wants it (`receives_in_thread`), a thread of the transport receives the rest of a
large response, in one call without the interpreter lock, so that the application on the same loop
decodes the last response meanwhile.

It does not connect, and it does not interpret bytes: the protocol object does.
"""

import asyncio
import socket
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from barnabas.net._frame_receiver_hot import COMPILED, LOW_WATER_BYTES
from barnabas.net.replies import Buffer
from barnabas.net.reply_queue import OutputQueue
from barnabas.net.stream import TcpStream

HIGH_WATER_BYTES = 64 * 1024
"""The protocol pauses while more bytes than this are unsent, as with asyncio's transport."""

SMALL_PART_BYTES = 64 * 1024
"""Parts are joined if their average is smaller: a copy costs less than handling each of them."""

_HAS_LOW_WATER = sys.platform == "linux"


class ResponseProtocol(asyncio.BufferedProtocol):
    """A protocol object that tells how much of a large response is missing."""

    receives_in_thread = False
    """Whether a thread of the transport receives large responses."""

    @property
    def missing_bytes(self) -> int:
        """Bytes that must arrive before there is anything to do; 0 if that is not known."""
        return 0

    def receive_rest(self, fd: int) -> int:
        """Receives missing bytes from a socket; ends early if they arrive slowly.

        Any thread may call it, as long as no other method of the protocol is called meanwhile. The
        transport passes the returned number to `buffer_updated`; 0 if nothing was received.
        """
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
        self._receiver: ThreadPoolExecutor | None = None  # its thread receives large responses
        self._receiving = False  # in that thread
        self._is_slow = False  # the bytes of this response arrive slowly
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
        try:
            if self._pass_to_thread():
                return
            count = self._stream.recv_into(memoryview(self._protocol.get_buffer(-1)))
            if count == 0:
                self._end(None)
                return
            self._received(count)
            self._pass_to_thread()  # of the response that may have begun
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)

    def _received(self, count: int) -> None:
        try:
            self._protocol.buffer_updated(count)
            if _HAS_LOW_WATER and not self._closed:
                self._set_low_water(self._protocol.missing_bytes)
        except Exception as error:  # noqa: BLE001 - a defect must fail the requests, not hang them
            message = "a response could not be handled"
            self._loop.call_exception_handler({"message": message, "exception": error})
            self._end(error)

    def _received_rest(self, count: int, error: OSError | None) -> None:
        """Continues after the thread has received `count` bytes."""
        self._receiving = False
        if self._closed:
            self._stream.close()
            return
        if error is not None:
            self._end(error)
            return
        self._stream.watch_readable(self._on_readable)
        if count:
            self._received(count)
        self._is_slow = self._protocol.missing_bytes > 0

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

    def _pass_to_thread(self) -> bool:
        """Lets the thread receive the rest of a large response; returns False if the caller has to
        receive.
        """
        if not COMPILED or self._closed or self._protocol.missing_bytes < LOW_WATER_BYTES:
            self._is_slow = False
            return False
        if self._is_slow or not self._protocol.receives_in_thread:
            return False
        if self._receiver is None:
            self._receiver = ThreadPoolExecutor(1, "barnabas-receiver")
        try:
            self._receiver.submit(self._receive_in_thread)
        except RuntimeError:  # the interpreter is about to end
            return False
        self._low_water = 0  # the thread may change it
        self._receiving = True
        self._stream.watch_readable(None)
        return True

    def _receive_in_thread(self) -> None:
        count, failure = 0, None
        try:
            count = self._protocol.receive_rest(self._stream.fd)
        except OSError as error:
            failure = error
        try:
            self._loop.call_soon_threadsafe(self._received_rest, count, failure)
        except RuntimeError:  # the loop is closed
            with suppress(RuntimeError):
                self._stream.close()

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
        if self._receiving:  # the number of a closed descriptor could become that of another file
            self._stream.shut_down()
        else:
            self._stream.close()
        if self._receiver is not None:
            self._receiver.shutdown(wait=False)
        # Not at once: the caller may be in the middle of sending a request.
        self._loop.call_soon(self._protocol.connection_lost, error)
