"""Reads errors from responses and defines which errors are transient."""

from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError

TRANSIENT = frozenset(
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
"""Error codes that admin calls retry. UNKNOWN_TOPIC_OR_PARTITION is not included: after a typing
error in a topic name the user needs the error at once."""


class UnknownBrokerError(LocalError):
    """The named broker is not in the cluster at present."""


def is_transient(error: BarnabasError) -> bool:
    """Returns whether a retry may succeed."""
    if isinstance(error, BrokerError):
        return error.code in TRANSIENT
    return isinstance(error, UnavailableError)


def error_of(item: Any) -> BrokerError | None:
    """Returns the error of one item of a response, or None."""
    if not item.error_code:
        return None
    message = getattr(item, "error_message", None)
    return BrokerError(ErrorCode.of(item.error_code), message or None)


def raise_error(response: Any) -> None:
    """Raise the top-level error of a response, if it has one."""
    if getattr(response, "error_code", 0):
        raise error_of(response) or AssertionError("unreachable")
