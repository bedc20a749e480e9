"""Decodes the records of a batch. Cython compiles it; it also runs as plain Python, slower.

`RecordCursor` reads the decompressed records of one batch and converts them to `Record` objects,
`RawRecord`s, or Arrow column buffers without a Python object per record. `reader` parses batch
headers, decompresses and verifies checksums.

Safety: every varint and length is compared with the end of its record, and the record with the end
of the batch, before it is read. No count in the data alone causes an allocation. Every error raises
CorruptRecordError.
"""

from __future__ import annotations

from typing import Any, NoReturn

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import TimestampType
from barnabas.records.record import RawRecord

if cython.compiled:
    from cython.cimports.barnabas.records._batch_header_hot import BatchHeader
    from cython.cimports.barnabas.records._columns_hot import ArrowColumns
    from cython.cimports.barnabas.records._object_calls import PyObject_GC_UnTrack
    from cython.cimports.barnabas.records._plain_record import (
        PLAIN_HEAD,
        PlainRecord,
        plain_record,
    )
    from cython.cimports.barnabas.records._record_hot import Record
    from cython.cimports.cpython.bytes import PyBytes_AS_STRING, PyBytes_FromStringAndSize
    from cython.cimports.libc.string import memcmp, memcpy
else:
    from barnabas.records._batch_header_hot import BatchHeader
    from barnabas.records._columns_hot import ArrowColumns
    from barnabas.records._record_hot import Record

COMPILED: bool = cython.compiled

# The smallest record: length, attributes, two deltas, two null lengths, header count.
_MIN_RECORD = cython.declare(cython.Py_ssize_t, 7)
# Records of more bytes are checked without the interpreter lock.
_NOGIL_BYTES = cython.declare(cython.Py_ssize_t, 1 << 20)
# Values of more bytes are copied without the interpreter lock.
_LARGE_VALUE = cython.declare(cython.Py_ssize_t, 65536)
_MIN_HEADER = cython.declare(cython.Py_ssize_t, 2)
# The return value of a C function for an error; a rare value, so the check for an error is rare.
_ERROR = cython.declare(cython.longlong, -4611686018427387904)

_LOG_APPEND_BIT = cython.declare(cython.int, 0x08)

_CREATE_TIME = TimestampType.CREATE_TIME
_LOG_APPEND_TIME = TimestampType.LOG_APPEND_TIME


def _corrupt(reason: str) -> NoReturn:
    raise CorruptRecordError(reason)


@cython.cfunc
@cython.inline
def _untracked(fields: tuple) -> tuple:
    """Returns a tuple of text, bytes and such tuples; the garbage collector need not visit it."""
    if cython.compiled:
        PyObject_GC_UnTrack(fields)
    return fields


@cython.cfunc
def _copy_large(data: cython.p_uchar, start: cython.Py_ssize_t, size: cython.Py_ssize_t) -> bytes:
    """Copies a large value without the interpreter lock. Compiled only."""
    value: bytes = PyBytes_FromStringAndSize(cython.NULL, size)
    target: cython.p_char = PyBytes_AS_STRING(value)
    with cython.nogil:
        memcpy(target, data + start, size)
    return value


@cython.cfunc
def check_records(
    data: cython.p_uchar,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    header: BatchHeader,
) -> tuple:
    """Checks the records from `begin` to `end` of uncompressed data, as `RecordCursor.check`.

    A cursor without a view of the data costs a small batch much less. The caller keeps the data.
    """
    cursor: RecordCursor = RecordCursor.__new__(RecordCursor)
    cursor._start(begin, end, header)
    cursor._data = data
    return cursor.check()


@cython.cfunc
@cython.exceptval(-1)
def append_records(  # noqa: PLR0913 - one call per batch across modules, so all of it at once
    data: cython.p_uchar,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    header: BatchHeader,
    topic: str,
    partition: cython.int,
    out: list,
) -> cython.int:
    """Appends the records from `begin` to `end` of uncompressed data to `out`."""
    cursor: RecordCursor = RecordCursor.__new__(RecordCursor)
    cursor._start(begin, end, header)
    cursor._data = data
    cursor.records(topic, partition, header.base_offset, out)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def add_records(
    data: cython.p_uchar,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    header: BatchHeader,
    columns: ArrowColumns,
) -> cython.int:
    """Adds the records from `begin` to `end` of uncompressed data to Arrow columns; if it raises,
    none of them.
    """
    mark: tuple = columns.mark()
    try:
        cursor: RecordCursor = RecordCursor.__new__(RecordCursor)
        cursor._start(begin, end, header)
        cursor._data = data
        cursor.columns(columns, header.base_offset)
    except CorruptRecordError:
        columns.rollback(mark)
        raise
    return 0


@cython.final
@cython.cclass
class RecordCursor:
    """Reads the records in `data`, the decompressed contents of the batch of `header`.

    It is used for one pass.
    """

    _view: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _data: cython.p_uchar
    _pos: cython.Py_ssize_t
    _end: cython.Py_ssize_t
    _record_end: cython.Py_ssize_t
    _left: cython.int
    _base_offset: cython.longlong
    _base_timestamp: cython.longlong
    _append_timestamp: cython.longlong
    _append_time: cython.bint
    _last_delta: cython.longlong
    _leader_epoch: cython.int
    _timestamp_type: TimestampType
    # The record under the cursor.
    _offset: cython.longlong
    _timestamp: cython.longlong
    _key_start: cython.Py_ssize_t
    _key_size: cython.Py_ssize_t
    _value_start: cython.Py_ssize_t
    _value_size: cython.Py_ssize_t
    _headers_left: cython.Py_ssize_t
    # Results of `check` so far.
    _checked: cython.longlong
    _lowest: cython.longlong
    _highest: cython.longlong
    _keyless: cython.longlong
    # Header names of the last record, each as bytes and as text: most records have the same.
    _names: list | None

    def __init__(self, data: bytes | bytearray | memoryview, header: Any) -> None:
        size: cython.Py_ssize_t = len(data)
        self._names = None
        self._start(0, size, header)
        if cython.compiled:
            self._view = data
            if size:
                self._data = cython.cast(cython.p_uchar, cython.address(self._view[0]))
        else:
            self._data = bytes(data)

    @cython.cfunc
    def _start(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, header: BatchHeader) -> None:
        """Sets everything but the data, in which the records are from `begin` to `end`."""
        size: cython.Py_ssize_t = end - begin
        self._left = header.records_count
        if self._left < 0 or self._left > size // _MIN_RECORD:
            _corrupt(f"{self._left} records do not fit into {size} bytes")
        if self._left == 0 and size > 0:
            _corrupt(f"{size} bytes in a batch of no records")
        self._pos = begin
        self._end = end
        self._base_offset = header.base_offset
        self._base_timestamp = header.base_timestamp
        self._append_timestamp = header.max_timestamp
        self._append_time = (header.attributes & _LOG_APPEND_BIT) != 0
        self._timestamp_type = _LOG_APPEND_TIME if self._append_time else _CREATE_TIME
        self._last_delta = header.last_offset_delta
        self._leader_epoch = header.partition_leader_epoch

    @cython.ccall
    def records(
        self, topic: str, partition: cython.int, from_offset: cython.longlong, out: list
    ) -> object:
        """Appends the records at and after `from_offset` to `out`."""
        record: Record
        plain: cython.bint = cython.compiled and self._base_offset >= from_offset
        while True:
            if plain:
                self._plain_records(topic, partition, out)
            if not self._next():
                return None
            if self._offset < from_offset:
                self._skip_headers()
                continue
            record = Record.__new__(Record)
            record._topic = topic
            record._partition = partition
            record._offset = self._offset
            record._timestamp = self._timestamp
            record._timestamp_type = self._timestamp_type
            record._key = self._bytes(self._key_start, self._key_size)
            record._value = self._bytes(self._value_start, self._value_size)
            record._headers = self._headers() if self._headers_left else self._no_headers()
            record._leader_epoch = self._leader_epoch
            out.append(record)

    @cython.cfunc
    @cython.exceptval(-1)
    def _plain_records(self, topic: str, partition: cython.int, out: list) -> cython.int:
        """Appends plain records up to the first one that is not plain. Compiled only.

        `records` handles the others, and reports errors.
        """
        data: cython.p_uchar = self._data
        pos: cython.Py_ssize_t = self._pos
        stop: cython.Py_ssize_t
        fields = cython.declare(PlainRecord)
        record: Record
        while self._left > 0 and self._end - pos >= PLAIN_HEAD:
            stop = plain_record(data, pos, self._end, cython.address(fields))
            if stop == 0 or fields.offset_delta > self._last_delta:
                break
            record = Record.__new__(Record)
            record._topic = topic
            record._partition = partition
            record._offset = self._base_offset + fields.offset_delta
            record._timestamp = self._append_timestamp
            if not self._append_time:
                record._timestamp = self._base_timestamp + fields.time_delta
            record._timestamp_type = self._timestamp_type
            record._key = self._bytes(fields.key_start, fields.key_size)
            record._value = self._bytes(fields.value_start, fields.value_size)
            record._headers = ()
            record._leader_epoch = self._leader_epoch
            out.append(record)
            pos = stop
            self._left -= 1
        self._pos = pos
        return 0

    def raw(self) -> list[RawRecord]:
        """Returns every record, for the broker itself."""
        out: list = []
        while self._next():
            fields = (
                self._offset,
                self._timestamp,
                self._bytes(self._key_start, self._key_size),
                self._bytes(self._value_start, self._value_size),
                self._headers() if self._headers_left else self._no_headers(),
            )
            # Not RawRecord(...): the generated __new__ would parse its arguments a second time.
            out.append(tuple.__new__(RawRecord, fields))
        return out

    @cython.ccall
    def check(self) -> tuple:
        """Checks all records; returns (lowest timestamp, highest timestamp, first index without key
        or -1).

        Also requires the offset deltas 0, 1, 2…, which a producer's batch has and a compacted one
        may not have.
        """
        self._checked = 0
        self._lowest = 0
        self._highest = -1
        self._keyless = -1
        while True:
            if cython.compiled and not self._append_time:
                if self._end - self._pos > _NOGIL_BYTES:
                    with cython.nogil:  # other threads run meanwhile
                        self._check_plain()
                else:
                    self._check_plain()
            if not self._next():
                return self._lowest, self._highest, self._keyless
            self._skip_headers()
            if self._offset != self._base_offset + self._checked:
                delta: cython.longlong = self._offset - self._base_offset
                _corrupt(f"record {self._checked} claims offset delta {delta}")
            if self._key_size < 0 and self._keyless < 0:
                self._keyless = self._checked
            if self._checked == 0 or self._timestamp < self._lowest:
                self._lowest = self._timestamp
            self._highest = max(self._highest, self._timestamp)
            self._checked += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _check_plain(self) -> cython.void:
        """Checks plain records up to the first one that is not plain. Compiled only."""
        index: cython.longlong = self._checked
        last: cython.longlong = min(self._last_delta, index + self._left - 1)
        stop: cython.Py_ssize_t
        time: cython.longlong
        fields = cython.declare(PlainRecord)
        while index <= last and self._end - self._pos >= PLAIN_HEAD:
            stop = plain_record(self._data, self._pos, self._end, cython.address(fields))
            if stop == 0 or fields.offset_delta != index:
                break
            time = self._base_timestamp + fields.time_delta
            if index == 0 or time < self._lowest:
                self._lowest = time
            if time > self._highest:
                self._highest = time
            if fields.key_size < 0 and self._keyless < 0:
                self._keyless = index
            index += 1
            self._pos = stop
        self._left -= cython.cast(cython.int, index - self._checked)
        self._checked = index

    def spans(self) -> list[tuple[int, int, int]]:
        """Returns (start, end, timestamp) of each record; the bytes include the length prefix."""
        out: list = []
        start: cython.Py_ssize_t = self._pos
        while self._next():
            self._skip_headers()
            out.append((start, self._pos, self._timestamp))
            start = self._pos
        return out

    def columns(self, columns: ArrowColumns, from_offset: cython.longlong) -> None:
        """Appends the records at and after `from_offset` to Arrow buffers."""
        plain: cython.bint = cython.compiled and self._base_offset >= from_offset
        while True:
            plain = plain and self._plain_columns(columns) > 0
            if not self._next():
                return
            if self._offset < from_offset:
                self._skip_headers()
                continue
            columns._add(
                self._data,
                self._offset,
                self._timestamp,
                self._key_start,
                self._key_size,
                self._value_start,
                self._value_size,
            )
            if self._headers_left:
                self._header_columns(columns)
            else:
                self._no_headers()
            columns._end_row()

    @cython.cfunc
    @cython.exceptval(-1)
    def _plain_columns(self, columns: ArrowColumns) -> cython.int:
        """Adds plain records to columns up to the first one that is not plain. Compiled only."""
        before: cython.int = columns._count
        time: cython.longlong = (
            self._append_timestamp if self._append_time else self._base_timestamp
        )
        self._pos = columns._add_plain(
            self._data,
            self._pos,
            self._end,
            self._left,
            self._base_offset,
            self._last_delta,
            time,
            0 if self._append_time else 1,
        )
        self._left -= columns._count - before
        return columns._count - before

    @cython.cfunc
    @cython.exceptval(-1)
    def _next(self) -> cython.int:
        """Reads the next record up to its headers; returns 0 at the end."""
        length: cython.longlong
        delta: cython.longlong
        if self._left == 0:
            if self._pos != self._end:
                _corrupt(f"{self._end - self._pos} bytes after the last record")
            return 0
        self._left -= 1
        self._record_end = self._end
        length = self._varint()
        if length < _MIN_RECORD - 1 or length > self._end - self._pos:
            _corrupt(f"a record of {length} bytes in {self._end - self._pos}")
        self._record_end = self._pos + length
        self._pos += 1
        delta = self._varlong()
        self._timestamp = (
            self._append_timestamp if self._append_time else self._base_timestamp + delta
        )
        if not cython.compiled:
            self._timestamp = (self._timestamp + 2**63) % 2**64 - 2**63
        delta = self._varint()
        if delta < 0 or delta > self._last_delta:
            _corrupt(f"offset delta {delta} in a batch that ends at {self._last_delta}")
        self._offset = self._base_offset + delta
        self._key_size = self._field(-1)
        self._key_start = self._pos
        self._pos += max(self._key_size, 0)
        self._value_size = self._field(-1)
        self._value_start = self._pos
        self._pos += max(self._value_size, 0)
        self._headers_left = self._varint()
        if self._headers_left < 0 or (
            self._headers_left * _MIN_HEADER > self._record_end - self._pos
        ):
            _corrupt(f"{self._headers_left} headers in {self._record_end - self._pos} bytes")
        return 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-4611686018427387904, check=True)
    def _varint(self) -> cython.longlong:
        """Reads one or two bytes at once, the usual size; longer numbers byte by byte."""
        byte: cython.int
        if self._pos < self._record_end:
            byte = self._data[self._pos]
            if byte < 0x80:
                self._pos += 1
                return (byte >> 1) ^ -(byte & 1)
            if self._pos + 1 < self._record_end and self._data[self._pos + 1] < 0x80:
                byte = (byte & 0x7F) | (self._data[self._pos + 1] << 7)
                self._pos += 2
                return (byte >> 1) ^ -(byte & 1)
        return self._long_varint(5)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-4611686018427387904, check=True)
    def _varlong(self) -> cython.longlong:
        """Reads one or two bytes at once, the usual size; longer numbers byte by byte."""
        byte: cython.int
        if self._pos < self._record_end:
            byte = self._data[self._pos]
            if byte < 0x80:
                self._pos += 1
                return (byte >> 1) ^ -(byte & 1)
            if self._pos + 1 < self._record_end and self._data[self._pos + 1] < 0x80:
                byte = (byte & 0x7F) | (self._data[self._pos + 1] << 7)
                self._pos += 2
                return (byte >> 1) ^ -(byte & 1)
        return self._long_varint(10)

    @cython.cfunc
    @cython.exceptval(-4611686018427387904, check=True)
    def _long_varint(self, max_bytes: cython.int) -> cython.longlong:
        result: cython.ulonglong = 0
        byte: cython.ulonglong
        index: cython.int
        for index in range(max_bytes):
            if self._pos >= self._record_end:
                _corrupt("a varint runs past its record")
            byte = self._data[self._pos]
            self._pos += 1
            result |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if index == max_bytes - 1 and byte > (0x0F if max_bytes == 5 else 0x01):
                    break
                return (result >> 1) ^ -(result & 1)
        _corrupt(f"a varint of more than {max_bytes} bytes")

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-2)
    def _field(self, minimum: cython.int) -> cython.Py_ssize_t:
        """Returns the size of a key or value, checked against its record; -1 is null if allowed."""
        size: cython.longlong = self._varint()
        if size < minimum or size > self._record_end - self._pos:
            _corrupt(f"a field of {size} bytes in {self._record_end - self._pos}")
        return size

    @cython.cfunc
    @cython.inline
    def _bytes(self, start: cython.Py_ssize_t, size: cython.Py_ssize_t) -> object:
        if size < 0:
            return None
        if cython.compiled and size >= _LARGE_VALUE:
            return _copy_large(self._data, start, size)
        return self._data[start : start + size]

    @cython.cfunc
    def _headers(self) -> tuple:
        headers: list = []
        size: cython.Py_ssize_t
        known: list | None = self._names
        if known is None:
            known = self._names = []
        while self._headers_left > 0:
            self._headers_left -= 1
            size = self._field(0)
            name: object = self._header_name(known, len(headers), size)
            self._pos += size
            size = self._field(-1)
            headers.append(_untracked((name, self._bytes(self._pos, size))))
            self._pos += max(size, 0)
        self._no_headers()
        return _untracked(tuple(headers))

    @cython.cfunc
    def _header_name(
        self, known: list, index: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> object:
        """Returns the name of `size` bytes at the cursor, of the header number `index`.

        `known` has the names of the last record: each as bytes and as text.
        """
        raw: bytes
        if cython.compiled and 2 * index < len(known):
            raw = known[2 * index]
            if (
                len(raw) == size
                and memcmp(PyBytes_AS_STRING(raw), self._data + self._pos, size) == 0
            ):
                return known[2 * index + 1]
        raw = self._bytes(self._pos, size)
        name: object = raw.decode("utf-8", "surrogateescape")
        known[2 * index : 2 * index + 2] = [raw, name]
        return name

    @cython.cfunc
    @cython.inline
    def _no_headers(self) -> tuple:
        """Returns the empty headers; raises if the record has more bytes."""
        if self._pos != self._record_end:
            _corrupt(f"{self._record_end - self._pos} bytes after a record's headers")
        return ()

    @cython.cfunc
    @cython.exceptval(-1)
    def _skip_headers(self) -> cython.int:
        size: cython.Py_ssize_t
        while self._headers_left > 0:
            self._headers_left -= 1
            # Not `self._pos += self._field(0)`: that reads the position before the call moves it.
            size = self._field(0)
            self._pos += size
            size = self._field(-1)
            self._pos += max(size, 0)
        self._no_headers()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _header_columns(self, columns: ArrowColumns) -> cython.int:
        size: cython.Py_ssize_t
        while self._headers_left > 0:
            self._headers_left -= 1
            size = self._field(0)
            columns._header_keys._put(self._data, self._pos, size)
            self._pos += size
            size = self._field(-1)
            columns._header_values._put(self._data, self._pos, size)
            self._pos += max(size, 0)
        self._no_headers()
        return 0
