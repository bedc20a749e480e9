"""Encodes and decodes stored records that start with an int16 version.

In `__consumer_offsets` the version of a key identifies the kind of record: 0 and 1 a committed
offset, 2 a classic group, 3 to 8 and 16 the parts of a KIP-848 group. `__transaction_state` has
only key version 0. Values have a separate version; a null value deletes the key. Subscriptions,
assignments and control records start with a version too.
"""

from functools import cache
from importlib import import_module
from struct import Struct
from typing import TypeVar

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire.message import Message
from barnabas.wire.primitives import join_parts

REBALANCE_REASON = "rebalance.reason"
REBALANCE_START_MS = "rebalance.start.ms"
"""Headers of the record of a generation: why and when its rebalance started. Apache Kafka writes
none and ignores them."""

_VERSION = Struct(">h")
_M = TypeVar("_M", bound=Message)

_OFFSETS_TOPIC = {
    0: ("OffsetCommitKey", "OffsetCommitValue"),
    1: ("OffsetCommitKey", "OffsetCommitValue"),
    2: ("GroupMetadataKey", "GroupMetadataValue"),
    3: ("ConsumerGroupMetadataKey", "ConsumerGroupMetadataValue"),
    4: ("ConsumerGroupPartitionMetadataKey", "ConsumerGroupPartitionMetadataValue"),
    5: ("ConsumerGroupMemberMetadataKey", "ConsumerGroupMemberMetadataValue"),
    6: ("ConsumerGroupTargetAssignmentMetadataKey", "ConsumerGroupTargetAssignmentMetadataValue"),
    7: ("ConsumerGroupTargetAssignmentMemberKey", "ConsumerGroupTargetAssignmentMemberValue"),
    8: ("ConsumerGroupCurrentMemberAssignmentKey", "ConsumerGroupCurrentMemberAssignmentValue"),
    16: ("ConsumerGroupRegularExpressionKey", "ConsumerGroupRegularExpressionValue"),
}
_TRANSACTION_TOPIC = {0: ("TransactionLogKey", "TransactionLogValue")}


def encode_versioned(message: Message, version: int) -> bytes:
    """Returns the version prefix and the body."""
    return _VERSION.pack(version) + join_parts(message.encode(version))


def decode_versioned(cls: type[_M], data: bytes | memoryview) -> _M:
    """Decodes a message after its version prefix; a newer version is read as the highest one here.

    Consumers may send a newer subscription; new versions only add fields at its end.
    """
    return cls.decode(memoryview(data), min(version_of(data), cls.MAX_VERSION), _VERSION.size)


def version_of(data: bytes | memoryview) -> int:
    """Returns the version prefix."""
    if len(data) < _VERSION.size:
        raise ProtocolError(f"record of {len(data)} bytes has no version")
    version: int = _VERSION.unpack_from(data)[0]
    return version


def maybe_decode_offsets_record(
    key: bytes | memoryview, value: bytes | memoryview | None
) -> tuple[Message, Message | None] | None:
    """Returns key and value of a `__consumer_offsets` record; the value None deletes the key.

    Returns None for an unknown kind of record: a newer broker may have written it, and the reader
    must skip it.
    """
    return _maybe_decode(_OFFSETS_TOPIC, key, value)


def maybe_decode_transaction_record(
    key: bytes | memoryview, value: bytes | memoryview | None
) -> tuple[Message, Message | None] | None:
    """Returns key and value (None deletes) of a `__transaction_state` record; None if unknown."""
    return _maybe_decode(_TRANSACTION_TOPIC, key, value)


def _maybe_decode(
    kinds: dict[int, tuple[str, str]], key: bytes | memoryview, value: bytes | memoryview | None
) -> tuple[Message, Message | None] | None:
    names = kinds.get(version_of(key))
    if names is None:
        return None
    decoded_key = decode_versioned(record_class(names[0]), key)
    if value is None:
        return decoded_key, None
    value_class = record_class(names[1])
    version = version_of(value)
    if version > value_class.MAX_VERSION:
        raise ProtocolError(f"{names[1]} has no version {version}")
    return decoded_key, decode_versioned(value_class, value)


@cache
def record_class(name: str) -> type[Message]:
    """Returns the class of a stored record by its name; imports it on first use."""
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    try:
        loaded: type[Message] = getattr(import_module(f"barnabas.wire.messages.{module}"), name)
    except ModuleNotFoundError:
        raise LocalError(f"unknown record class {name}") from None
    return loaded
