"""Errors in answers: taking them out, and which of them are worth another try."""

from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError

PASSING = frozenset(
    {
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
)
"""Errors worth another try. UNKNOWN_TOPIC_OR_PARTITION is not one of them: a person who mistypes
a topic wants to hear it now."""


class UnknownBrokerError(LocalError):
    """A broker was named that is not in the cluster now."""


def passes(error: BarnabasError) -> bool:
    """Whether the cause may be gone at the next try."""
    if isinstance(error, BrokerError):
        return error.code in PASSING
    return isinstance(error, UnavailableError)


def error_of(item: Any) -> BrokerError | None:
    """The error an answer's item carries, or None."""
    if not item.error_code:
        return None
    message = getattr(item, "error_message", None)
    return BrokerError(ErrorCode.of(item.error_code), message or None)


def raise_error(response: Any) -> None:
    """Raise a response's top-level error, if it has one."""
    if getattr(response, "error_code", 0):
        raise error_of(response) or AssertionError("unreachable")
