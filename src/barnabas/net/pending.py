"""Replies that are completed later."""

from collections.abc import Callable
from typing import TypeAlias

from barnabas.net.parts import Part, release_parts


class PendingReply:
    """Keeps the position of a response in its connection's order until it is completed.

    With `pipelined` the connection may handle its next request meanwhile. This is correct only if
    all ordered work of the request is complete (a produce that waits for its followers).
    Otherwise the connection is muted, as Kafka mutes a channel.

    Completes once: `complete` or `abandon`, whichever comes first. `None` as parts means that
    nothing is sent. All calls are made on the loop.
    """

    __slots__ = ("_on_abandon", "_on_ready", "parts", "pipelined", "ready")

    def __init__(
        self, *, pipelined: bool = False, on_abandon: Callable[[], None] | None = None
    ) -> None:
        self.pipelined = pipelined
        self.ready = False
        self.parts: list[Part] | None = None
        self._on_ready: Callable[[], None] | None = None
        self._on_abandon = on_abandon

    def complete(self, parts: list[Part] | None) -> None:
        """Completes the reply; if the connection is closed, releases the parts."""
        if self.ready:
            release_parts(parts or ())
            return
        self.ready = True
        self.parts = parts
        self._on_abandon = None
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
