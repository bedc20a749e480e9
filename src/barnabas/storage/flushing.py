"""When a log must be forced to disk, and the bookkeeping around its flush tasks."""

from barnabas.storage.errors import storage_error
from barnabas.storage.flush_task import FlushTask
from barnabas.storage.log_parts import LogParts


class Flushing:
    """The flushing side of one log; loop-owned."""

    __slots__ = ("_epochs", "_health", "_local", "_snapshots", "rolled", "unflushed_records")

    def __init__(self, parts: LogParts) -> None:
        self._local = parts.local
        self._epochs = parts.epochs
        self._snapshots = parts.snapshots
        self._health = parts.health
        self.unflushed_records = 0
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
        if not self.unflushed and not self.rolled:
            return None
        snapshots, self._snapshots.unsynced = self._snapshots.unsynced, []
        try:
            task = self._local.begin_flush(snapshots)
        except OSError as error:
            self._snapshots.unsynced = snapshots
            raise self._health.judge(error) from error
        lines = self._epochs.take_unstored()
        if lines is not None:
            task.also_write_epochs(self._epochs.path, lines)
        self.rolled = False
        self.unflushed_records = 0
        return task

    def finish(self, task: FlushTask) -> None:
        if task.error is not None:
            self._health.fail(task.error)
            raise storage_error(task.error) from task.error
        self._health.check()
        self._local.finish_flush(task)

    def flush(self) -> None:
        task = self.begin()
        if task is not None:
            task.run()
            self.finish(task)
