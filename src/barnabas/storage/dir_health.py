"""State of a log directory, shared by all logs in it.

`failed` stays set until the broker restarts. Lack of space or descriptors is transient: producers
get KAFKA_STORAGE_ERROR, which they retry, and one line is logged at the start and one at the end.
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
# A full directory counts as healthy again with at least this much free space.
_ROOM = 1024 * 1024


class DirHealth:
    """Set by the failing call itself, so that no append can follow a failed one (KAFKA-10778).

    A failed directory stays offline in this process: the kernel may have dropped acknowledged
    pages, and only the recovery of the next start reads what is really on the disk.
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
        """Gauge: 1 while writes fail with a transient error."""
        self.disk_full = 0
        """Gauge: 1 while writes fail because the volume or the quota is full."""
        self.failed_writes = 0
        """Counter: writes that failed with a transient error."""
        self._refused_bytes = 0
        self._refused_writes = 0
        self._listeners: list[Callable[[Path], None]] = []

    def on_failure(self, listener: Callable[[Path], None]) -> None:
        """Registers a listener; the failing call invokes it when the directory goes offline."""
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
        """Records a successful write after transient errors.

        A write smaller than the failed ones does not end the failure: on a full disk small
        batches may still fit, and each would cause two log lines.
        """
        if size >= self._refused_bytes:
            self._recovered()

    def has_room(self, free_bytes: int) -> None:
        """Ends the failure of a full directory without writes; called periodically."""
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
