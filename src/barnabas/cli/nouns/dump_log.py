"""Print segments, indexes, snapshots and checkpoints of a log directory of Barnabas or Kafka.

For a directory all such files in it are printed. Damaged files are reported; the exit code is then
3.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from barnabas.cli.framework.output import (
    CHECK_FAILED,
    DONE,
    add_format_option,
    cell,
    json_line,
    show,
)
from barnabas.cli.log_files import control_of, entries_of, kind_of
from barnabas.model.errors import LocalError
from barnabas.records.documents import encode_bytes
from barnabas.records.record import RawRecord

EXAMPLE = """
barnabas dump-log data/orders-0
barnabas dump-log data/orders-0/00000000000000000000.log --records --format json
"""
COLUMNS = {
    "segment": (
        "base_offset",
        "last_offset",
        "count",
        "position",
        "size",
        "codec",
        "max_timestamp",
        "producer_id",
        "leader_epoch",
        "transactional",
        "control",
        "valid",
    ),
    "index": ("offset", "position"),
    "timeindex": ("timestamp", "offset"),
    "txnindex": ("producer_id", "first_offset", "last_offset", "last_stable_offset"),
    "snapshot": (
        "producer_id",
        "producer_epoch",
        "coordinator_epoch",
        "txn_first_offset",
        "last_sequence",
        "last_offset",
        "last_timestamp",
    ),
    "epochs": ("epoch", "start_offset"),
    "offsets": ("topic", "partition", "offset"),
}
RECORD_COLUMNS = ("offset", "timestamp", "key", "value")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--records", action="store_true", help="also print the records of each batch"
    )
    add_format_option(parser)


def run(arguments: argparse.Namespace) -> int:
    damaged = False
    for path in _files(arguments.paths):
        entries = [_plain(entry) for entry in entries_of(path, records=arguments.records)]
        damaged = damaged or any(_is_damaged(entry) for entry in entries)
        if arguments.format == "json":
            lines = ({"file": str(path), **entry} for entry in entries)
            sys.stdout.writelines(json_line(line) + "\n" for line in lines)
        else:
            _show(arguments, path, entries)
    return CHECK_FAILED if damaged else DONE


def _is_damaged(entry: dict[str, object]) -> bool:
    return entry["type"] == "corrupt" or entry.get("valid") is False


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for inside in sorted(path.iterdir()):
            try:
                kind_of(inside)
            except LocalError:
                continue
            yield inside


def _plain(entry: dict[str, object]) -> dict[str, object]:
    """Returns the entry with its records as JSON values."""
    records = entry.get("records")
    if not isinstance(records, list):
        return entry
    decode = _marker if entry["control"] else _record
    return {**entry, "records": [decode(record) for record in records]}


def _marker(record: RawRecord) -> dict[str, object]:
    kind, epoch = control_of(record)
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": kind,
        "value": f"coordinator epoch {epoch}",
    }


def _record(record: RawRecord) -> dict[str, object]:
    key, key_encoding = encode_bytes(record.key)
    value, value_encoding = encode_bytes(record.value)
    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": key,
        "key_encoding": key_encoding,
        "value": value,
        "value_encoding": value_encoding,
        "headers": [
            dict(zip(("value", "value_encoding"), encode_bytes(data), strict=True), key=name)
            for name, data in record.headers
        ],
    }


def _show(arguments: argparse.Namespace, path: Path, entries: list[dict[str, Any]]) -> None:
    if arguments.format == "table":
        sys.stdout.write(f"{path}\n")
    sound = [entry for entry in entries if entry["type"] != "corrupt"]
    show(arguments, sound, COLUMNS[kind_of(path)])
    for entry in sound:
        for record in entry.get("records", ()) if arguments.records else ():
            cells = (cell(record[name]) for name in RECORD_COLUMNS)
            sys.stdout.write("  | " + "  ".join(cells) + "\n")
    for entry in entries:
        if entry["type"] == "corrupt":
            sys.stdout.write(
                f"CORRUPT at {entry['position']}: {entry['bytes']} bytes: {entry['error']}\n"
            )
    if arguments.format == "table":
        sys.stdout.write("\n")
