"""Tracks the flushed part of a log, for brokers that acknowledge only after an fsync.

The flusher takes a ticket before a flush and returns it afterwards.
"""

from typing import NamedTuple


class FlushTicket(NamedTuple):
    """End offset that a flush will make durable; a truncation invalidates it."""

    end_offset: int
    truncations: int


class DurableEnd:
    """End of the flushed part of one log; owned by the event loop."""

    __slots__ = ("_truncations", "end_offset")

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        self._truncations = 0

    def ticket(self, log_end_offset: int) -> FlushTicket:
        return FlushTicket(log_end_offset, self._truncations)

    def flushed(self, ticket: FlushTicket) -> None:
        # A truncation may have removed flushed records and new ones may have taken their offsets.
        if ticket.truncations == self._truncations:
            self.end_offset = max(self.end_offset, ticket.end_offset)

    def truncated(self, log_end_offset: int) -> None:
        self.end_offset = min(self.end_offset, log_end_offset)
        self._truncations += 1
