"""Unlinks deleted files: collected on the loop, unlinked on a thread, finished on the loop.

Segments wait as `*.deleted` and directories of deleted partitions as `*-delete` until
`file.delete.delay.ms` has passed. A file system may take a third of a second to unlink a gigabyte,
so the event loop must not wait for it. The next start removes files that could not be removed.
"""

import logging
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from barnabas.runtime.clock import Clock
from barnabas.storage import file_names
from barnabas.storage.errors import storage_error
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDirectory, remove_tree

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class PurgeTask:
    """Work for a thread: files and directories to remove. `run` never raises."""

    fs: FileSystem
    files: list[Path]
    directories: list[Path]
    failures: list[tuple[Path, OSError]] = field(default_factory=list)

    def run(self) -> None:
        for path in self.files:
            self._attempt(path, self.fs.remove)
        for path in self.directories:
            self._attempt(path, partial(remove_tree, self.fs))

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
        self._directories: list[tuple[Path, int]] = []

    def remove_soon(self, directories: Iterable[Path]) -> None:
        """Schedules these directories for removal without a delay."""
        now_ms = self._clock.monotonic_ms()
        self._directories += [(path, now_ms) for path in directories]

    def schedule_removal(self, log: Log) -> None:
        """Schedules the directory of a closed log for removal after the delete delay."""
        due_ms = self._clock.monotonic_ms() + log.config.file_delete_delay_ms
        self._directories.append((log.directory, due_ms))

    def close_and_remove(self, log: Log, directory: LogDirectory) -> None:
        """Closes a log and renames its directory; it is removed after the delete delay."""
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
        files = [path for log in logs for path in log.take_expired_files(now_ms)]
        directories = [path for path, due_ms in self._directories if due_ms <= now_ms]
        self._directories = [item for item in self._directories if item[1] > now_ms]
        return PurgeTask(self._fs, files, directories) if files or directories else None

    def finish(self, task: PurgeTask) -> None:
        for path, error in task.failures:
            _log.warning("could not remove %s: %s", path, error)
