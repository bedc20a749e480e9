"""Producer state on disk: `<offset>.snapshot`, the state before that offset.

    i16 version 1 | u32 CRC-32C of everything behind it | i32 count | entries of 46 bytes:
    i64 producer id | i16 epoch | i32 last sequence | i64 last offset | i32 offset delta
    i64 timestamp | i32 coordinator epoch | i64 first offset of the open transaction, or -1

Only a producer's last batch is kept: that is Kafka's format. A snapshot is written when a segment
begins and at shutdown; the two newest are kept. The state at any other offset is the newest
snapshot before it plus a replay of the batch headers after it. A snapshot with a wrong checksum is
ignored, because the state can be replayed from an earlier one and the log.
"""

import logging
import struct
from collections.abc import Iterable
from pathlib import Path

from crc32c import crc32c

from barnabas.model.records import NO_SEQUENCE
from barnabas.records.batch import BatchHeader
from barnabas.storage import batch_scan
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.file_names import SNAPSHOT, segment_file
from barnabas.storage.filesystem import File, FileSystem
from barnabas.storage.indexes import AbortedTxn
from barnabas.storage.producer_state import BatchMetadata, ProducerEntry, ProducerStates
from barnabas.storage.segment import Segment, SegmentList

_log = logging.getLogger(__name__)

_HEAD = struct.Struct(">hI")
_COUNT = struct.Struct(">i")
_ENTRY = struct.Struct(">qhiqiqiq")
_VERSION = 1
_NO_BATCH = BatchMetadata(NO_SEQUENCE, -1, 0, -1)


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    encoded = [_encode_entry(entry) for entry in entries]
    body = _COUNT.pack(len(encoded)) + b"".join(encoded)
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def decode_snapshot(data: bytes) -> list[ProducerEntry]:
    """Returns the entries; raises CorruptFileError for a wrong version, checksum or length."""
    if len(data) < _HEAD.size + _COUNT.size:
        raise CorruptFileError(f"{len(data)} bytes are too few for a snapshot")
    version, crc = _HEAD.unpack_from(data)
    body = data[_HEAD.size :]
    if version != _VERSION:
        raise CorruptFileError(f"snapshot version {version} where {_VERSION} was expected")
    if crc32c(body) != crc:
        raise CorruptFileError("the checksum of the snapshot is wrong")
    (count,) = _COUNT.unpack_from(body)
    if len(body) != _COUNT.size + count * _ENTRY.size:
        raise CorruptFileError(f"{len(body)} bytes do not hold {count} entries")
    return [_decode_entry(fields) for fields in _ENTRY.iter_unpack(body[_COUNT.size :])]


def write_snapshot(fs: FileSystem, path: Path, entries: Iterable[ProducerEntry]) -> File:
    """Writes and returns the file; the next flush syncs it."""
    data = encode_snapshot(entries)
    file = fs.open(path, create=True)
    file.truncate(0)
    file.pwrite(data, 0)
    return file


def read_snapshot(fs: FileSystem, path: Path) -> list[ProducerEntry]:
    file = fs.open(path)
    return decode_snapshot(file.pread(file.size(), 0))


def _encode_entry(entry: ProducerEntry) -> bytes:
    last = entry.batches[-1] if entry.batches else _NO_BATCH
    return _ENTRY.pack(
        entry.producer_id,
        entry.epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        entry.last_timestamp,
        entry.coordinator_epoch,
        entry.txn_first_offset,
    )


def _decode_entry(fields: tuple[int, ...]) -> ProducerEntry:
    producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, first = fields
    entry = ProducerEntry(producer_id)
    entry.epoch = epoch
    entry.coordinator_epoch = coordinator_epoch
    entry.last_timestamp = timestamp
    entry.txn_first_offset = first
    if offset >= 0:
        entry.batches.append(BatchMetadata(sequence, offset, delta, timestamp))
    return entry


class SnapshotFiles:
    """The snapshots in one partition's directory by offset; owned by the event loop."""

    __slots__ = ("_fs", "_offsets", "directory", "unsynced")

    def __init__(self, fs: FileSystem, directory: Path, offsets: Iterable[int] = ()) -> None:
        self._fs = fs
        self.directory = directory
        self._offsets = set(offsets)
        self.unsynced: list[File] = []

    @property
    def offsets(self) -> list[int]:
        return sorted(self._offsets)

    def take(self, offset: int, producers: ProducerStates) -> None:
        """Writes the state before `offset` if there are producers or older snapshots."""
        # An empty snapshot is written if older ones exist: `restore` would otherwise bring back
        # producers that have expired since.
        if not producers.entries and not self._offsets:
            return
        self.unsynced.append(write_snapshot(self._fs, self._path(offset), producers))
        self._offsets.add(offset)

    def restore(self, up_to: int) -> tuple[ProducerStates, int]:
        """Returns the newest valid state at or below an offset; removes invalid files."""
        for offset in sorted((o for o in self._offsets if o <= up_to), reverse=True):
            try:
                entries = read_snapshot(self._fs, self._path(offset))
            except CorruptFileError as error:
                _log.warning("removing %s: %s", self._path(offset), error)
                self._remove(offset)
                continue
            producers = ProducerStates()
            for entry in entries:
                producers.restore(entry)
            producers.settle()
            return producers, offset
        return ProducerStates(), 0

    def keep(self, wanted: Iterable[int]) -> None:
        """Removes every snapshot at another offset."""
        for offset in self._offsets - set(wanted):
            self._remove(offset)

    def remove_above(self, offset: int) -> None:
        for found in [o for o in self._offsets if o > offset]:
            self._remove(found)

    def clear(self) -> None:
        self.keep(())

    def _path(self, offset: int) -> Path:
        return segment_file(self.directory, offset, SNAPSHOT)

    def _remove(self, offset: int) -> None:
        self._offsets.discard(offset)
        if self._fs.exists(self._path(offset)):
            self._fs.remove(self._path(offset))


_RECENT_BYTES = 256 * 1024


def restore_producers(
    snapshots: SnapshotFiles, segments: SegmentList, end_offset: int
) -> ProducerStates:
    """Returns the state before `end_offset`: the newest usable snapshot plus a replay."""
    producers, start = snapshots.restore(end_offset)
    # The log may begin after the snapshot: retention has deleted the segments in between.
    _replay_range(producers, segments, max(start, segments.first.base_offset), end_offset)
    return producers


def _replay_range(producers: ProducerStates, segments: SegmentList, start: int, end: int) -> None:
    """Applies every batch in [start, end)."""
    for segment in segments.between(start, end):
        span = segment.find(start) if segment.size else None
        if span is None:
            continue
        file = segment.open_file()
        for position, header in batch_scan.walk(file, span.position, segment.size):
            if header.base_offset >= end:
                return
            if header.producer_id >= 0:
                batch = file.pread(header.size, position) if header.is_control else b""
                replay_batch(producers, header, batch)


def replay_batch(producers: ProducerStates, header: BatchHeader, batch: bytes) -> AbortedTxn | None:
    """Applies one batch of a producer; returns the transaction that it aborted.

    Only control batches need their bytes in `batch`.
    """
    if not header.is_control:
        producers.apply_data(header, header.base_offset, header.last_offset)
        return None
    marker = end_marker_of(batch, header)
    if marker is None:
        return None
    return producers.end_transaction(header, marker, header.last_offset)


def remember_recent(producers: ProducerStates, segment: Segment) -> None:
    """Restores the remembered batches of each producer from the end of the log.

    A snapshot keeps one batch per producer, but a client may retry any of its last five batches
    after a restart of the broker. The last 256 KiB of the log usually contain them.
    """
    if not producers.entries or not segment.size:
        return
    start = segment.offsets.floor_position(max(segment.size - _RECENT_BYTES, 0)).position
    found: dict[int, list[BatchMetadata]] = {}
    for _, header in batch_scan.walk(segment.open_file(), start, segment.size):
        entry = producers.entries.get(header.producer_id)
        if entry is not None and not header.is_control and header.producer_epoch == entry.epoch:
            batch = BatchMetadata(
                header.last_sequence,
                header.last_offset,
                header.last_offset_delta,
                header.max_timestamp,
            )
            found.setdefault(header.producer_id, []).append(batch)
    for producer_id, batches in found.items():
        producers.entries[producer_id].recall(batches)
