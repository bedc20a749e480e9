"""Windows: how the rows of a group are divided by time. Pure.

The grace period is how long after its end a window still accepts late rows. Time is the time of the
rows: a window is closed when the newest time of the earlier micro-batches is later than the
window's end plus the grace period.
"""

import enum
import re
from dataclasses import dataclass
from datetime import timedelta

from barnabas.model.errors import ConfigError

DurationLike = timedelta | str | float
"""A timedelta, a number of seconds, or a text such as "5 minutes" or "1 hour 30 s"."""

_UNITS = {
    "ms": 1,
    "millisecond": 1,
    "s": 1000,
    "sec": 1000,
    "second": 1000,
    "m": 60_000,
    "min": 60_000,
    "minute": 60_000,
    "h": 3_600_000,
    "hour": 3_600_000,
    "d": 86_400_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


class Shape(enum.Enum):
    """How windows are placed on the time axis."""

    TUMBLING = "tumbling"
    HOPPING = "hopping"
    SLIDING = "sliding"
    SESSION = "session"


class Emit(enum.Enum):
    """When a result is written: at each change, or once when the window is closed."""

    CHANGES = "changes"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class Window:
    """A window definition; `tumbling`, `hopping`, `sliding` and `session` make one.

    `size_ms` is the gap of a session; `advance_ms` is the step of a hopping window.
    """

    shape: Shape
    size_ms: int
    advance_ms: int
    grace_ms: int = 0

    def __str__(self) -> str:
        step = f" every {self.advance_ms} ms" if self.shape is Shape.HOPPING else ""
        grace = f", grace {self.grace_ms} ms" if self.grace_ms else ""
        return f"{self.shape.value} {self.size_ms} ms{step}{grace}"


def tumbling(size: DurationLike, *, grace: DurationLike = 0) -> Window:
    """Returns adjacent windows: each row is in one.

    Args:
        size: The length of a window, such as "5 minutes".
        grace: How long after its end a window accepts late rows.

    >>> str(tumbling("5 minutes", grace="30 s"))
    'tumbling 300000 ms, grace 30000 ms'
    """
    return _window(Shape.TUMBLING, size, size, grace)


def hopping(size: DurationLike, advance: DurationLike, *, grace: DurationLike = 0) -> Window:
    """Returns windows that start every `advance` and overlap: a row can be in several.

    Args:
        size: The length of a window.
        advance: The time between the starts of two windows; at most `size`.
        grace: How long after its end a window accepts late rows.

    Raises:
        ConfigError: `advance` is larger than `size`.
    """
    window = _window(Shape.HOPPING, size, advance, grace)
    if window.advance_ms > window.size_ms:
        raise ConfigError("a hopping window must not advance by more than its size")
    return window


def sliding(size: DurationLike, *, grace: DurationLike = 0) -> Window:
    """Returns one window per row: the rows of its group within `size` before it, and the row.

    Args:
        size: The length of a window.
        grace: How long after its end a window accepts late rows.
    """
    return _window(Shape.SLIDING, size, size, grace)


def session(gap: DurationLike, *, grace: DurationLike = 0) -> Window:
    """Returns windows of activity: a row within `gap` of another is in the same window.

    Args:
        gap: The longest time without a row in a window.
        grace: How long after its end a window accepts late rows.
    """
    return _window(Shape.SESSION, gap, gap, grace)


def milliseconds(duration: DurationLike) -> int:
    """Returns a duration in milliseconds; ConfigError if the text is not a duration.

    >>> milliseconds("1 hour 30 s"), milliseconds(2.5), milliseconds(timedelta(days=1))
    (3630000, 2500, 86400000)
    """
    if isinstance(duration, timedelta):
        return round(duration / timedelta(milliseconds=1))
    if isinstance(duration, int | float):
        return round(duration * 1000)
    pairs = re.findall(r"(\d+)\s*([a-z]+)", duration.lower())
    rest = re.sub(r"(\d+)\s*([a-z]+)|[\s,]", "", duration.lower())
    units = [_UNITS.get(unit) or _UNITS.get(unit.removesuffix("s")) for _, unit in pairs]
    if rest or not pairs or None in units:
        raise ConfigError(f"{duration!r} is not a duration: write '5 minutes' or '1 hour 30 s'")
    return sum(int(n) * (unit or 0) for (n, _), unit in zip(pairs, units, strict=True))


def _window(shape: Shape, size: DurationLike, advance: DurationLike, grace: DurationLike) -> Window:
    window = Window(shape, milliseconds(size), milliseconds(advance), milliseconds(grace))
    if window.size_ms <= 0 or window.advance_ms <= 0 or window.grace_ms < 0:
        raise ConfigError(f"{window}: size and advance must be above 0, grace 0 or more")
    return window
