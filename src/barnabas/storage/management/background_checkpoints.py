"""Periodic checkpoints without waiting for the disk on the loop.

Three steps: collect on the loop, write and force a temporary file on a thread, put it in place on
the loop. The last step is skipped when the file was written meanwhile (a deletion or a truncation
does that at once), or when a log no longer reaches what was collected: a checkpoint must never
claim more than there is. The next round writes what is then true.
"""

from barnabas.storage.files.checkpoints import write_temporary_offsets
from barnabas.storage.log_dir import LogDir, Offsets
from barnabas.storage.log_manager import LogManager


class CheckpointTask:
    """One checkpoint file of one directory; `run` on any thread, never raises."""

    __slots__ = ("directory", "error", "known", "name", "offsets")

    def __init__(self, directory: LogDir, name: str, offsets: Offsets) -> None:
        self.directory = directory
        self.name = name
        self.offsets = offsets
        self.known = directory.offsets(name)
        self.error: OSError | None = None

    def run(self) -> None:
        path = self.directory.path / self.name
        try:
            write_temporary_offsets(self.directory.fs, path, self.offsets)
        except OSError as error:
            self.error = error


class BackgroundCheckpoints:
    """Loop-owned, except for the `run` of its tasks; one round of a name at a time."""

    def __init__(self, logs: LogManager) -> None:
        self._logs = logs

    def begin(self, name: str) -> list[CheckpointTask]:
        """What is to be written: one task for each directory with changes."""
        tasks = []
        for directory in self._logs.dirs.online:
            offsets = self._logs.checkpoints.due(directory, name)
            if offsets != directory.offsets(name):
                tasks.append(CheckpointTask(directory, name, offsets))
        return tasks

    def finish(self, task: CheckpointTask) -> bool:
        """Put a written checkpoint in place; False when it is out of date or could not be."""
        health = task.directory.health
        if task.error is not None:
            health.judge(task.error)
            return False
        overtaken = task.directory.offsets(task.name) is not task.known
        if overtaken or health.failed or not self._still_true(task):
            return False
        try:
            task.directory.place_checkpoint(task.name, task.offsets)
        except OSError as error:
            health.fail(error)
            return False
        return True

    def _still_true(self, task: CheckpointTask) -> bool:
        due = self._logs.checkpoints.due(task.directory, task.name)
        return all(due.get(partition, -1) >= offset for partition, offset in task.offsets.items())
