"""The effect of each error code of a Produce response on a batch."""

import threading
from unittest.mock import Mock

import pytest

from barnabas.clients.producer.batch import SEQUENCES, ProducerBatch, build, seal, split
from barnabas.clients.producer.batch_results import (
    BatchAction,
    BatchResults,
    ResponseContext,
    action_for,
    builder_of,
)
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import crc_ok, parse_header
from barnabas.records.reader import iter_raw
from barnabas.wire.messages.produce import PartitionProduceResponse


def batch(count=4):
    made = ProducerBatch(TopicPartition("t", 0), 500, 0, threading.Lock(), None)
    for number in range(count):
        made.appender.append(1000 + number, b"k", b"v%d" % number, [("h", b"1")])
    return made


def about(**changes):
    facts = {
        "idempotent": True,
        "transactional": False,
        "next_in_sequence": True,
        "tries_left": True,
    }
    return ResponseContext(**{**facts, **changes})


@pytest.mark.parametrize(
    ("code", "changes", "expected"),
    [
        (ErrorCode.NONE, {}, BatchAction.STORED),
        (ErrorCode.DUPLICATE_SEQUENCE_NUMBER, {}, BatchAction.STORED),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, {}, BatchAction.RETRY),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, {"tries_left": False}, BatchAction.FAILED),
        (ErrorCode.MESSAGE_TOO_LARGE, {}, BatchAction.SPLIT),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, {}, BatchAction.FAILED),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, {"next_in_sequence": False}, BatchAction.RETRY),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, {"later_stored": True}, BatchAction.STORED),
        (ErrorCode.UNKNOWN_SERVER_ERROR, {}, BatchAction.FAILED),
        (ErrorCode.INVALID_RECORD, {}, BatchAction.FAILED),
        (ErrorCode.PRODUCER_FENCED, {}, BatchAction.FAILED),
    ],
)
def test_the_error_code_decides_the_action(settings_of, code, changes, expected):
    answered = batch()
    build(answered, builder_of(settings_of()))
    assert action_for(answered, code, about(**changes)) is expected


def test_a_single_record_too_large_cannot_be_split(settings_of):
    answered = batch(1)
    build(answered, builder_of(settings_of()))
    assert action_for(answered, ErrorCode.MESSAGE_TOO_LARGE, about()) is BatchAction.FAILED


@pytest.mark.parametrize("error", [None, BrokerError(ErrorCode.INVALID_RECORD, "no")])
def test_a_kept_future_does_not_keep_the_records_of_a_completed_batch(settings_of, error):
    sent = batch()
    build(sent, builder_of(settings_of()))
    sent.complete(-1, -1, error)
    assert sent.payload is None
    assert sent.record_count == 4


def test_a_kept_future_does_not_keep_the_records_of_a_split_batch(settings_of):
    sent = batch()
    build(sent, builder_of(settings_of()))
    parts = split(sent, builder_of(settings_of()), None)
    assert sent.payload is None
    assert all(part.payload is not None for part in parts)


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_sealing_leaves_a_valid_batch(settings_of, codec):
    built = batch()
    build(built, builder_of(settings_of(compression_type=codec)))
    built.producer_id, built.producer_epoch, built.base_sequence = 9, 2, 77
    seal(built)
    header = parse_header(built.payload)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 2, 77)
    assert crc_ok(built.payload, 0, header)


def test_a_split_keeps_every_record_in_order(settings_of):
    whole = batch(5)
    builder = builder_of(settings_of(compression_type="gzip"))
    build(whole, builder)
    before = [item[1:] for item in iter_raw(whole.payload, 0, parse_header(whole.payload))]
    parts = split(whole, builder, None)
    after = []
    for part in parts:
        after += [item[1:] for item in iter_raw(part.payload, 0, parse_header(part.payload))]
    assert after == before
    assert [part.count for part in parts] == [2, 3]


def test_the_parts_of_a_split_keep_the_sequences_of_their_records(settings_of):
    whole = batch(5)
    builder = builder_of(settings_of())
    build(whole, builder)
    whole.producer_id, whole.producer_epoch, whole.base_sequence = 9, 2, SEQUENCES - 2
    parts = split(whole, builder, None)
    assert [(part.producer_id, part.producer_epoch) for part in parts] == [(9, 2), (9, 2)]
    assert [part.base_sequence for part in parts] == [SEQUENCES - 2, 0]


def test_the_parts_of_a_batch_without_sequence_have_none(settings_of):
    whole = batch(5)
    builder = builder_of(settings_of())
    build(whole, builder)
    assert not any(part.has_sequence for part in split(whole, builder, None))


def test_delayed_records_are_logged_with_the_cause_and_not_at_every_try(settings_of, clock, caplog):
    results = BatchResults(settings_of(), Mock(), Mock(), clock, Mock())
    delayed = ProducerBatch(TopicPartition("t", 0), 500, clock.time, threading.Lock(), None)
    delayed.attempts = 1
    cause = BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, "t-0: the disk is full")

    results.retry_or_fail(delayed, cause)
    assert not caplog.messages, "a short election is routine"

    for _ in range(10):
        clock.time += 1_000
        results.retry_or_fail(delayed, cause)
    (line,) = caplog.messages
    assert line == (
        "records for t-0 are not delivered after 5 s: KAFKA_STORAGE_ERROR: t-0: the disk is full;"
        " the producer keeps trying until delivery.timeout.ms"
    )


@pytest.mark.parametrize(
    ("code", "epoch"),
    [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, 0),
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0),
        (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 1),
    ],
)
def test_only_a_batch_that_is_out_of_order_moves_to_the_new_epoch(settings_of, clock, code, epoch):
    """After the failure of another batch; with every other error the broker may have stored it."""
    identity = ProducerIdentity(idempotent=True, max_in_flight=5)
    identity.adopt(77, 0)
    accumulator = Mock(incomplete=lambda: [sent])
    results = BatchResults(settings_of(), accumulator, identity, clock, Mock())
    sent = batch()
    identity.sending(sent)
    identity.bump_epoch()
    identity.on_response(sent)
    results.apply_response(sent, PartitionProduceResponse(0, code, -1, -1, -1))
    accumulator.requeue.assert_called_once_with(sent)
    identity.sending(sent)
    assert (sent.producer_epoch, sent.base_sequence) == (epoch, 0)
