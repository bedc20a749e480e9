"""Opens the directory of a partition: loads its segments and recovers them after a crash.

After a clean stop the files are trusted; only the end of the last segment is read. After anything
else the segments from the recovery point on are read again, batch by batch: checksums, structure
and offsets are verified, the log ends before the first batch that fails, and indexes, producer
state and leader epochs are rebuilt from the remaining batches.

A segment that is missing between two others leaves a gap. The segments after it stay, as in Kafka:
readers continue at the next existing offset, and the missing range is logged. The exception is a
gap above the recovery point after a crash of the machine. Unflushed segments reach the disk in any
order, so segments after such a gap may be newer than the lost ones; the log ends at the gap.

Segments behind the end of the log are set aside under the suffix `.stranded`, not deleted. Every
step may be interrupted and repeated. Later segments are set aside, newest first, before an earlier
one is truncated: in the other order a second crash would leave them after a gap.

A batch is valid if its header is valid, the file contains all of it, its checksum is right, and its
offsets are at or after the end so far and within the range of the segment. The checksum covers
the bytes from the attributes on; base offset, length, leader epoch and magic come before them. A
wrong length breaks the checksum, a wrong magic is rejected, and a base offset that is too small or
much too large fails the checks here. Two errors are not detected: a changed leader epoch that is
not negative, and a larger base offset of the last batch within the range of the segment.
"""

import itertools
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import NO_EPOCH
from barnabas.records.batch import BatchHeader
from barnabas.storage import file_names
from barnabas.storage.batch_scan import checksum_ok, header_at
from barnabas.storage.crash_cleanup import clear_leftovers
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.filesystem import File, FileSystem, OpenFiles
from barnabas.storage.indexes import MAX_RELATIVE_OFFSET
from barnabas.storage.leader_epochs import LeaderEpochs
from barnabas.storage.local_log import LocalLog
from barnabas.storage.log import Log, LogParts
from barnabas.storage.log_config import LogConfig
from barnabas.storage.log_dirs import DirHealth
from barnabas.storage.producer_snapshot import (
    SnapshotFiles,
    remember_recent,
    replay_batch,
    restore_producers,
)
from barnabas.storage.producer_state import ProducerStates
from barnabas.storage.segment import Segment, SegmentList

_CHUNK = 1024 * 1024


class VerifiedBatch(NamedTuple):
    """A verified batch and its position."""

    position: int
    header: BatchHeader
    batch: memoryview


def verified_batches(segment: Segment, end_offset: int) -> Iterator[VerifiedBatch]:
    """Yields the valid batches from the start of a segment; ends before the first invalid one.

    `end_offset` is the log end offset before this segment.
    """
    expected = max(segment.base_offset, end_offset)
    limit = segment.base_offset + MAX_RELATIVE_OFFSET
    held: VerifiedBatch | None = None
    for found in _sound_batches(segment.open_file(), segment.size):
        header = found.header
        if held is not None:
            if header.base_offset == expected + held.header.last_offset_delta + 1:
                # This batch starts where the previous one would have ended without its jump, so
                # the base offset of the previous one is wrong.
                return
            yield held
            expected, held = held.header.next_offset, None
        if header.base_offset < expected or header.last_offset > limit:
            return
        if header.base_offset > expected:
            held = found
            continue
        yield found
        expected = header.next_offset
    if held is not None:
        yield held


def _sound_batches(file: File, end: int) -> Iterator[VerifiedBatch]:
    """Yields whole batches with a valid checksum and any offsets."""
    position = 0
    chunk, chunk_start = b"", 0
    while position < end:
        at = position - chunk_start
        size = _size_at(chunk, at)
        if size is None or len(chunk) - at < size:
            wanted = max(_CHUNK, size or 0)
            chunk, chunk_start, at = file.pread(min(wanted, end - position), position), position, 0
            size = _size_at(chunk, at)
            if size is not None and len(chunk) < size <= end - position:
                chunk = file.pread(size, position)
        try:
            header = header_at(chunk, at)
        except CorruptRecordError:
            return
        batch = memoryview(chunk)[at : at + header.size]
        if len(batch) < header.size or not checksum_ok(batch, header):
            return
        if header.partition_leader_epoch < NO_EPOCH:
            return
        yield VerifiedBatch(position, header, batch)
        position += header.size


def _size_at(chunk: bytes, at: int) -> int | None:
    """Returns the size in the batch's length field; None if its first bytes are missing."""
    if len(chunk) - at < 12:
        return None
    return max(12 + int.from_bytes(chunk[at + 8 : at + 12], "big", signed=True), 0)


# --- Recovery -------------------------------------------------------------------------------------


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenParams:
    """The entries of a partition in the checkpoints of its log directory."""

    directory: Path
    topic_partition: TopicPartition
    topic_id: Uuid | None
    config: LogConfig
    clean: bool = True
    page_cache_lost: bool = True
    """Whether unflushed writes may be lost: the operating system has, or may have, restarted."""
    recovery_point: int = 0
    log_start_offset: int = 0
    high_watermark: int = 0
    now_ms: int = 0
    jitter_ms: int = 0
    open_files: OpenFiles | None = None
    """Limit for the descriptors of all logs; None for no limit."""


def open_log(fs: FileSystem, params: OpenParams, health: DirHealth) -> Log:
    """Loads the log in a directory, recovers it if necessary; an empty directory is a new log."""
    return _Opening(fs, params, health).run()


class _Opening:
    """One attempt to open a log; its attributes hold the state that has been loaded so far."""

    def __init__(self, fs: FileSystem, params: OpenParams, health: DirHealth) -> None:
        self._fs = fs
        self._params = params
        self._health = health
        self._dir = params.directory
        self._segments = SegmentList()
        self._epochs = LeaderEpochs(fs, self._dir / file_names.EPOCH_CHECKPOINT)
        self._snapshots = SnapshotFiles(fs, self._dir)
        self._producers = ProducerStates()
        self._end_offset = 0
        self._recovered: list[Segment] = []

    def run(self) -> Log:
        self._find_segments()
        if not self._segments:
            self._begin_at(self._params.log_start_offset)
        self._epochs.load()
        if not (self._params.clean and self._load_trusted()):
            self._recover()
        return self._assemble()

    # Files in the directory

    def _find_segments(self) -> None:
        # First of all: a `.swap` file may be the only complete copy of a segment, and a `.deleted`
        # one must not be loaded.
        present = clear_leftovers(self._fs, self._dir)
        names = [name for name in present if not name.endswith(file_names.STRANDED)]
        found = [parsed for name in names if (parsed := file_names.parse_offset_file(name))]
        logs = {base for base, extension, _ in found if extension == file_names.LOG}
        for base, extension, suffix in found:
            # An index without its log file remains when a deletion was interrupted. A later segment
            # with this base offset must not find it.
            if base not in logs and extension in file_names.SEGMENT_EXTENSIONS:
                self._fs.remove(file_names.segment_file(self._dir, base, extension, suffix))
        snapshots = [base for base, extension, _ in found if extension == file_names.SNAPSHOT]
        self._snapshots = SnapshotFiles(self._fs, self._dir, snapshots)
        for base in sorted(logs):
            segment = self._segment(base)
            segment.load()
            self._segments.add(segment)

    def _begin_at(self, offset: int) -> None:
        segment = self._segment(offset)
        segment.create(self._params.now_ms)
        self._segments.add(segment)

    def _segment(self, base_offset: int) -> Segment:
        interval = self._params.config.index_interval_bytes
        open_files = self._params.open_files
        return Segment(self._fs, self._dir, base_offset, interval, open_files=open_files)

    # After a clean stop

    def _load_trusted(self) -> bool:
        """Loads the files without verification; returns False when they contradict each other."""
        try:
            for segment in self._segments:
                self._check_indexes(segment)
            self._end_offset = self._segments.active.next_offset()
        except (CorruptRecordError, CorruptFileError) as error:
            _log.warning("%s was stopped cleanly but is damaged: %s", self._dir, error)
            return False
        self._report_gaps(list(self._segments))
        if self._end_offset < self._params.recovery_point:
            _log.error(
                "%s: offsets %d to %d are missing at the end of the log, which was flushed; "
                "new records take these offsets",
                self._dir,
                self._end_offset,
                self._params.recovery_point - 1,
            )
        self._producers = restore_producers(self._snapshots, self._segments, self._end_offset)
        # A snapshot holds only the last batch of each producer. The retry of an earlier one must be
        # recognized after a restart too, so the batches at the end are read.
        remember_recent(self._producers, self._segments.active)
        return True

    def _check_indexes(self, segment: Segment) -> None:
        """Rebuilds damaged indexes; the others are checked when they are used."""
        if segment.size and not segment.indexes_plausible():
            _log.warning("rebuilding the indexes of %r in %s", segment, self._dir)
            segment.rebuild_indexes()
        segment.aborted.check(segment.base_offset)

    # After an unclean shutdown

    def _recover(self) -> None:
        unverified = self._segments_to_verify()
        first = unverified[0]
        self._report_gaps([s for s in self._segments if s.base_offset <= first.base_offset])
        # Everything below the first suspect segment was synced. From there on producers, epochs and
        # indexes are rebuilt from the batches, so that none of them refers to a lost batch.
        self._producers = restore_producers(self._snapshots, self._segments, first.base_offset)
        self._epochs.truncate_from_end(first.base_offset)
        self._end_offset = first.base_offset
        for segment in unverified:
            if self._gap_between(self._end_offset, segment):
                if self._may_be_torn(segment):
                    self._set_aside_from(segment)
                    break
                self._report_missing(self._end_offset, segment.base_offset)
            if segment is not first:
                # The snapshot that rolling the segment has written: the file on disk may be
                # incomplete.
                self._snapshots.take(segment.base_offset, self._producers)
            good = self._recover_segment(segment)
            self._recovered.append(segment)
            if good < segment.size:
                # The log must stay a prefix of what was written. With records after the damage,
                # consumers and followers would skip the lost ones silently.
                following = self._segments.following(segment)
                if following is not None:
                    self._set_aside_from(following)
                segment.truncate_at(good, self._end_offset)
                break
        # Snapshots above the end contain batches that were dropped. With them, the broker would
        # reject a producer's retry of a lost batch as a duplicate.
        self._snapshots.remove_above(self._end_offset)

    def _segments_to_verify(self) -> list[Segment]:
        """Returns the segments from the first one that is damaged or past the recovery point on."""
        segments = list(self._segments)
        for number, segment in enumerate(segments):
            if segment is self._segments.active or self._needs_verification(segment):
                return segments[number:]
        return segments

    def _needs_verification(self, segment: Segment) -> bool:
        point = self._params.recovery_point
        # Below the recovery point all bytes were synced, so only the indexes are checked.
        if self._segments.end_of(segment, point) > point:
            return True
        try:
            self._check_indexes(segment)
        except (CorruptRecordError, CorruptFileError) as error:
            _log.warning(
                "%s: %r is damaged below the recovery point: %s", self._dir, segment, error
            )
            return True
        return False

    def _gap_between(self, end_offset: int, segment: Segment) -> bool:
        """Whether offsets are missing between the end of the log so far and a segment.

        A segment begins at the end of the previous one. Compaction also makes gaps, so gaps in a
        compacted log are ignored, and so is a gap that is wider than one segment can be.
        """
        gap = segment.base_offset - end_offset
        return 0 < gap <= MAX_RELATIVE_OFFSET and not self._params.config.compact

    def _may_be_torn(self, segment: Segment) -> bool:
        """Whether a power loss can have made the gap before this segment."""
        return self._params.page_cache_lost and segment.base_offset > self._params.recovery_point

    def _report_gaps(self, segments: list[Segment]) -> None:
        """Logs the missing offsets between segments that are not read batch by batch."""
        for segment, following in itertools.pairwise(segments):
            try:
                end_offset = segment.next_offset()
            except (CorruptRecordError, CorruptFileError) as error:
                _log.warning("%s: cannot read the end of %r: %s", self._dir, segment, error)
                continue
            finally:
                segment.release_if_closed()
            if self._gap_between(end_offset, following):
                self._report_missing(end_offset, following.base_offset)

    def _report_missing(self, start: int, end: int) -> None:
        _log.error(
            "%s: offsets %d to %d are missing: their segment files are not there; "
            "readers continue at offset %d",
            self._dir,
            start,
            end - 1,
            end,
        )

    def _set_aside_from(self, segment: Segment) -> None:
        """Removes this segment and all later ones from the log, newest first."""
        behind = [s for s in self._segments if s.base_offset >= segment.base_offset]
        _log.error(
            "%s: the log ends at offset %d, at a gap or a damaged batch; %d segments with later "
            "offsets, from %d on, are set aside as *%s",
            self._dir,
            self._end_offset,
            len(behind),
            segment.base_offset,
            file_names.LOG + file_names.STRANDED,
        )
        for stranded in reversed(behind):
            self._segments.remove(stranded)
            stranded.set_aside()

    def _delete_all(self) -> None:
        for doomed in reversed(list(self._segments)):
            _log.warning("%s: deleting %r below the log start offset", self._dir, doomed)
            self._segments.remove(doomed)
            doomed.remove_files()

    def _recover_segment(self, segment: Segment) -> int:
        """Verifies one segment and rebuilds its indexes; returns the end of the valid part."""
        end = 0
        # The kernel writes pages in any order, so an index may refer to bytes that the log file
        # lacks.
        segment.reset_indexes()
        for position, header, batch in verified_batches(segment, self._end_offset):
            segment.note_batch(position, header.size, header.last_offset, header.max_timestamp)
            self._epochs.assign(header.partition_leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                control_batch = bytes(batch) if header.is_control else b""
                aborted = replay_batch(self._producers, header, control_batch)
                if aborted is not None:
                    segment.aborted.append(aborted)
            self._end_offset = header.next_offset
            end = position + header.size
        if end < segment.size:
            _log.warning(
                "%s: %r is sound up to byte %d, offset %d; the rest is dropped",
                self._dir,
                segment,
                end,
                self._end_offset,
            )
        return end

    # Assembly of the log

    def _assemble(self) -> Log:
        params = self._params
        end = self._end_offset
        if params.log_start_offset > end:
            # The data is older than the checkpoint: records below it must not become visible again.
            self._restart_at(params.log_start_offset)
            end = self._end_offset
        local = LocalLog(self._fs, self._dir, params.config, self._segments)
        self._settle_segments()
        start = max(params.log_start_offset, self._segments.first.base_offset)
        local.log_end_offset = end
        local.jitter_ms = params.jitter_ms
        # Recovered segments are verified but not synced: until a flush has synced them, the next
        # recovery must verify them again.
        local.recovery_point = min(params.recovery_point, end) if self._recovered else end
        local.mark_unflushed(s for s in self._recovered if s is not self._segments.active)
        # The epoch file may be newer than the surviving records: an entry above the end would make
        # this replica report an epoch that it does not have.
        self._epochs.truncate_from_end(end)
        self._epochs.truncate_from_start(start)
        # The checkpoint may be older than the log. A low value is safe: a follower truncates by
        # leader epoch and a leader advances it by the fetches of its ISR (KIP-101).
        high_watermark = max(start, min(params.high_watermark, end))
        self._producers.on_high_watermark(high_watermark)
        log = Log(
            LogParts(
                params.topic_partition,
                params.topic_id,
                local,
                self._epochs,
                self._producers,
                self._snapshots,
                self._health,
                start,
                high_watermark,
            )
        )
        if log.unflushed:
            log.request_flush()
        return log

    def _settle_segments(self) -> None:
        for segment in self._recovered:
            if segment is not self._segments.active:
                segment.seal()
        for segment in self._segments:
            segment.release_if_closed()
        self._segments.active.activate()

    def _restart_at(self, offset: int) -> None:
        self._delete_all()
        self._begin_at(offset)
        self._snapshots.clear()
        self._producers.clear()
        self._epochs.clear()
        self._recovered = []
        self._end_offset = offset
