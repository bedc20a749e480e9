"""Decodes batches of a fetch response: many small batches in one compiled pass.

Compiled by Cython. It accepts batches of magic 2 and stops before the first other one: a control
batch, a batch that may be aborted, an old format, or a corrupt one. For Arrow columns the records
must be plain (short numbers, a value, no headers). `reader` decodes the batch at which it stopped,
or raises its error. Without a compiler it accepts no batch.

Offsets of the header's fields are those of `batch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import CorruptRecordError

if cython.compiled:
    from cython.cimports.barnabas.records._batch_header_hot import header_at
    from cython.cimports.barnabas.records._columns_hot import ArrowColumns
    from cython.cimports.barnabas.records._records_hot import append_records
else:
    from barnabas.records._columns_hot import ArrowColumns

COMPILED: bool = cython.compiled

_HEADER_SIZE = cython.declare(cython.Py_ssize_t, 61)
_MAGIC_OFFSET = cython.declare(cython.Py_ssize_t, 16)
_LOG_OVERHEAD = cython.declare(cython.Py_ssize_t, 12)
_LAST_DELTA_OFFSET = cython.declare(cython.Py_ssize_t, 23)
_MIN_RECORD = cython.declare(cython.Py_ssize_t, 7)
_MAX_OFFSET = cython.declare(cython.longlong, 9223372036854775807)
# Arrow's 32-bit offsets: stop before a column could pass 2 GiB.
_MAX_COLUMN_BYTES = cython.declare(cython.Py_ssize_t, 1073741824)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _big_endian(data: cython.p_uchar, at: cython.Py_ssize_t, size: cython.int) -> cython.ulonglong:
    value: cython.ulonglong = 0
    index: cython.int
    for index in range(size):
        value = value << 8 | data[at + index]
    return value


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _i32(data: cython.p_uchar, at: cython.Py_ssize_t) -> cython.int:
    if not cython.compiled:
        return int.from_bytes(data[at : at + 4], "big", signed=True)
    return cython.cast(cython.int, _big_endian(data, at, 4))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _i64(data: cython.p_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    if not cython.compiled:
        return int.from_bytes(data[at : at + 8], "big", signed=True)
    return cython.cast(cython.longlong, _big_endian(data, at, 8))


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


@cython.final
@cython.cclass
class BatchPass:
    """One pass over the batches in `buf`; `pos`, `next_offset` and `leader_epoch` are its result.

    `section` has the decompressed records of the batch at `pos` if the pass stopped at one of its
    records; None otherwise.
    `checksum` computes the CRC of a view; None skips the check. `unpack(codec, view)` decompresses
    and raises CorruptRecordError.
    """

    pos = cython.declare(cython.Py_ssize_t, visibility="public")
    next_offset = cython.declare(cython.longlong, visibility="public")
    leader_epoch = cython.declare(cython.int, visibility="public")
    section = cython.declare(object, visibility="public")
    _bytes: Any
    _view: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _data: cython.p_uchar
    _end: cython.Py_ssize_t
    _checksum: Any
    _unpack: Any

    def __init__(
        self,
        buf: Any,
        checksum: Callable[[memoryview], int] | None,
        unpack: Callable[[int, memoryview], Any],
    ) -> None:
        self.pos = 0
        self.next_offset = 0
        self.leader_epoch = -1
        self.section = None
        self._bytes = memoryview(buf)
        self._end = len(buf)
        self._checksum = checksum
        self._unpack = unpack
        if cython.compiled and self._end:
            self._view = buf
            self._data = cython.cast(cython.p_uchar, cython.address(self._view[0]))

    def add(
        self, columns: ArrowColumns, max_records: cython.longlong, transactional: cython.bint
    ) -> None:
        """Adds batches from `pos` on until there are `max_records`; the last one is added
        completely.

        With `transactional`, batches of transactions are added as well: none is aborted.
        """
        self.section = None
        if not cython.compiled:
            return
        while columns._count < max_records and self._has_room(columns):
            size: cython.Py_ssize_t = self._whole()
            if not self._is_visible(size, transactional) or not self._add_batch(columns, size):
                return
            self._pass_by(size)

    def append(
        self,
        out: list,
        least: cython.Py_ssize_t,
        topic: str,
        partition: cython.int,
        transactional: cython.bint,
    ) -> None:
        """Appends the records of batches from `pos` on until `out` has `least` records; the last
        batch is added completely.
        """
        self.section = None
        if not cython.compiled:
            return
        while len(out) < least:
            size: cython.Py_ssize_t = self._whole()
            if not self._is_visible(size, transactional):
                return
            count: cython.Py_ssize_t = len(out)
            try:
                self._append_batch(size, out, topic, partition)
            except CorruptRecordError:
                del out[count:]
                return
            self._pass_by(size)

    @cython.cfunc
    @cython.inline
    def _pass_by(self, size: cython.Py_ssize_t) -> cython.void:
        self.next_offset = _i64(self._data, self.pos) + _i32(self._data, self.pos + 23) + 1
        self.leader_epoch = _i32(self._data, self.pos + 12)
        self.pos += size

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _has_room(self, columns: ArrowColumns) -> cython.bint:
        return (
            columns._values._bytes._size < _MAX_COLUMN_BYTES
            and columns._keys._bytes._size < _MAX_COLUMN_BYTES
        )

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _whole(self) -> cython.Py_ssize_t:
        """Returns the size of the batch at `pos`; 0 if it is incomplete or has another format."""
        left: cython.Py_ssize_t = self._end - self.pos
        if left < _HEADER_SIZE or self._data[self.pos + 16] != 2:
            return 0
        size: cython.Py_ssize_t = 12 + cython.cast(
            cython.Py_ssize_t, _i32(self._data, self.pos + 8)
        )
        return size if _HEADER_SIZE <= size <= left else 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_visible(self, size: cython.Py_ssize_t, transactional: cython.bint) -> cython.int:
        """Returns 1 if all records of the batch of `size` bytes at `pos` are to be read, and its
        checksum is correct.
        """
        data: cython.p_uchar = self._data
        if size == 0:
            return 0
        attributes: cython.int = cython.cast(cython.int, _big_endian(data, self.pos + 21, 2))
        if attributes & 0x20 or (attributes & 0x10 and not transactional):
            return 0
        base: cython.longlong = _i64(data, self.pos)
        delta: cython.longlong = _i32(data, self.pos + 23)
        if base < self.next_offset or delta < 0 or base > _MAX_OFFSET - 1 - delta:
            return 0
        if self._checksum is not None and self._checksum(
            self._bytes[self.pos + 21 : self.pos + size]
        ) != _big_endian(data, self.pos + 17, 4):
            return 0
        return 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _append_batch(
        self, size: cython.Py_ssize_t, out: list, topic: str, partition: cython.int
    ) -> cython.int:
        """Appends the records of the batch of `size` bytes at `pos`; raises if it is corrupt."""
        data: cython.p_uchar = self._data
        begin: cython.Py_ssize_t = self.pos + _HEADER_SIZE
        end: cython.Py_ssize_t = self.pos + size
        codec: cython.int = data[self.pos + 22] & 7
        if codec == 0 or begin == end:
            return append_records(
                data, begin, end, header_at(data + self.pos), topic, partition, out
            )
        section = self._unpack(codec, self._bytes[begin:end])
        plain: cython.const[cython.uchar][::1] = section  # type: ignore[valid-type]
        size = plain.shape[0]
        if size > 0:
            data = cython.cast(cython.p_uchar, cython.address(plain[0]))
        return append_records(
            data, 0, size, header_at(self._data + self.pos), topic, partition, out
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_batch(self, columns: ArrowColumns, size: cython.Py_ssize_t) -> cython.int:
        """Returns 1 if the batch of `size` bytes at `pos` was added, 0 if `reader` must decode
        it.
        """
        data: cython.p_uchar = self._data
        attributes: cython.int = cython.cast(cython.int, _big_endian(data, self.pos + 21, 2))
        if attributes & 7 == 0:
            return self._add_records(
                columns, data, self.pos + _HEADER_SIZE, self.pos + size, attributes
            )
        try:
            section = self._unpack(
                attributes & 7, self._bytes[self.pos + _HEADER_SIZE : self.pos + size]
            )
        except CorruptRecordError:
            return 0
        plain: cython.const[cython.uchar][::1] = section  # type: ignore[valid-type]
        if plain.shape[0] == 0:
            return 0
        if self._add_records(
            columns,
            cython.cast(cython.p_uchar, cython.address(plain[0])),
            0,
            plain.shape[0],
            attributes,
        ):
            return 1
        self.section = section
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_records(
        self,
        columns: ArrowColumns,
        data: cython.p_uchar,
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        attributes: cython.int,
    ) -> cython.int:
        left: cython.int = _i32(self._data, self.pos + 57)
        if left <= 0 or left > (end - at) // _MIN_RECORD:
            return 0
        append_time: cython.bint = attributes & 0x08 != 0
        time: cython.longlong = _i64(self._data, self.pos + (35 if append_time else 27))
        count: cython.int = columns._count
        nulls: cython.int = columns._keys._nulls
        keys: cython.Py_ssize_t = columns._keys._bytes._size
        values: cython.Py_ssize_t = columns._values._bytes._size
        added: cython.int
        while left > 0:
            added = columns._count
            at = columns._add_plain(
                data,
                at,
                end,
                left,
                _i64(self._data, self.pos),
                _i32(self._data, self.pos + 23),
                time,
                0 if append_time else 1,
            )
            added = columns._count - added
            if added == 0:
                break
            left -= added
        if left > 0 or at != end:
            columns._cut_plain(count, nulls, keys, values)
            return 0
        return 1
