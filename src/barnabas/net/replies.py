"""Replies of a server connection: the parts of an encoded response, and replies completed later.

A message encodes to a list of parts. Most are bytes-like; a fetch response also contains file
parts, which the kernel sends from the page cache without copying them through Python.
"""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias, runtime_checkable

from barnabas.runtime.metrics import Histogram

Buffer: TypeAlias = bytes | bytearray | memoryview


@runtime_checkable
class FilePart(Protocol):
    """A part of a response that is sent from a file; implemented by storage.

    It consists of `size` bytes of the open file `fd` from `position`.

    The owner of a part calls `release` exactly once when it no longer needs the file. A deleted
    segment stays readable until then.
    """

    @property
    def fd(self) -> int: ...

    @property
    def position(self) -> int: ...

    def __len__(self) -> int: ...

    def read(self) -> bytes: ...

    def release(self) -> None: ...


Part: TypeAlias = Buffer | FilePart

BUFFER_TYPES = (bytes, bytearray, memoryview)


def release_parts(parts: Iterable[object]) -> None:
    """Releases the files of parts that will not be sent."""
    for part in parts:
        if not isinstance(part, BUFFER_TYPES):
            release = getattr(part, "release", None)
            if release is not None:
                release()


class PendingReply:
    """Keeps the position of a response in its connection's order until it is completed.

    With `pipelined` the connection may handle its next request meanwhile. This is correct only if
    all ordered work of the request is complete (a produce that waits for its followers).
    Otherwise the connection is muted, as Kafka mutes a channel.

    Completes once: `complete` or `abandon`, whichever comes first. `None` as parts means that
    nothing is sent. All calls are made on the loop.
    """

    __slots__ = (
        "_on_abandon",
        "_on_ready",
        "on_completed",
        "parts",
        "pipelined",
        "ready",
        "send_time",
    )

    def __init__(
        self, *, pipelined: bool = False, on_abandon: Callable[[], None] | None = None
    ) -> None:
        self.pipelined = pipelined
        self.ready = False
        self.parts: list[Part] | None = None
        self._on_ready: Callable[[], None] | None = None
        self._on_abandon = on_abandon
        self.on_completed: Callable[[], None] | None = None
        """Called when the reply is complete, before it is sent; for measurements."""
        self.send_time: Histogram | None = None
        """Records the nanoseconds in which the response is sent."""

    def complete(self, parts: list[Part] | None) -> None:
        """Completes the reply; if the connection is closed, releases the parts."""
        if self.ready:
            release_parts(parts or ())
            return
        self.ready = True
        self.parts = parts
        self._on_abandon = None
        if self.on_completed is not None:
            self.on_completed()
        if self._on_ready is not None:
            self._on_ready()

    def abandon(self) -> None:
        """Called when the connection is closed: the reply will not be sent."""
        if self.ready:
            release_parts(self.parts or ())
            self.parts = None
            return
        self.ready = True
        self._on_ready = None
        if self._on_abandon is not None:
            self._on_abandon()
            self._on_abandon = None

    def when_ready(self, callback: Callable[[], None]) -> None:
        """Runs `callback` when the reply is complete, immediately if it already is."""
        if self.ready:
            callback()
        else:
            self._on_ready = callback


Reply: TypeAlias = list[Part] | PendingReply | None
"""Result of handling a frame: the response, a later response, or none."""
