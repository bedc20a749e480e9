"""Encodes records into the body of a batch. Cython compiles it; it also runs as plain Python.

A producer's accumulator fills a `RecordAppender` from `send()`: one growing bytearray with room for
the batch header in front, so that an uncompressed batch is finished without a copy. `builder` does
compression, checksums and header fields.

Record: varint length, i8 attributes, varlong timestamp delta, varint offset delta, key and value
(varint length or -1, bytes), varint header count, headers (key, value). Varints are zigzag.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import TYPE_CHECKING

from crc32c import crc32c

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.records._batch_header_hot import HEADER, LOG_OVERHEAD

if cython.compiled:
    from cython.cimports.cpython.bytearray import (
        PyByteArray_AS_STRING,
        PyByteArray_Resize,
    )
    from cython.cimports.cpython.bytes import (
        PyBytes_AS_STRING,
    )
    from cython.cimports.libc.string import memcpy

if TYPE_CHECKING:
    from barnabas.records._rows_hot import RowEncoder

COMPILED: bool = cython.compiled

_PREFIX = cython.declare(cython.Py_ssize_t, 61)
_MAX_RECORD = cython.declare(cython.Py_ssize_t, 2**31 - 1)
_LOG_OVERHEAD = cython.declare(cython.Py_ssize_t, LOG_OVERHEAD)
_MAGIC = cython.declare(cython.int, 2)
_CRC_AT = cython.declare(cython.Py_ssize_t, 17)
_pack_header = HEADER.pack_into
_pack_crc = Struct(">I").pack_into

BytesLike = bytes | bytearray | memoryview


@cython.cfunc
def _as_bytes(data: BytesLike | None) -> bytes | None:
    """Returns an object of type bytes (or None), which C code reads without a buffer view."""
    if data is None or type(data) is bytes:
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise TypeError(f"keys and values are bytes or None, not {type(data).__name__}")


@cython.cfunc
def _encode_headers(
    headers: Iterable[tuple[str, BytesLike | str | None]], text: cython.bint
) -> list:
    """Returns pairs of bytes; `text` says whether values may be text."""
    encoded: list = []
    for pair in headers:
        if isinstance(pair, str):  # a text of two letters would be a pair of them
            raise TypeError(f"a header is a pair of a name and bytes, not {pair!r}")
        key, value = pair
        data: object = value.encode() if text and isinstance(value, str) else value
        encoded.append((_encode_name(key), _as_bytes(data)))
    return encoded


@cython.cfunc
def _encode_name(key: object) -> bytes:
    if type(key) is str:
        name: str = key  # typed: Cython encodes it without the call of a method
        return name.encode("utf-8", "surrogateescape")
    return key.encode("utf-8", "surrogateescape")  # type: ignore[attr-defined]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _zigzag(value: cython.longlong) -> cython.ulonglong:
    return (value << 1) ^ (value >> 63)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _varint_size(value: cython.longlong) -> cython.Py_ssize_t:
    if -64 <= value < 64:
        return 1
    rest: cython.ulonglong = _zigzag(value)
    size: cython.Py_ssize_t = 1
    while rest >= 0x80:
        rest >>= 7
        size += 1
    return size


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _field_size(data: bytes | None) -> cython.Py_ssize_t:
    if data is None:
        return 1
    size: cython.Py_ssize_t = len(data)
    return _varint_size(size) + size


@cython.cfunc
@cython.exceptval(-1)
def _headers_size(headers: list) -> cython.Py_ssize_t:
    size: cython.Py_ssize_t = _varint_size(len(headers))
    for key, value in headers:
        size += _field_size(key) + _field_size(value)
    return size


@cython.final
@cython.cclass
class RecordAppender:
    """Appends records to one batch body. Not thread-safe: its owner has the lock.

    Lifecycle: append until full, `take()` once, then drop it. `size` counts the header's 61 bytes.
    The attributes are declared in the `.pxd`, which `_send_hot` uses too.
    """

    def __init__(
        self, capacity: cython.Py_ssize_t = 1024, base_timestamp: int | None = None
    ) -> None:
        """Timestamp deltas are relative to `base_timestamp`, by default the first record's
        timestamp.
        """
        self._array = bytearray()
        self._capacity = 0
        self._size = _PREFIX
        self._count = 0
        self._largest = 0
        self._next_delta = 0
        self._closed = False
        self._based = base_timestamp is not None
        self._base_timestamp = -1 if base_timestamp is None else base_timestamp
        self._max_timestamp = -1
        self._grow(max(capacity, 128))

    @property
    def size(self) -> int:
        """Bytes of the batch so far, uncompressed, header included."""
        return self._size

    @property
    def count(self) -> int:
        return self._count

    @property
    def largest(self) -> int:
        """Bytes of the largest record; rows of columns count with the average of their run."""
        return self._largest

    @property
    def base_timestamp(self) -> int:
        """The timestamp to which the deltas are relative; -1 before the first record."""
        return self._base_timestamp

    @property
    def max_timestamp(self) -> int:
        return self._max_timestamp

    def append(
        self,
        timestamp_ms: cython.longlong,
        key: BytesLike | None,
        value: BytesLike | None,
        headers: Iterable[tuple[str, BytesLike | None]] = (),
    ) -> int:
        """Encodes one record; returns its offset delta."""
        plain = _encode_headers(headers, False) if headers else None
        return self._append(timestamp_ms, _as_bytes(key), _as_bytes(value), plain, _MAX_RECORD)

    def append_at(
        self,
        offset_delta: cython.int,
        timestamp_ms: cython.longlong,
        key: BytesLike | None,
        value: BytesLike | None,
        headers: Iterable[tuple[str, BytesLike | None]] = (),
    ) -> int:
        """Appends at a given offset delta, for batches with gaps from compaction."""
        if offset_delta < self._next_delta:
            raise ValueError(f"offset delta {offset_delta} after {self._next_delta - 1}")
        self._next_delta = offset_delta
        return self.append(timestamp_ms, key, value, headers)

    @cython.ccall
    @cython.exceptval(-2)
    def try_append(
        self,
        timestamp_ms: cython.longlong,
        key: BytesLike | None,
        value: BytesLike | None,
        headers: Iterable[tuple[str, BytesLike | str | None]],
        limit: cython.Py_ssize_t,
    ) -> cython.int:
        """Appends a record; returns -1 without effect if the batch would exceed `limit` bytes.

        The first record is always appended: a record larger than the limit has its own batch.
        Nothing is appended after `close()` or `take()`. Another thread may call them while headers
        are encoded, because a garbage collection can let other threads run. The headers are those
        that the application gave to `send()`, so their values may be text.
        """
        plain = _encode_headers(headers, True) if headers else None
        if self._closed:
            return -1
        if self._count == 0:
            limit = _MAX_RECORD
        return self._append(timestamp_ms, _as_bytes(key), _as_bytes(value), plain, limit)

    def try_append_rows(
        self,
        timestamp_ms: cython.longlong,
        encoder: RowEncoder,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        limit: cython.Py_ssize_t,
    ) -> int:
        """Appends rows of Arrow columns while the batch stays within `limit` bytes; returns their
        number.

        `timestamp_ms` is the timestamp of rows that have none.
        """
        if self._closed:
            return 0
        if limit > self._capacity:
            self._grow(limit)
        first = self._base_timestamp if self._based else encoder.time(start, timestamp_ms)
        base = (self._next_delta, first, timestamp_ms)
        size, count, latest = encoder.encode(self._array, (self._size, limit), base, (start, stop))
        if count:
            self._note_time(first)
            self._note_time(latest)
            self._largest = max(self._largest, (size - self._size) // count)
            self._size = size
            self._count += count
            self._next_delta += count
        return count

    def size_if_appended(
        self,
        timestamp_ms: cython.longlong,
        key: BytesLike | None,
        value: BytesLike | None,
        headers: Iterable[tuple[str, BytesLike | None]] = (),
    ) -> int:
        """Returns the value of `size` after this record."""
        plain = _encode_headers(headers, False) if headers else None
        body = self._body_size(timestamp_ms, _as_bytes(key), _as_bytes(value), plain)
        return self._size + _varint_size(body) + body

    def close(self) -> None:
        """Rejects all records of `try_append` and `try_append_rows` from now on."""
        self._closed = True

    def take(self) -> bytearray:
        """Returns 61 empty bytes for the header and then the records; ends the use of the
        appender.
        """
        self._closed = True
        array = self._array
        del array[self._size :]
        self._array = bytearray()
        self._capacity = 0
        self._size = _PREFIX
        self._count = self._next_delta = 0
        self._grow(128)
        return array

    def take_sealed(
        self, producer_id: cython.longlong, producer_epoch: cython.int, base_sequence: cython.int
    ) -> bytearray:
        """Returns the uncompressed batch with its header and checksum; no transaction.

        The same as `take`, `BatchBuilder.build_unsealed` and the checksum, in one call.
        """
        count: cython.int = self._count
        base: cython.longlong = self._base_timestamp
        latest: cython.longlong = self._max_timestamp
        batch = self.take()
        length: cython.Py_ssize_t = len(batch) - _LOG_OVERHEAD
        last: cython.int = count - 1 if count else 0
        numbers = (producer_id, producer_epoch, base_sequence, count)
        _pack_header(batch, 0, 0, length, -1, _MAGIC, 0, 0, last, base, latest, *numbers)
        _pack_crc(batch, _CRC_AT, crc32c(memoryview(batch)[_CRC_AT + 4 :]))
        return batch

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _timestamp_delta(self, timestamp_ms: cython.longlong) -> cython.longlong:
        """Returns the difference to the base; it wraps as 64-bit numbers in C and Java do."""
        if not self._based:
            return 0
        delta: cython.longlong = timestamp_ms - self._base_timestamp
        if not cython.compiled:
            delta = (delta + 2**63) % 2**64 - 2**63
        return delta

    @cython.cfunc
    @cython.exceptval(-1)
    def _body_size(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: list | None,
    ) -> cython.Py_ssize_t:
        delta: cython.longlong = self._timestamp_delta(timestamp_ms)
        size: cython.Py_ssize_t = 1 + _varint_size(delta) + _varint_size(self._next_delta)
        size += _field_size(key) + _field_size(value)
        size += 1 if headers is None else _headers_size(headers)
        return size

    @cython.cfunc
    @cython.exceptval(-2)
    def _append(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: list | None,
        limit: cython.Py_ssize_t,
    ) -> cython.int:
        body: cython.Py_ssize_t = self._body_size(timestamp_ms, key, value, headers)
        size: cython.Py_ssize_t = self._size + _varint_size(body) + body
        if size > limit:
            if limit == _MAX_RECORD:
                raise ValueError(f"a batch of {size} bytes exceeds the range of its length field")
            return -1
        if size > self._capacity:
            self._grow(size)
        if size - self._size > self._largest:
            self._largest = size - self._size
        self._write(timestamp_ms, key, value, headers, body)
        self._count += 1
        self._next_delta += 1
        return self._next_delta - 1

    @cython.cfunc
    def _write(
        self,
        timestamp_ms: cython.longlong,
        key: bytes | None,
        value: bytes | None,
        headers: list | None,
        body: cython.Py_ssize_t,
    ) -> cython.void:
        """Room was made by the caller."""
        self._note_time(timestamp_ms)
        self._put_varint(body)
        self._data[self._size] = 0
        self._size += 1
        self._put_varint(self._timestamp_delta(timestamp_ms))
        self._put_varint(self._next_delta)
        self._put_field(key)
        self._put_field(value)
        if headers is None:
            self._put_varint(0)
            return
        self._put_varint(len(headers))
        for header_key, header_value in headers:
            self._put_field(header_key)
            self._put_field(header_value)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _note_time(self, timestamp_ms: cython.longlong) -> cython.void:
        """Sets the base timestamp at the first record, and the largest timestamp."""
        if not self._based:
            self._based = True
            self._base_timestamp = timestamp_ms
        if timestamp_ms > self._max_timestamp:
            self._max_timestamp = timestamp_ms

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _put_varint(self, value: cython.longlong) -> cython.void:
        rest: cython.ulonglong = (value << 1) ^ (value >> 63)
        while rest >= 0x80:
            self._data[self._size] = (rest & 0x7F) | 0x80
            self._size += 1
            rest >>= 7
        self._data[self._size] = rest & 0x7F
        self._size += 1

    @cython.cfunc
    @cython.inline
    def _put_field(self, data: bytes | None) -> cython.void:
        if data is None:
            self._put_varint(-1)
            return
        size: cython.Py_ssize_t = len(data)
        self._put_varint(size)
        if cython.compiled:
            memcpy(self._data + self._size, PyBytes_AS_STRING(data), size)
        else:
            self._data[self._size : self._size + size] = data
        self._size += size

    @cython.cfunc
    def _grow(self, needed: cython.Py_ssize_t) -> cython.void:
        capacity: cython.Py_ssize_t = max(needed, 2 * self._capacity)
        if cython.compiled:
            PyByteArray_Resize(self._array, capacity)
            self._data = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(self._array))
        else:
            self._array.extend(bytes(capacity - self._capacity))
            self._data = self._array
        self._capacity = capacity
