"""EndTxn: the table of the module, row by row, for both generations of clients."""

from dataclasses import replace

import pytest
from support.transactions.harness import P0

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.decisions import (
    Change,
    Decision,
    NeedProducerId,
    Reject,
    Unchanged,
    decide_end,
)
from barnabas.transactions.metadata import MAX_EPOCH, TransactionMetadata, Transition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.requests import EndTxn, TransactionGuards

BASE = Transition(S.EMPTY, 10, 5, 1000, 100)
COMMIT, ABORT = True, False
OK = Unchanged()
BUSY = Reject(E.CONCURRENT_TRANSACTIONS)
WRONG = Reject(E.INVALID_TXN_STATE)
FENCED = Reject(E.PRODUCER_FENCED)


def at(state: S, stored_version: int = 0) -> Transition:
    partitions = frozenset({P0}) if state in (S.ONGOING, *_PREPARED) else frozenset()
    return replace(BASE, state=state, partitions=partitions, transaction_version=stored_version)


_PREPARED = (S.PREPARE_COMMIT, S.PREPARE_ABORT)


def end(
    current: Transition,
    commit: bool,
    *,
    version: int,
    producer: tuple[int, int] = (10, 5),
    new_id: int | None = None,
    guards: TransactionGuards | None = None,
) -> Decision:
    metadata = TransactionMetadata("tx", current, persisted=True)
    request = EndTxn("tx", *producer, commit, version)
    return decide_end(metadata, request, new_id, guards or TransactionGuards(), 500)


@pytest.mark.parametrize(
    ("state", "commit", "expected"),
    [
        (S.EMPTY, COMMIT, WRONG),
        (S.EMPTY, ABORT, WRONG),
        (S.PREPARE_COMMIT, COMMIT, BUSY),
        (S.PREPARE_COMMIT, ABORT, WRONG),
        (S.PREPARE_ABORT, COMMIT, WRONG),
        (S.PREPARE_ABORT, ABORT, BUSY),
        (S.COMPLETE_COMMIT, COMMIT, OK),
        (S.COMPLETE_COMMIT, ABORT, WRONG),
        (S.COMPLETE_ABORT, COMMIT, WRONG),
        (S.COMPLETE_ABORT, ABORT, OK),
    ],
)
def test_before_version_two(state: S, commit: bool, expected: Decision) -> None:
    assert end(at(state), commit, version=0) == expected


@pytest.mark.parametrize(
    ("state", "commit", "expected"),
    [
        (S.PREPARE_COMMIT, COMMIT, BUSY),
        (S.PREPARE_COMMIT, ABORT, WRONG),
        (S.PREPARE_ABORT, COMMIT, WRONG),
        (S.PREPARE_ABORT, ABORT, BUSY),
        (S.COMPLETE_COMMIT, COMMIT, OK),
        (S.COMPLETE_COMMIT, ABORT, WRONG),
        (S.COMPLETE_ABORT, COMMIT, WRONG),
        (S.COMPLETE_ABORT, ABORT, OK),
        (S.EMPTY, COMMIT, FENCED),
        (S.ONGOING, COMMIT, FENCED),
        (S.ONGOING, ABORT, FENCED),
    ],
)
def test_version_two_with_the_epoch_before(state: S, commit: bool, expected: Decision) -> None:
    assert end(at(state, 2), commit, version=2, producer=(10, 4)) == expected


@pytest.mark.parametrize("state", [S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
def test_version_two_may_abort_nothing(state: S) -> None:
    decision = end(at(state, 2), ABORT, version=2)
    assert isinstance(decision, Change)
    to = decision.to
    assert (to.state, to.producer_epoch, to.partitions) == (S.PREPARE_ABORT, 6, frozenset())


@pytest.mark.parametrize("state", [S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
def test_version_two_cannot_commit_nothing(state: S) -> None:
    assert end(at(state, 2), COMMIT, version=2) == WRONG


@pytest.mark.parametrize("state", _PREPARED)
@pytest.mark.parametrize("commit", [COMMIT, ABORT])
def test_version_two_the_next_transaction_waits(state: S, commit: bool) -> None:
    assert end(at(state, 2), commit, version=2) == BUSY


@pytest.mark.parametrize(
    ("commit", "state"), [(COMMIT, S.PREPARE_COMMIT), (ABORT, S.PREPARE_ABORT)]
)
@pytest.mark.parametrize(("version", "epoch"), [(0, 5), (2, 6)])
def test_an_open_transaction_is_decided(commit: bool, state: S, version: int, epoch: int) -> None:
    decision = end(at(S.ONGOING), commit, version=version)
    assert isinstance(decision, Change)
    assert (decision.to.state, decision.to.producer_epoch) == (state, epoch)
    assert decision.to.partitions == {P0}


@pytest.mark.parametrize("state", [S.EMPTY, S.ONGOING, *_PREPARED, S.COMPLETE_COMMIT])
@pytest.mark.parametrize(
    ("producer", "expected"),
    [
        ((11, 5), Reject(E.INVALID_PRODUCER_ID_MAPPING)),
        ((10, 4), FENCED),
        ((10, 6), FENCED),
    ],
)
def test_another_producer_cannot_end_the_transaction(
    state: S, producer: tuple[int, int], expected: Decision
) -> None:
    assert end(at(state), COMMIT, version=0, producer=producer) == expected


def test_the_guard_against_late_requests_can_be_seen() -> None:
    off = TransactionGuards(end_txn_bound_to_epoch=False)
    decision = end(at(S.ONGOING, 2), COMMIT, version=2, producer=(10, 4), guards=off)
    assert isinstance(decision, Change)


class TestExhaustedEpochs:
    LAST = replace(at(S.ONGOING, 2), producer_epoch=MAX_EPOCH - 1)

    def test_version_two_needs_a_new_producer_id(self) -> None:
        assert end(self.LAST, COMMIT, version=2, producer=(10, 32766)) == NeedProducerId()

    def test_before_version_two_the_epoch_stays(self) -> None:
        decision = end(self.LAST, COMMIT, version=0, producer=(10, 32766))
        assert isinstance(decision, Change)
        assert decision.to.producer_epoch == 32766

    def test_it_is_noted_until_completion(self) -> None:
        decision = end(self.LAST, COMMIT, version=2, producer=(10, 32766), new_id=77)
        assert isinstance(decision, Change)
        to = decision.to
        assert (to.producer_id, to.producer_epoch, to.next_producer_id) == (10, MAX_EPOCH, 77)

    def test_repetitions_before_and_after_completion(self) -> None:
        prepared = replace(
            self.LAST, state=S.PREPARE_COMMIT, producer_epoch=MAX_EPOCH, next_producer_id=77
        )
        assert end(prepared, COMMIT, version=2, producer=(10, 32766)) == BUSY
        done = replace(
            at(S.COMPLETE_COMMIT, 2), producer_id=77, producer_epoch=0, previous_producer_id=10
        )
        assert end(done, COMMIT, version=2, producer=(10, 32766)) == OK
        assert end(done, ABORT, version=2, producer=(10, 32766)) == WRONG

    def test_the_next_transaction_waits_under_its_new_id(self) -> None:
        prepared = replace(self.LAST, state=S.PREPARE_COMMIT, next_producer_id=77)
        assert end(prepared, ABORT, version=2, producer=(77, 0)) == BUSY
