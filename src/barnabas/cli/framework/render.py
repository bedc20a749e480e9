"""Prints rows as a table, JSON, YAML or TSV.

Rows are dicts; their keys are the JSON keys (snake_case), which are a stable interface. A table
shows chosen columns: upper-case headers, aligned, no borders, `-` for empty values, numbers
right-aligned. TSV has the columns of the table without a header, for awk. JSON and YAML have all
keys.

Names and records can contain control characters, which a terminal would execute. Every format
escapes them: `\\x1b` in tables and texts, `\\u001b` in JSON and YAML.
"""

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

TABLE, JSON, YAML, TSV = "table", "json", "yaml", "tsv"
FORMATS = (TABLE, JSON, YAML, TSV)
EMPTY = "-"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CONTROL_IN_JSON = re.compile(r"[\x7f-\x9f]")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

Row = Mapping[str, Any]


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


def cell(value: Any) -> str:
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


def yaml_text(value: Any, indent: int = 0) -> str:
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


def _yaml_pair(pad: str, key: object, value: Any, indent: int) -> str:
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
