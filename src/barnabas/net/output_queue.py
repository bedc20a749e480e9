"""Queue of the parts to send on one stream.

Adjacent byte strings are sent with one system call, file parts with sendfile. The bytes before a
file part are sent with MSG_MORE, so that header and records share packets.
"""

from collections import deque

from barnabas.net.parts import BUFFER_TYPES, Buffer, FilePart, Part, release_parts
from barnabas.net.stream import Stream

_MAX_BUFFERS = 64  # well below IOV_MAX
_MAX_BYTES_PER_TURN = 4 << 20


class OutputQueue:
    """Owned by one connection. `unsent_bytes` counts file parts too."""

    __slots__ = ("_head_sent", "_parts", "unsent_bytes")

    def __init__(self) -> None:
        self._parts: deque[Part] = deque()
        self._head_sent = 0  # sent bytes of the first part
        self.unsent_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._parts)

    def append(self, parts: list[Part]) -> None:
        for part in parts:
            size = len(part)
            if size:
                self._parts.append(part)
                self.unsent_bytes += size
            else:
                release_parts((part,))

    def flush(self, stream: Stream) -> int:
        """Sends without blocking; returns the number of bytes sent. Catches BlockingIOError."""
        total = 0
        try:
            while self._parts and total < _MAX_BYTES_PER_TURN:
                total += self._send_some(stream)
        except BlockingIOError:
            pass
        return total

    def clear(self) -> None:
        """Discards all unsent parts and releases their files."""
        release_parts(self._parts)
        self._parts.clear()
        self._head_sent = 0
        self.unsent_bytes = 0

    def _send_some(self, stream: Stream) -> int:
        first = self._parts[0]
        if isinstance(first, BUFFER_TYPES):
            buffers, more = self._leading_buffers()
            sent = stream.send(buffers, more)
        else:
            sent = self._send_file(stream, first)
        self._drop(sent)
        return sent

    def _send_file(self, stream: Stream, part: FilePart) -> int:
        sent = stream.send_file(part, self._head_sent)
        if sent == 0:
            raise ConnectionAbortedError("the file of a response is shorter than announced")
        return sent

    def _leading_buffers(self) -> tuple[list[Buffer], bool]:
        buffers: list[Buffer] = []
        for part in self._parts:
            if not isinstance(part, BUFFER_TYPES):
                return buffers, True
            if len(buffers) == _MAX_BUFFERS:
                return buffers, True
            if not buffers and self._head_sent:
                part = memoryview(part)[self._head_sent :]
            buffers.append(part)
        return buffers, False

    def _drop(self, sent: int) -> None:
        self.unsent_bytes -= sent
        sent += self._head_sent
        parts = self._parts
        while parts and sent >= len(parts[0]):
            part = parts.popleft()
            sent -= len(part)
            release_parts((part,))
        self._head_sent = sent
