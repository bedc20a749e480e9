"""Output of commands: rows as a table, JSON, YAML or TSV; times; progress bars; exit codes.

Rows are dicts; their keys are the JSON keys (snake_case), which are a stable interface. A table
shows chosen columns: upper-case headers, aligned, no borders, `-` for empty values, numbers
right-aligned. TSV has the columns of the table without a header, for awk. JSON and YAML have all
keys.

Names and records can contain control characters, which a terminal would execute. Every format
escapes them: `\\x1b` in tables and texts, `\\u001b` in JSON and YAML.
"""

import argparse
import json
import os
import re
import select
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self, TextIO

from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.runtime.closing import ClosesOnExit

TABLE, JSON, YAML, TSV = "table", "json", "yaml", "tsv"
FORMATS = (TABLE, JSON, YAML, TSV)
EMPTY = "-"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_IN_JSON = re.compile(r"[\x7f-\x9f]")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
Row = Mapping[str, Any]
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_PIECE = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_ISO = re.compile(
    r"([+-]?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)
_SECONDS_DIGITS = 10
_MILLISECONDS_DIGITS = 13
REDRAW_SECONDS = 0.1
_WIDTH = 20
DONE = 0
FAILED = 1
"""The cluster rejected the operation, or at least one of several items failed."""
USAGE = 2
CHECK_FAILED = 3
"""The command ran and found a problem (doctor, verifications)."""
INTERRUPTED = 130
OK = "OK"


def add_format_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=FORMATS, default=TABLE, help="output format (default: %(default)s)"
    )


def show(
    arguments: argparse.Namespace,
    rows: Sequence[Row],
    columns: Sequence[str],
    out: TextIO | None = None,
) -> None:
    """Prints rows in the format of --format."""
    out = out or sys.stdout
    match arguments.format:
        case "json":
            out.write(json_text(rows) + "\n")
        case "yaml":
            out.write(yaml_text(list(rows)) + "\n")
        case "tsv":
            out.writelines(tsv_line(row, columns) for row in rows)
        case _:
            out.write(table_text(rows, columns))


def show_document(arguments: argparse.Namespace, document: Row, text: str) -> None:
    """Prints one document as JSON or YAML, or the given text in the other formats."""
    if arguments.format == JSON:
        sys.stdout.write(json_text(document) + "\n")
    elif arguments.format == YAML:
        sys.stdout.write(yaml_text(document) + "\n")
    else:
        shown = printable(text)
        sys.stdout.write(shown if shown.endswith("\n") or not shown else f"{shown}\n")


def printable(text: str) -> str:
    r"""Returns the text with control characters escaped, except line ends and tabs.

    >>> printable("a\x1b[31m\nb")
    'a\\x1b[31m\nb'
    """
    return _CONTROL_IN_TEXT.sub(_escape, text)


def json_text(value: object) -> str:
    return _json(value, indent=2)


def json_line(value: object) -> str:
    """Returns one line of NDJSON."""
    return _json(value, separators=(",", ":"))


def _json(value: object, **options: Any) -> str:
    """Returns JSON that is safe on a terminal: `json` does not escape U+007F to U+009F."""
    text = json.dumps(value, ensure_ascii=False, default=str, **options)
    return _CONTROL_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    return _SHORT_ESCAPES.get(match[0]) or f"\\x{ord(match[0]):02x}"


def table_text(rows: Sequence[Row], columns: Sequence[str], *, header: bool = True) -> str:
    """Returns an aligned table.

    >>> print(table_text([{"name": "a", "lag": 5}], ["name", "lag"]), end="")
    NAME  LAG
    a       5
    """
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    heads = [heading(name) for name in columns]
    lines = [heads, *cells] if header else cells
    widths = [max(map(len, column), default=0) for column in zip(heads, *cells, strict=True)]
    right = [_numeric(rows, name) for name in columns]
    return "".join(_line(line, widths, right) for line in lines)


def heading(column: str) -> str:
    return column.upper().replace("_", "-")


def cell(value: object) -> str:
    """Returns the text of a value in a table."""
    if value is None or value == "" or value == [] or value == {}:
        return EMPTY
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, list | tuple):
        return ",".join(cell(item) for item in value)
    if isinstance(value, Mapping):
        return ",".join(f"{cell(key)}={cell(item)}" for key, item in value.items())
    return _CONTROL.sub(_escape, str(value))


def tsv_line(row: Row, columns: Sequence[str]) -> str:
    return "\t".join(cell(row.get(name)) for name in columns) + "\n"


def yaml_text(value: object, indent: int = 0) -> str:
    """Returns YAML of dicts, lists and scalars; strings are quoted as in JSON, which is valid YAML.

    >>> print(yaml_text([{"name": "a", "isr": [1, 2]}]))
    - name: "a"
      isr:
        - 1
        - 2
    """
    pad = " " * indent
    if isinstance(value, Mapping):
        if not value:
            return f"{pad}{{}}"
        return "\n".join(_yaml_pair(pad, key, item, indent) for key, item in value.items())
    if isinstance(value, list | tuple):
        if not value:
            return f"{pad}[]"
        return "\n".join(f"{pad}- {yaml_text(item, indent + 2).lstrip()}" for item in value)
    return pad + _json(value)


def _yaml_pair(pad: str, key: object, value: object, indent: int) -> str:
    key = key if _PLAIN_KEY.fullmatch(str(key)) else _json(str(key))
    if isinstance(value, Mapping | list | tuple) and value:
        return f"{pad}{key}:\n{yaml_text(value, indent + 2)}"
    return f"{pad}{key}: {yaml_text(value)}"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        text.rjust(width) if numeric else text.ljust(width)
        for text, width, numeric in zip(cells, widths, right, strict=True)
    ]
    return "  ".join(padded).rstrip() + "\n"


def _numeric(rows: Sequence[Row], column: str) -> bool:
    values = [row.get(column) for row in rows]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return bool(numbers) and all(v is None or v in numbers for v in values)


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


def reader_is_gone(stream: TextIO) -> bool:
    """Returns whether the other end of a pipe was closed, which a write would report."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # not a file
        return False
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)  # errors are always reported
    return any(events & select.POLLERR for _, events in poll.poll(0))


class ProgressBar(ClosesOnExit):
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

    def close(self) -> None:
        """Draws the final state and ends the line."""
        if self._enabled:
            self._draw()
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self) -> None:
        self._drawn = self._now()
        self._stream.write(f"\r\x1b[K{self.line()}")
        self._stream.flush()


def duration_text(seconds: float) -> str:
    """Returns hours, minutes and seconds.

    >>> duration_text(3725), duration_text(9)
    ('1:02:05', '0:09')
    """
    whole = max(int(seconds), 0)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def status_of(error: BaseException | None) -> dict[str, object]:
    """Returns the `status` and `message` columns of one item.

    >>> status_of(None)
    {'status': 'OK', 'message': None}
    """
    if error is None:
        return {"status": OK, "message": None}
    if isinstance(error, BrokerError):
        return {"status": error.name, "message": error.message}
    return {"status": type(error).__name__, "message": str(error)}


def exit_code(errors: Mapping[object, BarnabasError] | Iterable[object]) -> int:
    """Returns FAILED when any item failed."""
    return FAILED if any(True for _ in errors) else DONE


def own_stderr() -> tuple[TextIO, bool]:
    """Returns a copy of the current stderr, and whether the caller must close it."""
    sys.stderr.flush()
    try:
        copy = os.dup(sys.stderr.fileno())
    except (OSError, ValueError):  # stderr has no file descriptor, as in a test
        return sys.stderr, False
    return os.fdopen(copy, "w", encoding="utf-8", errors="replace"), True
