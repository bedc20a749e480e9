"""The move of one log to another log directory: copies the missing batches.

The copy, Kafka's "future" log, receives the batches of the current log unchanged and starts its
segments at the same offsets, so that both have equal files. The loop selects a piece, a thread
reads it, because the disk may be slow, and the loop, which owns both logs, appends it.

The copy never has batches that the current log lacks: it is truncated with the current log, and
after a restart it is compared by leader epochs, like a follower (KIP-101), before the next copy.
"""

from barnabas.model.errors import CorruptRecordError
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.file_slice import FileSlice
from barnabas.storage.log import Log
from barnabas.storage.log_reader import LogRead
from barnabas.storage.segment import Segment

# Small enough for the loop to append in about a millisecond.
PIECE_BYTES = 1024 * 1024
_NEAR_BYTES = 256 * 1024


class CopyTask:
    """A piece of the current log; `run` reads it on any thread and never raises."""

    __slots__ = ("data", "error", "generation", "is_rest", "offset", "piece", "segment_base")

    def __init__(self, move: "LogMove", read: LogRead, piece: FileSlice) -> None:
        self.piece = piece
        self.offset = move.future.log_end_offset
        self.segment_base = move.segment_at(read.first_batch_base_offset).base_offset
        self.generation = move.current.local.generation
        self.is_rest = read.next_offset == move.current.log_end_offset and (
            read.size <= _NEAR_BYTES
        )
        """Whether this small piece is all that is missing, so that the swap may copy it."""
        self.data = b""
        self.error: OSError | None = None

    def run(self) -> None:
        try:
            self.data = self.piece.read()
        except OSError as error:
            self.error = error
        self.piece.release()


class LogMove:
    """A current log and its copy; loop-owned, except for the `run` of its tasks."""

    __slots__ = ("current", "future")

    def __init__(self, current: Log, future: Log) -> None:
        self.current = current
        self.future = future

    def __repr__(self) -> str:
        return f"LogMove({self.current!r} to {self.future.directory}, lag={self.lag})"

    @property
    def lag(self) -> int:
        """Number of offsets by which the copy is behind."""
        return max(self.current.log_end_offset - self.future.log_end_offset, 0)

    @property
    def works(self) -> bool:
        """Whether the directories of both are online."""
        return not (self.current.health.failed or self.future.health.failed)

    def segment_at(self, offset: int) -> Segment:
        segments = self.current.local.segments
        return segments.floor(offset) or segments.first

    # Changes of the current log

    def reconcile(self) -> None:
        """Truncates the copy to the part that it shares with the current log."""
        agreed = _agreed_end(self.current, self.future)
        if agreed is None:
            self._start_over()
        else:
            self.future.truncate_to(agreed)
            self.keep_up()

    def keep_up(self) -> None:
        """Follows truncations, log start offset and high watermark of the current log."""
        current, future = self.current, self.future
        first = current.local.segments.first.base_offset
        if future.log_end_offset < first or current.log_end_offset < first:
            self._start_over()
        elif future.log_end_offset > current.log_end_offset:
            future.truncate_to(current.log_end_offset)
        future.update_high_watermark(current.high_watermark)
        future.increment_log_start_offset(min(current.log_start_offset, future.high_watermark))

    def _start_over(self) -> None:
        self.future.truncate_fully_and_start_at(self.current.local.segments.first.base_offset)

    # Copying

    def begin(self, max_bytes: int = PIECE_BYTES) -> CopyTask | None:
        """Returns the next piece, None if the copy is complete; raises BrokerError of a disk."""
        self.keep_up()
        current, end = self.current, self.current.log_end_offset
        try:
            # Not by `Log.read`: the first batch may begin below the log's start.
            read = current.local.reader.read(self.future.log_end_offset, max_bytes, end, True)
        except (OSError, CorruptRecordError, CorruptFileError) as error:
            raise current.health.read_failed(error) from error
        if read.slice is None:
            self._end_like_current()
            return None
        return CopyTask(self, read, read.slice)

    def finish(self, task: CopyTask, now_ms: int) -> int:
        """Appends a piece; returns its size, 0 when either log has changed since it was selected.

        Raises BrokerError if a disk failed, CorruptRecordError if the piece is damaged.
        """
        if task.error is not None:
            raise self.current.health.write_failed(task.error) from task.error
        same = task.generation == self.current.local.generation
        if not same or task.offset != self.future.log_end_offset:
            return 0
        self._roll_like_current(task.segment_base, now_ms)
        self.future.append_as_follower(task.data, now_ms=now_ms)
        self.keep_up()
        return len(task.data)

    def copy_now(self, now_ms: int) -> None:
        """Copies the rest synchronously."""
        while (task := self.begin()) is not None:
            task.run()
            self.finish(task, now_ms)

    def _roll_like_current(self, base_offset: int, now_ms: int) -> None:
        future = self.future
        if base_offset > future.local.active.base_offset and base_offset >= future.log_end_offset:
            try:
                future.roll_at(base_offset, now_ms)
            except OSError as error:
                raise future.health.write_failed(error) from error

    def _end_like_current(self) -> None:
        """Adopts a gap at the end, where compaction removed all earlier batches."""
        end = self.current.log_end_offset
        if self.future.log_end_offset < end:
            self._roll_like_current(end, 0)
            self.future.local.log_end_offset = end

    # State of the current log

    def adopt(self) -> None:
        """Copies leader epochs and producer state, which the copied batches may lack.

        Compaction may have removed the first batch of an epoch, retention the last of a producer.
        """
        current, future = self.current, self.future
        future.epochs.adopt(current.epochs)
        future.producers = current.producers
        future.cleaned_offset = current.cleaned_offset
        self.keep_up()


def _agreed_end(current: Log, future: Log) -> int | None:
    """Returns the offset up to which both logs are equal, or None if they share no epoch.

    An epoch has one leader, so the offsets of an epoch that both logs have are equal.
    """
    end = future.log_end_offset
    for entry in reversed(future.epochs.entries):
        epoch, current_end = current.end_offset_for_epoch(entry.epoch)
        if epoch == entry.epoch:
            return min(end, current_end)
        end = entry.start_offset
    return None
