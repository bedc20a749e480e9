"""The values of `-o` of `consume`, `dump` and `copy`: the range of offsets to read.

    start          all records, then new ones
    end            only new records
    :end           all records that exist now, then stop
    N   N:M        from offset N; N up to, not including, M
    +N  -N         N after the first; N before the end
    @T  @T1:T2     from a time; @-1h is an hour ago; @-2h:-1h an hour of records
    committed      from the committed offset of the group

A missing start (`:M`) is the log start offset, a missing stop (`N:`) is no stop. An invalid value
is an error.
"""

import enum
from dataclasses import dataclass

from barnabas.cli.framework.times import parse_time
from barnabas.model.errors import ConfigError


class BoundKind(enum.Enum):
    START = "start"
    END = "end"
    OFFSET = "offset"
    AFTER_START = "after start"
    BEFORE_END = "before end"
    TIME = "time"
    COMMITTED = "committed"


@dataclass(frozen=True, slots=True)
class Bound:
    """Start or stop of a range; `value` is an offset, a count or milliseconds."""

    kind: BoundKind
    value: int = 0


@dataclass(frozen=True, slots=True)
class ReadRange:
    """The range from `start` to `stop`, exclusive; without a stop it has no end."""

    start: Bound
    stop: Bound | None = None


START = Bound(BoundKind.START)
END = Bound(BoundKind.END)
_WORDS = {
    "start": START,
    "earliest": START,
    "beginning": START,
    "end": END,
    "latest": END,
    "committed": Bound(BoundKind.COMMITTED),
    "stored": Bound(BoundKind.COMMITTED),
}


def parse_range(text: str, now_ms: int) -> ReadRange:
    """Parses the value of `-o`.

    >>> parse_range("10:20", 0)
    ReadRange(start=Bound(kind=<BoundKind.OFFSET: 'offset'>, value=10), \
stop=Bound(kind=<BoundKind.OFFSET: 'offset'>, value=20))
    """
    if text.startswith("@"):
        return _parse_times(text[1:], text, now_ms)
    start, colon, stop = text.partition(":")
    if not text or text == ":":
        raise _bad(text)
    return ReadRange(
        _bound(start, text) if start else START, _bound(stop, text) if stop and colon else None
    )


def _parse_times(body: str, text: str, now_ms: int) -> ReadRange:
    """Parses `T` or `T1:T2`. Times contain colons, so each colon is tried as the separator."""
    divided = [at for at, char in enumerate(body) if char == ":"]
    for cut in divided:
        try:
            start, stop = _time(body[:cut], now_ms), _time(body[cut + 1 :].lstrip("@"), now_ms)
        except ConfigError:
            continue
        return ReadRange(start, stop)
    try:
        return ReadRange(_time(body, now_ms))
    except ConfigError as error:
        raise ConfigError(f"offset {text!r}: {error}") from error


def _time(text: str, now_ms: int) -> Bound:
    if text == "end":
        return END
    return Bound(BoundKind.TIME, parse_time(text, now_ms))


def _bound(text: str, whole: str) -> Bound:
    word = _WORDS.get(text)
    if word is not None:
        return word
    sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("", text)
    if not (digits.isascii() and digits.isdigit()):
        raise _bad(whole)
    kinds = {"+": BoundKind.AFTER_START, "-": BoundKind.BEFORE_END, "": BoundKind.OFFSET}
    return Bound(kinds[sign], int(digits))


def _bad(text: str) -> ConfigError:
    return ConfigError(
        f"offset {text!r} is invalid: write start, end, :end, 42, 10:20, +5, -5, "
        "@2024-05-01T12:00, @-1h or committed"
    )
