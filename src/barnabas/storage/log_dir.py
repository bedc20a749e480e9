"""One of the broker's log directories: its lock, its identity, its checkpoints, its health."""

import logging
from collections.abc import Callable
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.storage.dir_health import DirHealth
from barnabas.storage.errors import CorruptFileError, InconsistentMetaError
from barnabas.storage.files import file_names
from barnabas.storage.files.checkpoints import background_path, read_offsets, write_offsets
from barnabas.storage.files.metadata_files import (
    MetaProperties,
    note_boot,
    read_meta_properties,
    same_boot,
    take_clean_marker,
    write_clean_marker,
    write_meta_properties,
)
from barnabas.storage.filesystem import FileLock, FileSystem

_log = logging.getLogger(__name__)

Offsets = dict[TopicPartition, int]

_CHECKPOINTS = (
    file_names.RECOVERY_POINTS,
    file_names.LOG_START_OFFSETS,
    file_names.HIGH_WATERMARKS,
    file_names.CLEANER_OFFSETS,
)


class LogDir:
    """Loop-owned. Lifecycle: `acquire`, `load_checkpoints`, use, `stop_cleanly`, `release`."""

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
        """Make the directory if need be and lock it; LogDirLockedError if somebody has it."""
        made = [path for path in (self.path, *self.path.parents) if not self.fs.exists(path)]
        self.fs.make_dirs(self.path)
        for path in made:
            self.fs.sync_dir(path.parent)
        if self._lock is None:
            self._lock = self.fs.lock(self.path / file_names.LOCK)

    def meta(self) -> MetaProperties | None:
        return read_meta_properties(self.fs, self.path)

    def ensure_meta(self, meta: MetaProperties) -> None:
        """Check that the directory is ours, or make it ours if it is nobody's."""
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
        """Read what the last run left; the clean marker first of all."""
        self.clean = take_clean_marker(self.fs, self.path)
        self.page_cache_lost = not same_boot(self.fs, self.path)
        self._offsets = {name: self._read(name) for name in _CHECKPOINTS}

    def loaded(self) -> None:
        """All logs are loaded: from here on only a new boot can lose what is not synced."""
        note_boot(self.fs, self.path)

    def offsets(self, name: str) -> Offsets:
        """What a checkpoint file holds now."""
        return self._offsets.setdefault(name, {})

    def _read(self, name: str) -> Offsets:
        try:
            return read_offsets(self.fs, self.path / name)
        except CorruptFileError as error:
            # Each has a safe answer without the file: recover from 0, start at the first
            # segment, high watermark at the log start, clean from the beginning.
            _log.warning("ignoring %s: %s", self.path / name, error)
            return {}

    def write_checkpoint(self, name: str, offsets: Offsets) -> None:
        """Write a checkpoint file unless it says the same already."""
        if offsets != self._offsets.get(name):
            write_offsets(self.fs, self.path / name, offsets)
            self._offsets[name] = offsets

    def place_checkpoint(self, name: str, offsets: Offsets) -> None:
        """Put a checkpoint in place that `write_temporary_offsets` has written."""
        path = self.path / name
        self.fs.rename(background_path(path), path)
        self._offsets[name] = offsets

    def drop_checkpoint(self, name: str) -> None:
        """Remove a checkpoint that is wrong and cannot be written: without it all is safe."""
        if self.fs.exists(self.path / name):
            self.fs.remove(self.path / name)
        self._offsets[name] = {}

    def partitions(self) -> list[tuple[TopicPartition, Path]]:
        """The partitions that have a directory here."""
        return self._named(file_names.parse_partition_dir)

    def futures(self) -> list[tuple[TopicPartition, Path]]:
        """The partitions of which a copy is on its way here."""
        return self._named(file_names.parse_future_dir)

    def _named(
        self, parse: Callable[[str], TopicPartition | None]
    ) -> list[tuple[TopicPartition, Path]]:
        return [
            (partition, self.path / name)
            for name in self.fs.list_dir(self.path)
            if (partition := parse(name)) is not None and self.fs.is_dir(self.path / name)
        ]

    def doomed(self) -> list[Path]:
        """Directories of partitions whose deletion was under way."""
        return [
            self.path / name
            for name in self.fs.list_dir(self.path)
            if name.endswith(file_names.DELETE_DIR) and self.fs.is_dir(self.path / name)
        ]

    def stop_cleanly(self) -> None:
        """Mark that all logs here were closed in order."""
        write_clean_marker(self.fs, self.path)

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def remove_tree(fs: FileSystem, directory: Path) -> None:
    """Remove a directory of plain files, or of directories of them."""
    for name in fs.list_dir(directory):
        path = directory / name
        if fs.is_dir(path):
            remove_tree(fs, path)
        else:
            fs.remove(path)
    fs.remove_dir(directory)
