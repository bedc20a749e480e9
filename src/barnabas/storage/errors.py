"""What can go wrong with a log directory, and which operating-system errors mean a dead disk.

Requests see `BrokerError(KAFKA_STORAGE_ERROR)`; the classes here are for whoever starts a broker.
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
    """A checkpoint, snapshot or properties file cannot be read as what it claims to be."""


class TransientDiskError(BrokerError):
    """KAFKA_STORAGE_ERROR of a sound disk without room or descriptors: a retry may succeed.

    `DirHealth` has logged it.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, str(cause))


def is_transient(error: OSError) -> bool:
    """Whether the medium is sound and the call may succeed later: no space, no descriptors.

    A failed fsync is never passing, whatever its errno: the kernel may have dropped the pages it
    could not write, so a later fsync that succeeds proves nothing. Callers of fsync do not ask.
    """
    return error.errno in _TRANSIENT


def storage_error(cause: object) -> BrokerError:
    """The error that a request touching a failed disk gets."""
    return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, str(cause))
