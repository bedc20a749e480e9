"""The exceptions, grouped by cause.

- `LocalError`: the caller made a mistake (an invalid option, a closed client, a wrong thread).
- `RemoteError`: the peer violated the protocol; the connection to it is closed.
- `UnavailableError`: the peer could not be reached or did not respond in time.
- `BrokerError`: the peer responded with one of Kafka's error codes.

The adapter of a third-party library translates that library's exceptions into these.
"""

from barnabas.model.error_codes import ErrorCode


class BarnabasError(Exception):
    """Base class of all errors that this package raises."""

    @property
    def retriable(self) -> bool:
        """Whether a retry of the same call may succeed."""
        return False


class LocalError(BarnabasError):
    """The call is invalid, or impossible in the current state of the object."""


class ConfigError(LocalError):
    """A configuration key or value is invalid; the message names it."""


class ClosedError(LocalError):
    """The object was used after it was closed."""


class WakeupError(BarnabasError):
    """A blocking call was interrupted by `wakeup()` or by a termination signal."""


class RemoteError(BarnabasError):
    """The peer sent data that the protocol does not allow."""


class ProtocolError(RemoteError):
    """Bytes that cannot be decoded: an invalid length, count, tag or text."""


class DecodingBudgetError(ProtocolError):
    """A message whose decoded objects would need far more memory than its size allows."""


class CorruptRecordError(RemoteError):
    """A record batch has a wrong checksum or an invalid structure."""


class UnavailableError(BarnabasError):
    """No response: the connection was refused, lost or timed out; the message has the cause."""

    @property
    def retriable(self) -> bool:
        return True


class DeadlineError(UnavailableError):
    """The operation did not end before the caller's deadline."""


class BrokerError(BarnabasError):
    """A broker responded with an error code.

    >>> BrokerError(ErrorCode.NOT_CONTROLLER).retriable
    True
    >>> str(BrokerError(ErrorCode.INVALID_REQUEST, "two partitions of one name"))
    'INVALID_REQUEST: two partitions of one name'
    """

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message or code.explanation

    @property
    def name(self) -> str:
        """Kafka's name of the error."""
        return self.code.name

    @property
    def retriable(self) -> bool:
        return self.code.retriable

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


def error_for(error_code: int, what: str) -> BrokerError | None:
    """Returns the error of one item of a response, with `what` in its message, or None."""
    if not error_code:
        return None
    code = ErrorCode.of(error_code)
    return BrokerError(code, f"{what}: {code.explanation}")


def raise_for(error_code: int, what: str) -> None:
    """Raises the error of one item of a response, if it has one."""
    error = error_for(error_code, what)
    if error is not None:
        raise error
