"""Where to read, as one word: the offset grammar of `consume`, `dump` and `copy`.

    start          everything from the first record on, then what comes
    end            only what comes
    :end           what is there now, then stop
    N   N:M        from offset N; N up to, not including, M
    +N  -N         N after the first; N before the end
    @T  @T1:T2     from a time; @-1h is an hour ago; @-2h:-1h an hour of records
    committed      where the group stands

A part left out is the first (`:M`) or no end (`N:`). A bad word is an error, never a default.
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
    """One end of a range; `value` is an offset, a count or milliseconds."""

    kind: BoundKind
    value: int = 0


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """From `start` on, up to but not including `stop`; for ever when there is none."""

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


def parse_range(text: str, now_ms: int) -> OffsetRange:
    """Read a word of the grammar.

    >>> parse_range("10:20", 0)
    OffsetRange(start=Bound(kind=<BoundKind.OFFSET: 'offset'>, value=10), \
stop=Bound(kind=<BoundKind.OFFSET: 'offset'>, value=20))
    """
    if text.startswith("@"):
        return _parse_times(text[1:], text, now_ms)
    start, colon, stop = text.partition(":")
    if not text or text == ":":
        raise _bad(text)
    return OffsetRange(
        _bound(start, text) if start else START, _bound(stop, text) if stop and colon else None
    )


def _parse_times(body: str, text: str, now_ms: int) -> OffsetRange:
    """`T` or `T1:T2`; times have colons of their own, so each one is tried as the divider."""
    divided = [at for at, char in enumerate(body) if char == ":"]
    for cut in divided:
        try:
            start, stop = _time(body[:cut], now_ms), _time(body[cut + 1 :].lstrip("@"), now_ms)
        except ConfigError:
            continue
        return OffsetRange(start, stop)
    try:
        return OffsetRange(_time(body, now_ms))
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
        f"offset {text!r} is not understood: write start, end, :end, 42, 10:20, +5, -5, "
        "@2024-05-01T12:00, @-1h or committed"
    )
