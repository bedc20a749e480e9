"""The header of a record batch (magic 2): parses it, iterates over batches, changes fields in
place.

Only the 61 header bytes are read, so the broker moves batches without decoding their records.
Big-endian layout:

    0  base_offset i64        21 attributes i16           43 producer_id i64
    8  batch_length i32       23 last_offset_delta i32    51 producer_epoch i16
    12 leader_epoch i32       27 base_timestamp i64       53 base_sequence i32
    16 magic i8               35 max_timestamp i64        57 records_count i32
    17 crc u32                                            61 records

`batch_length` is the number of bytes after it (from byte 12). The CRC-32C covers byte 21 to the
end, so only base offset and leader epoch can be changed without a new checksum.
Attributes: bits 0-2 codec, 3 timestamp type, 4 transactional, 5 control, 6 delete horizon.
"""

import struct
from collections.abc import Iterator

from crc32c import crc32c

from barnabas.model.errors import CorruptRecordError
from barnabas.records._batch_header_hot import (
    CODEC_MASK,
    CONTROL_MASK,
    DELETE_HORIZON_MASK,
    HEADER,
    LOG_OVERHEAD,
    MAX_SEQUENCE,
    TIMESTAMP_TYPE_MASK,
    TRANSACTIONAL_MASK,
    BatchHeader,
    codec_of,
)

__all__ = [
    "ATTRIBUTES_OFFSET",
    "CODEC_MASK",
    "CONTROL_MASK",
    "CRC_OFFSET",
    "DELETE_HORIZON_MASK",
    "HEADER",
    "HEADER_SIZE",
    "LOG_OVERHEAD",
    "MAGIC",
    "MAGIC_OFFSET",
    "MAX_OFFSET",
    "MAX_SEQUENCE",
    "MAX_TIMESTAMP_OFFSET",
    "TIMESTAMP_TYPE_MASK",
    "TRANSACTIONAL_MASK",
    "BatchHeader",
    "Buffer",
    "assign_offsets",
    "codec_of",
    "compute_crc",
    "crc_ok",
    "iter_batches",
    "parse_header",
    "set_max_timestamp",
    "stamp_log_append_time",
    "write_crc",
]

HEADER_SIZE = 61
MAGIC_OFFSET = 16
CRC_OFFSET = 17
MAX_TIMESTAMP_OFFSET = 35
ATTRIBUTES_OFFSET = 21
MAGIC = 2
MAX_OFFSET = 2**63 - 1

_CRC = struct.Struct(">I")
_OFFSET = struct.Struct(">q")
_ATTRIBUTES = struct.Struct(">h")
_EPOCH = struct.Struct(">i")

Buffer = bytes | bytearray | memoryview


def parse_header(buf: Buffer, pos: int = 0) -> BatchHeader:
    """Parses the header at `pos`; raises CorruptRecordError if it is short or invalid.

    Checks only the conditions on which every later step depends: magic, a length that covers the
    header, and counts that are not negative. The checksum and `validation` cover the rest.
    """
    if pos < 0 or len(buf) - pos < HEADER_SIZE:
        raise CorruptRecordError(f"{len(buf) - pos} bytes are too few for a batch header")
    header = BatchHeader(*HEADER.unpack_from(buf, pos))
    if header.magic != MAGIC:
        raise CorruptRecordError(f"magic {header.magic} where a batch of magic 2 was expected")
    if header.batch_length < HEADER_SIZE - LOG_OVERHEAD:
        raise CorruptRecordError(f"batch length {header.batch_length} does not cover its header")
    if header.last_offset_delta < 0 or header.records_count < 0 or header.base_offset < 0:
        raise CorruptRecordError(f"a negative count or offset in {header!r}")
    if header.next_offset > MAX_OFFSET:
        raise CorruptRecordError(f"an offset past the last possible one in {header!r}")
    return header


def iter_batches(
    buf: Buffer, pos: int = 0, end: int | None = None
) -> Iterator[tuple[int, BatchHeader]]:
    """Yields (position, header) of each whole batch; stops at an incomplete one at the end."""
    end = len(buf) if end is None else min(end, len(buf))
    while end - pos >= HEADER_SIZE:
        header = parse_header(buf, pos)
        if header.size > end - pos:
            return
        yield pos, header
        pos += header.size


def compute_crc(buf: Buffer, pos: int, size: int) -> int:
    """CRC-32C of the batch of `size` bytes at `pos`."""
    crc: int = crc32c(memoryview(buf)[pos + ATTRIBUTES_OFFSET : pos + size])
    return crc


def crc_ok(buf: Buffer, pos: int, header: BatchHeader) -> bool:
    """Whether the batch at `pos` is whole and its checksum is correct."""
    if len(buf) - pos < header.size:
        return False
    return compute_crc(buf, pos, header.size) == header.crc


def write_crc(buf: bytearray | memoryview, pos: int, size: int) -> int:
    """Computes and stores the checksum of the batch at `pos`."""
    crc = compute_crc(buf, pos, size)
    _CRC.pack_into(buf, pos + CRC_OFFSET, crc)
    return crc


def assign_offsets(
    buf: bytearray | memoryview, pos: int, base_offset: int, leader_epoch: int
) -> None:
    """Sets base offset and leader epoch; the checksum does not cover these fields."""
    _OFFSET.pack_into(buf, pos, base_offset)
    _EPOCH.pack_into(buf, pos + LOG_OVERHEAD, leader_epoch)


def set_max_timestamp(
    buf: bytearray | memoryview, pos: int, header: BatchHeader, timestamp_ms: int
) -> None:
    """Corrects the max timestamp of a batch, its checksum and `header`."""
    header.max_timestamp = timestamp_ms
    _OFFSET.pack_into(buf, pos + MAX_TIMESTAMP_OFFSET, timestamp_ms)
    header.crc = write_crc(buf, pos, header.size)


def stamp_log_append_time(
    buf: bytearray | memoryview, pos: int, header: BatchHeader, timestamp_ms: int
) -> None:
    """Sets the timestamp of every record to `timestamp_ms` (LogAppendTime), in the batch and
    `header`.

    It changes flag, max timestamp and checksum. The deltas stay: readers of such a batch use the
    max timestamp for all records.
    """
    header.attributes |= TIMESTAMP_TYPE_MASK
    _ATTRIBUTES.pack_into(buf, pos + ATTRIBUTES_OFFSET, header.attributes)
    set_max_timestamp(buf, pos, header, timestamp_ms)
