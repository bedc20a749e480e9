"""One compaction pass over one log; runs on a thread and uses nothing that the event loop owns.

The plan, made on the loop, contains everything the pass needs: open files of sealed segments, the
range, the aborted transactions and the last offsets of the producers. The pass builds the offset
map of the dirty range, then rewrites the segments up to its end, in groups that fit into one
segment, as `.cleaned` files, and syncs them. `Log.replace_segments` installs them on the loop.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.records.batch import MAGIC, BatchHeader
from barnabas.records.reader import iter_raw
from barnabas.storage import batch_scan, file_names
from barnabas.storage.append_info import end_marker_of
from barnabas.storage.cleaning_filter import (
    BatchFilter,
    CleanedTransactions,
    CleanLimits,
    LastRecord,
    OffsetMap,
    rewritten_header,
)
from barnabas.storage.filesystem import File, FileSystem
from barnabas.storage.indexes import MAX_RELATIVE_OFFSET, AbortedTxn
from barnabas.storage.log_config import LogConfig
from barnabas.storage.segment import Segment

_WRITE_BYTES = 1024 * 1024
_READ_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceSegment:
    """A sealed segment to clean, its open file and the end of its offset range."""

    segment: Segment
    file: File
    size: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class CleanPlan:
    """Input of a pass, made on the event loop; immutable."""

    topic_partition: TopicPartition
    fs: FileSystem
    directory: Path
    config: LogConfig
    generation: int
    first_dirty_offset: int
    end_offset: int
    sources: list[SourceSegment]
    aborted: list[AbortedTxn]
    last_records: dict[int, LastRecord]
    now_ms: int
    map_capacity: int


@dataclass(slots=True)
class CleanedGroup:
    """Segments and the cleaned segment that replaces them."""

    replaced: list[Segment]
    cleaned: Segment


@dataclass(slots=True)
class CleanResult:
    """Result of a pass; the next pass starts at `end_offset`."""

    plan: CleanPlan
    end_offset: int
    groups: list[CleanedGroup] = field(default_factory=list)


def clean(plan: CleanPlan) -> CleanResult:
    """Runs the pass; an OSError or CorruptRecordError leaves no files behind."""
    newest = build_offset_map(plan)
    end = newest.latest_offset + 1
    result = CleanResult(plan, max(end, plan.first_dirty_offset))
    transactions = CleanedTransactions(plan.aborted)
    keeper = BatchFilter(
        newest,
        transactions,
        plan.last_records,
        CleanLimits(plan.end_offset, plan.now_ms, plan.config.delete_retention_ms),
    )
    try:
        for group in group_sources(plan, end):
            cleaned = _new_segment(plan, group[0].segment.base_offset)
            result.groups.append(CleanedGroup([source.segment for source in group], cleaned))
            _rewrite(group, cleaned, keeper)
            for txn in transactions.take_kept_aborted():
                cleaned.aborted.append(txn)
            _sync(cleaned)
    # BaseException includes a cancellation: nothing else deletes the files, which no log contains.
    except BaseException:
        discard(result)
        raise
    return result


def discard(result: CleanResult) -> None:
    """Removes the files that a pass wrote."""
    for group in result.groups:
        group.cleaned.remove_files()


def build_offset_map(plan: CleanPlan) -> OffsetMap:
    """Returns the newest offset of every key in the dirty range until the map is full."""
    newest = OffsetMap(plan.map_capacity)
    newest.latest_offset = plan.first_dirty_offset - 1
    transactions = CleanedTransactions(plan.aborted)
    for source in plan.sources:
        if source.end_offset <= plan.first_dirty_offset:
            continue
        for batch, header in _batches(source):
            if header.base_offset >= plan.end_offset:
                return newest
            if not _map_batch(plan, newest, transactions, batch, header):
                return newest
    return newest


def _map_batch(
    plan: CleanPlan,
    newest: OffsetMap,
    transactions: CleanedTransactions,
    batch: bytes,
    header: BatchHeader,
) -> bool:
    """Adds the records of one batch to the map; returns False when the map is full."""
    # Records of an aborted transaction are never visible, so they must not supersede older values.
    if header.is_control:
        transactions.drops_marker(header, end_marker_of(batch, header))
    elif not transactions.drops_data(header) and header.magic == MAGIC:
        for record in iter_raw(batch, 0, header):
            if record.key is None or record.offset < plan.first_dirty_offset:
                continue
            if not newest.try_put(record.key, record.offset):
                return False
            newest.latest_offset = record.offset
    # A batch without keys counts as mapped too; otherwise the next pass would start at it again.
    newest.latest_offset = max(newest.latest_offset, header.last_offset)
    return True


def group_sources(plan: CleanPlan, end_offset: int) -> Iterator[list[SourceSegment]]:
    """Yields adjacent segments that fit into one by size and relative offset (KAFKA-6264)."""
    group: list[SourceSegment] = []
    size = 0
    for source in plan.sources:
        if source.segment.base_offset >= end_offset:
            break
        wide = group and source.end_offset - group[0].segment.base_offset > MAX_RELATIVE_OFFSET
        if group and (size + source.size > plan.config.segment_bytes or wide):
            yield group
            group, size = [], 0
        group.append(source)
        size += source.size
    if group:
        yield group


def _rewrite(group: list[SourceSegment], cleaned: Segment, keeper: BatchFilter) -> None:
    pending = bytearray()
    headers: list[BatchHeader] = []
    for source in group:
        for batch, header in _batches(source):
            kept = keeper.apply(batch, header)
            if kept is None:
                continue
            headers.append(header if kept is batch else rewritten_header(kept))
            pending += kept
            if len(pending) >= _WRITE_BYTES:
                _write(cleaned, pending, headers)
                pending, headers = bytearray(), []
    _write(cleaned, pending, headers)


def _write(cleaned: Segment, data: bytearray, headers: list[BatchHeader]) -> None:
    if not headers:
        return
    position = cleaned.write(data)
    for header in headers:
        cleaned.note_batch(position, header.size, header.last_offset, header.max_timestamp)
        position += header.size


def _new_segment(plan: CleanPlan, base_offset: int) -> Segment:
    segment = Segment(
        plan.fs,
        plan.directory,
        base_offset,
        plan.config.index_interval_bytes,
        file_names.CLEANED,
    )
    segment.remove_files()  # of a pass that a crash interrupted
    segment.create(plan.now_ms)
    return segment


def _sync(cleaned: Segment) -> None:
    """Syncs every file of the segment before it gets its final name (KAFKA-3968)."""
    cleaned.seal()
    for file in [cleaned.open_file(), *cleaned.store_indexes(create_aborted=True)]:
        file.sync()
    cleaned.forget_indexes()
    cleaned.release()


def _batches(source: SourceSegment) -> Iterator[tuple[bytes, BatchHeader]]:
    """Yields the whole batches of a segment and reads them in large chunks."""
    chunk, start = b"", 0
    for position, header in batch_scan.walk(source.file, 0, source.size):
        at = position - start
        if at + header.size > len(chunk):
            chunk, start, at = (
                source.file.pread(max(_READ_BYTES, header.size), position),
                position,
                0,
            )
        yield chunk[at : at + header.size], header
