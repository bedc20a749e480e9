"""Errors as each side expects them: append failures, and codes older clients do not know.

The coordinator speaks the newest codes; the handlers pass every error through `client_error` with
the version of the request at hand.
"""

from barnabas.model.error_codes import ErrorCode

_E = ErrorCode

_APPEND_ERRORS = {
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _E.COORDINATOR_NOT_AVAILABLE,
    _E.REQUEST_TIMED_OUT: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.MESSAGE_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.RECORD_LIST_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
}

_FENCED_SINCE = {"InitProducerId": 4, "AddPartitionsToTxn": 2, "AddOffsetsToTxn": 2, "EndTxn": 2}
"""The first version of each API whose clients know PRODUCER_FENCED (KIP-588)."""


def coordinator_error(error: ErrorCode) -> ErrorCode:
    """What a client is told when the append to the transaction log failed with `error`."""
    return _APPEND_ERRORS.get(error, error)


def client_error(api: str, version: int, error: ErrorCode) -> ErrorCode:
    """`error` for a client that sent `api` (Kafka's name) at `version`.

    >>> client_error("EndTxn", 1, ErrorCode.PRODUCER_FENCED).name
    'INVALID_PRODUCER_EPOCH'
    """
    if error is _E.PRODUCER_FENCED and version < _FENCED_SINCE.get(api, 0):
        return _E.INVALID_PRODUCER_EPOCH
    return error
