"""The log directories of a broker: locks, owners, checkpoint files and their health.

A directory that fails goes offline alone: requests for its logs get KAFKA_STORAGE_ERROR, and the
other directories stay online. It stays offline until the broker restarts. Lack of space or
descriptors is transient: producers get KAFKA_STORAGE_ERROR, which they retry, and one line is
logged at the start and one at the end.
"""

import errno
import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.storage import file_names
from barnabas.storage.errors import (
    CorruptFileError,
    InconsistentMetaError,
    StorageError,
    TransientDiskError,
    is_transient,
    storage_error,
)
from barnabas.storage.filesystem import FileLock, FileSystem
from barnabas.storage.small_files import (
    MetaProperties,
    background_path,
    note_boot,
    read_meta_properties,
    read_offsets,
    same_boot,
    take_clean_marker,
    write_clean_marker,
    write_meta_properties,
    write_offsets,
)

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SMALL_FILE = 4096
# A full directory counts as healthy again with at least this much free space.
_ROOM = 1024 * 1024


# --- Health of one directory ----------------------------------------------------------------------


class DirHealth:
    """Whether a log directory is online, and why not.

    The failing call itself sets it, so that no append can follow a failed one (KAFKA-10778).

    A failed directory stays offline in this process: the kernel may have dropped acknowledged
    pages, and only the recovery of the next start reads what is really on the disk.
    """

    __slots__ = (
        "_listeners",
        "_rejected_bytes",
        "_rejected_writes",
        "cause",
        "directory",
        "disk_full",
        "failed",
        "failed_writes",
        "failing",
    )

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.failed = False
        self.cause: BaseException | None = None
        self.failing = 0
        """Gauge: 1 while writes fail with a transient error."""
        self.disk_full = 0
        """Gauge: 1 while writes fail because the volume or the quota is full."""
        self.failed_writes = 0
        """Counter: writes that failed with a transient error."""
        self._rejected_bytes = 0
        self._rejected_writes = 0
        self._listeners: list[Callable[[Path], None]] = []

    def on_failure(self, listener: Callable[[Path], None]) -> None:
        """Registers a listener; the failing call invokes it when the directory goes offline."""
        self._listeners.append(listener)

    def fail(self, cause: BaseException) -> None:
        if self.failed:
            return
        self.failed = True
        # Set before the listeners stop the replicas: no replica may write to the directory again.
        self.cause = cause
        _log.error("log directory %s is offline: %s", self.directory, cause)
        for listener in self._listeners:
            listener(self.directory)

    def write_failed(self, error: OSError, size: int = _SMALL_FILE) -> BrokerError:
        """Records a failed write of `size` bytes and returns the error to raise.

        A transient error leaves the directory online; any other error takes it offline. Not for
        fsync, which always takes it offline.
        """
        if is_transient(error):
            self._note_transient(error, size)
            return TransientDiskError(error)
        self.fail(error)
        return storage_error(error)

    def _note_transient(self, error: OSError, size: int) -> None:
        if not self.failing:
            self.failing = 1
            self._rejected_bytes = self._rejected_writes = 0
            _log.error(
                "log directory %s: writes fail: %s; producers get KAFKA_STORAGE_ERROR until "
                "they succeed again",
                self.directory,
                error,
            )
        self.failed_writes += 1
        self._rejected_writes += 1
        self._rejected_bytes = max(self._rejected_bytes, size)
        if error.errno in _FULL:
            self.disk_full = 1

    def write_succeeded(self, size: int) -> None:
        """Records a successful write after transient errors.

        A write smaller than the failed ones does not end the failure: on a full disk small
        batches may still fit, and each would cause two log lines.
        """
        if size >= self._rejected_bytes:
            self._recovered()

    def has_room(self, free_bytes: int) -> None:
        """Ends the failure of a full directory without writes; called periodically."""
        if self.disk_full and free_bytes >= max(2 * self._rejected_bytes, _ROOM):
            self._recovered()

    def _recovered(self) -> None:
        self.failing = self.disk_full = 0
        _log.warning(
            "log directory %s: writes succeed again, after %d failed writes",
            self.directory,
            self._rejected_writes,
        )

    def read_failed(self, error: OSError | CorruptRecordError | CorruptFileError) -> BrokerError:
        """Records a failed read, also of an invalid batch or index, and returns the error."""
        if isinstance(error, OSError):
            if not is_transient(error):
                self.fail(error)
            return storage_error(error)
        return BrokerError(ErrorCode.CORRUPT_MESSAGE, str(error))

    def check(self) -> None:
        """Raises KAFKA_STORAGE_ERROR if the directory has failed."""
        if self.failed:
            raise storage_error(f"log directory {self.directory} is offline: {self.cause}")


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
                    f"{self.path} belongs to {name} {theirs!r}, this broker has {ours!r}: another "
                    "broker or cluster has written it, choose another directory"
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
