"""Moves logs between the log directories of a broker (KIP-113).

AlterReplicaLogDirs calls `request`. The broker's log mover then calls `begin`, runs the task on a
thread and calls `finish`, until `begin` returns None; `swap` makes the copy the current log. A move
continues after a restart. It ends without a swap when the current directory or another one is
requested, or when the partition is deleted.

The copy, Kafka's "future" log, receives the batches of the current log unchanged and starts its
segments at the same offsets, so that both have equal files. The loop selects a piece, a thread
reads it, because the disk may be slow, and the loop, which owns both logs, appends it.

The copy never has batches that the current log lacks: it is truncated with the current log, and
after a restart it is compared by leader epochs, like a follower (KIP-101), before the next copy.
"""

import logging
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import Clock
from barnabas.storage import file_names, log_swap
from barnabas.storage.checkpoints import Checkpoints
from barnabas.storage.errors import CorruptFileError, storage_error
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDirectory, LogDirs
from barnabas.storage.log_opener import LogOpener
from barnabas.storage.log_reader import FileSlice, LogRead
from barnabas.storage.log_table import LogTable
from barnabas.storage.maintenance import Purging
from barnabas.storage.segment import Segment

# Small enough for the loop to append in about a millisecond.
PIECE_BYTES = 1024 * 1024
# A remainder of at most this size is copied on the loop when the logs are swapped.
_NEAR_BYTES = 256 * 1024


class CopyTask:
    """A piece of the current log; `run` reads it on any thread and never raises."""

    __slots__ = ("data", "error", "generation", "is_last", "offset", "piece", "segment_base")

    def __init__(self, move: "LogMove", read: LogRead, piece: FileSlice) -> None:
        self.piece = piece
        self.offset = move.future.log_end_offset
        self.segment_base = move.segment_at(read.first_batch_base_offset).base_offset
        self.generation = move.current.local.generation
        self.is_last = read.next_offset == move.current.log_end_offset and (
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
    """A current log and its copy. Owned by the event loop, except the `run` of its tasks."""

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


_log = logging.getLogger(__name__)


class LogMoves:
    """Moves replicas between the log directories of a broker.

    Owned by the event loop, except for the `run` methods of its tasks.
    """

    def __init__(
        self,
        dirs: LogDirs,
        table: LogTable,
        opener: LogOpener,
        checkpoints: Checkpoints,
        purging: Purging,
        clock: Clock,
    ) -> None:
        self._dirs = dirs
        self._table = table
        self._opener = opener
        self._checkpoints = checkpoints
        self._purging = purging
        self._clock = clock
        self._moves: dict[TopicPartition, LogMove] = {}
        self._wanted: dict[TopicPartition, LogDirectory] = {}
        self.on_swapped: Callable[[Log], None] = lambda _log: None
        """Called with the new log after a swap; holders of the old log must replace it."""

    def __iter__(self) -> Iterator[LogMove]:
        """Iterates over the moves whose two directories are online."""
        return iter([move for move in self._moves.values() if move.works])

    def get(self, topic_partition: TopicPartition) -> LogMove | None:
        return self._moves.get(topic_partition)

    # --- requests ---

    def request(self, topic_partition: TopicPartition, path: str) -> None:
        """Requests a move to this directory; raises BrokerError if that is not possible."""
        name = file_names.future_dir(topic_partition, uuid.uuid4().hex)
        if name is None:
            raise BrokerError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"{topic_partition} has a name that is too long for a move",
            )
        directory = self._directory(path)
        current = self._table.get(topic_partition)
        if current is None:
            # Stored for the creation of the log; the client gets a retriable error (KIP-113).
            self._wanted[topic_partition] = directory
            raise BrokerError(
                ErrorCode.REPLICA_NOT_AVAILABLE, f"{topic_partition} has no replica on this broker"
            )
        current.health.check()
        move = self._moves.get(topic_partition)
        if move is not None:
            if self._table.directory_of(move.future) is directory:
                return
            self.cancel(topic_partition)
        if self._table.directory_of(current) is not directory:
            self._start(current, directory, directory.path / name)

    def _directory(self, path: str) -> LogDirectory:
        for directory in self._dirs:
            if str(directory.path.absolute()) == path:  # compared as text, as in Kafka
                directory.health.check()
                return directory
        raise BrokerError(ErrorCode.LOG_DIR_NOT_FOUND, f"{path} is not a log directory")

    def take_wanted(self, topic_partition: TopicPartition) -> LogDirectory | None:
        """Returns the directory that was requested before the log existed."""
        directory = self._wanted.pop(topic_partition, None)
        return None if directory is None or directory.health.failed else directory

    def _start(self, current: Log, directory: LogDirectory, path: Path) -> None:
        partition = current.topic_partition
        self._checkpoints.drop_stale(directory, partition)
        future = self._opener.create(directory, path, partition, current.topic_id, current.config)
        self._table.add_future(future, directory)
        self._join(current, future)

    def _join(self, current: Log, future: Log) -> None:
        move = self._moves[current.topic_partition] = LogMove(current, future)
        try:
            move.reconcile()
        except BrokerError as error:
            _log.warning("%r cannot continue: %s", move, error)

    def resume(self, current: Log) -> None:
        """Continues a move whose copy was found at start."""
        future = self._table.future(current.topic_partition)
        if future is None:
            return
        same_topic = None in (current.topic_id, future.topic_id) or (
            current.topic_id == future.topic_id
        )
        if same_topic and self._table.directory_of(current) is not self._table.directory_of(future):
            self._join(current, future)
        else:
            self._discard(future)

    # Keeping in step

    def truncated(self, log: Log) -> None:
        """Truncates the copy after its current log was truncated."""
        move = self._moves.get(log.topic_partition)
        if move is not None and move.current is log and move.works:
            try:
                move.keep_up()
            except BrokerError as error:
                _log.warning("%r cannot be truncated: %s", move, error)

    def cancel(self, topic_partition: TopicPartition) -> None:
        """Cancels a move; the copy is removed after the delete delay."""
        self._moves.pop(topic_partition, None)
        future = self._table.future(topic_partition)
        if future is not None:
            self._discard(future)

    def _discard(self, future: Log) -> None:
        directory = self._table.remove(future)
        if directory.health.failed:
            future.abandon()  # a later start removes it, because no move requests it
        else:
            self._purging.close_and_remove(future, directory)

    # Copying

    def begin(self, move: LogMove) -> CopyTask | None:
        """Returns the next piece of a move; run it on a thread, then call `finish`."""
        return move.begin() if self._holds(move) else None

    def finish(self, move: LogMove, task: CopyTask) -> int:
        """Appends a piece to the copy; returns its size, 0 if it no longer applies."""
        return move.finish(task, self._clock.now_ms()) if self._holds(move) else 0

    def _holds(self, move: LogMove) -> bool:
        return self._moves.get(move.current.topic_partition) is move and move.works

    # Swapping in

    def swap(self, move: LogMove) -> bool:
        """Copies the rest synchronously and swaps the logs; False if the move was cancelled."""
        if not self._holds(move):
            return False
        current, future = move.current, move.future
        target = self._table.directory_of(future)
        move.copy_now(self._clock.now_ms())
        try:
            self._prepare(move, target)
        except OSError as error:
            raise target.health.write_failed(error) from error
        self._rename(move, target)
        del self._moves[current.topic_partition]
        self._table.promote(future)
        current.abandon()
        self._purging.schedule_removal(current)
        self.on_swapped(future)
        try:
            log_swap.remove_note(self._opener.fs, future.directory)
        except OSError as error:
            target.health.fail(error)
        return True

    def _prepare(self, move: LogMove, target: LogDirectory) -> None:
        """Makes the copy as durable as the current log and marks it as complete."""
        current, future = move.current, move.future
        source = self._table.directory_of(current)
        move.adopt()
        if future.topic_id is None and current.topic_id is not None:
            self._opener.sign(future, current.topic_id)
        if future.recovery_point < current.recovery_point:
            future.flush()
        future.epochs.store()
        self._checkpoints.catch_up(future, source, target)
        log_swap.write_note(self._opener.fs, future.directory, source.path)

    def _rename(self, move: LogMove, target: LogDirectory) -> None:
        current, future = move.current, move.future
        partition, source = current.topic_partition, self._table.directory_of(current)
        grave = source.path / file_names.deleted_dir(partition, uuid.uuid4().hex)
        place = target.path / file_names.partition_dir(partition)
        try:
            log_swap.rename_both(
                self._opener.fs,
                log_swap.SwappedLog(current, source, grave),
                log_swap.SwappedLog(future, target, place),
            )
        except OSError as error:
            raise storage_error(error) from error
