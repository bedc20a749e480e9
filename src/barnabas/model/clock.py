"""The clock port: logic is handed `now`, drivers read it from one of these."""

from typing import Protocol


class Clock(Protocol):
    """Wall time for timestamps that people and files see, monotonic time for every deadline.

    The two are never mixed: a wall clock that jumps an hour must change timestamps only
    (KAFKA-5415 was logic resting on wall clocks of different hosts).
    """

    def now_ms(self) -> int:
        """Milliseconds since the epoch; may jump in either direction."""
        ...

    def monotonic_ms(self) -> int:
        """Milliseconds from an arbitrary start; never goes back."""
        ...
