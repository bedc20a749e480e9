from dataclasses import replace

import pytest
from support.transactions.harness import P0, P1

from barnabas.model.error_codes import ErrorCode as E
from barnabas.model.ids import TopicPartition
from barnabas.transactions.decisions import Change, Decision, Reject, Unchanged, decide_add, verify
from barnabas.transactions.metadata import TransactionMetadata, Transition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.requests import AddPartitions

IDLE = Transition(S.EMPTY, 10, 5, 1000, 100)
ONGOING = replace(IDLE, state=S.ONGOING, partitions=frozenset({P0}), start_ms=100)


def request(*partitions: TopicPartition, producer: tuple[int, int] = (10, 5)) -> AddPartitions:
    return AddPartitions("tx", *producer, frozenset(partitions), transaction_version=2)


def holding(current: Transition, pending: Transition | None = None) -> TransactionMetadata:
    metadata = TransactionMetadata("tx", current, persisted=True)
    metadata.pending = pending
    return metadata


def add(current: Transition, asked: AddPartitions, pending: Transition | None = None) -> Decision:
    return decide_add(holding(current, pending), asked, 500)


@pytest.mark.parametrize("state", [S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
def test_an_idle_id_opens_a_transaction(state: S) -> None:
    decision = add(replace(IDLE, state=state), request(P0))
    assert isinstance(decision, Change)
    assert (decision.to.state, decision.to.start_ms, decision.to.transaction_version) == (
        S.ONGOING,
        500,
        2,
    )


def test_an_open_one_grows() -> None:
    decision = add(ONGOING, request(P1))
    assert isinstance(decision, Change)
    assert (decision.to.partitions, decision.to.start_ms) == ({P0, P1}, 100)


@pytest.mark.parametrize("asked", [request(P0), request()])
def test_known_partitions_need_no_record(asked: AddPartitions) -> None:
    assert add(ONGOING, asked) == Unchanged()


@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
def test_a_decided_transaction_is_closed(state: S) -> None:
    assert add(replace(ONGOING, state=state), request(P1)) == Reject(E.CONCURRENT_TRANSACTIONS)


@pytest.mark.parametrize(
    ("producer", "error"),
    [
        ((11, 5), E.INVALID_PRODUCER_ID_MAPPING),
        ((10, 4), E.PRODUCER_FENCED),
        ((10, 6), E.PRODUCER_FENCED),
    ],
)
@pytest.mark.parametrize("state", [S.EMPTY, S.ONGOING, S.PREPARE_COMMIT, S.COMPLETE_ABORT])
def test_another_producer_cannot_add_partitions(
    state: S, producer: tuple[int, int], error: E
) -> None:
    assert add(replace(ONGOING, state=state), request(P0, producer=producer)) == Reject(error)


def test_a_pending_change_comes_before_everything() -> None:
    assert add(IDLE, request(P0, producer=(99, 0)), pending=ONGOING) == Reject(
        E.CONCURRENT_TRANSACTIONS
    )


def test_the_next_producer_id_waits_for_the_completion() -> None:
    decided = replace(ONGOING, state=S.PREPARE_COMMIT, next_producer_id=77)
    assert add(decided, request(P0, producer=(77, 0))) == Reject(E.CONCURRENT_TRANSACTIONS)


class TestVerify:
    def test_only_what_is_in_passes(self) -> None:
        assert verify(holding(ONGOING), request(P0, P1)) == {
            P0: E.NONE,
            P1: E.TRANSACTION_ABORTABLE,
        }

    @pytest.mark.parametrize("state", [S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
    def test_nothing_is_in_an_idle_id(self, state: S) -> None:
        assert verify(holding(replace(IDLE, state=state)), request(P0)) == {
            P0: E.TRANSACTION_ABORTABLE
        }

    @pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
    def test_a_decided_transaction_is_closed(self, state: S) -> None:
        decided = replace(ONGOING, state=state)
        assert verify(holding(decided), request(P0)) == {P0: E.CONCURRENT_TRANSACTIONS}

    def test_a_decision_on_its_way_closes_too(self) -> None:
        deciding = holding(ONGOING, replace(ONGOING, state=S.PREPARE_ABORT))
        assert verify(deciding, request(P0)) == {P0: E.CONCURRENT_TRANSACTIONS}

    def test_more_partitions_on_their_way_do_not_disturb_those_inside(self) -> None:
        growing = holding(ONGOING, replace(ONGOING, partitions=frozenset({P0, P1})))
        assert verify(growing, request(P0)) == {P0: E.NONE}
        assert verify(growing, request(P1)) == {P1: E.CONCURRENT_TRANSACTIONS}

    def test_an_older_epoch_is_fenced(self) -> None:
        assert verify(holding(ONGOING), request(P0, producer=(10, 4))) == {P0: E.PRODUCER_FENCED}
