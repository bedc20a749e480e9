"""Planned faults of the in-memory file system: errors and crashes at chosen calls.

- `crash_after(n)`: the process crashes after `n` more modifying calls. If the last call is a write,
  a prefix of it may be stored. Every later call raises `SimulatedCrash` until `begin_life`.
- `fail(call, errno)`: the next calls of this kind raise OSError. `fail_after(n, errno)`: after `n`
  more modifying calls the next one raises OSError.

`calls` lists the modifying calls so far, so that a test can crash after each of them in turn.
"""

import os
from pathlib import Path

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
        """Make the next calls of this kind, on paths that contain `name`, raise OSError."""
        self._failures += [(call, error, name)] * times

    def fail_after(self, calls: int, error: int) -> None:
        """Make one call raise OSError after this many more modifying calls."""
        self._failing_call = (len(self.calls) + calls, error)

    def heal(self) -> None:
        """Cancel failures that have not happened yet."""
        self._failures.clear()
        self._failing_call = None

    def begin_life(self) -> None:
        """Start again, with or without a crash; file handles from before become invalid."""
        self._crashed = False
        self._calls_left = None
        self._failing_call = None
        self.life += 1
        self.calls.clear()

    def check_alive(self, life: int | None = None) -> None:
        """Raise SimulatedCrash after a crash, or for a file handle from before a restart."""
        if self._crashed or (life is not None and life != self.life):
            raise SimulatedCrash

    def enter(self, call: str, path: Path, life: int | None = None) -> None:
        """Count a call and raise the planned fault, if any. Every call must call this first."""
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
