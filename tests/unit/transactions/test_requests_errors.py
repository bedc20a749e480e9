import pytest

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.requests import (
    client_error,
    verification_error,
)


@pytest.mark.parametrize(
    ("api", "since"),
    [("InitProducerId", 4), ("AddPartitionsToTxn", 2), ("AddOffsetsToTxn", 2), ("EndTxn", 2)],
)
def test_older_clients_do_not_know_producer_fenced(api: str, since: int) -> None:
    assert client_error(api, since - 1, E.PRODUCER_FENCED) is E.INVALID_PRODUCER_EPOCH
    assert client_error(api, since, E.PRODUCER_FENCED) is E.PRODUCER_FENCED


def test_other_errors_pass() -> None:
    assert client_error("EndTxn", 0, E.INVALID_TXN_STATE) is E.INVALID_TXN_STATE


@pytest.mark.parametrize(
    ("api", "version", "error", "expected"),
    [
        ("Produce", 11, E.TRANSACTION_ABORTABLE, E.TRANSACTION_ABORTABLE),
        ("Produce", 10, E.TRANSACTION_ABORTABLE, E.INVALID_TXN_STATE),
        ("TxnOffsetCommit", 4, E.TRANSACTION_ABORTABLE, E.TRANSACTION_ABORTABLE),
        ("TxnOffsetCommit", 3, E.TRANSACTION_ABORTABLE, E.INVALID_TXN_STATE),
        ("Produce", 12, E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH),
        ("Produce", 11, E.CONCURRENT_TRANSACTIONS, E.NOT_ENOUGH_REPLICAS),
        ("Produce", 12, E.CONCURRENT_TRANSACTIONS, E.CONCURRENT_TRANSACTIONS),
        ("Produce", 12, E.NOT_COORDINATOR, E.NOT_ENOUGH_REPLICAS),
        ("TxnOffsetCommit", 5, E.NOT_COORDINATOR, E.COORDINATOR_LOAD_IN_PROGRESS),
        ("Produce", 11, E.INVALID_PRODUCER_ID_MAPPING, E.INVALID_PRODUCER_ID_MAPPING),
        ("Produce", 11, E.NONE, E.NONE),
    ],
)
def test_old_clients_get_an_error_that_they_know(
    api: str, version: int, error: E, expected: E
) -> None:
    assert verification_error(api, version, error) is expected
