"""What a producer is told when its transactional write could not be verified, or ended unclear.

The rule for every produce whose outcome is unknown: never UNKNOWN_SERVER_ERROR (KAFKA-14034). A
producer takes that for a definite failure, gives the next batch the sequence numbers of this one
or a new epoch, and what was written after all becomes a duplicate. A retriable error makes it send
the same batch again, which the partition recognizes.
"""

from barnabas.model.error_codes import ErrorCode

_E = ErrorCode

_COORDINATOR_AWAY = frozenset(
    {
        _E.NETWORK_EXCEPTION,
        _E.REQUEST_TIMED_OUT,
        _E.COORDINATOR_LOAD_IN_PROGRESS,
        _E.COORDINATOR_NOT_AVAILABLE,
        _E.NOT_COORDINATOR,
        _E.UNKNOWN_SERVER_ERROR,
    }
)

ABORTABLE_SINCE = {"Produce": 11, "TxnOffsetCommit": 4}
"""The first versions whose clients know TRANSACTION_ABORTABLE."""
IMPLICIT_ADD_SINCE = {"Produce": 12, "TxnOffsetCommit": 5}
"""The first versions sent under transaction version 2, which add their partitions themselves."""


def verification_error(api: str, version: int, error: ErrorCode) -> ErrorCode:
    """The coordinator's refusal of a partition, for the client of Produce or TxnOffsetCommit."""
    if error is _E.PRODUCER_FENCED:
        return _E.INVALID_PRODUCER_EPOCH
    if error is _E.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE[api]:
        return _E.INVALID_TXN_STATE
    busy = error is _E.CONCURRENT_TRANSACTIONS and version < IMPLICIT_ADD_SINCE[api]
    if busy or error in _COORDINATOR_AWAY:
        # A retriable error that sends neither client looking for another leader or coordinator.
        return _E.NOT_ENOUGH_REPLICAS if api == "Produce" else _E.COORDINATOR_LOAD_IN_PROGRESS
    return error


def unknown_outcome_error(error: ErrorCode) -> ErrorCode:
    """The answer to a produce that may or may not be in the log."""
    return error if error.retriable else _E.REQUEST_TIMED_OUT
