"""Errors of log directories, and the operating system errors that are transient.

Requests get `BrokerError(KAFKA_STORAGE_ERROR)`; the other classes are raised while a broker starts.
"""

import errno

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError

_TRANSIENT = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EINTR,
        errno.EAGAIN,
    }
)


class StorageError(BarnabasError):
    """A log directory cannot be used as it is."""


class LogDirLockedError(StorageError):
    """Another process, or another broker of this process, holds the directory's lock."""


class InconsistentMetaError(StorageError):
    """`meta.properties` names another broker or another cluster."""


class CorruptFileError(StorageError):
    """A checkpoint, snapshot or properties file has invalid contents."""


class TransientDiskError(BrokerError):
    """KAFKA_STORAGE_ERROR for lack of space or descriptors: a retry may succeed.

    `DirHealth` logs the cause.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, str(cause))


def is_transient(error: OSError) -> bool:
    """Whether a later attempt may succeed: no space, no descriptors, no memory.

    Do not call this for a failed fsync, which is never transient: the kernel may have dropped the
    pages that it could not write, so a later successful fsync proves nothing.
    """
    return error.errno in _TRANSIENT


def storage_error(cause: object) -> BrokerError:
    """Returns the error for a request that uses a failed disk."""
    return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, str(cause))
