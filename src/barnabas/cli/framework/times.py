"""Parses and prints times and durations. Times are milliseconds since 1970, in UTC."""

import re
from datetime import UTC, datetime, timedelta

from barnabas.model.errors import ConfigError

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_ISO = re.compile(
    r"([+-]?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)
_SECONDS_DIGITS = 10
_MILLISECONDS_DIGITS = 13


def parse_duration(text: str) -> float:
    """Returns the seconds of `90s`, `1h30m`, `7d`, or of an ISO 8601 duration.

    >>> parse_duration("1h30m"), parse_duration("PT1H"), parse_duration("P1DT2H")
    (5400.0, 3600.0, 93600.0)
    """
    pieces = _PIECE.findall(text)
    if pieces and "".join(number + unit for number, unit in pieces) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in pieces)
    iso = _ISO.fullmatch(text)
    if iso and text.upper() not in ("P", "PT"):
        sign, days, hours, minutes, seconds = iso.groups()
        found = timedelta(
            days=int(days or 0),
            hours=int(hours or 0),
            minutes=int(minutes or 0),
            seconds=float(seconds or 0),
        ).total_seconds()
        return -found if sign == "-" else found
    raise ConfigError(f"{text!r} is not a duration: write 90s, 1h30m, 7d or PT1H")


def parse_time(text: str, now_ms: int) -> int:
    """Returns a time given as milliseconds, seconds, ISO date or time, `-1h` (ago) or `now`.

    >>> parse_time("2024-01-01", 0), parse_time("-1h", 7_200_000), parse_time("1700000000", 0)
    (1704067200000, 3600000, 1700000000000)
    """
    if text == "now":
        return now_ms
    if text.startswith("-"):
        return now_ms - int(parse_duration(text[1:]) * 1000)
    if text.isdigit():
        if len(text) >= _MILLISECONDS_DIGITS:
            return int(text)
        if len(text) == _SECONDS_DIGITS:
            return int(text) * 1000
    return parse_datetime(text)


def parse_datetime(text: str) -> int:
    """Returns the time of an ISO 8601 date and time; without a time zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a time: write 2024-05-01T12:00:00Z, 1714564800000 or -1h"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def iso_time(timestamp_ms: int | None) -> str | None:
    """Returns a timestamp as ISO 8601 in UTC with milliseconds; None for no timestamp.

    >>> iso_time(0)
    '1970-01-01T00:00:00.000Z'
    """
    if timestamp_ms is None or timestamp_ms < 0:
        return None
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
