"""Stored records whose bytes begin with an int16 version.

In `__consumer_offsets` the version of a key tells what kind of record it is: 0 and 1 a committed
offset, 2 a classic group, 3 to 8 and 16 the pieces of a KIP-848 group. `__transaction_state` has
the one key version 0. Values carry a version of their own; no value at all deletes the key.
Subscriptions, assignments and control records begin with a version too.
"""

from functools import cache
from importlib import import_module
from struct import Struct
from typing import TypeVar

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire.message import Message

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
    """Version prefix and body."""
    parts = message.encode(version)
    return _VERSION.pack(version) + b"".join(parts)  # type: ignore[arg-type]


def decode_versioned(cls: type[_M], data: bytes | memoryview) -> _M:
    """The message behind its version prefix; a version above ours is read as our highest.

    Consumers may send a subscription newer than ours; fields are only ever added at its end.
    """
    return cls.decode(memoryview(data), min(version_of(data), cls.MAX_VERSION), _VERSION.size)


def version_of(data: bytes | memoryview) -> int:
    """The version prefix."""
    if len(data) < _VERSION.size:
        raise ProtocolError(f"record of {len(data)} bytes has no version")
    version: int = _VERSION.unpack_from(data)[0]
    return version


def maybe_decode_offsets_record(
    key: bytes | memoryview, value: bytes | memoryview | None
) -> tuple[Message, Message | None] | None:
    """Key and value (None deletes it) of a `__consumer_offsets` record.

    None for kinds that are not known here: a newer broker may have written them, and a reader
    must pass over them.
    """
    return _maybe_decode(_OFFSETS_TOPIC, key, value)


def maybe_decode_transaction_record(
    key: bytes | memoryview, value: bytes | memoryview | None
) -> tuple[Message, Message | None] | None:
    """Key and value (None deletes it) of a `__transaction_state` record; None if unknown."""
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
    """A stored record's class by name, imported on first use."""
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    try:
        loaded: type[Message] = getattr(import_module(f"barnabas.wire.messages.{module}"), name)
    except ModuleNotFoundError:
        raise LocalError(f"no record is called {name}") from None
    return loaded
