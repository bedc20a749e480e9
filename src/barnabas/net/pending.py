"""A reply that is not there yet."""

from collections.abc import Callable
from typing import TypeAlias

from barnabas.net.parts import Part, release_parts


class PendingReply:
    """The place of a response in its connection's order, filled in later.

    `pipelined` says that the connection may go on with its next request meanwhile, which is
    right only when everything that had to happen in order has happened (a produce that waits for
    its followers). Otherwise the connection is muted, as Kafka mutes a channel.

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
        """Fill in the response; if the connection is gone the parts are released."""
        if self.ready:
            release_parts(parts or ())
            return
        self.ready = True
        self.parts = parts
        self._on_abandon = None
        if self._on_ready is not None:
            self._on_ready()

    def abandon(self) -> None:
        """The connection is gone: nobody waits for this reply any more."""
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
        """Have `callback` run when the reply is there, at once if it is there already."""
        if self.ready:
            callback()
        else:
            self._on_ready = callback


Reply: TypeAlias = list[Part] | PendingReply | None
"""What handling a frame gives: the response, one to come, or none at all."""
