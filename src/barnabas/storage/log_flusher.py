"""Decides when a log must be flushed and applies the results of its flush tasks."""

from barnabas.storage.dir_health import DirHealth
from barnabas.storage.errors import storage_error
from barnabas.storage.leader_epochs import LeaderEpochs
from barnabas.storage.local_log import FlushTask, LocalLog
from barnabas.storage.producer_snapshot import SnapshotFiles


class LogFlusher:
    """Flush state of one log; owned by the event loop."""

    __slots__ = (
        "_epochs",
        "_health",
        "_local",
        "_snapshots",
        "closed",
        "rolled",
        "unflushed_records",
    )

    def __init__(
        self, local: LocalLog, epochs: LeaderEpochs, snapshots: SnapshotFiles, health: DirHealth
    ) -> None:
        self._local = local
        self._epochs = epochs
        self._snapshots = snapshots
        self._health = health
        self.unflushed_records = 0
        self.closed = False
        self.rolled = False
        """Whether a sealed segment is not flushed yet; recovery would have to verify it."""

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
            raise self._health.write_failed(error) from error
        task.snapshots = list(self._snapshots.unsynced)
        task.epochs, task.epochs_version = self._epochs, self._epochs.unwritten()
        self.rolled = False
        self.unflushed_records = 0
        return task

    def finish(self, task: FlushTask) -> None:
        if self.closed:
            # The files were closed or moved while the task ran; its result no longer applies.
            return
        if task.error is not None:
            self._health.fail(task.error)
            raise storage_error(task.error) from task.error
        self._health.check()
        if task.epochs_error is not None:
            # The recovery point does not move, so recovery rebuilds the epochs from the records.
            self._health.write_failed(task.epochs_error)
            self.rolled = True
            return
        self._snapshots.unsynced = [
            file for file in self._snapshots.unsynced if file not in task.snapshots
        ]
        if not self._local.finish_flush(task):
            self.rolled = True

    def flush(self) -> None:
        """Flushes synchronously."""
        task = self.begin()
        if task is not None:
            task.run()
            self.finish(task)
