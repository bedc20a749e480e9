"""The file-system port of the storage package, its adapter for the operating system, and the limit
of open files.

Two small protocols, `File` and `FileSystem`, are the whole interface of logs, checkpoints and the
cleaner. `barnabas.testing.memory_fs` is the second implementation, which can truncate, lose and
reject writes. The port is synchronous: callers decide what runs on a thread. Errors are plain
`OSError`s, whose errno distinguishes a transient error from a failed disk (see `storage.errors`).

An active segment keeps its log file open, because it is written often. With one descriptor for
each partition, a broker would reach the limit of its process (RLIMIT_NOFILE) with some thousand
partitions, and clients could not connect any more. Beyond the limit of `OpenFiles`, the segment
that was not used for the longest time closes its file and opens it again when it is needed. The
order is that of the second-chance algorithm: a use of a file sets a flag and moves nothing, so an
append to an open segment costs no more than before.
"""

import errno
import fcntl
import os
import shutil
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple, Protocol

from barnabas.storage.errors import LogDirLockedError

Data = bytes | bytearray | memoryview

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class File(Protocol):
    """An open file, addressed by position.

    It is closed when its last reference is released, so an owner of a reference (a segment, a
    response that is being sent, an fsync on a thread) never sees a closed or reused descriptor.
    """

    def fileno(self) -> int:
        """Returns the descriptor for `sendfile`, or -1 if there is none."""
        ...

    def pread(self, size: int, position: int) -> bytes:
        """Returns up to `size` bytes; fewer only at the end of the file."""
        ...

    def pwrite(self, data: Data, position: int) -> None:
        """Writes all of `data`, or raises OSError; then a prefix of it may have been written."""
        ...

    def truncate(self, size: int) -> None: ...

    def size(self) -> int: ...

    def sync(self) -> None:
        """Returns when contents and size are on the medium."""
        ...


class FileLock(Protocol):
    """An exclusive lock, held until released or until the process ends."""

    def release(self) -> None: ...


class DiskUsage(NamedTuple):
    """Total and free space on the volume of a directory."""

    total_bytes: int
    free_bytes: int


class FileSystem(Protocol):
    """Names and directories. Names become durable only through `sync_dir` of their directory."""

    def open(self, path: Path, *, create: bool = False) -> File: ...

    def exists(self, path: Path) -> bool: ...

    def is_dir(self, path: Path) -> bool: ...

    def size(self, path: Path) -> int: ...

    def modified_ms(self, path: Path) -> int: ...

    def list_dir(self, path: Path) -> list[str]:
        """The names in a directory, sorted."""
        ...

    def make_dirs(self, path: Path) -> None: ...

    def rename(self, source: Path, target: Path) -> None:
        """Atomic; replaces a file at the target."""
        ...

    def remove(self, path: Path) -> None: ...

    def remove_dir(self, path: Path) -> None:
        """Removes an empty directory."""
        ...

    def sync_dir(self, path: Path) -> None: ...

    def lock(self, path: Path) -> FileLock:
        """Takes the lock or raises LogDirLockedError at once."""
        ...

    def boot_id(self) -> str:
        """Returns an id of the running operating system; empty where there is none.

        While it stays the same, writes of a process that was killed are not lost.
        """
        ...

    def usage(self, path: Path) -> DiskUsage: ...


class OsFile:
    """A `File` over a descriptor."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def pread(self, size: int, position: int) -> bytes:
        data = os.pread(self._fd, size, position)
        if len(data) == size or not data:
            return data
        return data + self.pread(size - len(data), position + len(data))

    def pwrite(self, data: Data, position: int) -> None:
        written = os.pwrite(self._fd, data, position)
        if written != len(data):
            self._write_rest(memoryview(data)[written:], position + written)

    def _write_rest(self, rest: memoryview, position: int) -> None:
        # A nearly full tmpfs writes what fits and reports the lack of space only on the next call.
        while rest:
            written = os.pwrite(self._fd, rest, position)
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            rest = rest[written:]
            position += written

    def truncate(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def sync(self) -> None:
        os.fdatasync(self._fd)

    def __del__(self) -> None:
        os.close(self._fd)


class OsFileLock:
    """Locks a directory for one broker.

    `flock` excludes our brokers, also those of this process; a POSIX record lock excludes Kafka's.
    """

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


PRIVATE_FILE, PRIVATE_DIRECTORY = 0o600, 0o700
"""Records and credentials are for the broker's user alone."""


class OsFileSystem:
    """The file system of the machine; only the owner can access created files and directories."""

    __slots__ = ()

    def open(self, path: Path, *, create: bool = False) -> OsFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        return OsFile(os.open(path, flags, PRIVATE_FILE))

    def exists(self, path: Path) -> bool:
        return path.exists()

    def is_dir(self, path: Path) -> bool:
        return path.is_dir()

    def size(self, path: Path) -> int:
        return path.stat().st_size

    def modified_ms(self, path: Path) -> int:
        return path.stat().st_mtime_ns // 1_000_000

    def list_dir(self, path: Path) -> list[str]:
        return sorted(entry.name for entry in path.iterdir())

    def make_dirs(self, path: Path) -> None:
        try:
            path.mkdir(PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None

    def rename(self, source: Path, target: Path) -> None:
        source.replace(target)

    def remove(self, path: Path) -> None:
        path.unlink()

    def remove_dir(self, path: Path) -> None:
        path.rmdir()

    def sync_dir(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def lock(self, path: Path) -> OsFileLock:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise LogDirLockedError(
                f"{path.parent} is in use by another broker: {path} is locked"
            ) from None
        except OSError:
            os.close(fd)
            raise
        return OsFileLock(fd)

    def boot_id(self) -> str:
        try:
            return _BOOT_ID.read_text().strip()
        except OSError:  # not Linux, or a container without /proc
            return ""

    def usage(self, path: Path) -> DiskUsage:
        total, _, free = shutil.disk_usage(path)
        return DiskUsage(total, free)


class OpenFile(Protocol):
    """A segment, as seen by `OpenFiles`."""

    used: bool
    """Whether the file was used since `OpenFiles` looked at it."""

    def release(self) -> None:
        """Drops the file and calls `OpenFiles.closed`."""
        ...


class OpenFiles:
    """Segments with an open file, in the order of opening; owned by the event loop."""

    __slots__ = ("_open", "limit")

    def __init__(self, limit: int) -> None:
        # Not a dict: finding its first key takes a step for each key deleted before.
        self._open: OrderedDict[OpenFile, None] = OrderedDict()
        self.limit = max(limit, 1)

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, segment: OpenFile) -> None:
        """Adds a segment; closes others if there are too many open files."""
        self._open[segment] = None
        while len(self._open) > self.limit:
            self._close_one(segment)

    def closed(self, segment: OpenFile) -> None:
        self._open.pop(segment, None)

    def _close_one(self, newest: OpenFile) -> None:
        """Closes the oldest file that was not used since the last search for such a file."""
        while True:
            oldest = next(iter(self._open))
            if oldest is newest or oldest.used:
                oldest.used = False
                self._open.move_to_end(oldest)
            else:
                oldest.release()
                return
