import pytest
from support.transactions.harness import P0, P1

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.markers import MarkerResult, MarkerTracker, marker_result
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.metadata import Transition
from barnabas.transactions.requests import TransactionConfig, TransactionGuards

FIRST = Transition(S.PREPARE_COMMIT, 10, 1, 1, 0, frozenset({P0, P1}), transaction_version=2)


def ledger(**guards: bool) -> MarkerTracker:
    return MarkerTracker(7, TransactionConfig(), TransactionGuards(**guards))


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (E.NONE, MarkerResult.WRITTEN),
        (E.INVALID_PRODUCER_EPOCH, MarkerResult.WRITTEN),
        (E.UNSUPPORTED_FOR_MESSAGE_FORMAT, MarkerResult.WRITTEN),
        (E.TRANSACTION_COORDINATOR_FENCED, MarkerResult.SUPERSEDED),
        (E.NOT_LEADER_OR_FOLLOWER, MarkerResult.RETRY),
        (E.REQUEST_TIMED_OUT, MarkerResult.RETRY),
        (E.CORRUPT_MESSAGE, MarkerResult.RETRY),
    ],
)
def test_the_error_decides_whether_the_marker_is_sent_again(error: E, result: MarkerResult) -> None:
    assert marker_result(error) is result


def test_one_request_per_partition_is_under_way() -> None:
    book = ledger()
    assert book.open("tx", FIRST, 0) is not None
    assert book.due(50_000) == []
    assert book.wake_at_ms == 60_000


def test_a_result_of_an_earlier_transaction_does_not_count() -> None:
    """Before version 2 both transactions have the same producer id and epoch."""
    book = ledger()
    old = book.open("tx", FIRST, 0)
    assert old is not None
    book.close("tx")
    new = book.open("tx", FIRST, 0)
    assert new is not None
    book.record(old, {P0: E.NONE, P1: E.NONE}, frozenset(), 0)
    assert book.take_finished(["tx"]) == []
    book.record(new, {P0: E.NONE, P1: E.NONE}, frozenset(), 0)
    assert book.take_finished(["tx"]) == ["tx"]


def test_without_the_guard_it_does() -> None:
    book = ledger(marker_results_bound_to_transaction=False)
    old = book.open("tx", FIRST, 0)
    assert old is not None
    book.close("tx")
    book.open("tx", FIRST, 0)
    book.record(old, {P0: E.NONE, P1: E.NONE}, frozenset(), 0)
    assert book.take_finished(["tx"]) == ["tx"]


def test_results_of_another_coordinator_do_not_count() -> None:
    other = MarkerTracker(6, TransactionConfig(), TransactionGuards()).open("tx", FIRST, 0)
    assert other is not None
    book = ledger()
    book.open("tx", FIRST, 0)
    book.record(other, {P0: E.NONE, P1: E.NONE}, frozenset(), 0)
    assert book.take_finished(["tx"]) == []


def test_a_late_success_counts_and_a_late_failure_does_not() -> None:
    book = ledger()
    first = book.open("tx", FIRST, 0)
    assert first is not None
    (second,) = book.due(60_000)
    book.record(first, {P0: E.REQUEST_TIMED_OUT}, frozenset(), 60_001)
    assert book.due(61_000) == []
    book.record(first, {P0: E.NONE}, frozenset(), 60_002)
    book.record(second, {P1: E.NONE}, frozenset(), 60_003)
    assert book.take_finished(["tx"]) == ["tx"]


def test_results_for_nothing_known_are_ignored() -> None:
    book = ledger()
    send = book.open("tx", FIRST, 0)
    assert send is not None
    book.close("tx")
    book.record(send, {P0: E.NONE}, frozenset(), 0)
    book.retry_completion("tx", 0)
    assert len(book) == 0
    assert book.due(100_000) == []
    assert book.wake_at_ms is None
    assert book.take_finished(["tx"]) == []
