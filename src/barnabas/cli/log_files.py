"""Decodes and checks the files of a log directory; Barnabas and Kafka use the same formats.

Segments (.log), offset, time and transaction indexes, producer snapshots, checkpoints of offsets
and of leader epochs. Every entry is a dict whose keys are a stable interface; a segment yields one
dict per batch, optionally with its records. Files are never changed.
"""

import bisect
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.model.errors import BarnabasError, CorruptRecordError, LocalError
from barnabas.model.records import TimestampType
from barnabas.records.batch import MAGIC, BatchHeader
from barnabas.records.control import decode_control_type
from barnabas.records.legacy import decode_message
from barnabas.records.reader import iter_raw
from barnabas.records.record import RawRecord
from barnabas.storage import file_names, indexes
from barnabas.storage.batch_scan import checksum_ok, walk
from barnabas.storage.filesystem import OsFileSystem
from barnabas.storage.indexes import OFFSET_ENTRY, TIME_ENTRY
from barnabas.storage.producer_snapshot import read_snapshot
from barnabas.storage.small_files import read_lines

OFFSET_CHECKPOINTS = (
    file_names.RECOVERY_POINTS,
    file_names.LOG_START_OFFSETS,
    file_names.HIGH_WATERMARKS,
    file_names.CLEANER_OFFSETS,
)
MAX_DECOMPRESSED = 512 * 1024 * 1024
_EPOCH = struct.Struct(">hi")
ENTRY_SIZES = {"index": OFFSET_ENTRY.size, "timeindex": TIME_ENTRY.size}


def kind_of(path: Path) -> str:
    """Returns the kind of a file by its name.

    Raises:
        LocalError: The name is not one of a log directory's files.
    """
    if path.name == file_names.EPOCH_CHECKPOINT:
        return "epochs"
    if path.name in OFFSET_CHECKPOINTS:
        return "offsets"
    parsed = file_names.parse_offset_file(path.name)
    kinds = {
        file_names.LOG: "segment",
        file_names.OFFSET_INDEX: "index",
        file_names.TIME_INDEX: "timeindex",
        file_names.TRANSACTION_INDEX: "txnindex",
        file_names.SNAPSHOT: "snapshot",
    }
    if parsed is None or parsed[1] not in kinds:
        raise LocalError(f"{path.name}: not a file of a log directory")
    return kinds[parsed[1]]


def entries_of(path: Path, *, records: bool = False) -> Iterator[dict[str, Any]]:
    """Returns the entries of a file of a log directory."""
    if not path.is_file():
        raise LocalError(f"{path}: file does not exist")
    match kind_of(path):
        case "segment":
            return _batches(path, records=records)
        case "index":
            return _index(path)
        case "timeindex":
            return _time_index(path)
        case "txnindex":
            return _transactions(path)
        case "snapshot":
            return _producers(path)
        case "epochs":
            return _checkpoint(path, ("epoch", "start_offset"))
        case _:
            return _checkpoint(path, ("topic", "partition", "offset"))


def base_offset(path: Path) -> int:
    """Returns the base offset in the name of a segment or index."""
    parsed = file_names.parse_offset_file(path.name)
    return parsed[0] if parsed is not None else 0


# -- segments ----------------------------------------------------------------------------------


def _batches(path: Path, *, records: bool) -> Iterator[dict[str, Any]]:
    file = OsFileSystem().open(path)
    size = file.size()
    position = 0
    try:
        for position, header in walk(file, 0, size):
            data = file.pread(header.size, position)
            entry = _batch(header, position, checksum_ok(data, header))
            if records:
                entry["records"] = _records(data, header)
            yield entry
            position += header.size
    except CorruptRecordError as error:
        left = size - position
        yield {"type": "corrupt", "position": position, "bytes": left, "error": str(error)}


def _batch(header: BatchHeader, position: int, valid: bool) -> dict[str, object]:
    append_time = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    return {
        "type": "batch",
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.records_count,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence if header.base_sequence >= 0 else -1,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "leader_epoch": header.partition_leader_epoch,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "delete_horizon_ms": header.base_timestamp if header.has_delete_horizon else None,
        "position": position,
        "timestamp_type": "LogAppendTime" if append_time else "CreateTime",
        "max_timestamp": header.max_timestamp,
        "size": header.size,
        "magic": header.magic,
        "codec": header.codec.name.lower(),
        "crc": header.crc,
        "valid": valid,
    }


def _records(data: bytes, header: BatchHeader) -> list[RawRecord] | str:
    """Returns the records, or the error text when they cannot be read."""
    try:
        if header.magic == MAGIC:
            return list(iter_raw(data, 0, header))
        return list(decode_message(memoryview(data), max_decompressed=MAX_DECOMPRESSED).records)
    except BarnabasError as error:
        return str(error)


def control_of(record: RawRecord) -> tuple[str, int]:
    """Returns the type of a control record and the coordinator epoch."""
    epoch = -1
    if record.value is not None and len(record.value) >= _EPOCH.size:
        epoch = _EPOCH.unpack_from(record.value)[1]
    return decode_control_type(record.key).name, epoch


# -- indexes -----------------------------------------------------------------------------------


def _index(path: Path) -> Iterator[dict[str, Any]]:
    base = base_offset(path)
    for number, (relative, position) in enumerate(_unpacked(path, OFFSET_ENTRY)):
        if number and not relative and not position:
            return  # Kafka preallocates the index of an active segment with zeros
        yield {"type": "index", "offset": base + relative, "position": position}


def _time_index(path: Path) -> Iterator[dict[str, Any]]:
    base = base_offset(path)
    for number, (timestamp, relative) in enumerate(_unpacked(path, TIME_ENTRY)):
        if number and not timestamp and not relative:
            return
        yield {"type": "timeindex", "timestamp": timestamp, "offset": base + relative}


def _transactions(path: Path) -> Iterator[dict[str, Any]]:
    names = ("version", "producer_id", "first_offset", "last_offset", "last_stable_offset")
    for fields in _unpacked(path, indexes.TRANSACTION_ENTRY):
        yield {"type": "txnindex", **dict(zip(names, fields, strict=True))}


def _unpacked(path: Path, layout: struct.Struct) -> Iterator[tuple[Any, ...]]:
    data = path.read_bytes()
    return layout.iter_unpack(data[: len(data) // layout.size * layout.size])


# -- snapshots and checkpoints -----------------------------------------------------------------


def _producers(path: Path) -> Iterator[dict[str, Any]]:
    for entry in read_snapshot(OsFileSystem(), path):
        last = entry.batches[-1] if entry.batches else None
        yield {
            "type": "producer",
            "producer_id": entry.producer_id,
            "producer_epoch": entry.epoch,
            "coordinator_epoch": entry.coordinator_epoch,
            "txn_first_offset": entry.txn_first_offset if entry.txn_first_offset >= 0 else None,
            "last_timestamp": entry.last_timestamp,
            "last_sequence": last.last_sequence if last else None,
            "last_offset": last.last_offset if last else None,
            "first_sequence": last.last_sequence - last.offset_delta if last else None,
        }


def _checkpoint(path: Path, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for line in read_lines(OsFileSystem(), path):
        fields = line.split()
        if len(fields) != len(names):
            raise LocalError(f"{path.name}: invalid entry: {line!r}")
        pairs = zip(names, fields, strict=True)
        entry = {name: text if name == "topic" else int(text) for name, text in pairs}
        yield {"type": "checkpoint", **entry}


class Mismatch(NamedTuple):
    """A value in the index that differs from the segment (`found` is None when it has none)."""

    kind: str
    said: int
    found: int | None


def sanity_problem(path: Path) -> str | None:
    """Returns the problem in the size of an index or the order of its entries, or None."""
    kind = kind_of(path)
    if kind not in ENTRY_SIZES:
        return None
    size = path.stat().st_size
    if size % ENTRY_SIZES[kind]:
        return f"its size of {size} bytes is not a multiple of {ENTRY_SIZES[kind]}"
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
    """Yields the index entries that do not match the segment beside the index."""
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
