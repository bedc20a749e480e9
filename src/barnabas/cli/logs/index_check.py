"""Whether an index agrees with itself, and with the segment that it is for."""

import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.cli.logs.log_files import base_offset, entries_of, kind_of
from barnabas.storage import file_names
from barnabas.storage.indexes import OFFSET_ENTRY, TIME_ENTRY

ENTRY_SIZES = {"index": OFFSET_ENTRY.size, "timeindex": TIME_ENTRY.size}


class Mismatch(NamedTuple):
    """What the index says, and what the segment has there (None: nothing)."""

    kind: str
    said: int
    found: int | None


def insanity(path: Path) -> str | None:
    """What is wrong with an index by itself: its size, or the order of its entries."""
    kind = kind_of(path)
    if kind not in ENTRY_SIZES:
        return None
    size = path.stat().st_size
    if size % ENTRY_SIZES[kind]:
        return f"its size of {size} bytes is no multiple of {ENTRY_SIZES[kind]}"
    before = (-1, base_offset(path) - 1)
    for entry in entries_of(path):
        now = _order(entry)
        if now[0] < before[0] or now[1] < before[1]:
            return f"entries are out of order at offset {entry['offset']}"
        before = now
    return None


def _order(entry: dict[str, Any]) -> tuple[int, int]:
    return entry.get("timestamp", entry.get("position", 0)), entry["offset"]


def mismatches(path: Path) -> Iterator[Mismatch]:
    """Entries that the segment next to the index contradicts."""
    segment = path.with_suffix(file_names.LOG)
    if kind_of(path) not in ENTRY_SIZES or not segment.is_file():
        return
    batches = [entry for entry in entries_of(segment) if entry["type"] == "batch"]
    if kind_of(path) == "index":
        yield from _wrong_positions(path, batches)
    else:
        yield from _wrong_times(path, batches)


def _wrong_positions(path: Path, batches: list[dict[str, Any]]) -> Iterator[Mismatch]:
    at = {batch["position"]: batch["last_offset"] for batch in batches}
    for entry in entries_of(path):
        found = at.get(entry["position"])
        if found != entry["offset"]:
            yield Mismatch("offset", entry["offset"], found)


def _wrong_times(path: Path, batches: list[dict[str, Any]]) -> Iterator[Mismatch]:
    lasts = [batch["last_offset"] for batch in batches]
    for entry in entries_of(path):
        number = bisect.bisect_left(lasts, entry["offset"])
        found = batches[number]["max_timestamp"] if number < len(batches) else None
        if found != entry["timestamp"]:
            yield Mismatch("timestamp", entry["timestamp"], found)
