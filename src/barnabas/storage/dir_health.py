"""Whether a log directory still works: one sticky flag that every log in it shares."""

import logging
from collections.abc import Callable
from pathlib import Path

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.storage.errors import CorruptFileError, is_passing, storage_error

_log = logging.getLogger(__name__)


class DirHealth:
    """Set where the error happens, so no append can follow a failed one (KAFKA-10778).

    A failed directory never recovers in this process: the kernel may have dropped pages that were
    acknowledged, and only a restart's recovery looks at what is really on the medium.
    """

    __slots__ = ("_listeners", "cause", "directory", "failed")

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.failed = False
        self.cause: BaseException | None = None
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

    def judge(self, error: OSError) -> BrokerError:
        """What a failed call means: lack of space passes, anything else ends the directory.

        Not for fsync, whose failure ends it always.
        """
        if not is_passing(error):
            self.fail(error)
        return storage_error(error)

    def judge_read(self, error: OSError | CorruptRecordError | CorruptFileError) -> BrokerError:
        """The same for reads, which may also find what is no batch and no index."""
        if isinstance(error, OSError):
            return self.judge(error)
        return BrokerError(ErrorCode.CORRUPT_MESSAGE, str(error))

    def check(self) -> None:
        """Raise KAFKA_STORAGE_ERROR once the directory has failed."""
        if self.failed:
            raise storage_error(f"log directory {self.directory} is offline: {self.cause}")
