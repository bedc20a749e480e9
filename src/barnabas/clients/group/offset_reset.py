"""Where to begin without a valid offset: `auto.offset.reset`, read and named. Pure."""

import re
from dataclasses import dataclass

from barnabas.clients.core.apis.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from barnabas.model.errors import ConfigError

_DURATION = re.compile(
    r"P(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d{1,9})?)S)?)?"
)


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """What to ask the leader for: a special timestamp, or a time so long ago (KIP-1106)."""

    name: str
    timestamp: int | None = None
    duration_ms: int | None = None

    def timestamp_at(self, now_ms: int) -> int:
        """The timestamp for ListOffsets; only where `is_none` is False."""
        if self.duration_ms is not None:
            # Negative timestamps have meanings of their own.
            return max(now_ms - self.duration_ms, 0)
        assert self.timestamp is not None
        return self.timestamp

    @property
    def is_none(self) -> bool:
        """Whether the application wants an error instead."""
        return self.timestamp is None and self.duration_ms is None


EARLIEST = OffsetReset("earliest", EARLIEST_TIMESTAMP)
LATEST = OffsetReset("latest", LATEST_TIMESTAMP)
NONE = OffsetReset("none")


def parse_reset(text: str) -> OffsetReset:
    """The value of `auto.offset.reset`.

    >>> parse_reset("by_duration:P1DT2H").duration_ms == 26 * 3_600_000
    True
    """
    fixed = {"earliest": EARLIEST, "latest": LATEST, "none": NONE}
    if text in fixed:
        return fixed[text]
    return OffsetReset(text, duration_ms=_parse_duration(text.removeprefix("by_duration:")))


def _parse_duration(text: str) -> int:
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groupdict().values()):
        raise ConfigError(f"auto.offset.reset: {text!r} is not an ISO 8601 duration such as PT1H")
    parts = {name: float(value or 0) for name, value in found.groupdict().items()}
    hours = parts["days"] * 24 + parts["hours"]
    return int(((hours * 60 + parts["minutes"]) * 60 + parts["seconds"]) * 1000)
