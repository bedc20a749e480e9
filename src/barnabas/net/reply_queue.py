"""Pending and unsent replies of one connection, in the order of their requests."""

from collections import deque
from collections.abc import Callable

from barnabas.net.limits import ConnectionLimits
from barnabas.net.output_queue import OutputQueue
from barnabas.net.pending import PendingReply, Reply
from barnabas.net.stream import Stream


class ReplyQueue:
    """Owned by one connection; `on_ready` is called when a pending reply is complete."""

    __slots__ = ("_limits", "_on_ready", "_output", "_pending")

    def __init__(self, limits: ConnectionLimits, on_ready: Callable[[], None]) -> None:
        self._limits = limits
        self._on_ready = on_ready
        self._output = OutputQueue()
        self._pending: deque[PendingReply] = deque()

    @property
    def pending(self) -> bool:
        """Whether a request is in progress."""
        return bool(self._pending)

    @property
    def unsent(self) -> bool:
        """Whether there are unsent bytes."""
        return bool(self._output)

    @property
    def full(self) -> bool:
        """Whether the next request must wait, because of its order or of the limits."""
        if self._output.unsent_bytes > self._limits.max_unsent_bytes:
            return True
        pending = self._pending
        return bool(pending) and (
            not pending[-1].pipelined or len(pending) >= self._limits.max_pending_replies
        )

    def add(self, reply: Reply) -> None:
        """Adds the result of handling the next request."""
        if reply is None:
            return
        if isinstance(reply, PendingReply):
            self._pending.append(reply)
            reply.when_ready(self._on_ready)
        elif self._pending:
            later = PendingReply(pipelined=True)
            later.complete(reply)
            self._pending.append(later)
        else:
            self._output.append(reply)

    def collect(self) -> None:
        """Queues the completed replies at the front of the order for sending."""
        pending = self._pending
        while pending and pending[0].ready:
            parts = pending.popleft().parts
            if parts:
                self._output.append(parts)

    def send(self, stream: Stream) -> int:
        """Sends without blocking; returns the number of bytes sent."""
        return self._output.flush(stream)

    def clear(self) -> None:
        """Releases unsent parts and abandons pending replies of a closed connection."""
        self._output.clear()
        while self._pending:
            self._pending.popleft().abandon()
