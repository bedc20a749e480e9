"""The shard followed from request to record to marker to completion."""

from dataclasses import replace

import pytest
from support.transactions.harness import ID, P0, P1, P2, Harness, harness_at

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.metadata import MAX_EPOCH, Transition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.requests import (
    AddPartitions,
    EndTxn,
    InitProducerId,
    InitProducerIdReply,
    ListTransactions,
    TransactionConfig,
    TransactionGuards,
)
from barnabas.transactions.shard import TransactionCoordinatorShard


class TestOneTransaction:
    def test_commit_under_version_two(self) -> None:
        h = Harness()
        producer = h.init()
        assert (producer.error, producer.producer_id, producer.producer_epoch) == (E.NONE, 5000, 0)
        assert h.add(producer, P0, P1).partitions == {P0: E.NONE, P1: E.NONE}
        assert h.state == "Ongoing"
        ended = h.end(producer)
        assert (ended.error, ended.producer_id, ended.producer_epoch) == (E.NONE, 5000, 1)
        assert h.state == "PrepareCommit"
        (send,) = h.sent
        assert (send.partitions, send.commit, send.producer_epoch) == ((P0, P1), True, 1)
        assert (send.coordinator_epoch, send.transaction_version) == (7, 2)
        h.markers_ok()
        assert h.state == "CompleteCommit"
        assert h.producer == (5000, 1)

    def test_abort_before_version_two_keeps_the_epoch(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0, version=0)
        assert h.end(producer, commit=False, version=0).producer_epoch == 0
        assert not h.sent[0].commit
        h.markers_ok()
        assert (h.state, h.producer) == ("CompleteAbort", (5000, 0))

    def test_an_abort_of_nothing_completes_without_markers(self) -> None:
        h = Harness()
        producer = h.init()
        assert h.end(producer, commit=False).producer_epoch == 1
        assert h.sent == []
        assert h.state == "CompleteAbort"

    def test_version_two_needs_a_broker_that_serves_it(self) -> None:
        h = Harness(TransactionConfig(transaction_version=1))
        producer = h.init()
        h.add(producer, P0, version=2)
        assert h.end(producer, version=2).producer_epoch == 0

    def test_the_complete_record_is_written_once(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0, P1)
        h.end(producer)
        (send,) = h.sent
        h.answer(send)
        records = len(h.log)
        h.answer(send)
        h.tick(60_000)
        assert len(h.log) == records

    def test_it_runs_out_of_epochs(self) -> None:
        h = harness_at(Transition(S.EMPTY, 10, MAX_EPOCH - 2, 60_000, 0))
        producer = h.init()
        assert (producer.producer_id, producer.producer_epoch) == (10, MAX_EPOCH - 1)
        h.add(producer, P0)
        after = h.end(producer)
        assert (after.producer_id, after.producer_epoch) == (5000, 0)
        assert (h.sent[0].producer_id, h.sent[0].producer_epoch) == (10, MAX_EPOCH)
        assert h.add(after, P1).error is E.CONCURRENT_TRANSACTIONS
        h.markers_ok()
        assert h.producer == (5000, 0)
        repeated = h.end(producer)
        assert (repeated.error, repeated.producer_id) == (E.NONE, 5000)


class TestPendingAppends:
    def test_other_requests_get_concurrent_transactions(self) -> None:
        h = Harness()
        producer = h.init()
        h.hold = True
        assert h.add(producer, P0) is None
        assert h.add(producer, P1).error is E.CONCURRENT_TRANSACTIONS
        assert h.end(producer).error is E.CONCURRENT_TRANSACTIONS
        assert h.init().error is E.CONCURRENT_TRANSACTIONS
        assert h.release().error is E.NONE
        assert h.state == "Ongoing"

    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
            (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
            (E.REQUEST_TIMED_OUT, E.COORDINATOR_NOT_AVAILABLE),
            (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
            (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
            (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        ],
    )
    def test_a_failed_append_never_happened(self, error: E, told: E) -> None:
        h = Harness()
        producer = h.init()
        h.hold = True
        h.add(producer, P0)
        reply = h.fail(error)
        assert (reply.error, reply.partitions) == (told, {P0: told})
        assert h.state == "Empty"
        h.hold = False
        assert h.add(producer, P0).error is E.NONE

    def test_a_failed_first_record_leaves_no_id(self) -> None:
        h = Harness()
        h.hold = True
        h.init()
        assert h.shard.list_transactions(ListTransactions(), 0).transactions == ()
        assert h.fail().error is E.COORDINATOR_NOT_AVAILABLE
        assert h.state == "TRANSACTIONAL_ID_NOT_FOUND"
        never = InitProducerIdReply(E.NONE, 5000, -1)
        assert h.add(never, P0).error is E.INVALID_PRODUCER_ID_MAPPING

    def test_a_failed_fence_does_not_burn_the_epoch(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0)
        h.hold = True
        for _ in range(5):
            h.init()
            h.fail()
        h.hold = False
        assert h.producer == (5000, 0)
        assert h.end(producer).error is E.NONE

    def test_the_guard_shows_what_it_prevents(self) -> None:
        h = Harness(guards=TransactionGuards(change_only_after_append=False))
        producer = h.init()
        h.add(producer, P0)
        h.hold = True
        h.init()
        h.fail()
        assert h.producer == (5000, 1)

    def test_a_failed_completion_is_tried_again(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0)
        h.end(producer)
        h.hold = True
        h.markers_ok()
        h.fail()
        assert h.state == "PrepareCommit"
        assert h.shard.next_timer_ms == h.now_ms + 100
        h.tick(99)
        assert h.held == []
        h.tick(1)
        assert h.sent == []
        h.release()
        assert h.state == "CompleteCommit"


class TestTakeover:
    def test_the_open_transaction_is_aborted_first(self) -> None:
        h = Harness()
        old = h.init()
        h.add(old, P0)
        assert h.init().error is E.CONCURRENT_TRANSACTIONS
        assert h.state == "PrepareAbort"
        assert h.init().error is E.CONCURRENT_TRANSACTIONS
        h.markers_ok()
        new = h.init()
        assert (new.error, new.producer_epoch) == (E.NONE, 2)
        assert h.add(old, P0).error is E.PRODUCER_FENCED
        assert h.end(old).error is E.PRODUCER_FENCED

    @pytest.mark.parametrize("commit", [True, False])
    def test_the_old_producer_is_fenced_at_once(self, commit: bool) -> None:
        h = Harness()
        old = h.init()
        h.add(old, P0)
        h.init()
        assert h.end(old, commit=commit).error is E.PRODUCER_FENCED
        h.markers_ok()
        assert h.end(old, commit=commit).error is E.PRODUCER_FENCED


class TestTimeout:
    def test_the_transaction_is_aborted_with_a_bumped_epoch(self) -> None:
        h = Harness()
        producer = h.init(timeout_ms=20_000)
        h.add(producer, P0, version=0)
        h.tick(20_000)
        assert h.state == "Ongoing"
        h.tick(10_000)
        assert (h.state, h.producer) == ("PrepareAbort", (5000, 1))
        h.markers_ok()
        assert h.end(producer, version=0).error is E.PRODUCER_FENCED

    def test_under_version_two_the_producer_may_abort_and_go_on(self) -> None:
        h = Harness()
        producer = h.init(timeout_ms=1)
        h.add(producer, P0)
        h.tick(10_000)
        assert h.end(producer, commit=True).error is E.INVALID_TXN_STATE
        assert h.end(producer, commit=False).error is E.CONCURRENT_TRANSACTIONS
        h.markers_ok()
        assert h.end(producer, commit=True).error is E.INVALID_TXN_STATE
        again = h.end(producer, commit=False)
        assert (again.error, again.producer_epoch) == (E.NONE, 1)
        assert h.add(again, P1).error is E.NONE

    def test_at_the_last_epoch_it_must_begin_anew(self) -> None:
        h = harness_at(Transition(S.EMPTY, 10, MAX_EPOCH - 2, 1, 0))
        producer = h.init(timeout_ms=1)
        h.add(producer, P0)
        h.tick(10_000)
        assert h.producer == (10, MAX_EPOCH)
        h.markers_ok()
        assert h.end(producer, commit=False).error is E.PRODUCER_FENCED
        assert h.init().producer_id == 5000

    def test_a_pending_change_postpones_it(self) -> None:
        h = Harness()
        producer = h.init(timeout_ms=1)
        h.add(producer, P0)
        h.hold = True
        h.end(producer)
        h.tick(10_000)
        assert len(h.held) == 1
        h.release()
        assert h.state == "PrepareCommit"


class TestExpiry:
    WEEK_MS = 604_800_000

    def test_an_idle_id_is_forgotten(self) -> None:
        h = Harness()
        h.init()
        h.tick(self.WEEK_MS)
        assert h.state == "TRANSACTIONAL_ID_NOT_FOUND"
        assert h.log[-1][1] is None
        assert h.reload().state == "TRANSACTIONAL_ID_NOT_FOUND"

    def test_a_failed_tombstone_keeps_it(self) -> None:
        h = Harness()
        producer = h.init()
        h.hold = True
        h.tick(self.WEEK_MS)
        assert h.init().error is E.CONCURRENT_TRANSACTIONS
        h.fail()
        assert h.state == "Empty"
        h.hold = False
        assert h.add(producer, P0).error is E.NONE


class TestMarkers:
    def open(self) -> Harness:
        h = Harness()
        producer = h.init()
        h.add(producer, P0, P1, P2)
        h.end(producer)
        return h

    def test_only_the_failed_partition_gets_its_marker_again(self) -> None:
        h = self.open()
        send = h.sent.pop()
        results = {P0: E.NONE, P1: E.NOT_LEADER_OR_FOLLOWER, P2: E.NONE}
        h._act(h.shard.markers_written(send, results, h.now_ms))
        assert h.sent == []
        h.tick(100)
        (again,) = h.sent
        assert again.partitions == (P1,)
        h.markers_ok()
        assert h.state == "CompleteCommit"

    def test_deleted_partitions_are_skipped(self) -> None:
        h = self.open()
        outcome = h.shard.markers_written(
            h.sent.pop(), {P0: E.NONE}, h.now_ms, deleted=frozenset({P1, P2})
        )
        h._act(outcome)
        assert h.state == "CompleteCommit"

    def test_markers_without_a_response_are_sent_again(self) -> None:
        h = self.open()
        h.sent.clear()
        assert h.shard.next_timer_ms is not None
        h.tick(60_000)
        assert h.sent[0].partitions == (P0, P1, P2)

    def test_another_coordinator_finishes_it(self) -> None:
        h = self.open()
        h.answer(h.sent.pop(), E.TRANSACTION_COORDINATOR_FENCED)
        h.tick(100_000)
        assert h.sent == []
        assert h.state == "PrepareCommit"

    def test_no_error_loses_a_decided_transaction(self) -> None:
        given_up = {E.TRANSACTION_COORDINATOR_FENCED}
        for error in set(E) - given_up:
            h = self.open()
            h.answer(h.sent.pop(), error)
            h.tick(100)
            h.markers_ok()
            assert h.state == "CompleteCommit", error


class TestLoading:
    def test_decided_transactions_are_finished(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0, P1)
        h.end(producer)
        after = h.reload()
        (send,) = after.sent
        assert (send.partitions, send.commit, send.coordinator_epoch) == ((P0, P1), True, 8)
        after.markers_ok()
        assert after.state == "CompleteCommit"
        assert after.end(producer).error is E.NONE

    def test_open_transactions_stay_open(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0)
        after = h.reload()
        assert after.state == "Ongoing"
        assert after.end(producer).error is E.NONE

    def test_a_decision_without_partitions_completes_at_once(self) -> None:
        decided = Transition(S.PREPARE_ABORT, 10, 1, 1, 0, transaction_version=2)
        assert harness_at(decided).state == "CompleteAbort"

    def test_the_last_record_of_an_id_counts(self) -> None:
        h = Harness()
        for _ in range(3):
            h.init()
        assert h.reload().producer == (5000, 2)

    def test_requests_are_rejected_meanwhile(self) -> None:
        _expect_refusal(TransactionCoordinatorShard(1), E.COORDINATOR_LOAD_IN_PROGRESS)

    def test_unknown_keys_are_skipped(self) -> None:
        shard = TransactionCoordinatorShard(1)
        shard.replay(b"\x00\x09abc", b"whatever")
        assert shard.load_complete(0).markers == ()


class TestResigning:
    def test_requests_are_rejected(self) -> None:
        h = Harness()
        h.shard.resign()
        _expect_refusal(h.shard, E.NOT_COORDINATOR)

    def test_appends_under_way_change_nothing(self) -> None:
        h = Harness()
        h.hold = True
        h.init()
        h.init()
        h.shard.resign()
        assert h.release().error is E.NOT_COORDINATOR

    def test_failed_appends_too(self) -> None:
        h = Harness()
        h.hold = True
        h.init()
        h.shard.resign()
        assert h.fail().error is E.NOT_COORDINATOR

    def test_markers_under_way_too(self) -> None:
        h = Harness()
        producer = h.init()
        h.add(producer, P0)
        h.end(producer)
        h.shard.resign()
        records = len(h.log)
        h.markers_ok()
        h.tick(100_000)
        assert len(h.log) == records


def _expect_refusal(shard: TransactionCoordinatorShard, error: E) -> None:
    add = AddPartitions(ID, 1, 0, frozenset({P0}))
    for request in (add, replace(add, verify_only=True)):
        reply = shard.add_partitions(request, 0).reply
        assert reply is not None
        assert reply.partitions == {P0: error}
    init = shard.init_producer_id(InitProducerId(ID, 1), 0).reply
    end = shard.end_txn(EndTxn(ID, 1, 0, True), 0).reply
    assert init is not None
    assert end is not None
    listed = shard.list_transactions(ListTransactions(), 0)
    described = shard.describe_transaction(ID)
    assert {init.error, end.error, listed.error, described.error} == {error}
    assert shard.next_timer_ms is None
    assert shard.on_timer(0).background == ()


@pytest.mark.parametrize("transactional_id", ["", "never seen"])
def test_ids_that_were_never_initialized(transactional_id: str) -> None:
    h = Harness()
    error = E.INVALID_PRODUCER_ID_MAPPING if transactional_id else E.INVALID_REQUEST
    add = h.shard.add_partitions(AddPartitions(transactional_id, 1, 0, frozenset({P0})), 0).reply
    end = h.shard.end_txn(EndTxn(transactional_id, 1, 0, True), 0).reply
    assert add is not None
    assert end is not None
    assert (add.error, end.error) == (error, error)
