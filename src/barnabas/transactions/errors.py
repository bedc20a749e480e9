"""Error codes of transactional requests, as clients of each API version expect them.

The coordinator returns the newest codes. The handlers pass every error through `client_error` or
`verification_error` with the version of the request.

A produce request whose result is unknown must never get UNKNOWN_SERVER_ERROR (KAFKA-14034). A
producer treats that code as a definite failure and reuses the sequence numbers or bumps its epoch;
if the batch was written after all, the next one becomes a duplicate. Therefore `ack_status` of a
partition returns retriable codes only, and the dispatcher closes the connection when serving a
produce fails unexpectedly. In both cases the producer sends the same batch again, and the partition
recognizes it.
"""

from barnabas.model.error_codes import ErrorCode

_E = ErrorCode

_FENCED_SINCE = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""The first version of each API whose clients know PRODUCER_FENCED (KIP-588)."""

_COORDINATOR_UNAVAILABLE = frozenset(
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
"""The first versions of transaction version 2, in which the request itself adds its partitions."""


def client_error(api: str, version: int, error: ErrorCode) -> ErrorCode:
    """Returns `error` for a client that sent `api` (Kafka's name) at `version`.

    >>> client_error("EndTxn", 1, ErrorCode.PRODUCER_FENCED).name
    'INVALID_PRODUCER_EPOCH'
    """
    if error is _E.PRODUCER_FENCED and version < _FENCED_SINCE.get(api, 0):
        return _E.INVALID_PRODUCER_EPOCH
    return error


def verification_error(api: str, version: int, error: ErrorCode) -> ErrorCode:
    """Returns the coordinator's error for one partition, for Produce or TxnOffsetCommit clients."""
    if error is _E.PRODUCER_FENCED:
        return _E.INVALID_PRODUCER_EPOCH
    if error is _E.TRANSACTION_ABORTABLE and version < ABORTABLE_SINCE[api]:
        return _E.INVALID_TXN_STATE
    busy = error is _E.CONCURRENT_TRANSACTIONS and version < IMPLICIT_ADD_SINCE[api]
    if busy or error in _COORDINATOR_UNAVAILABLE:
        # A retriable error after which neither client looks for another leader or coordinator.
        return _E.NOT_ENOUGH_REPLICAS if api == "Produce" else _E.COORDINATOR_LOAD_IN_PROGRESS
    return error
