from dataclasses import replace

import pytest
from support.transactions.harness import P0, P1

from barnabas.transactions.metadata import (
    MAX_EPOCH,
    TransactionMetadata,
    Transition,
    epoch_exhausted,
    prepare_add_partitions,
    prepare_complete,
    prepare_end,
    prepare_fence,
    prepare_rotation,
)
from barnabas.transactions.metadata import TransactionState as S

EMPTY = Transition(S.EMPTY, 10, 3, 60_000, 100)
ONGOING = replace(EMPTY, state=S.ONGOING, partitions=frozenset({P0}), start_ms=100)


def test_the_last_epoch_is_kept_for_fencing() -> None:
    assert not epoch_exhausted(MAX_EPOCH - 2)
    assert epoch_exhausted(MAX_EPOCH - 1)
    assert prepare_fence(replace(ONGOING, producer_epoch=MAX_EPOCH - 1), 0, 5).producer_epoch == (
        MAX_EPOCH
    )


def test_the_first_partition_opens_a_transaction() -> None:
    opened = prepare_add_partitions(EMPTY, frozenset({P0}), 2, 200)
    assert (opened.state, opened.start_ms, opened.partitions) == (S.ONGOING, 200, {P0})
    more = prepare_add_partitions(opened, frozenset({P1}), 2, 300)
    assert (more.start_ms, more.update_ms, more.partitions) == (200, 300, {P0, P1})


def test_version_two_bumps_the_epoch_with_the_decision() -> None:
    ended = prepare_end(ONGOING, True, 2, -1, 200)
    assert (ended.state, ended.producer_epoch, ended.last_producer_epoch) == (
        S.PREPARE_COMMIT,
        4,
        3,
    )
    assert prepare_end(ONGOING, False, 0, -1, 200).producer_epoch == 3


def test_a_new_producer_id_takes_effect_with_completion() -> None:
    last = replace(ONGOING, producer_epoch=MAX_EPOCH - 1)
    ended = prepare_end(last, True, 2, 77, 200)
    assert (ended.producer_id, ended.producer_epoch, ended.next_producer_id) == (10, MAX_EPOCH, 77)
    done = prepare_complete(ended, 300)
    assert (done.producer_id, done.producer_epoch) == (77, 0)
    assert (done.previous_producer_id, done.next_producer_id) == (10, -1)
    assert done.partitions == frozenset()


def test_rotation_remembers_the_old_producer_id() -> None:
    rotated = prepare_rotation(replace(EMPTY, producer_epoch=MAX_EPOCH - 1), 77, 9, 32766, 1)
    assert (rotated.producer_id, rotated.producer_epoch, rotated.previous_producer_id) == (
        77,
        0,
        10,
    )


class TestPendingChange:
    def test_it_takes_effect_when_completed(self) -> None:
        metadata = TransactionMetadata("tx", EMPTY, persisted=False)
        metadata.begin(ONGOING)
        assert metadata.current is EMPTY
        metadata.complete()
        assert metadata.current is ONGOING
        assert metadata.pending is None
        assert metadata.persisted

    def test_cancelled_it_never_was(self) -> None:
        metadata = TransactionMetadata("tx", EMPTY, persisted=True)
        metadata.begin(ONGOING)
        metadata.cancel()
        assert metadata.current is EMPTY
        assert metadata.pending is None

    def test_there_is_only_one(self) -> None:
        metadata = TransactionMetadata("tx", EMPTY, persisted=True)
        metadata.begin(ONGOING)
        with pytest.raises(AssertionError, match="pending already"):
            metadata.begin(ONGOING)

    def test_it_must_be_in_the_table(self) -> None:
        metadata = TransactionMetadata("tx", EMPTY, persisted=True)
        with pytest.raises(AssertionError, match="cannot become"):
            metadata.begin(replace(EMPTY, state=S.COMPLETE_COMMIT))

    def test_nothing_pending_cannot_complete(self) -> None:
        with pytest.raises(AssertionError, match="no change"):
            TransactionMetadata("tx", EMPTY, persisted=True).complete()
