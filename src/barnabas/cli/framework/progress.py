"""A progress bar on stderr; it is drawn only when stderr is a terminal.

copying  [########------------]  41%  410,000/1,000,000  98,000/s  ETA 0:06
"""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

REDRAW_SECONDS = 0.1
_WIDTH = 20


class ProgressBar:
    """Counts towards a total; a total of 0 means that it is unknown."""

    def __init__(
        self,
        label: str,
        total: int,
        *,
        enabled: bool = True,
        stream: TextIO | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.label = label
        self.total = total
        self.done = 0
        self._stream = stream or sys.stderr
        self._enabled = enabled and self._stream.isatty()
        self._now = now
        self._started = now()
        self._drawn = float("-inf")

    def advance(self, count: int) -> None:
        """Adds `count` finished items; redraws at most ten times a second."""
        self.done += count
        if self._enabled and self._now() - self._drawn >= REDRAW_SECONDS:
            self._draw()

    def line(self) -> str:
        """Returns the bar as text."""
        elapsed = max(self._now() - self._started, 1e-9)
        rate = self.done / elapsed
        if self.total <= 0:
            return f"{self.label}  {self.done:,}  {rate:,.0f}/s"
        share = min(self.done / self.total, 1.0)
        filled = int(share * _WIDTH)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        eta = duration_text((self.total - self.done) / rate) if rate else "?"
        counts = f"{self.done:,}/{self.total:,}"
        return f"{self.label}  [{bar}] {share:4.0%}  {counts}  {rate:,.0f}/s  ETA {eta}"

    def __enter__(self) -> Self:
        if self._enabled:
            self._draw()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._enabled:
            self._draw()
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self) -> None:
        self._drawn = self._now()
        self._stream.write(f"\r\x1b[K{self.line()}")
        self._stream.flush()


def duration_text(seconds: float) -> str:
    """
    >>> duration_text(3725), duration_text(9)
    ('1:02:05', '0:09')
    """
    whole = max(int(seconds), 0)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"
