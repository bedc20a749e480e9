"""Calls that fail or die when it is their turn: the faults of the file system in memory.

- `crash_after(n)`: after `n` more changing calls the process is dead; the call it dies in, if it is
  a write, may leave a prefix. Every later call raises `SimulatedCrash` until `begin_life`.
- `fail(call, errno)`: the next such calls raise OSError. `fail_after(n, errno)`: after `n` more
  changing calls one raises OSError, whichever it is.

`calls` lists the changing calls made so far, so that a test can crash after each of them in turn.
"""

import os
from pathlib import Path

_READING = ("pread", "size")


class SimulatedCrash(BaseException):
    """The process is dead. Not an Exception: nothing in the code under test may handle it."""


class FailingCalls:
    """Counts the calls of one life, and lets them fail as planned. For one thread at a time."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.life = 0
        self._crashed = False
        self._calls_left: int | None = None
        self._torn = 0.0
        self._failures: list[tuple[str, int, str]] = []
        self._failing_call: tuple[int, int] | None = None

    def crash_after(self, calls: int, *, torn: float = 0.0) -> None:
        """Die after this many more changing calls, having done a share of the write cut off."""
        self._calls_left = calls
        self._torn = torn

    def fail(self, call: str, error: int, *, times: int = 1, name: str = "") -> None:
        """Make the next calls of this kind, on paths that contain `name`, raise OSError."""
        self._failures += [(call, error, name)] * times

    def fail_after(self, calls: int, error: int) -> None:
        """Make one call raise OSError after this many more changing calls."""
        self._failing_call = (len(self.calls) + calls, error)

    def heal(self) -> None:
        """Forget failures that have not happened yet."""
        self._failures.clear()
        self._failing_call = None

    def begin_life(self) -> None:
        """After a crash, or without one: handles of earlier lives are dead."""
        self._crashed = False
        self._calls_left = None
        self._failing_call = None
        self.life += 1
        self.calls.clear()

    def check_alive(self, life: int | None = None) -> None:
        """SimulatedCrash when the process is dead, or the caller of an earlier life."""
        if self._crashed or (life is not None and life != self.life):
            raise SimulatedCrash

    def enter(self, call: str, path: Path, life: int | None = None) -> None:
        """Every call passes here: counts it, and fails or dies if that is due."""
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
        """How much of the write that the process died in reaches the file."""
        return int(size * self._torn)
