"""Reads message sets of magic 0 and 1 from old logs; never writes them.

Message: offset i64, size i32, crc u32 (IEEE, from magic to the end), magic i8, attributes i8,
timestamp i64 (magic 1 only), key and value (i32 length or -1, bytes). Attributes: bits 0-2 codec,
bit 3 timestamp type (magic 1).

A compressed message wraps a message set in its value. Inner offsets of magic 0 are absolute.
Of magic 1 they count from 0 and the wrapper has the last one's absolute offset (KIP-31); a
compacted wrapper may have gaps, so the base is wrapper offset minus the last inner offset.
If the wrapper has LogAppendTime, its timestamp is that of every message inside (KIP-32).
"""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import NO_TIMESTAMP, Codec, TimestampType
from barnabas.records.compression import decompress
from barnabas.records.record import RawRecord

LOG_OVERHEAD = 12
MIN_MESSAGE_SIZE = 14
"""crc, magic, attributes, and two null lengths: the least that `size` can say."""

_ENTRY = struct.Struct(">qiIbb")
_LONG = struct.Struct(">q")
_INT = struct.Struct(">i")
_CODEC_MASK = 0x07
_TIMESTAMP_TYPE_MASK = 0x08
_CRC_START = 16


class LegacyMessage(NamedTuple):
    """One entry of a message set, not unwrapped."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: memoryview | None

    @property
    def codec(self) -> Codec:
        try:
            codec = Codec(self.attributes & _CODEC_MASK)
        except ValueError:
            raise CorruptRecordError(f"unknown codec {self.attributes & _CODEC_MASK}") from None
        if codec == Codec.ZSTD:
            raise CorruptRecordError("zstd is not allowed in a message set (KIP-110)")
        return codec

    @property
    def timestamp_type(self) -> TimestampType:
        if self.magic > 0 and self.attributes & _TIMESTAMP_TYPE_MASK:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME


class MessageBatch(NamedTuple):
    """Yields the message itself, or the messages that it wraps."""

    records: list[RawRecord]
    timestamp_type: TimestampType
    next_offset: int


def decode_message(
    entry: memoryview, *, check_crcs: bool = True, max_decompressed: int
) -> MessageBatch:
    """The records of the message set entry that fills `entry` exactly."""
    message = _parse(entry, check_crcs)
    if message.codec == Codec.NONE:
        return MessageBatch([_raw(message)], message.timestamp_type, message.offset + 1)
    if message.value is None:
        raise CorruptRecordError("a compressed message without a value")
    plain = memoryview(decompress(message.codec, message.value, max_decompressed))
    inner = [_parse(part, check_crcs) for part in _entries(plain)]
    if not inner:
        raise CorruptRecordError("a compressed message that contains no messages")
    records = [_unwrap(message, part, _base_offset(message, inner)) for part in inner]
    last_offset = max(message.offset, records[-1].offset)
    return MessageBatch(records, message.timestamp_type, last_offset + 1)


def _entries(data: memoryview) -> Iterator[memoryview]:
    pos = 0
    while pos < len(data):
        size = -1
        if len(data) - pos >= LOG_OVERHEAD:
            size = _INT.unpack_from(data, pos + 8)[0]
        if size < MIN_MESSAGE_SIZE or size > len(data) - pos - LOG_OVERHEAD:
            raise CorruptRecordError(
                f"a message has the size {size}, but {len(data) - pos} bytes are left"
            )
        yield data[pos : pos + LOG_OVERHEAD + size]
        pos += LOG_OVERHEAD + size


def _parse(entry: memoryview, check_crcs: bool) -> LegacyMessage:
    if len(entry) < LOG_OVERHEAD + MIN_MESSAGE_SIZE:
        raise CorruptRecordError(f"{len(entry)} bytes are too few for a message")
    offset, _size, crc, magic, attributes = _ENTRY.unpack_from(entry)
    if magic not in (0, 1):
        raise CorruptRecordError(f"a message set cannot have magic {magic}")
    if offset < 0:
        raise CorruptRecordError(f"a message has the negative offset {offset}")
    if check_crcs and zlib.crc32(entry[_CRC_START:]) != crc:
        raise CorruptRecordError(f"the message at offset {offset} does not match its checksum")
    pos, timestamp = _ENTRY.size, NO_TIMESTAMP
    if magic == 1:
        if len(entry) < LOG_OVERHEAD + MIN_MESSAGE_SIZE + _LONG.size:
            raise CorruptRecordError("a message of magic 1 is too short for a timestamp")
        timestamp = _LONG.unpack_from(entry, pos)[0]
        pos += _LONG.size
    key, pos = _field(entry, pos)
    value, pos = _field(entry, pos)
    if pos != len(entry):
        raise CorruptRecordError(f"{len(entry) - pos} bytes follow the value of a message")
    return LegacyMessage(offset, magic, attributes, timestamp, _bytes(key), value)


def _field(entry: memoryview, pos: int) -> tuple[memoryview | None, int]:
    if len(entry) - pos < _INT.size:
        raise CorruptRecordError("a message ends before its key or value")
    size = _INT.unpack_from(entry, pos)[0]
    pos += _INT.size
    if size == -1:
        return None, pos
    if size < 0 or size > len(entry) - pos:
        raise CorruptRecordError(
            f"a key or value has the size {size}, but {len(entry) - pos} bytes are left"
        )
    return entry[pos : pos + size], pos + size


def _base_offset(wrapper: LegacyMessage, inner: list[LegacyMessage]) -> int:
    """Returns the number to add to inner offsets."""
    # A wrapper that no broker has stored yet has the offset 0.
    if wrapper.magic == 0 or wrapper.offset == 0:
        return 0
    base = wrapper.offset - inner[-1].offset
    if base < 0:
        raise CorruptRecordError(
            f"the inner offset {inner[-1].offset} is greater than the offset of its wrapper"
        )
    return base


def _unwrap(wrapper: LegacyMessage, message: LegacyMessage, base: int) -> RawRecord:
    if message.codec != Codec.NONE:
        raise CorruptRecordError("a compressed message contains a compressed message")
    if message.magic != wrapper.magic:
        raise CorruptRecordError("a wrapper contains messages of different magic")
    timestamp = message.timestamp
    if wrapper.timestamp_type == TimestampType.LOG_APPEND_TIME:
        timestamp = wrapper.timestamp
    return RawRecord(base + message.offset, timestamp, message.key, _bytes(message.value))


def _raw(message: LegacyMessage) -> RawRecord:
    return RawRecord(message.offset, message.timestamp, message.key, _bytes(message.value))


def _bytes(field: memoryview | None) -> bytes | None:
    return None if field is None else bytes(field)
