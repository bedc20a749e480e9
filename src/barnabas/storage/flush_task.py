"""A flush in three steps: collected on the loop, run on a thread, finished on the loop.

Group commit falls out of it: whoever waits for a flush while one is running is covered by the
next, which takes everything appended meanwhile.
"""

from pathlib import Path

from barnabas.storage.files.checkpoints import write_lines
from barnabas.storage.filesystem import File, FileSystem
from barnabas.storage.segments.segment import Segment


class FlushTask:
    """Immutable work for a thread: files to force, an epoch list to write, directories to force.

    `run` never raises; the log looks at `error` when it finishes the task.
    """

    __slots__ = (
        "_directories",
        "_epochs",
        "_epochs_path",
        "_files",
        "_fs",
        "end_offset",
        "error",
        "generation",
        "sealed",
    )

    def __init__(self, fs: FileSystem, end_offset: int, generation: int, files: list[File]) -> None:
        self._fs = fs
        self.end_offset = end_offset
        self.generation = generation
        self._files = files
        self._directories: list[Path] = []
        self._epochs: list[str] | None = None
        self._epochs_path: Path | None = None
        self.sealed: list[Segment] = []
        self.error: OSError | None = None

    def also_sync_dir(self, directory: Path) -> None:
        self._directories.append(directory)

    def also_write_epochs(self, path: Path, lines: list[str]) -> None:
        self._epochs_path, self._epochs = path, lines

    def run(self) -> None:
        try:
            for file in self._files:
                file.sync()
            if self._epochs is not None and self._epochs_path is not None:
                write_lines(self._fs, self._epochs_path, self._epochs)
            for directory in self._directories:
                self._fs.sync_dir(directory)
        except OSError as error:
            self.error = error
