"""An in-memory file system with faults; implements the same port as `OsFileSystem`.

Files and directories have two states: the one a running process sees and the durable one. `sync`
makes the contents of a file durable, `sync_dir` the names in a directory; everything else is
volatile, as POSIX allows.

- `restart()` simulates a killed process: all written data is kept. `restart(power_loss=random)`
  simulates a power loss: a random part of the unsynced pages and a random number of the first
  unsynced name changes survive.
- `capacity_bytes`: a write beyond the capacity is cut short and raises ENOSPC.

Every call can fail or crash as planned:

- `crash_after(n)`: the process crashes after `n` more modifying calls. If the last call is a write,
  a prefix of it may be stored. Every later call raises `SimulatedCrash` until `begin_life`.
- `fail(call, errno)`: the next calls of this kind raise OSError. `fail_after(n, errno)`: after `n`
  more modifying calls the next one raises OSError.

`calls` lists the modifying calls so far, so that a test can crash after each of them in turn.
"""

import copy
import errno
import os
from collections.abc import Callable
from pathlib import Path, PurePath
from random import Random

from barnabas.storage.errors import LogDirLockedError
from barnabas.storage.filesystem import Data, DiskUsage

_READING = ("pread", "size")


class SimulatedCrash(BaseException):
    """The process crashed. Not an Exception, so that the code under test cannot handle it."""


class FailingCalls:
    """Counts calls since the last restart and raises planned faults. Not thread-safe."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.life = 0
        self._crashed = False
        self._calls_left: int | None = None
        self._torn = 0.0
        self._failures: list[tuple[str, int, str]] = []
        self._failing_call: tuple[int, int] | None = None

    def crash_after(self, calls: int, *, torn: float = 0.0) -> None:
        """Crash after `calls` more modifying calls; stores a share `torn` of the last write."""
        self._calls_left = calls
        self._torn = torn

    def fail(self, call: str, error: int, *, times: int = 1, name: str = "") -> None:
        """Makes the next calls of this kind, on paths that contain `name`, raise OSError."""
        self._failures += [(call, error, name)] * times

    def fail_after(self, calls: int, error: int) -> None:
        """Makes one call raise OSError after this many more modifying calls."""
        self._failing_call = (len(self.calls) + calls, error)

    def heal(self) -> None:
        """Cancels failures that have not happened yet."""
        self._failures.clear()
        self._failing_call = None

    def begin_life(self) -> None:
        """Starts again, with or without a crash; file handles from before become invalid."""
        self._crashed = False
        self._calls_left = None
        self._failing_call = None
        self.life += 1
        self.calls.clear()

    def check_alive(self, life: int | None = None) -> None:
        """Raises SimulatedCrash after a crash, or for a file handle from before a restart."""
        if self._crashed or (life is not None and life != self.life):
            raise SimulatedCrash

    def enter(self, call: str, path: Path, life: int | None = None) -> None:
        """Counts a call and raises the planned fault, if any. Every call must call this first."""
        self.check_alive(life)
        for failure in self._failures:
            if failure[0] == call and failure[2] in str(path):
                self._failures.remove(failure)
                raise OSError(failure[1], os.strerror(failure[1]), str(path))
        if call in _READING:
            return
        if self._calls_left is not None:
            if self._calls_left == 0:
                self._crashed = True
                raise SimulatedCrash
            self._calls_left -= 1
        if self._failing_call is not None and self._failing_call[0] <= len(self.calls):
            error, self._failing_call = self._failing_call[1], None
            raise OSError(error, os.strerror(error), str(path))
        self.calls.append((call, path.name))

    def torn_size(self, size: int) -> int:
        """Returns how many bytes of the interrupted write are stored."""
        return int(size * self._torn)


# --- Files and directories ------------------------------------------------------------------------


class Inode:
    """The visible and the durable contents of a file."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.durable = b""
        self.dirty: set[int] = set()

    def sync(self) -> None:
        self.durable = bytes(self.data)
        self.dirty.clear()

    def lose_power(self, rng: Random, page: int) -> None:
        """Keeps a random part of the unsynced contents."""
        if self.dirty or len(self.data) != len(self.durable):
            sizes = sorted((len(self.durable), len(self.data)))
            size = rng.choice([*sizes, rng.randint(*sizes)])
            kept = bytearray(self.durable[:size].ljust(size, b"\0"))
            for number in self.dirty:
                start, end = number * page, min((number + 1) * page, size, len(self.data))
                if start < end and rng.random() < 0.5:
                    kept[start:end] = self.data[start:end]
            self.data = kept
        self.sync()


class Directory:
    """The visible and the durable names of a directory, and the unsynced changes in order."""

    def __init__(self) -> None:
        self.entries: dict[str, Inode | Directory] = {}
        self.durable: dict[str, Inode | Directory] = {}
        self.pending: list[dict[str, Inode | Directory | None]] = []

    def change(self, changes: "dict[str, Inode | Directory | None]") -> None:
        """Applies name changes atomically; they become durable with the next sync."""
        _apply(self.entries, changes)
        self.pending.append(changes)

    def sync(self) -> None:
        self.durable = dict(self.entries)
        self.pending.clear()

    def lose_power(self, rng: Random, page: int) -> None:
        self.entries = dict(self.durable)
        for changes in self.pending[: rng.randint(0, len(self.pending))]:
            _apply(self.entries, changes)
        self.sync()
        for node in self.entries.values():
            node.lose_power(rng, page)


def _apply(
    entries: "dict[str, Inode | Directory]", changes: "dict[str, Inode | Directory | None]"
) -> None:
    for name, node in changes.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


# --- File system ----------------------------------------------------------------------------------


__all__ = ["MemoryFile", "MemoryFileSystem", "MemoryLock", "SimulatedCrash"]

_ROOM = 2**40


class MemoryFile:
    """A `File` of the file system; it becomes invalid at a restart."""

    __slots__ = ("_fs", "_inode", "_life", "_path")

    def __init__(self, fs: "MemoryFileSystem", path: Path, inode: Inode) -> None:
        self._fs = fs
        self._path = path
        self._inode = inode
        self._life = fs.life

    def fileno(self) -> int:
        return -1

    def pread(self, size: int, position: int) -> bytes:
        self._fs.enter("pread", self._path, self._life)
        return bytes(self._inode.data[position : position + size])

    def pwrite(self, data: Data, position: int) -> None:
        written = bytes(data)
        try:
            self._fs.enter("pwrite", self._path, self._life)
        except SimulatedCrash:
            self._put(written[: self._fs.torn_size(len(written))], position)
            raise
        excess = self._fs.excess_of(position + len(written) - len(self._inode.data))
        self._put(written[: len(written) - excess], position)
        if excess:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def truncate(self, size: int) -> None:
        self._fs.enter("truncate", self._path, self._life)
        data = self._inode.data
        self._touch(min(size, len(data)), max(size, len(data)))
        del data[size:]
        data.extend(bytes(size - len(data)))

    def size(self) -> int:
        self._fs.enter("size", self._path, self._life)
        return len(self._inode.data)

    def sync(self) -> None:
        self._fs.enter("sync", self._path, self._life)
        self._inode.sync()

    def _put(self, data: bytes, position: int) -> None:
        if not data:
            return
        contents = self._inode.data
        if position > len(contents):
            contents.extend(bytes(position - len(contents)))
        contents[position : position + len(data)] = data
        self._touch(position, position + len(data))

    def _touch(self, start: int, end: int) -> None:
        page = self._fs.page_size
        self._inode.dirty.update(range(start // page, -(-end // page)))


class MemoryLock:
    """A `FileLock`; a restart releases it."""

    __slots__ = ("_fs", "_path")

    def __init__(self, fs: "MemoryFileSystem", path: Path) -> None:
        self._fs = fs
        self._path = path

    def release(self) -> None:
        self._fs.locked.discard(self._path)


class MemoryFileSystem(FailingCalls):
    """A `FileSystem` with faults, described in the module docstring. Not thread-safe."""

    def __init__(self, *, page_size: int = 4096, now_ms: Callable[[], int] | None = None) -> None:
        super().__init__()
        self.page_size = page_size
        self.capacity_bytes = _ROOM
        self.locked: set[Path] = set()
        self._root = Directory()
        self._now_ms = now_ms
        self._boot_count = 1

    # Restarts

    def restart(self, *, power_loss: Random | None = None) -> None:
        """Releases locks and invalidates open files; a power loss also loses unsynced data."""
        self.begin_life()
        self.locked.clear()
        if power_loss is not None:
            self._boot_count += 1
            self._root.lose_power(power_loss, self.page_size)

    def clone(self) -> "MemoryFileSystem":
        """Returns an independent copy, to test another fault from the same state."""
        return copy.deepcopy(self)

    def sync_all(self) -> None:
        """Makes the present state durable."""
        stack: list[Inode | Directory] = [self._root]
        while stack:
            node = stack.pop()
            node.sync()
            if isinstance(node, Directory):
                stack += node.entries.values()

    def excess_of(self, growth: int) -> int:
        """Returns how many of `growth` more bytes exceed the capacity."""
        if self.capacity_bytes == _ROOM or growth <= 0:
            return 0
        return max(0, min(growth, self.used_bytes() + growth - self.capacity_bytes))

    def used_bytes(self) -> int:
        total = 0
        stack = [self._root]
        while stack:
            for node in stack.pop().entries.values():
                if isinstance(node, Directory):
                    stack.append(node)
                else:
                    total += len(node.data)
        return total

    # FileSystem

    def open(self, path: Path, *, create: bool = False) -> MemoryFile:
        node = self._find(path)
        if node is None and create:
            self.enter("create", path)
            node = Inode()
            self._parent(path).change({path.name: node})
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if isinstance(node, Directory):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        return MemoryFile(self, path, node)

    def exists(self, path: Path) -> bool:
        return self._find(path) is not None

    def is_dir(self, path: Path) -> bool:
        return isinstance(self._find(path), Directory)

    def size(self, path: Path) -> int:
        return self.open(path).size()

    def modified_ms(self, path: Path) -> int:
        self.open(path)
        return self._now_ms() if self._now_ms is not None else 0

    def list_dir(self, path: Path) -> list[str]:
        return sorted(self._dir(path).entries)

    def make_dirs(self, path: Path) -> None:
        for directory in [*reversed(path.parents), path]:
            if not _names(directory) or self.is_dir(directory):
                continue
            if self.exists(directory):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))
            self.enter("make_dir", directory)
            self._parent(directory).change({directory.name: Directory()})

    def rename(self, source: Path, target: Path) -> None:
        self.enter("rename", target)
        node = self._find(source)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(source))
        if self._parent(source) is not self._parent(target):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(target))
        self._parent(source).change({source.name: None, target.name: node})

    def remove(self, path: Path) -> None:
        self.enter("remove", path)
        self.open(path)
        self._parent(path).change({path.name: None})

    def remove_dir(self, path: Path) -> None:
        self.enter("remove_dir", path)
        if self._dir(path).entries:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))
        self._parent(path).change({path.name: None})

    def sync_dir(self, path: Path) -> None:
        self.enter("sync_dir", path)
        self._dir(path).sync()

    def lock(self, path: Path) -> MemoryLock:
        self.open(path, create=True)
        if path in self.locked:
            raise LogDirLockedError(f"{path.parent} is in use by another broker: {path} is locked")
        self.locked.add(path)
        return MemoryLock(self, path)

    def boot_id(self) -> str:
        return f"boot {self._boot_count}"

    def usage(self, path: Path) -> DiskUsage:
        self._dir(path)
        return DiskUsage(self.capacity_bytes, self.capacity_bytes - self.used_bytes())

    def _find(self, path: Path) -> Inode | Directory | None:
        self.check_alive()
        node: Inode | Directory | None = self._root
        for name in _names(path):
            node = node.entries.get(name) if isinstance(node, Directory) else None
        return node

    def _dir(self, path: Path) -> Directory:
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if not isinstance(node, Directory):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        return node

    def _parent(self, path: Path) -> Directory:
        return self._dir(path.parent)


def _names(path: PurePath) -> tuple[str, ...]:
    return path.parts[1:] if path.anchor else path.parts
