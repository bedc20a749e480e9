"""The records of `__transaction_state`: key and value bytes to and from a `Transition`.

Key: int16 version 0, transactional id. Value: int16 version, then `TransactionLogValue`; version 1
(flexible, with the tags of KIP-890) is written once transaction.version is 1 or more, else 0.
Keys of unknown versions are skipped, as a newer broker may have written them. The partitions are
null, not an empty list, in state EMPTY, as Kafka writes them and its tools expect.
"""

import struct
from collections.abc import Iterable

from barnabas.model.errors import ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.transactions.metadata import TransactionState, Transition
from barnabas.wire.messages.transaction_log_key import TransactionLogKey
from barnabas.wire.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from barnabas.wire.primitives import Part, join_parts

KEY_VERSION = 0
_VERSION = struct.Struct(">h")


def encode_key(transactional_id: str) -> bytes:
    return _with_version(KEY_VERSION, TransactionLogKey(transactional_id).encode(KEY_VERSION))


def decode_key(key: bytes) -> str | None:
    """Returns the transactional id, or None for a key of an unknown version."""
    version = _version_of(key)
    if version != KEY_VERSION:
        return None
    return TransactionLogKey.decode(memoryview(key), version, _VERSION.size).transactional_id


def encode_value(transition: Transition, transaction_version: int) -> bytes | None:
    """Returns the value for the broker's `transaction_version`; None (a tombstone) for DEAD."""
    if transition.state is TransactionState.DEAD:
        return None
    version = 1 if transaction_version >= 1 else 0
    empty = transition.state is TransactionState.EMPTY
    value = TransactionLogValue(
        producer_id=transition.producer_id,
        producer_epoch=transition.producer_epoch,
        transaction_timeout_ms=transition.timeout_ms,
        transaction_status=transition.state.value,
        transaction_partitions=None if empty else _by_topic(transition.partitions),
        transaction_last_update_timestamp_ms=transition.update_ms,
        transaction_start_timestamp_ms=transition.start_ms,
    )
    if version >= 1:
        value.previous_producer_id = transition.previous_producer_id
        value.next_producer_id = transition.next_producer_id
        value.client_transaction_version = transition.transaction_version
    return _with_version(version, value.encode(version))


def decode_value(data: bytes) -> Transition:
    """Returns the decoded value; raises ProtocolError for an invalid or unknown one."""
    version = _version_of(data)
    if version not in (0, 1):
        raise ProtocolError(f"transaction state record of unknown version {version}")
    value = TransactionLogValue.decode(memoryview(data), version, _VERSION.size)
    return Transition(
        state=_state_of(value.transaction_status),
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        timeout_ms=value.transaction_timeout_ms,
        update_ms=value.transaction_last_update_timestamp_ms,
        partitions=_flatten(value.transaction_partitions or []),
        start_ms=value.transaction_start_timestamp_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        transaction_version=value.client_transaction_version,
    )


def _state_of(number: int) -> TransactionState:
    try:
        return TransactionState(number)
    except ValueError:
        raise ProtocolError(f"no transaction state has the number {number}") from None


def _version_of(data: bytes) -> int:
    if len(data) < _VERSION.size:
        raise ProtocolError("a record of the transaction state is too short for its version")
    return int(_VERSION.unpack_from(data)[0])


def _with_version(version: int, parts: Iterable[Part]) -> bytes:
    return _VERSION.pack(version) + join_parts(parts)


def _by_topic(partitions: frozenset[TopicPartition]) -> list[PartitionsSchema]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic, numbers) for topic, numbers in topics.items()]


def _flatten(topics: list[PartitionsSchema]) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic, number) for topic in topics for number in topic.partition_ids
    )
