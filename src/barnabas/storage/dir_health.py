"""Whether a log directory still works: shared by every log in it.

`failed` is sticky. Lack of space, or of descriptors, passes: producers get KAFKA_STORAGE_ERROR,
which they retry, and this module logs one line when it begins and one when it ends.
"""

import errno
import logging
from collections.abc import Callable
from pathlib import Path

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.storage.errors import (
    CorruptFileError,
    TransientDiskError,
    is_transient,
    storage_error,
)

_log = logging.getLogger(__name__)

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SMALL_FILE = 4096
_ROOM = 1024 * 1024


class DirHealth:
    """Set where the error happens, so no append can follow a failed one (KAFKA-10778).

    A failed directory never recovers in this process: the kernel may have dropped pages that were
    acknowledged, and only a restart's recovery looks at what is really on the medium.
    """

    __slots__ = (
        "_listeners",
        "_refused_bytes",
        "_refused_writes",
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
        """Gauge: 1 while writes fail for a reason that may pass."""
        self.disk_full = 0
        """Gauge: 1 while writes fail because the volume or the quota is full."""
        self.failed_writes = 0
        """Counter: writes that failed for a reason that may pass."""
        self._refused_bytes = 0
        self._refused_writes = 0
        self._listeners: list[Callable[[Path], None]] = []

    def on_failure(self, listener: Callable[[Path], None]) -> None:
        """Call back once, from the failing call, when the directory goes offline."""
        self._listeners.append(listener)

    def fail(self, cause: BaseException) -> None:
        if self.failed:
            return
        self.failed = True
        self.cause = cause
        _log.error("log directory %s is offline: %s", self.directory, cause)
        for listener in self._listeners:
            listener(self.directory)

    def write_failed(self, error: OSError, size: int = _SMALL_FILE) -> BrokerError:
        """What a failed write of `size` bytes means.

        Lack of space passes, anything else ends the directory. Not for fsync, whose failure ends
        it always.
        """
        if is_transient(error):
            self._note_transient(error, size)
            return TransientDiskError(error)
        self.fail(error)
        return storage_error(error)

    def _note_transient(self, error: OSError, size: int) -> None:
        if not self.failing:
            self.failing = 1
            self._refused_bytes = self._refused_writes = 0
            _log.error(
                "log directory %s: writes fail: %s; producers get KAFKA_STORAGE_ERROR until "
                "they succeed again",
                self.directory,
                error,
            )
        self.failed_writes += 1
        self._refused_writes += 1
        self._refused_bytes = max(self._refused_bytes, size)
        if error.errno in _FULL:
            self.disk_full = 1

    def write_succeeded(self, size: int) -> None:
        """A write succeeded while others fail.

        A smaller one than those that were refused proves nothing: on a full disk small batches
        may fit for long, and the log would get two lines for each.
        """
        if size >= self._refused_bytes:
            self._recovered()

    def has_room(self, free_bytes: int) -> None:
        """Told now and then while the disk is full, for a directory that nobody writes to."""
        if self.disk_full and free_bytes >= max(2 * self._refused_bytes, _ROOM):
            self._recovered()

    def _recovered(self) -> None:
        self.failing = self.disk_full = 0
        _log.warning(
            "log directory %s: writes succeed again, after %d failed writes",
            self.directory,
            self._refused_writes,
        )

    def read_failed(self, error: OSError | CorruptRecordError | CorruptFileError) -> BrokerError:
        """The same for reads, which may also find what is no batch and no index."""
        if isinstance(error, OSError):
            if not is_transient(error):
                self.fail(error)
            return storage_error(error)
        return BrokerError(ErrorCode.CORRUPT_MESSAGE, str(error))

    def check(self) -> None:
        """Raise KAFKA_STORAGE_ERROR once the directory has failed."""
        if self.failed:
            raise storage_error(f"log directory {self.directory} is offline: {self.cause}")
