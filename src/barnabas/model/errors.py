"""The exceptions, in three trees by who erred.

- `LocalError`: our caller misused us (a bad option, a closed client, a wrong thread).
- `RemoteError`: the peer broke the protocol; the connection to it cannot go on.
- `BrokerError`: the peer answered with one of Kafka's error codes.

Third-party exceptions are translated into these once, at the port that talks to the library.
"""

from barnabas.model.error_codes import ErrorCode


class BarnabasError(Exception):
    """Root of all errors this package raises on purpose."""

    @property
    def retriable(self) -> bool:
        """Whether trying again, unchanged, may succeed."""
        return False


class LocalError(BarnabasError):
    """The caller asked for something that cannot be done as asked."""


class ConfigError(LocalError):
    """A configuration key or value is wrong; the message names it."""


class ClosedError(LocalError):
    """The object was used after it was closed."""


class WakeupError(BarnabasError):
    """A blocking call was ended: by `wakeup()`, or because the program was asked to end."""


class RemoteError(BarnabasError):
    """The peer sent what the protocol does not allow."""


class ProtocolError(RemoteError):
    """Bytes that cannot be what they claim: a length, count, tag or text that does not fit."""


class DecodingBudgetError(ProtocolError):
    """A message whose objects would take far more memory than its bytes justify."""


class CorruptRecordError(RemoteError):
    """A record batch whose checksum or structure is wrong."""


class UnavailableError(BarnabasError):
    """Nobody answered: connection refused, lost, or timed out; the message names the cause."""

    @property
    def retriable(self) -> bool:
        return True


class DeadlineError(UnavailableError):
    """The time the caller allowed has passed."""


class BrokerError(BarnabasError):
    """An error code from a broker.

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
