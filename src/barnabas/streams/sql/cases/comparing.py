"""Expected against found, and the difference for people. Pure."""

import difflib
import json
from collections.abc import Sequence
from typing import Any

Line = dict[str, Any]


def newest(records: Sequence[Line]) -> list[Line]:
    """A table: the last record of each key; without those whose last has no value."""
    last: dict[str, Line] = {}
    for record in records:
        last.pop(text(record["key"]), None)
        last[text(record["key"])] = record
    return [record for record in last.values() if record["value"] is not None]


def difference(expected: Sequence[Line], found: Sequence[Line], name: str) -> str | None:
    """None when they are equal; else a diff. Only keys that an expected line has are compared.

    Records of different keys have no order between them: both sides are sorted by key, and stay in
    their order below it.
    """
    shape = [key for line in expected for key in line]
    keys = [key for key in ("key", "value", "timestamp", "partition") if key in shape]
    if not expected:
        keys = ["key", "value"]
    wanted = _ordered(_cut(expected, keys), "key" in keys)
    got = _ordered(_cut(_normal(found), keys), "key" in keys)
    return _diff(wanted, got, name)


def rows_difference(expected: Sequence[Line], found: Sequence[Line], name: str) -> str | None:
    """The rows of a SELECT, in their order."""
    return _diff([text(row) for row in expected], [text(row) for row in _normal(found)], name)


def _diff(wanted: list[str], got: list[str], name: str) -> str | None:
    if wanted == got:
        return None
    lines = difflib.unified_diff(wanted, got, f"expected {name}", f"found {name}", lineterm="")
    return "\n".join(lines)


def _cut(lines: Sequence[Line], keys: Sequence[str]) -> list[Line]:
    return [{key: line.get(key) for key in keys} for line in lines]


def _ordered(lines: list[Line], by_key: bool) -> list[str]:
    if not by_key:
        return sorted(text(line) for line in lines)
    return [text(line) for line in sorted(lines, key=lambda line: text(line["key"]))]


def _normal(lines: Sequence[Line]) -> list[Line]:
    """As JSON would give them back: a decimal as a number, a time as text."""
    found: list[Line] = json.loads(json.dumps(list(lines), default=str))
    return found


def text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
