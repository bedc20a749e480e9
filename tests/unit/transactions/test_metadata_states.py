import pytest

from barnabas.transactions.metadata import STATE_LABELS, TRANSITIONS, TransactionState

S = TransactionState


def test_numbers_and_labels_are_kafkas() -> None:
    assert [(state.value, state.label) for state in S] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
        (6, "Dead"),
        (7, "PrepareEpochFence"),
    ]
    assert STATE_LABELS["PrepareAbort"] is S.PREPARE_ABORT


def test_every_state_has_a_row() -> None:
    assert TRANSITIONS.keys() == set(S)


@pytest.mark.parametrize(
    ("state", "targets"),
    [
        (S.ONGOING, {S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT}),
        (S.PREPARE_COMMIT, {S.COMPLETE_COMMIT}),
        (S.PREPARE_ABORT, {S.COMPLETE_ABORT}),
        (S.DEAD, set()),
        (S.PREPARE_EPOCH_FENCE, set()),
    ],
)
def test_each_state_has_its_successors(state: S, targets: set[S]) -> None:
    assert {target for target in S if state.may_become(target)} == targets


def test_a_decision_is_never_taken_back() -> None:
    assert not S.PREPARE_COMMIT.may_become(S.PREPARE_ABORT)
    assert not S.PREPARE_COMMIT.may_become(S.COMPLETE_ABORT)
    assert not S.PREPARE_ABORT.may_become(S.COMPLETE_COMMIT)


def test_idle_and_prepared_states() -> None:
    assert {s for s in S if s.is_idle} == {S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT}
    assert {s for s in S if s.is_prepared} == {S.PREPARE_COMMIT, S.PREPARE_ABORT}
