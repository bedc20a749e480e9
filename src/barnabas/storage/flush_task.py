"""A flush in three steps: collected on the loop, run on a thread, finished on the loop.

Group commit falls out of it: whoever waits for a flush while one is running is covered by the
next, which takes everything appended meanwhile. Several may run at once; each covers everything
that was not durable when it began, whether or not an earlier one has got there.
"""

from dataclasses import dataclass, field
from pathlib import Path

from barnabas.storage.errors import is_passing
from barnabas.storage.filesystem import File, FileSystem
from barnabas.storage.leader_epochs import EpochsVersion, LeaderEpochs
from barnabas.storage.segments.segment import Segment


@dataclass(slots=True)
class FlushTask:
    """Work for a thread: files to force, an epoch list to write, directories to force.

    `run` never raises; the log looks at `error` when it finishes the task.
    """

    fs: FileSystem
    end_offset: int
    generation: int
    files: list[File]
    directories: list[Path] = field(default_factory=list)
    epochs: LeaderEpochs | None = None
    epochs_version: EpochsVersion | None = None
    sealed: list[Segment] = field(default_factory=list)
    snapshots: list[File] = field(default_factory=list)
    name_changes: int = 0
    error: OSError | None = None
    epochs_error: OSError | None = None
    """The epoch list did not fit on the disk; records and names are durable all the same."""

    def run(self) -> None:
        try:
            for file in (*self.snapshots, *self.files):
                file.sync()
            for directory in self.directories:
                self.fs.sync_dir(directory)
        except OSError as error:
            self.error = error
        else:
            self._write_epochs()

    def _write_epochs(self) -> None:
        if self.epochs is None or self.epochs_version is None:
            return
        try:
            self.epochs.write(self.epochs_version)
        except OSError as error:
            # A temporary file was being written, so this is no failed fsync of records.
            if is_passing(error):
                self.epochs_error = error
            else:
                self.error = error
