"""Replies of one connection: pending and unsent, in the order of their requests."""

from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter_ns
from typing import cast

from barnabas.net._connection_state_hot import OutputState
from barnabas.net.frame_reader import ConnectionLimits
from barnabas.net.replies import (
    BUFFER_TYPES,
    Buffer,
    FilePart,
    Part,
    PendingReply,
    Reply,
    release_parts,
)
from barnabas.net.stream import ByteStream
from barnabas.runtime.metrics import Histogram

_MAX_BUFFERS = 64  # well below IOV_MAX
_MAX_BYTES_PER_TURN = 4 << 20
_MAX_SENDS_PER_TURN = 32
"""System calls for one connection before others are served: a fetch response of 10,000 partitions
has 20,000 parts of some bytes."""
_MAX_COPIED_FILE_BYTES = 8 << 10


class OutputQueue(OutputState):
    """The bytes and file parts of one connection that are not sent yet.

    Owned by one connection. `unsent_bytes` counts file parts too, `queued_bytes` all bytes ever.

    Adjacent byte strings are sent with one system call, file parts with sendfile. The bytes before
    a file part are sent with MSG_MORE, so that header and records share packets. A small file part
    is read and sent together with the bytes around it: that is one system call less, and a copy of
    some KB costs less than a system call. Small responses are joined to one byte string, which has
    a short path in `flush`.
    """

    __slots__ = ("_head_sent", "_parts")

    def __init__(self) -> None:
        super().__init__()
        self._parts: deque[Part] = deque()
        self._head_sent = 0  # sent bytes of the first part

    def append(self, parts: list[Part]) -> None:
        for part in parts:
            size = len(part)
            if size:
                self._parts.append(part)
                self.unsent_bytes += size
                self.queued_bytes += size
            else:
                release_parts((part,))

    def flush(self, stream: ByteStream) -> int:
        """Sends without blocking; returns the number of bytes sent. Catches BlockingIOError."""
        total = sends = 0
        try:
            if not self._head_sent and 0 < self.unsent_bytes <= _MAX_COPIED_FILE_BYTES:
                total = self._send_joined(stream)
                if not self._parts:
                    return total
            while self._parts and total < _MAX_BYTES_PER_TURN and sends < _MAX_SENDS_PER_TURN:
                total += self._send_some(stream)
                sends += 1
        except BlockingIOError:
            pass
        return total

    def clear(self) -> None:
        """Discards all unsent parts and releases their files."""
        release_parts(self._parts)
        self._parts.clear()
        self._head_sent = 0
        self.unsent_bytes = 0

    def _send_joined(self, stream: ByteStream) -> int:
        """Sends all parts, which are small, with one system call; returns 0 for a file alone."""
        parts = self._parts
        if len(parts) > 1:
            for index, part in enumerate(parts):
                if not isinstance(part, BUFFER_TYPES):
                    parts[index] = _copied(part)
            joined = b"".join(cast(Iterable[Buffer], parts))
            parts.clear()
            parts.append(joined)
        first = parts[0]
        if not isinstance(first, BUFFER_TYPES):
            return 0
        sent = stream.send((first,), False)
        if sent == self.unsent_bytes:
            parts.clear()
            self.unsent_bytes = 0
        else:
            self.drop(sent)
        return sent

    def _send_some(self, stream: ByteStream) -> int:
        first = self._parts[0]
        if isinstance(first, BUFFER_TYPES):
            buffers, more = self._leading_buffers()
            sent = stream.send(buffers, more)
        else:
            sent = self._send_file(stream, first)
        self.drop(sent)
        return sent

    def _send_file(self, stream: ByteStream, part: FilePart) -> int:
        sent = stream.send_file(part, self._head_sent)
        if sent == 0:
            raise ConnectionAbortedError("the file of a response is shorter than announced")
        return sent

    def _leading_buffers(self) -> tuple[list[Buffer], bool]:
        """Returns the byte strings at the front, and whether a part follows them."""
        buffers: list[Buffer] = []
        for index, part in enumerate(self._parts):
            if len(buffers) == _MAX_BUFFERS:
                return buffers, True
            if not isinstance(part, BUFFER_TYPES):
                if len(part) > _MAX_COPIED_FILE_BYTES:
                    return buffers, True
                self._parts[index] = part = _copied(part)
            if not buffers and self._head_sent:
                part = memoryview(part)[self._head_sent :]
            buffers.append(part)
        return buffers, False

    def drop(self, sent: int) -> None:
        """Removes the first `sent` bytes, which have been sent."""
        self.unsent_bytes -= sent
        sent += self._head_sent
        parts = self._parts
        while parts and sent >= len(parts[0]):
            part = parts.popleft()
            sent -= len(part)
            release_parts((part,))
        self._head_sent = sent


def _copied(part: FilePart) -> bytes:
    """Returns the bytes of a file part and releases it."""
    data = part.read()
    if len(data) != len(part):
        raise ConnectionAbortedError("the file of a response is shorter than announced")
    part.release()
    return data


class ReplyQueue:
    """The replies of one connection, sent in the order of their requests.

    Owned by one connection; `on_ready` is called when a pending reply is complete.

    The send time of a response lasts from its turn in the order until the operating system has all
    its bytes: it is long for clients that read slowly.
    """

    __slots__ = (
        "_max_pending",
        "_max_unsent_bytes",
        "_on_ready",
        "_pending",
        "_sending",
        "output",
    )

    def __init__(self, limits: ConnectionLimits, on_ready: Callable[[], None]) -> None:
        self._max_pending = limits.max_pending_replies
        self._max_unsent_bytes = limits.max_unsent_bytes
        self._on_ready = on_ready
        self.output = OutputQueue()
        self._pending: deque[PendingReply] = deque()
        self._sending: deque[tuple[int, int, Histogram]] = deque()
        """End of each response in the queued bytes, its start in nanoseconds, its send time."""

    @property
    def pending(self) -> bool:
        """Whether a request is in progress."""
        return bool(self._pending)

    @property
    def unsent(self) -> bool:
        """Whether there are unsent bytes."""
        return self.output.unsent_bytes > 0

    @property
    def full(self) -> bool:
        """Whether the next request must wait, because of its order or of the limits."""
        if self.output.unsent_bytes > self._max_unsent_bytes:
            return True
        pending = self._pending
        if not pending:
            return False
        return not pending[-1].pipelined or len(pending) >= self._max_pending

    def add(self, reply: Reply, send_time: Histogram | None = None) -> None:
        """Adds the result of handling the next request; `send_time` records its nanoseconds."""
        if isinstance(reply, list):
            if self._pending:
                later = PendingReply(pipelined=True)
                later.send_time = send_time
                later.complete(reply)
                self._pending.append(later)
            else:
                self.output.append(reply)
                if send_time is not None:
                    sent_at = self.output.queued_bytes
                    self._sending.append((sent_at, perf_counter_ns(), send_time))
        elif reply is not None:
            reply.send_time = send_time
            self._pending.append(reply)
            reply.when_ready(self._on_ready)

    def collect(self) -> None:
        """Queues the completed replies at the front of the order for sending."""
        pending = self._pending
        while pending and pending[0].ready:
            reply = pending.popleft()
            if reply.parts:
                self._queue(reply.parts, reply.send_time)

    def _queue(self, parts: list[Part], send_time: Histogram | None) -> None:
        self.output.append(parts)
        if send_time is not None:
            self._sending.append((self.output.queued_bytes, perf_counter_ns(), send_time))

    def send(self, stream: ByteStream) -> int:
        """Sends without blocking; returns the number of bytes sent."""
        count = self.output.flush(stream)
        sending = self._sending
        if sending:
            sent = self.output.queued_bytes - self.output.unsent_bytes
            now_ns = perf_counter_ns()
            while sending and sending[0][0] <= sent:
                _, started_ns, send_time = sending.popleft()
                send_time.record(now_ns - started_ns)
        return count

    def clear(self) -> None:
        """Releases unsent parts and abandons pending replies of a closed connection."""
        self.output.clear()
        self._sending.clear()
        while self._pending:
            self._pending.popleft().abandon()
