"""All log directories of a broker: locks, owners, which of them still work.

One that fails goes offline alone: its logs answer KAFKA_STORAGE_ERROR, the others go on.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from barnabas.storage.errors import StorageError, storage_error
from barnabas.storage.files.metadata_files import MetaProperties
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.log_dir import LogDir


class LogDirs:
    """Loop-owned. Lifecycle: `acquire`, use, `stop_cleanly`, `release`."""

    def __init__(self, fs: FileSystem, paths: Iterable[Path | str]) -> None:
        self._dirs = [LogDir(fs, Path(path)) for path in paths]
        self._acquired = False

    def __iter__(self) -> Iterator[LogDir]:
        return iter(self._dirs)

    @property
    def online(self) -> list[LogDir]:
        return [directory for directory in self._dirs if not directory.health.failed]

    @property
    def offline(self) -> list[Path]:
        return [directory.path for directory in self._dirs if directory.health.failed]

    def on_offline(self, listener: Callable[[Path], None]) -> None:
        """Call back when a directory goes offline, from within the call that found out."""
        for directory in self._dirs:
            directory.health.on_failure(listener)

    def acquire(self) -> MetaProperties | None:
        """Lock the directories, once, and read whose they are."""
        if not self._acquired:
            for directory in self._dirs:
                try:
                    directory.acquire()
                except OSError as error:
                    directory.health.fail(error)
            self._acquired = True
            if not self.online:
                causes = "; ".join(str(directory.health.cause) for directory in self._dirs)
                raise StorageError(f"none of the log directories can be used: {causes}")
        metas = [meta for directory in self.online if (meta := directory.meta())]
        return metas[0] if metas else None

    def ensure_meta(self, broker_id: int, cluster_id: str) -> None:
        """Refuse directories of another broker or cluster; sign those of nobody."""
        for directory in self.online:
            directory.ensure_meta(MetaProperties(broker_id, cluster_id))

    def check_room(self) -> None:
        """Notice that a full directory has room again, although nothing is written to it."""
        for directory in self.online:
            if directory.health.disk_full:
                directory.health.has_room(directory.fs.usage(directory.path).free_bytes)

    def least_loaded(self) -> LogDir:
        """The directory with the fewest logs, for a new one."""
        candidates = self.online
        if not candidates:
            raise storage_error("every log directory is offline")
        return min(candidates, key=lambda directory: directory.log_count)

    def stop_cleanly(self) -> None:
        """Mark those clean that still work: all logs in them were closed in order."""
        for directory in self.online:
            try:
                directory.stop_cleanly()
            except OSError as error:
                directory.health.fail(error)

    def release(self) -> None:
        """Give the locks back without anything else, as a killed process would."""
        for directory in self._dirs:
            directory.release()
