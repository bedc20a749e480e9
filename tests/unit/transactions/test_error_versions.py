import pytest

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.error_versions import client_error


@pytest.mark.parametrize(
    ("api", "since"),
    [("InitProducerId", 4), ("AddPartitionsToTxn", 2), ("AddOffsetsToTxn", 2), ("EndTxn", 2)],
)
def test_older_clients_do_not_know_producer_fenced(api: str, since: int) -> None:
    assert client_error(api, since - 1, E.PRODUCER_FENCED) is E.INVALID_PRODUCER_EPOCH
    assert client_error(api, since, E.PRODUCER_FENCED) is E.PRODUCER_FENCED


def test_other_errors_pass() -> None:
    assert client_error("EndTxn", 0, E.INVALID_TXN_STATE) is E.INVALID_TXN_STATE
