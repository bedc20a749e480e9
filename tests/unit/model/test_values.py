"""Identifiers, names, hashes and errors."""

import pytest

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError, LocalError
from barnabas.model.ids import (
    ZERO_UUID,
    TopicPartition,
    Uuid,
    as_topic_partition,
    collides,
    topic_name_problem,
)
from barnabas.model.java_hash import coordinator_partition, java_abs, java_string_hash


def test_a_uuid_prints_as_kafka_prints_it_and_reads_back():
    uuid = Uuid(range(16))
    assert str(uuid) == "AAECAwQFBgcICQoLDA0ODw"
    assert Uuid.parse(str(uuid)) == uuid
    assert repr(ZERO_UUID) == "Uuid('AAAAAAAAAAAAAAAAAAAAAA')"


def test_a_random_uuid_is_no_option_of_a_command_line():
    found = iter([bytes([0xF8]) * 16, bytes([0xFC]) * 16])
    assert str(Uuid.random(lambda count: next(found))) == "_Pz8_Pz8_Pz8_Pz8_Pz8_A"


def test_a_uuid_of_another_length_is_rejected():
    with pytest.raises(ValueError, match="16 bytes"):
        Uuid.parse("AAAA")


def test_partitions_print_like_their_directories():
    assert str(TopicPartition("orders", 3)) == "orders-3"


@pytest.mark.parametrize("name", ["orders", "a.b_c-D9", "x" * 249])
def test_legal_topic_names(name):
    assert topic_name_problem(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ü", "x" * 250, "a\n", "a\x00"])
def test_illegal_topic_names(name):
    assert topic_name_problem(name) is not None


def test_dots_and_underscores_collide():
    assert collides("a.b", "a_b")
    assert not collides("a.b", "a.b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),
        ("消费者", 28099956),
        ("\U0001f600", 1772899),
    ],
)
def test_string_hash_equals_javas(text, expected):
    assert java_string_hash(text) == expected


def test_the_most_negative_hash_lands_on_partition_zero():
    assert java_abs(-(2**31)) == 0
    assert coordinator_partition("polygenelubricants", 50) == 0


def test_codes_know_whether_a_retry_helps():
    assert ErrorCode.NOT_LEADER_OR_FOLLOWER.retriable
    assert not ErrorCode.PRODUCER_FENCED.retriable
    assert ErrorCode.of(9999) is ErrorCode.UNKNOWN_SERVER_ERROR
    assert all(code.explanation for code in ErrorCode)


def test_errors_carry_kafkas_names():
    error = BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS)
    assert error.name == "TOPIC_ALREADY_EXISTS"
    assert isinstance(error, BarnabasError)
    assert DeadlineError("too late").retriable
    assert not LocalError("wrong").retriable


def test_a_partition_as_callers_name_it():
    assert as_topic_partition(("orders", 3)) == TopicPartition("orders", 3)
    for wrong in ("orders", ["orders"], ("orders", "3"), [TopicPartition("orders", 3)], 3):
        with pytest.raises(TypeError, match="expected a TopicPartition such as"):
            as_topic_partition(wrong)
