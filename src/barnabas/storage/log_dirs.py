"""The log directories of a broker: locks, owners, checkpoint files and their state.

A directory that fails goes offline alone: requests for its logs get KAFKA_STORAGE_ERROR, and the
other directories stay online.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.storage import file_names
from barnabas.storage.checkpoint_files import background_path, read_offsets, write_offsets
from barnabas.storage.dir_health import DirHealth
from barnabas.storage.errors import (
    CorruptFileError,
    InconsistentMetaError,
    StorageError,
    storage_error,
)
from barnabas.storage.filesystem import FileLock, FileSystem
from barnabas.storage.metadata_files import (
    MetaProperties,
    note_boot,
    read_meta_properties,
    same_boot,
    take_clean_marker,
    write_clean_marker,
    write_meta_properties,
)

_log = logging.getLogger(__name__)

Offsets = dict[TopicPartition, int]

_CHECKPOINTS = (
    file_names.RECOVERY_POINTS,
    file_names.LOG_START_OFFSETS,
    file_names.HIGH_WATERMARKS,
    file_names.CLEANER_OFFSETS,
)


class LogDirectory:
    """One log directory; owned by the event loop.

    Lifecycle: `acquire`, `load_checkpoints`, use, `stop_cleanly`, `release`.
    """

    def __init__(self, fs: FileSystem, path: Path) -> None:
        self.fs = fs
        self.path = path
        self.health = DirHealth(path)
        self.clean = False
        self.page_cache_lost = True
        self.log_count = 0
        self._offsets: dict[str, Offsets] = {}
        self._lock: FileLock | None = None

    def acquire(self) -> None:
        """Creates the directory if necessary and locks it.

        Raises LogDirLockedError if another broker holds the lock.
        """
        made = [path for path in (self.path, *self.path.parents) if not self.fs.exists(path)]
        self.fs.make_dirs(self.path)
        for path in made:
            self.fs.sync_dir(path.parent)
        if self._lock is None:
            self._lock = self.fs.lock(self.path / file_names.LOCK)

    def meta(self) -> MetaProperties | None:
        return read_meta_properties(self.fs, self.path)

    def ensure_meta(self, meta: MetaProperties) -> None:
        """Writes `meta.properties` into a new directory; checks it in an existing one.

        Raises InconsistentMetaError if it names another broker or cluster.
        """
        found = self.meta()
        if found is None:
            write_meta_properties(self.fs, self.path, meta)
            return
        for name, ours, theirs in zip(MetaProperties._fields, meta, found, strict=True):
            if ours is not None and theirs is not None and ours != theirs:
                raise InconsistentMetaError(
                    f"{self.path} belongs to {name} {theirs!r}, this broker has {ours!r}"
                )

    def load_checkpoints(self) -> None:
        """Reads the checkpoints of the last run, the clean shutdown marker first."""
        self.clean = take_clean_marker(self.fs, self.path)
        self.page_cache_lost = not same_boot(self.fs, self.path)
        self._offsets = {name: self._read(name) for name in _CHECKPOINTS}

    def loaded(self) -> None:
        """Records the boot id after all logs are loaded.

        From here on unsynced data is lost only if the operating system restarts.
        """
        note_boot(self.fs, self.path)

    def offsets(self, name: str) -> Offsets:
        """Returns the current contents of a checkpoint file."""
        return self._offsets.setdefault(name, {})

    def _read(self, name: str) -> Offsets:
        try:
            return read_offsets(self.fs, self.path / name)
        except CorruptFileError as error:
            # Every file has a safe default: recover from offset 0, start at the first segment,
            # high watermark at the log start offset, clean from the beginning.
            _log.warning("ignoring %s: %s", self.path / name, error)
            return {}

    def write_checkpoint(self, name: str, offsets: Offsets) -> None:
        """Writes a checkpoint file unless its contents are the same already."""
        if offsets != self._offsets.get(name):
            write_offsets(self.fs, self.path / name, offsets)
            self._offsets[name] = offsets

    def place_checkpoint(self, name: str, offsets: Offsets) -> None:
        """Installs a checkpoint that `write_temporary_offsets` has written."""
        path = self.path / name
        self.fs.rename(background_path(path), path)
        self._offsets[name] = offsets

    def drop_checkpoint(self, name: str) -> None:
        """Removes a checkpoint that is wrong and cannot be rewritten; its default is safe."""
        if self.fs.exists(self.path / name):
            self.fs.remove(self.path / name)
        self._offsets[name] = {}

    def partitions(self) -> list[tuple[TopicPartition, Path]]:
        """Returns the partitions in this directory with their paths."""
        return self._named(file_names.parse_partition_dir)

    def futures(self) -> list[tuple[TopicPartition, Path]]:
        """Returns the partitions that are being moved to this directory, with their paths."""
        return self._named(file_names.parse_future_dir)

    def _named(
        self, parse: Callable[[str], TopicPartition | None]
    ) -> list[tuple[TopicPartition, Path]]:
        return [
            (partition, self.path / name)
            for name in self.fs.list_dir(self.path)
            if (partition := parse(name)) is not None and self.fs.is_dir(self.path / name)
        ]

    def deleted_partitions(self) -> list[Path]:
        """Returns the directories of deleted partitions that are still to be removed."""
        return [
            self.path / name
            for name in self.fs.list_dir(self.path)
            if name.endswith(file_names.DELETE_DIR) and self.fs.is_dir(self.path / name)
        ]

    def stop_cleanly(self) -> None:
        """Writes the clean shutdown marker: all logs of this directory were closed."""
        write_clean_marker(self.fs, self.path)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


class LogDirs:
    """All log directories; owned by the event loop.

    Lifecycle: `acquire`, use, `stop_cleanly`, `release`.
    """

    def __init__(self, fs: FileSystem, paths: Iterable[Path | str]) -> None:
        self._dirs = [LogDirectory(fs, Path(path)) for path in paths]
        self._acquired = False

    def __iter__(self) -> Iterator[LogDirectory]:
        return iter(self._dirs)

    @property
    def online(self) -> list[LogDirectory]:
        return [directory for directory in self._dirs if not directory.health.failed]

    @property
    def offline(self) -> list[Path]:
        return [directory.path for directory in self._dirs if directory.health.failed]

    def on_offline(self, listener: Callable[[Path], None]) -> None:
        """Registers a listener; the failing call invokes it when a directory goes offline."""
        for directory in self._dirs:
            directory.health.on_failure(listener)

    def acquire(self) -> MetaProperties | None:
        """Locks the directories on the first call; returns the first `meta.properties` found."""
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
        """Checks or writes `meta.properties` in every directory; see `LogDirectory.ensure_meta`."""
        for directory in self.online:
            directory.ensure_meta(MetaProperties(broker_id, cluster_id))

    def check_room(self) -> None:
        """Checks the free space of full directories, to which nothing may be written currently."""
        for directory in self.online:
            if directory.health.disk_full:
                directory.health.has_room(directory.fs.usage(directory.path).free_bytes)

    def least_loaded(self) -> LogDirectory:
        """Returns the directory with the fewest logs."""
        candidates = self.online
        if not candidates:
            raise storage_error("every log directory is offline")
        return min(candidates, key=lambda directory: directory.log_count)

    def stop_cleanly(self) -> None:
        """Writes the clean shutdown marker into every directory that is online."""
        for directory in self.online:
            try:
                directory.stop_cleanly()
            except OSError as error:
                directory.health.fail(error)

    def release(self) -> None:
        """Releases the locks and writes nothing."""
        for directory in self._dirs:
            directory.release()


def remove_tree(fs: FileSystem, directory: Path) -> None:
    """Removes a directory with all files and directories in it."""
    for name in fs.list_dir(directory):
        path = directory / name
        if fs.is_dir(path):
            remove_tree(fs, path)
        else:
            fs.remove(path)
    fs.remove_dir(directory)
