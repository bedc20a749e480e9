"""Server side of TLS over a stream, with the same interface as TCP.

OpenSSL uses two buffers in memory; this module copies their bytes to and from the underlying
stream. The handshake is part of the first reads. Decrypted bytes may be available although the
socket is not readable, so `watch_readable` calls back for those too. sendfile cannot
encrypt, so files are read and sent in chunks.
"""

import contextlib
import os
import ssl
from collections.abc import Callable, Sequence

from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.net.replies import Buffer, FilePart
from barnabas.net.stream import Address, ByteStream

SCRATCH_BYTES = 64 * 1024
# TLS cannot use sendfile: the file is read and encrypted in pieces.
_FILE_BYTES = 256 * 1024
_PLAIN_BYTES = 64 * 1024  # encrypted before the next attempt to send


class TlsStream:
    """The server side of one TLS connection.

    Owned by the loop of its listener, whose connections share `scratch` for cipher text.
    """

    __slots__ = (
        "_below",
        "_call_soon",
        "_ended",
        "_established",
        "_incoming",
        "_outgoing",
        "_readable",
        "_scratch",
        "_tls",
        "_unsent",
        "_watching_writable",
        "_writable",
        "local",
        "peer",
    )

    def __init__(
        self,
        below: ByteStream,
        context: ssl.SSLContext,
        scratch: memoryview,
        call_soon: Callable[[Callable[[], None]], object],
    ) -> None:
        self._below = below
        self._scratch = scratch
        self._call_soon = call_soon
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._established = False
        self._ended = False
        self._unsent: memoryview = memoryview(b"")
        self._readable: Callable[[], None] | None = None
        self._writable: Callable[[], None] | None = None
        self._watching_writable = False
        self.peer: Address = below.peer
        self.local: Address = below.local

    def peer_certificate(self) -> dict[str, object] | None:
        """Returns the verified certificate of the peer, or None if it sent none."""
        return dict(self._tls.getpeercert() or {}) or None

    # --- receiving -------------------------------------------------------------------------

    def recv_into(self, buffer: memoryview) -> int:
        total = 0
        while total < len(buffer):
            try:
                self._establish()
                count = self._tls.read(len(buffer) - total, buffer[total:])
            except ssl.SSLWantReadError:
                if total:
                    return total
                self._flush()
                self._fill()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return total
            except ssl.SSLError as error:
                self._fail(error)
            else:
                if not count:
                    return total
                total += int(count)
        return total

    def _establish(self) -> None:
        if not self._established:
            self._tls.do_handshake()
            self._established = True
            self._flush()

    def _fill(self) -> None:
        if self._ended:
            raise ssl.SSLEOFError
        count = self._below.recv_into(self._scratch)
        if count:
            self._incoming.write(self._scratch[:count])
        else:
            self._ended = True
            self._incoming.write_eof()

    def _fail(self, error: ssl.SSLError) -> None:
        with contextlib.suppress(OSError):
            self._flush()  # sends the TLS alert with the reason
        reason = (error.reason or "failed").lower().replace("_", " ")
        what = "broken" if self._established else "handshake failed"
        raise ConnectionClosedError(CloseReason.TLS, f"TLS {what}: {reason}") from None

    def watch_readable(self, callback: Callable[[], None] | None) -> None:
        self._readable = callback
        self._below.watch_readable(None if callback is None else self._on_readable)
        if callback is not None and self._waiting_bytes():
            self._call_soon(self._on_readable)

    def _on_readable(self) -> None:
        if self._readable is not None:
            self._readable()
        before = -1
        while self._readable is not None and 0 < self._waiting_bytes() != before:
            before = self._waiting_bytes()
            self._readable()

    def _waiting_bytes(self) -> int:
        return (self._tls.pending() if self._established else 0) + self._incoming.pending

    # --- sending ---------------------------------------------------------------------------

    def send(self, buffers: Sequence[Buffer], more: bool) -> int:
        if not self._flush():
            raise BlockingIOError
        total = 0
        for buffer in buffers:
            view = memoryview(buffer)
            while len(view):
                count = self._tls.write(view[:_PLAIN_BYTES])
                total += count
                view = view[count:]
                if not self._flush():
                    return total
        return total

    def send_bytes(self, data: bytes, /) -> int:
        return self.send((data,), False)

    def send_file(self, part: FilePart, offset: int) -> int:
        size = min(len(part) - offset, _FILE_BYTES)
        if part.fd < 0:
            data: bytes = part.read()[offset : offset + size]
        else:
            data = os.pread(part.fd, size, part.position + offset)
        return self.send((data,), False) if data else 0

    def _flush(self) -> bool:
        """Sends cipher text; returns whether all of it was sent."""
        try:
            while self._unsent or self._outgoing.pending:
                if not self._unsent:
                    self._unsent = memoryview(self._outgoing.read())
                self._unsent = self._unsent[self._below.send((self._unsent,), False) :]
        except BlockingIOError:
            pass
        self._update_writable()
        return not self._unsent

    def watch_writable(self, callback: Callable[[], None] | None) -> None:
        self._writable = callback
        self._update_writable()

    def _update_writable(self) -> None:
        """Watches also for unsent cipher text, which the connection counts as sent."""
        wanted = self._writable is not None or bool(self._unsent)
        if wanted != self._watching_writable:
            self._watching_writable = wanted
            self._below.watch_writable(self._on_writable if wanted else None)

    def _on_writable(self) -> None:
        try:
            all_sent = self._flush()
        except OSError:
            self._unsent = memoryview(b"")
            all_sent = True  # the next send or receive raises the error
            self._update_writable()
        if all_sent and self._writable is not None:
            self._writable()

    # --- lifecycle -------------------------------------------------------------------------

    def peer_is_gone(self) -> bool:
        return self._below.peer_is_gone()

    def close(self) -> None:
        self._readable = self._writable = None
        if self._established:
            with contextlib.suppress(OSError, ssl.SSLError):
                self._tls.unwrap()
        with contextlib.suppress(OSError):
            self._flush()
        self._unsent = memoryview(b"")
        self._below.close()
