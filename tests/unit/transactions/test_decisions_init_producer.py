"""InitProducerId: every state, every relation of the expected pair to the current one."""

from dataclasses import replace

import pytest
from support.transactions.harness import P0

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.decisions import Change, NeedProducerId, Reject, check_init, decide_init
from barnabas.transactions.metadata import MAX_EPOCH, Transition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.requests import InitProducerId

IDLE = Transition(S.EMPTY, 10, 5, 1000, 100, last_producer_epoch=4)
ONGOING = replace(IDLE, state=S.ONGOING, partitions=frozenset({P0}), start_ms=100)
NEW = (-1, -1)


def decide(current: Transition, expected: tuple[int, int] = NEW, new_id: int | None = None):
    return decide_init(current, InitProducerId("tx", 2000, *expected), new_id, 500)


@pytest.mark.parametrize(
    ("timeout_ms", "error"),
    [
        (0, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (-1, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
        (1, ErrorCode.NONE),
        (900_000, ErrorCode.NONE),
        (900_001, ErrorCode.INVALID_TRANSACTION_TIMEOUT),
    ],
)
def test_the_timeout_must_be_within_the_limit(timeout_ms: int, error: ErrorCode) -> None:
    assert check_init(InitProducerId("tx", timeout_ms), 900_000) is error


def test_an_empty_transactional_id_is_rejected() -> None:
    assert check_init(InitProducerId("", 1), 900_000) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("state", [S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
class TestIdle:
    def test_a_new_producer_gets_the_next_epoch(self, state: S) -> None:
        decision = decide(replace(IDLE, state=state))
        assert isinstance(decision, Change)
        to = decision.to
        assert (to.state, to.producer_id, to.producer_epoch) == (S.EMPTY, 10, 6)
        assert (to.timeout_ms, to.last_producer_epoch, to.start_ms) == (2000, -1, -1)

    def test_the_current_producer_gets_the_next_epoch(self, state: S) -> None:
        decision = decide(replace(IDLE, state=state), (10, 5))
        assert isinstance(decision, Change)
        assert (decision.to.producer_epoch, decision.to.last_producer_epoch) == (6, 5)

    def test_a_repetition_gets_the_same_epoch(self, state: S) -> None:
        decision = decide(replace(IDLE, state=state), (10, 4))
        assert isinstance(decision, Change)
        assert (decision.to.producer_epoch, decision.to.last_producer_epoch) == (5, 4)

    @pytest.mark.parametrize("expected", [(10, 3), (10, 6), (11, 5), (9, 4)])
    def test_every_other_producer_is_fenced(self, state: S, expected: tuple[int, int]) -> None:
        assert decide(replace(IDLE, state=state), expected) == Reject(ErrorCode.PRODUCER_FENCED)


@pytest.mark.parametrize("state", [S.PREPARE_COMMIT, S.PREPARE_ABORT])
def test_a_decided_transaction_is_finished_first(state: S) -> None:
    decided = replace(ONGOING, state=state)
    assert decide(decided) == Reject(ErrorCode.CONCURRENT_TRANSACTIONS)
    assert decide(decided, (11, 0)) == Reject(ErrorCode.PRODUCER_FENCED)


class TestOngoing:
    def test_a_new_producer_aborts_it_under_the_next_epoch(self) -> None:
        decision = decide(ONGOING)
        assert isinstance(decision, Change)
        to = decision.to
        assert (to.state, to.producer_epoch, to.partitions) == (S.PREPARE_ABORT, 6, {P0})

    def test_so_does_its_own_producer(self) -> None:
        assert isinstance(decide(ONGOING, (10, 5)), Change)

    @pytest.mark.parametrize("epoch", [4, 3, 6])
    def test_an_outdated_producer_must_not(self, epoch: int) -> None:
        assert decide(ONGOING, (10, epoch)) == Reject(ErrorCode.PRODUCER_FENCED)

    def test_the_fenced_producer_cannot_pass_for_one_that_repeats(self) -> None:
        decision = decide(replace(ONGOING, transaction_version=2))
        assert isinstance(decision, Change)
        assert decision.to.transaction_version == 0


class TestExhaustedEpochs:
    LAST = replace(IDLE, producer_epoch=MAX_EPOCH - 1, last_producer_epoch=MAX_EPOCH - 2)

    @pytest.mark.parametrize("epoch", [MAX_EPOCH - 1, MAX_EPOCH])
    def test_a_new_producer_id_is_needed(self, epoch: int) -> None:
        assert decide(replace(self.LAST, producer_epoch=epoch)) == NeedProducerId()

    @pytest.mark.parametrize("expected", [NEW, (10, MAX_EPOCH - 1)])
    def test_the_new_producer_id_is_used(self, expected: tuple[int, int]) -> None:
        decision = decide(self.LAST, expected, new_id=77)
        assert isinstance(decision, Change)
        to = decision.to
        assert (to.producer_id, to.producer_epoch, to.previous_producer_id) == (77, 0, 10)

    def test_a_repetition_needs_none(self) -> None:
        assert isinstance(decide(self.LAST, (10, MAX_EPOCH - 2)), Change)

    def test_the_repetition_of_a_rotation_gets_the_new_id(self) -> None:
        rotated = decide(self.LAST, (10, MAX_EPOCH - 1), new_id=77)
        assert isinstance(rotated, Change)
        again = decide(rotated.to, (10, MAX_EPOCH - 1))
        assert isinstance(again, Change)
        assert (again.to.producer_id, again.to.producer_epoch) == (77, 0)

    def test_an_older_epoch_of_the_old_id_is_fenced(self) -> None:
        rotated = decide(self.LAST, (10, MAX_EPOCH - 1), new_id=77)
        assert isinstance(rotated, Change)
        assert decide(rotated.to, (10, 7)) == Reject(ErrorCode.PRODUCER_FENCED)
