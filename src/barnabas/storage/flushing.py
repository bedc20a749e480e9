"""When a log must be forced to disk, and the bookkeeping around its flush tasks."""

from collections.abc import Iterable

from barnabas.storage.errors import storage_error
from barnabas.storage.filesystem import File
from barnabas.storage.flush_task import FlushTask
from barnabas.storage.log_parts import LogParts


class Flushing:
    """The flushing side of one log; loop-owned."""

    __slots__ = (
        "_epochs",
        "_health",
        "_local",
        "_snapshots",
        "closed",
        "rolled",
        "unflushed_records",
    )

    def __init__(self, parts: LogParts) -> None:
        self._local = parts.local
        self._epochs = parts.epochs
        self._snapshots = parts.snapshots
        self._health = parts.health
        self.unflushed_records = 0
        self.closed = False
        self.rolled = False
        """A finished segment waits to be forced: until then recovery would read it again."""

    @property
    def due(self) -> bool:
        return self.rolled or self.unflushed_records >= self._local.config.flush_messages

    @property
    def unflushed(self) -> bool:
        return self._local.recovery_point < self._local.log_end_offset

    def begin(self) -> FlushTask | None:
        self._health.check()
        if self.closed or not (self.unflushed or self.rolled):
            return None
        try:
            task = self._local.begin_flush()
        except OSError as error:
            raise self._health.judge(error) from error
        task.snapshots = list(self._snapshots.unsynced)
        task.epochs, task.epochs_version = self._epochs, self._epochs.unwritten()
        self.rolled = False
        self.unflushed_records = 0
        return task

    def finish(self, task: FlushTask) -> None:
        if self.closed:
            # The files were closed or moved away while the task ran: its outcome is void.
            return
        if task.error is not None:
            self._health.fail(task.error)
            raise storage_error(task.error) from task.error
        self._health.check()
        if task.epochs_error is not None:
            # The recovery point stays, so recovery would find the epochs in the records.
            self._health.judge(task.epochs_error)
            self.rolled = True
            return
        self._snapshots.unsynced = [
            file for file in self._snapshots.unsynced if file not in task.snapshots
        ]
        if not self._local.finish_flush(task):
            self.rolled = True

    def flush(self, also: Iterable[File] = ()) -> None:
        """Flush here and now, and force these files with the rest."""
        task = self.begin()
        if task is not None:
            task.files += also
            task.run()
            self.finish(task)
