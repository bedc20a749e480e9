"""How much of a log is on the disk, for brokers that acknowledge only what an fsync has covered.

Pure bookkeeping: whoever runs the flush takes a ticket before and hands it back after.
"""

from typing import NamedTuple


class FlushTicket(NamedTuple):
    """What a flush that starts now will have made durable; void after a truncation."""

    end_offset: int
    truncations: int


class DurableEnd:
    """The end of the flushed part of one log; owned by the broker's loop."""

    __slots__ = ("_truncations", "end_offset")

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset
        self._truncations = 0

    def ticket(self, log_end_offset: int) -> FlushTicket:
        return FlushTicket(log_end_offset, self._truncations)

    def flushed(self, ticket: FlushTicket) -> None:
        # What was flushed before a truncation may have been cut off and replaced since.
        if ticket.truncations == self._truncations:
            self.end_offset = max(self.end_offset, ticket.end_offset)

    def truncated(self, log_end_offset: int) -> None:
        self.end_offset = min(self.end_offset, log_end_offset)
        self._truncations += 1
