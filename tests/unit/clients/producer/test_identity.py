"""Sequences per partition and epoch, and what a hole in them does."""

import threading

import pytest

from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.identity import MAX_EPOCH, SEQUENCES, ProducerIdentity
from barnabas.model.ids import TopicPartition

ONE, TWO = TopicPartition("t", 1), TopicPartition("t", 2)


def batch(count=3, topic_partition=ONE):
    made = ProducerBatch(topic_partition, 100, 0, threading.Lock(), None)
    made.count = count
    return made


@pytest.fixture
def identity():
    made = ProducerIdentity(idempotent=True, max_in_flight=5)
    made.adopt(77, 0)
    return made


def greet(identity, topic_partition=ONE):
    """One batch stored, as every partition begins."""
    first = batch(0, topic_partition)
    identity.sending(first)
    identity.on_response(first)
    identity.stored(first)


def test_the_first_batch_of_an_epoch_goes_alone(identity):
    first = batch()
    identity.sending(first)
    assert not identity.may_send(ONE)
    identity.stored(first)
    assert identity.may_send(ONE)


def numbers(item):
    return item.producer_id, item.producer_epoch, item.base_sequence


def test_no_batch_goes_without_an_id():
    assert not ProducerIdentity(idempotent=True, max_in_flight=5).ready
    assert ProducerIdentity(idempotent=False, max_in_flight=5).ready


def test_sequences_count_records_per_partition(identity):
    first, second, other = batch(3), batch(2), batch(4, TWO)
    for item in (first, second, other):
        identity.sending(item)
    assert numbers(first) == (77, 0, 0)
    assert numbers(second) == (77, 0, 3)
    assert numbers(other) == (77, 0, 0)


def test_a_retry_keeps_its_sequence(identity):
    first, second = batch(3), batch(2)
    identity.sending(first)
    identity.sending(second)
    identity.on_response(first)
    identity.sending(first)
    assert numbers(first) == (77, 0, 0)


def test_at_most_five_batches_of_a_partition_are_in_flight(identity):
    greet(identity)
    for _ in range(5):
        assert identity.may_send(ONE)
        identity.sending(batch(1))
    assert not identity.may_send(ONE)
    assert identity.may_send(TWO)


def test_after_a_bump_the_old_epoch_drains_before_the_new_begins(identity):
    failed, behind = batch(3), batch(2)
    identity.sending(failed)
    identity.sending(behind)
    identity.on_response(failed)
    assert identity.bump_epoch()
    assert not identity.may_send(ONE)
    identity.on_response(behind)
    identity.out_of_order(behind, [behind])
    assert identity.may_send(ONE)
    identity.sending(behind)
    assert numbers(behind) == (77, 1, 0)


def test_after_a_bump_a_batch_that_may_be_stored_keeps_its_sequence(identity):
    """The broker recognizes the retry. The next batch begins the new epoch."""
    greet(identity)
    lost, fresh = batch(3), batch(2)
    identity.sending(lost)
    before = numbers(lost)
    identity.on_response(lost)
    identity.bump_epoch()
    identity.sending(lost)
    assert numbers(lost) == before
    assert not identity.may_send(ONE)
    identity.on_response(lost)
    identity.stored(lost)
    identity.sending(fresh)
    assert numbers(fresh) == (77, 1, 0)


def test_batches_after_a_gap_get_new_sequences_together(identity):
    """The broker accepts no later batch of the old epoch, and none after the first of the new."""
    greet(identity)
    failed, second, third, other = batch(), batch(), batch(), batch(topic_partition=TWO)
    for item in (failed, second, third, other):
        identity.sending(item)
        identity.on_response(item)
    identity.bump_epoch()
    identity.out_of_order(third, [second, third, other])
    assert numbers(third) == (77, 0, 6)  # the second one may still close the gap
    identity.out_of_order(second, [second, third, other])
    for item in (second, third, other):
        identity.sending(item)
    assert [numbers(item) for item in (second, third)] == [(77, 1, 0), (77, 1, 3)]
    assert numbers(other) == (77, 0, 0)


def test_a_rejection_while_others_are_in_flight_changes_no_sequence(identity):
    greet(identity)
    first, second = batch(), batch()
    identity.sending(first)
    identity.sending(second)
    identity.bump_epoch()
    identity.on_response(second)
    identity.out_of_order(second, [first, second])
    assert numbers(second) == (77, 0, 3)


def test_batches_of_other_partitions_do_not_count_as_earlier(identity):
    greet(identity)
    first, other = batch(), batch(topic_partition=TWO)
    identity.sending(batch())
    identity.sending(other)
    identity.sending(first)
    identity._partitions[ONE].in_flight.clear()
    assert identity.is_next(first, [first, other])


def test_a_batch_is_next_when_nothing_earlier_is_open(identity):
    first, second = batch(3), batch(2)
    identity.sending(first)
    identity.sending(second)
    assert identity.is_next(first, [first, second])
    assert not identity.is_next(second, [first, second])
    identity.on_response(first)
    assert not identity.is_next(second, [first, second])
    assert identity.is_next(second, [second])


def test_used_up_epochs_need_a_new_id(identity):
    identity.adopt(77, MAX_EPOCH)
    assert not identity.bump_epoch()
    assert not identity.ready


def test_sequences_wrap_after_the_largest(identity):
    first, second, third = batch(SEQUENCES - 1), batch(2), batch(1)
    for item in (first, second, third):
        identity.sending(item)
    assert second.base_sequence == SEQUENCES - 1
    assert third.base_sequence == 1


def test_one_request_in_flight_keeps_order_without_idempotence():
    identity = ProducerIdentity(idempotent=False, max_in_flight=1)
    identity.sending(batch())
    assert not identity.may_send(ONE)


def test_batches_in_flight_behind_a_failed_batch_are_sent_again(identity):
    greet(identity)
    failed, behind = batch(), batch()
    identity.sending(failed)
    identity.sending(behind)
    identity.on_response(failed)
    identity.bump_epoch()
    identity.on_response(behind)
    assert not identity.is_next(behind, [behind])
    identity.out_of_order(behind, [behind])
    identity.sending(behind)
    assert numbers(behind) == (77, 1, 0)
    assert identity.is_next(behind, [behind])


def test_a_leader_remembers_the_oldest_batch_in_flight(identity):
    """It waits for a response of the old leader, while the new one stores later batches."""
    greet(identity)
    oldest = batch()
    identity.sending(oldest)
    for _ in range(4):
        assert identity.may_send(ONE)
        later = batch()
        identity.sending(later)
        identity.on_response(later)
        identity.stored(later)
    assert not identity.may_send(ONE)
    identity.on_response(oldest)
    identity.stored(oldest)
    assert identity.may_send(ONE)


def test_a_batch_before_a_stored_one_is_stored(identity):
    greet(identity)
    first, second = batch(), batch()
    identity.sending(first)
    identity.sending(second)
    assert not identity.is_known_as_stored(first)
    identity.stored(second)
    assert identity.is_known_as_stored(first)
    assert not identity.is_known_as_stored(second)
    identity.bump_epoch()
    third = batch()
    identity.on_response(first)
    identity.on_response(second)
    identity.sending(third)
    assert not identity.is_known_as_stored(first)


def test_sequences_that_begin_again_keep_their_order(identity):
    greet(identity)
    identity._partitions[ONE].next_sequence = SEQUENCES - 3
    last, first = batch(3), batch(3)
    identity.sending(last)
    identity.sending(first)
    assert first.base_sequence == 0
    identity.stored(first)
    assert identity.is_known_as_stored(last)


def test_a_partition_is_idle_with_sequences_of_the_epoch_and_nothing_in_flight(identity):
    assert not identity.is_idle(ONE)  # it has no sequences
    greet(identity)
    assert identity.is_idle(ONE)
    item = batch()
    identity.sending(item)
    assert not identity.is_idle(ONE)
    identity.stored(item)
    assert identity.is_idle(ONE)
    identity.bump_epoch()
    assert not identity.is_idle(ONE)
