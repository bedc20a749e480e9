from dataclasses import replace

import pytest
from support.transactions.harness import P0, P1

from barnabas.model.errors import ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.transactions.metadata import TransactionState as S
from barnabas.transactions.metadata import (
    Transition,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)

ONGOING = Transition(
    S.ONGOING,
    producer_id=10,
    producer_epoch=3,
    timeout_ms=60_000,
    update_ms=200,
    partitions=frozenset({P0, P1, TopicPartition("other", 4)}),
    start_ms=100,
    previous_producer_id=8,
    next_producer_id=12,
    transaction_version=2,
)


def test_a_key_has_kafkas_bytes() -> None:
    assert encode_key("tx") == b"\x00\x00\x00\x02tx"
    assert decode_key(encode_key("tx")) == "tx"


def test_keys_of_newer_versions_are_skipped() -> None:
    assert decode_key(b"\x00\x01\x00\x02tx") is None


@pytest.mark.parametrize("state", [s for s in S if s is not S.DEAD])
def test_version_one_keeps_everything_but_the_last_epoch(state: S) -> None:
    partitions = frozenset() if state is S.EMPTY else ONGOING.partitions
    transition = replace(ONGOING, state=state, partitions=partitions, last_producer_epoch=2)
    value = encode_value(transition, transaction_version=1)
    assert value is not None
    assert value[:2] == b"\x00\x01"
    assert decode_value(value) == replace(transition, last_producer_epoch=-1)


def test_version_zero_is_kafkas_old_layout() -> None:
    value = encode_value(replace(ONGOING, partitions=frozenset({P1})), transaction_version=0)
    expected = (
        "0000"  # version
        "000000000000000a0003"  # producer id, epoch
        "0000ea6001"  # timeout, status
        "00000001000174"  # one topic: t
        "0000000100000001"  # one partition: 1
        "00000000000000c80000000000000064"  # last update, start
    )
    assert value is not None
    assert value.hex() == expected
    assert decode_value(value).next_producer_id == -1


def test_an_empty_id_has_null_partitions() -> None:
    empty = encode_value(replace(ONGOING, state=S.EMPTY, partitions=frozenset()), 0)
    assert empty is not None
    assert empty[17:21] == b"\xff\xff\xff\xff"


def test_a_dead_id_is_a_tombstone() -> None:
    assert encode_value(replace(ONGOING, state=S.DEAD), 2) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\x00\x02" + bytes(40),
        b"\x00\x00\x00",
        # status 99
        b"\x00\x00" + bytes(8) + bytes(2) + bytes(4) + b"\x63" + b"\xff" * 4 + bytes(16),
    ],
)
def test_bytes_that_are_no_value(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_value(data)
