"""Lengths of time as they are written: `30 SECONDS`, `1 HOUR`."""

from barnabas.streams.sql.language.tokens import Cursor

UNITS_MS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
}


def parse_duration(cursor: Cursor) -> int:
    """A number and a unit, in milliseconds."""
    amount = cursor.number("a length of time, such as 30 SECONDS")
    start = cursor.index
    unit = cursor.name("a unit of time").upper().removesuffix("S")
    if unit not in UNITS_MS:
        cursor.index = start
        cursor.fail(f"unknown unit of time; there are {', '.join(UNITS_MS)}")
    return amount * UNITS_MS[unit]


def duration_text(milliseconds: int) -> str:
    """The longest unit that fits without a fraction.

    >>> duration_text(90_000)
    '90 seconds'
    """
    for unit, length in reversed(UNITS_MS.items()):
        if milliseconds and milliseconds % length == 0:
            amount = milliseconds // length
            return f"{amount} {unit.lower()}{'' if amount == 1 else 's'}"
    return "0 seconds"
