"""Verification before the first append of a transaction: when it happens, when it is void."""

import pytest

from barnabas.broker.coordinators.shard_runtime import SteadyClock
from barnabas.broker.coordinators.verification import (
    RetryingAddPartitions,
    TransactionalBatch,
    Verifications,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.transactions.requests import AddPartitions

TOPIC_PARTITION = TopicPartition("t", 0)
ATTEMPT = TransactionalBatch(TOPIC_PARTITION, 7, 0, 0)


class FakeProducers:
    def __init__(self):
        self.open = set()

    def transaction_open(self, topic_partition, producer_id, epoch):
        return (topic_partition, producer_id, epoch) in self.open


@pytest.fixture
def producers():
    return FakeProducers()


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def verifications(producers, clock):
    return Verifications(producers, SteadyClock(clock), enabled=True)


def refusal(verifications, attempt, token):
    with pytest.raises(BrokerError) as caught:
        verifications.check_append(attempt, token)
    return caught.value.code


def test_the_first_batch_is_verified_with_the_coordinator(verifications, producers):
    token = verifications.begin(ATTEMPT)
    assert token is not None
    verifications.check_append(ATTEMPT, token)
    producers.open.add((TOPIC_PARTITION, 7, 0))
    verifications.appended(TOPIC_PARTITION, 7)
    assert verifications.begin(ATTEMPT._replace(sequence=1)) is None
    verifications.check_append(ATTEMPT._replace(sequence=1), None)


def test_append_without_question_is_rejected(verifications):
    assert refusal(verifications, ATTEMPT, None) is ErrorCode.INVALID_TXN_STATE


def test_open_at_another_epoch_does_not_count(verifications, producers):
    producers.open.add((TOPIC_PARTITION, 7, 1))
    assert verifications.begin(ATTEMPT) is not None


def test_marker_voids_the_token(verifications):
    """KAFKA-14884: the transaction ended while the verification was in flight."""
    token = verifications.begin(ATTEMPT)
    verifications.marker_written(TOPIC_PARTITION, 7, 0)
    assert refusal(verifications, ATTEMPT, token) is ErrorCode.INVALID_TXN_STATE


def test_marker_of_the_transaction_before_does_not(verifications):
    token = verifications.begin(ATTEMPT._replace(producer_epoch=1))
    verifications.marker_written(TOPIC_PARTITION, 7, 0)
    verifications.check_append(ATTEMPT._replace(producer_epoch=1), token)


def test_new_leadership_voids_the_token(verifications):
    token = verifications.begin(ATTEMPT)
    verifications.forget(TOPIC_PARTITION)
    assert refusal(verifications, ATTEMPT, token) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refusal(verifications, ATTEMPT, None) is ErrorCode.INVALID_TXN_STATE
    fresh = verifications.begin(ATTEMPT)
    assert refusal(verifications, ATTEMPT, token) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    verifications.check_append(ATTEMPT, fresh)


def test_lower_sequence_goes_first(verifications):
    """KAFKA-14920: were the later batch in first, the earlier one would never fit."""
    token = verifications.begin(ATTEMPT._replace(sequence=5))
    assert verifications.begin(ATTEMPT) is token
    later = ATTEMPT._replace(sequence=5)
    assert refusal(verifications, later, token) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    verifications.check_append(ATTEMPT, token)


def test_partitions_are_apart(verifications):
    other = ATTEMPT._replace(topic_partition=TopicPartition("t", 1))
    assert verifications.begin(ATTEMPT) is not verifications.begin(other)


def test_a_verification_expires(verifications, clock):
    token = verifications.begin(ATTEMPT)
    clock.advance(1000)
    verifications.expire(expiration_ms=1000)
    assert refusal(verifications, ATTEMPT, token) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_every_append_is_allowed_when_verification_is_disabled(producers, clock):
    verifications = Verifications(producers, SteadyClock(clock), enabled=False)
    assert verifications.begin(ATTEMPT) is None
    verifications.check_append(ATTEMPT, None)


# --- asking again while the transaction before is completed ---------------------------------------


class Coordinator:
    """Returns CONCURRENT_TRANSACTIONS `busy` times, then NONE."""

    def __init__(self, clock, busy):
        self.asked_ms = []
        self._clock, self._busy = clock, busy

    def add_or_verify(self, request, answered):
        self.asked_ms.append(self._clock.monotonic_ms())
        busy = len(self.asked_ms) <= self._busy
        code = ErrorCode.CONCURRENT_TRANSACTIONS if busy else ErrorCode.NONE
        answered(dict.fromkeys(request.partitions, code))


def answers_of(clock, coordinator):
    waiting, answers = [], []
    retrying = RetryingAddPartitions(
        coordinator,
        SteadyClock(clock),
        lambda delay_s, ask: waiting.append((delay_s, ask)),
        backoff_ms=20,
        max_ms=100,
    )
    retrying.add_or_verify(AddPartitions("x", 7, 0, frozenset({TOPIC_PARTITION})), answers.append)
    while waiting:
        delay_s, ask = waiting.pop()
        clock.advance(round(1000 * delay_s))
        ask()
    return answers


def test_the_request_is_repeated_while_the_previous_transaction_completes(clock):
    began_ms = clock.monotonic_ms()
    coordinator = Coordinator(clock, busy=2)
    assert answers_of(clock, coordinator) == [{TOPIC_PARTITION: ErrorCode.NONE}]
    assert [asked - began_ms for asked in coordinator.asked_ms] == [0, 20, 40]


def test_the_producer_gets_the_error_when_the_completion_takes_longer(clock):
    coordinator = Coordinator(clock, busy=100)
    assert answers_of(clock, coordinator) == [{TOPIC_PARTITION: ErrorCode.CONCURRENT_TRANSACTIONS}]
    assert len(coordinator.asked_ms) == 6
