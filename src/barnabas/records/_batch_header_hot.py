"""The header of a record batch (magic 2): its thirteen fields, and the end of many batches.

Compiled by Cython, with the C types of `_batch_header_hot.pxd`; it also runs as plain Python. The
layout is described in `batch`, which parses and changes headers.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

import struct
from typing import Any

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import NO_SEQUENCE, Codec, TimestampType

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import i16, i32, i64, u32

COMPILED: bool = cython.compiled

_LOG_OVERHEAD = cython.declare(cython.Py_ssize_t, 12)
_MAGIC_OFFSET = cython.declare(cython.Py_ssize_t, 16)
_LAST_DELTA_OFFSET = cython.declare(cython.Py_ssize_t, 23)
LOG_OVERHEAD = 12
"""Base offset and length: the part that stands before what `batch_length` counts."""
CODEC_MASK = 0x07
TIMESTAMP_TYPE_MASK = 0x08
TRANSACTIONAL_MASK = 0x10
CONTROL_MASK = 0x20
DELETE_HORIZON_MASK = 0x40
MAX_SEQUENCE = 2**31 - 1

HEADER = struct.Struct(">qiibIhiqqqhii")

_CODECS = {int(codec): codec for codec in Codec}
_CREATE_TIME = TimestampType.CREATE_TIME
_LOG_APPEND_TIME = TimestampType.LOG_APPEND_TIME


def codec_of(attributes: int) -> Codec:
    """Returns the codec in the attributes of a batch; raises CorruptRecordError if unknown."""
    codec = _CODECS.get(attributes & CODEC_MASK)
    if codec is None:
        raise CorruptRecordError(f"unknown codec {attributes & CODEC_MASK}")
    return codec


@cython.final
@cython.cclass
class BatchHeader:
    """The thirteen header fields in wire order, and values derived from them."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "batch_length",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "producer_epoch",
        "producer_id",
        "records_count",
    )

    def __init__(  # noqa: PLR0913 - the wire's fields, filled positionally by one unpack
        self,
        base_offset: int,
        batch_length: int,
        partition_leader_epoch: int,
        magic: int,
        crc: int,
        attributes: int,
        last_offset_delta: int,
        base_timestamp: int,
        max_timestamp: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        records_count: int,
    ) -> None:
        self.base_offset = base_offset
        self.batch_length = batch_length
        self.partition_leader_epoch = partition_leader_epoch
        self.magic = magic
        self.crc = crc
        self.attributes = attributes
        self.last_offset_delta = last_offset_delta
        self.base_timestamp = base_timestamp
        self.max_timestamp = max_timestamp
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.records_count = records_count

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        # Python's numbers: this sum of two fields that were just parsed may be too large for C.
        last: int = cython.cast(object, self.base_offset) + self.last_offset_delta
        return last

    @property
    def next_offset(self) -> int:
        """Offset of the next read; not base + count, because compaction leaves gaps."""
        after: int = cython.cast(object, self.base_offset) + self.last_offset_delta + 1
        return after

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes)

    @property
    def timestamp_type(self) -> TimestampType:
        return _LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_MASK else _CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_MASK != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_MASK != 0

    @property
    def has_delete_horizon(self) -> bool:
        """Whether `base_timestamp` is the delete horizon of tombstones (KIP-534)."""
        return self.attributes & DELETE_HORIZON_MASK != 0

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id >= 0

    @property
    def last_sequence(self) -> int:
        """The last record's sequence; sequences wrap from 2^31-1 to 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & MAX_SEQUENCE

    def _fields(self) -> tuple[int, ...]:
        return (
            self.base_offset,
            self.batch_length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.records_count,
        )

    def encode(self) -> bytes:
        """The 61 header bytes."""
        return HEADER.pack(*self._fields())

    def __eq__(self, other: object) -> bool:
        return self._fields() == other._fields() if isinstance(other, BatchHeader) else False

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return (
            f"BatchHeader(offsets={self.base_offset}..{self.last_offset}, "
            f"count={self.records_count}, size={self.size}, "
            f"attributes={self.attributes:#04x}, epoch={self.partition_leader_epoch}, "
            f"producer={self.producer_id}/{self.producer_epoch}/{self.base_sequence})"
        )


@cython.cfunc
def header_at(data: cython.p_uchar) -> BatchHeader:
    """Returns the header at the beginning of `data`, which has at least 61 bytes."""
    if not cython.compiled:
        return BatchHeader(*HEADER.unpack_from(data))
    header: BatchHeader = BatchHeader.__new__(BatchHeader)
    header.base_offset = i64(data, 0)
    header.batch_length = i32(data, 8)
    header.partition_leader_epoch = i32(data, 12)
    header.magic = cython.cast(cython.schar, data[16])
    header.crc = u32(data, 17)
    header.attributes = i16(data, 21)
    header.last_offset_delta = i32(data, 23)
    header.base_timestamp = i64(data, 27)
    header.max_timestamp = i64(data, 35)
    header.producer_id = i64(data, 43)
    header.producer_epoch = i16(data, 51)
    header.base_sequence = i32(data, 53)
    header.records_count = i32(data, 57)
    return header


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _i32(data: cython.p_uchar, at: cython.Py_ssize_t) -> cython.int:
    if not cython.compiled:
        return int.from_bytes(data[at : at + 4], "big", signed=True)
    return i32(data, at)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _i64(data: cython.p_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    if not cython.compiled:
        return int.from_bytes(data[at : at + 8], "big", signed=True)
    return i64(data, at)


def next_fetch_offset(buf: Any, fetch_offset: cython.longlong) -> int:
    """Returns the offset after the last whole batch in `buf`; reads only the batch headers.

    Returns `fetch_offset` if there is no whole batch. A message set of the old formats (magic 0
    and 1) starts with the offset of its last message, so it has no delta to add.
    """
    view: cython.const[cython.uchar][::1] = buf  # type: ignore[valid-type]
    size: cython.Py_ssize_t = len(buf)
    if size <= _MAGIC_OFFSET:
        return fetch_offset
    data: cython.p_uchar = (
        cython.cast(cython.p_uchar, cython.address(view[0])) if cython.compiled else view
    )
    at: cython.Py_ssize_t = 0
    end: cython.longlong = fetch_offset
    while at + _MAGIC_OFFSET < size:
        last: cython.longlong = _i64(data, at)
        length: cython.Py_ssize_t = _i32(data, at + 8)
        if length <= 0 or length > size - at - _LOG_OVERHEAD:
            break
        if data[at + _MAGIC_OFFSET] == 2 and length > _LAST_DELTA_OFFSET:
            last += _i32(data, at + _LAST_DELTA_OFFSET)
        end = max(end, last + 1)
        at += _LOG_OVERHEAD + length
    return end
