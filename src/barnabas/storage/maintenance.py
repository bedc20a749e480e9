"""The periodic work on a broker's logs: retention, unlinking, flushing, compaction.

The broker's scheduler calls these methods; none of them blocks. Long work has three steps: begin on
the event loop, run on a thread, finish on the loop. The failure of one log does not affect others.

Deleted segments wait as `*.deleted` and directories of deleted partitions as `*-delete` until
`file.delete.delay.ms` has passed. A file system may take a third of a second to unlink a gigabyte,
so the event loop must not wait for it. The next start removes files that could not be removed.
"""

import logging
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from barnabas.model.config_keys.topic import MAX_LONG
from barnabas.model.errors import BarnabasError
from barnabas.runtime.clock import Clock
from barnabas.storage import file_names
from barnabas.storage.checkpoints import Checkpoints
from barnabas.storage.errors import storage_error
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.log import Log
from barnabas.storage.log_changes import FLUSH, PURGE
from barnabas.storage.log_cleaner import CleanTask, LogCleaner
from barnabas.storage.log_dirs import LogDirectory, remove_tree
from barnabas.storage.log_table import LogTable


@dataclass(slots=True)
class PurgeTask:
    """Work for a thread: files and directories to remove. `run` never raises."""

    fs: FileSystem
    files: list[Path]
    directories: list[str]
    failures: list[tuple[Path, OSError]] = field(default_factory=list)

    def run(self) -> None:
        for path in self.files:
            self._attempt(path, self.fs.remove)
        for directory in self.directories:
            self._attempt(Path(directory), partial(remove_tree, self.fs))

    def _attempt(self, path: Path, remove: Callable[[Path], None]) -> None:
        try:
            remove(path)
        except FileNotFoundError:
            pass  # never created, or its directory was renamed and is removed as a whole
        except OSError as error:
            self.failures.append((path, error))


class Purging:
    """Files and directories to unlink; owned by the event loop, except `PurgeTask.run`."""

    def __init__(self, fs: FileSystem, clock: Clock) -> None:
        self._fs = fs
        self._clock = clock
        # Text instead of paths, which the garbage collector would visit: a deleted topic may leave
        # 20,000 directories.
        self._directories: list[tuple[str, int]] = []

    def remove_soon(self, directories: Iterable[Path]) -> None:
        """Schedules these directories for removal without a delay."""
        now_ms = self._clock.monotonic_ms()
        self._directories += [(str(path), now_ms) for path in directories]

    def schedule_removal(self, log: Log) -> None:
        """Schedules the directory of a closed log for removal after the delete delay."""
        due_ms = self._clock.monotonic_ms() + log.config.file_delete_delay_ms
        self._directories.append((str(log.directory), due_ms))

    def close_and_remove(self, log: Log, directory: LogDirectory) -> None:
        """Closes a log and renames its directory; it is removed after the delete delay."""
        # Closed first: the result of a flush or of a compaction pass that still runs is then
        # ignored.
        log.abandon()
        name = file_names.deleted_dir(log.topic_partition, uuid.uuid4().hex)
        try:
            self._fs.rename(log.directory, directory.path / name)
        except OSError as error:
            directory.health.fail(error)
            raise storage_error(error) from error
        log.moved(directory.path / name)
        self.schedule_removal(log)

    def begin(self, logs: Iterable[Log]) -> PurgeTask | None:
        """Returns a task for all files and directories whose delay has passed."""
        now_ms = self._clock.monotonic_ms()
        files = [path for log in logs for path in log.local.take_expired_files(now_ms)]
        directories = [path for path, due_ms in self._directories if due_ms <= now_ms]
        self._directories = [item for item in self._directories if item[1] > now_ms]
        return PurgeTask(self._fs, files, directories) if files or directories else None

    def finish(self, task: PurgeTask) -> None:
        for path, error in task.failures:
            _log.warning("could not remove %s: %s", path, error)


_log = logging.getLogger(__name__)


class Maintenance:
    """Runs retention, removal of files, flushes and compaction for all logs.

    Owned by the event loop, except the `run` methods of its tasks.
    """

    def __init__(
        self,
        table: LogTable,
        clock: Clock,
        checkpoints: Checkpoints,
        purging: Purging,
        cleaning: LogCleaner,
        producer_expiration_ms: int,
    ) -> None:
        self.cleaning = cleaning
        self._table = table
        self._clock = clock
        self._checkpoints = checkpoints
        self._purging = purging
        self._producer_expiration_ms = producer_expiration_ms
        self.expired_segments = 0
        """Metric: segments that retention removed."""

    # Retention

    def logs(self) -> list[Log]:
        """Returns all current and future logs, for jobs that handle them in slices."""
        return self._table.every()

    def run_retention(self, now_ms: int, logs: Iterable[Log] | None = None) -> int:
        """Removes expired segments and producers; the files are unlinked after the delete delay."""
        deleted = 0
        for log in self._working(logs):
            deleted += _guarded(log, partial(log.delete_old_segments, now_ms)) or 0
            log.producers.expire(now_ms, self._producer_expiration_ms)
        self.expired_segments += deleted
        return deleted

    def begin_purge(self, logs: Iterable[Log] | None = None) -> PurgeTask | None:
        """Returns the files to unlink now; run the task on a thread, then call `finish_purge`."""
        return self._purging.begin(self._working(logs))

    def logs_to_purge(self) -> list[Log]:
        """Returns the logs with files of removed segments; call it once for each purge."""
        changes = self._table.changes
        found = [log for log in self._working(changes.take(PURGE)) if log.local.has_removed_files]
        changes.again(PURGE, found)
        return found

    def finish_purge(self, task: PurgeTask) -> None:
        self._purging.finish(task)

    def purge_deleted(self) -> None:
        """Unlinks the files synchronously."""
        task = self.begin_purge()
        if task is not None:
            task.run()
            self.finish_purge(task)

    def _working(self, logs: Iterable[Log] | None) -> list[Log]:
        """Returns those of the logs, or of all logs, that are in a directory that is online.

        A job in slices may come to a log that was deleted meanwhile.
        """
        if logs is None:
            return [log for log in self._table.every() if not log.health.failed]
        return [log for log in logs if not log.health.failed and self._table.has(log)]

    # Flushing

    def logs_to_check(self) -> list[Log]:
        """Returns the logs that `logs_to_flush` may return; call it once for each round.

        The others are flushed, or have neither a limit of time nor of records.
        """
        changes = self._table.changes
        found = [log for log in self._working(changes.take(FLUSH)) if _may_need_flush(log)]
        changes.again(FLUSH, found)
        return found

    def logs_to_flush(self, logs: Iterable[Log] | None = None) -> list[Log]:
        """Returns logs to flush because of `flush.messages`, `flush.ms` or a sealed segment."""
        now = self._clock.monotonic_ms()
        return [
            log
            for log in self._working(logs)
            if not self._table.is_future(log)
            if log.flush_due or (log.unflushed and now - log.last_flush_ms >= log.config.flush_ms)
        ]

    def flush_dirty(self) -> int:
        """Flushes these logs synchronously; a broker runs their tasks on a thread instead."""
        due = self.logs_to_flush()
        for log in due:
            _guarded(log, log.flush)
            log.last_flush_ms = self._clock.monotonic_ms()
        return len(due)

    # Compaction

    def begin_clean(self, now_ms: int, *, force: bool = False) -> CleanTask | None:
        """Plans a compaction pass; run it on a thread, then call `finish_clean`.

        Skips logs that are being moved, because their segments must not change meanwhile.
        """
        logs = [log for log in self._table.compacted() if not self._table.is_moving(log)]
        return self.cleaning.begin(logs, now_ms, force=force)

    def finish_clean(self, task: CleanTask) -> bool:
        """Installs a finished pass and stores its end offset."""
        if self._table.get(task.log.topic_partition) is not task.log:
            self.cleaning.abandon(task)
            return False
        done = bool(_guarded(task.log, partial(self.cleaning.finish, task)))
        if done:
            self._checkpoints.cleaned_offsets()
        return done

    def clean(self, now_ms: int, *, force: bool = False) -> bool:
        """Cleans the dirtiest log synchronously; returns False if no log is dirty enough."""
        task = self.begin_clean(now_ms, force=force)
        if task is None:
            return False
        task.run()
        return self.finish_clean(task)


def _may_need_flush(log: Log) -> bool:
    """Whether a flush is due, or becomes due without another change of the log."""
    return log.flush_due or (log.unflushed and log.config.flush_ms < MAX_LONG)


def _guarded(log: Log, work: Callable[[], int | None]) -> int | None:
    """Runs work on one log and logs its failure."""
    try:
        return work()
    except BarnabasError as error:
        _log.warning("%s: %s", log.topic_partition, error)
    return None
