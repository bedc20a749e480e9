"""Changes of transactional ids: begun, committed or undone, and their markers."""

from dataclasses import replace

import pytest

from barnabas.model.error_codes import ErrorCode as E
from barnabas.model.ids import TopicPartition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.metadata import (
    Transition,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)
from barnabas.transactions.requests import (
    EndTxnReply,
    InitProducerId,
    TransactionConfig,
    TransactionGuards,
)
from barnabas.transactions.transaction_table import TransactionTable

P0 = TopicPartition("t", 0)
EMPTY = Transition(S.EMPTY, 10, 0, 60_000, 0)
ONGOING = replace(
    EMPTY, state=S.ONGOING, partitions=frozenset({P0}), start_ms=0, transaction_version=2
)
DECIDED = replace(ONGOING, state=S.PREPARE_COMMIT)


def table_with(*ids: str, current: Transition = EMPTY, **config: int) -> TransactionTable:
    table = TransactionTable(7, TransactionConfig(**config), TransactionGuards())
    for name in ids:
        table.replay(encode_key(name), encode_value(current, 2))
    return table


def test_a_change_is_true_once_its_record_is_in_the_log() -> None:
    table = table_with("a", current=ONGOING)
    metadata = table.get("a")
    assert metadata is not None
    append = table.begin([(metadata, DECIDED)], EndTxnReply(E.NONE))
    ((key, value, _),) = append.records
    assert (decode_key(key), decode_value(value or b"").state) == ("a", S.PREPARE_COMMIT)
    assert (metadata.current.state, metadata.pending is not None) == (S.ONGOING, True)
    outcome = table.commit(append, 0)
    assert metadata.current.state is S.PREPARE_COMMIT
    assert outcome.reply == EndTxnReply(E.NONE)
    assert [send.partitions for send in outcome.markers] == [(P0,)]


def test_an_undone_change_leaves_what_was_there() -> None:
    table = table_with("a", current=ONGOING)
    metadata = table.get("a")
    assert metadata is not None
    table.undo(table.begin([(metadata, DECIDED)]), 0)
    assert (metadata.current.state, metadata.pending) == (S.ONGOING, None)
    assert list(table) == [metadata]


def test_a_new_id_goes_with_its_first_change() -> None:
    table = table_with()
    metadata = table.create(InitProducerId("a", 1), 5, 0)
    table.undo(table.begin([(metadata, EMPTY)]), 0)
    assert table.get("a") is None


def test_decisions_of_an_earlier_coordinator_are_completed() -> None:
    table = table_with("a", "b", current=DECIDED)
    outcome = table.finish_decided(0)
    assert [send.transactional_id for send in outcome.markers] == ["a", "b"]
    assert outcome.background == ()
    (completion,) = table.markers_written(outcome.markers[0], {P0: E.NONE}, frozenset(), 0)
    assert completion.changes["a"].state is S.COMPLETE_COMMIT
    assert table.commit(completion, 0).markers == ()
    assert table.wake_at_ms is not None, "the other one is waited for"


def test_a_completion_that_failed_is_tried_again_after_a_pause() -> None:
    table = table_with("a", current=DECIDED)
    (send,) = table.finish_decided(0).markers
    (completion,) = table.markers_written(send, {P0: E.NONE}, frozenset(), 0)
    table.undo(completion, 0)
    assert table.markers_due(99) == ((), ())
    ((again,), markers) = table.markers_due(100)
    assert (list(again.changes), markers) == (["a"], ())


def test_a_tombstone_removes_an_id() -> None:
    table = table_with("a", "b")
    table.replay(encode_key("a"), None)
    assert [metadata.transactional_id for metadata in table] == ["b"]


@pytest.mark.parametrize(("idle_ms", "sizes"), [(999, []), (1000, [2, 2, 1])])
def test_idle_ids_are_forgotten_in_batches(idle_ms: int, sizes: list[int]) -> None:
    table = table_with(*"abcde", expiry_batch_size=2, id_expiration_ms=1000)
    appends = table.forget_idle(idle_ms)
    assert [len(append.records) for append in appends] == sizes
    for append in appends:
        assert all(value is None for _, value, _ in append.records)
        table.commit(append, idle_ms)
    assert len(list(table)) == 5 - sum(sizes)


def test_transactions_past_their_timeout_are_aborted() -> None:
    table = table_with("a", current=ONGOING)
    assert table.abort_overdue(60_000) == []
    (append,) = table.abort_overdue(60_001)
    assert append.changes["a"].state is S.PREPARE_ABORT
