"""Arrow column buffers that the decoder fills, without a Python object per record.

Compiled by Cython, with the C types of `_columns_hot.pxd` (a `.pxd`, because the decoder in
`_records_hot` uses these structs from another module). It uses Arrow's layout, not pyarrow: `arrow`
creates arrays from the buffers. Numbers are little-endian, as in Arrow.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.records._plain_record import (
        PLAIN_HEAD,
        PlainRecord,
        plain_record,
    )
    from cython.cimports.cpython.bytearray import (
        PyByteArray_AS_STRING,
        PyByteArray_Resize,
    )
    from cython.cimports.libc.string import memcpy, memset

COMPILED: bool = cython.compiled

# Larger batches are copied without the GIL: the loop thread receives the next response meanwhile.
_NOGIL_BYTES = cython.declare(cython.Py_ssize_t, 65536)


@cython.cclass
class Bytes:
    """A growing bytearray of little-endian numbers; compiled code writes through a pointer."""

    def __init__(self) -> None:
        self._array = bytearray()
        self._capacity = 0
        self._size = 0
        self._grow(1024)

    @cython.cfunc
    @cython.exceptval(-1)
    def _grow(self, extra: cython.Py_ssize_t) -> cython.int:
        capacity: cython.Py_ssize_t = max(2 * self._capacity, self._size + extra)
        if cython.compiled:
            PyByteArray_Resize(self._array, capacity)
            self._out = cython.cast(cython.p_uchar, PyByteArray_AS_STRING(self._array))
        else:
            self._array.extend(bytes(capacity - self._capacity))
            self._out = self._array
        self._capacity = capacity
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _room(self, extra: cython.Py_ssize_t) -> cython.int:
        """Have room for so many bytes more."""
        if self._size + extra > self._capacity:
            self._grow(extra)
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _put_i64(self, value: cython.longlong) -> cython.int:
        self._room(8)
        if cython.compiled:
            memcpy(self._out + self._size, cython.address(value), 8)
        else:
            self._out[self._size : self._size + 8] = value.to_bytes(8, "little", signed=True)
        self._size += 8
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _put_i32(self, value: cython.int) -> cython.int:
        self._room(4)
        if cython.compiled:
            memcpy(self._out + self._size, cython.address(value), 4)
        else:
            self._out[self._size : self._size + 4] = value.to_bytes(4, "little")
        self._size += 4
        return 0

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _put_slice(
        self, data: cython.p_uchar, start: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.int:
        self._room(size)
        if cython.compiled:
            memcpy(self._out + self._size, data + start, size)
        else:
            self._out[self._size : self._size + size] = data[start : start + size]
        self._size += size
        return 0

    def take(self) -> bytearray:
        """Returns the bytes that were written; this object cannot be used after that."""
        array = self._array
        del array[self._size :]
        self._array = bytearray()
        self._capacity = self._size = 0
        return array


@cython.cclass
class BinaryColumn:
    """An Arrow binary column: validity bits, i32 end offsets, bytes."""

    def __init__(self) -> None:
        self._bits = Bytes()
        self._ends = Bytes()
        self._bytes = Bytes()
        self._count = 0
        self._nulls = 0
        self._ends._put_i32(0)

    @cython.cfunc
    @cython.exceptval(-1)
    def _put(
        self, data: cython.p_uchar, start: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.int:
        """Appends data[start:start+size], or a null when size is negative."""
        if self._count & 7 == 0:
            if self._bits._size == self._bits._capacity:
                self._bits._grow(1)
            self._bits._out[self._bits._size] = 0
            self._bits._size += 1
        if size < 0:
            self._nulls += 1
        else:
            self._bits._out[self._count >> 3] |= 1 << (self._count & 7)
            self._bytes._put_slice(data, start, size)
        self._ends._put_i32(self._bytes._size)
        self._count += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _added(self, rows: cython.int, size: cython.Py_ssize_t, nulls: cython.bint) -> cython.void:
        """Records that `rows` values were written, all or none of them null, up to `size` bytes.

        The caller has made room for their bits.
        """
        bits: cython.p_uchar = self._bits._out
        last: cython.Py_ssize_t = self._count + rows
        if nulls:
            self._nulls += rows
        elif self._count & 7:
            bits[self._count >> 3] |= (0xFF << (self._count & 7)) & 0xFF
        while self._bits._size < (last + 7) >> 3:
            bits[self._bits._size] = 0 if nulls else 0xFF
            self._bits._size += 1
        if last & 7:
            bits[last >> 3] &= (1 << (last & 7)) - 1
        self._ends._size += 4 * cython.cast(cython.Py_ssize_t, rows)
        self._bytes._size = size
        self._count += rows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _truncate(
        self, count: cython.int, nulls: cython.int, size: cython.Py_ssize_t
    ) -> cython.void:
        bits: cython.p_uchar = self._bits._out
        self._count = count
        self._nulls = nulls
        self._ends._size = 4 * (cython.cast(cython.Py_ssize_t, count) + 1)
        self._bytes._size = size
        self._bits._size = (count + 7) >> 3
        if count & 7:
            bits[count >> 3] &= (1 << (count & 7)) - 1

    def _state(self) -> tuple[int, int, int]:
        return self._count, self._nulls, self._bytes._size

    def take(self) -> tuple[bytearray | None, bytearray, bytearray, int, int]:
        """Returns (validity or None if nothing is null, ends, bytes, length, null count)."""
        bits = self._bits.take() if self._nulls else None
        return bits, self._ends.take(), self._bytes.take(), self._count, self._nulls


@cython.cclass
class ArrowColumns:
    """Column buffers that `RecordCursor.columns` fills; `arrow` creates arrays from them."""

    def __init__(self) -> None:
        self._count = 0
        self._offsets = Bytes()
        self._timestamps = Bytes()
        self._keys = BinaryColumn()
        self._values = BinaryColumn()
        self._header_ends = Bytes()
        self._header_ends._put_i32(0)
        self._header_keys = BinaryColumn()
        self._header_values = BinaryColumn()
        self._earliest = 0
        self._tail = Bytes()

    @property
    def count(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """Bytes of the fullest column: Arrow's 32-bit offsets end at 2 GiB."""
        return max(self._keys._bytes._size, self._values._bytes._size)

    def reserve(self, value_bytes: cython.Py_ssize_t) -> None:
        """Allocates room for this many bytes of values; pages use no memory before they are
        written.
        """
        self._values._bytes._room(value_bytes)

    @cython.cfunc
    @cython.exceptval(-1)
    def _add(  # noqa: PLR0913 - one call per record across modules, so all of it at once
        self,
        data: cython.p_uchar,
        offset: cython.longlong,
        timestamp: cython.longlong,
        key_start: cython.Py_ssize_t,
        key_size: cython.Py_ssize_t,
        value_start: cython.Py_ssize_t,
        value_size: cython.Py_ssize_t,
    ) -> cython.int:
        """Begins a row; the caller adds the headers to their columns, then calls `_end_row`."""
        self._offsets._put_i64(offset)
        self._timestamps._put_i64(timestamp)
        self._earliest = min(self._earliest, timestamp)
        self._keys._put(data, key_start, key_size)
        self._values._put(data, value_start, value_size)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _end_row(self) -> cython.int:
        self._header_ends._put_i32(self._header_keys._count)
        self._count += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_plain(  # noqa: PLR0913 - one call per batch across modules, so all of it at once
        self,
        data: cython.p_uchar,
        pos: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        rows: cython.int,
        base_offset: cython.longlong,
        last_delta: cython.longlong,
        base_time: cython.longlong,
        time_factor: cython.longlong,
    ) -> cython.Py_ssize_t:
        """Adds plain records; returns the position of the first one that is not plain. Compiled
        only.

        Almost all records have a value, no headers and short numbers: these need neither a call per
        record nor larger buffers. It also stops where records with a key follow records without
        one, or the reverse. The general decoder handles the record at which it stopped, and reports
        errors.
        """
        self._room(rows, end - pos)
        if end - pos > _NOGIL_BYTES:
            with cython.nogil:
                return self._copy_plain(
                    data, pos, end, end, rows, base_offset, last_delta, base_time, time_factor
                )
        return self._copy_plain(
            data, pos, end, end, rows, base_offset, last_delta, base_time, time_factor
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _copy_plain(  # noqa: PLR0913 - the arguments of `_add_plain`
        self,
        data: cython.p_uchar,
        pos: cython.Py_ssize_t,
        until: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        rows: cython.int,
        base_offset: cython.longlong,
        last_delta: cython.longlong,
        base_time: cython.longlong,
        time_factor: cython.longlong,
    ) -> cython.Py_ssize_t:
        """Adds the plain records that end before `until`, as `_add_plain`; the columns have room.

        Sets `_stopped` if the next record is not plain.
        """
        offsets = cython.cast(cython.p_longlong, self._offsets._out + self._offsets._size)
        times = cython.cast(cython.p_longlong, self._timestamps._out + self._timestamps._size)
        key_ends = cython.cast(cython.p_int, self._keys._ends._out + self._keys._ends._size)
        value_ends = cython.cast(cython.p_int, self._values._ends._out + self._values._ends._size)
        keys: cython.p_uchar = self._keys._bytes._out
        values: cython.p_uchar = self._values._bytes._out
        key_size: cython.Py_ssize_t = self._keys._bytes._size
        value_size: cython.Py_ssize_t = self._values._bytes._size
        stop: cython.Py_ssize_t
        source: cython.p_uchar
        keyless: cython.bint = False
        count: cython.int = 0
        fields = cython.declare(PlainRecord)
        self._stopped = False
        while count < rows:
            near_end: cython.bint = end - pos < PLAIN_HEAD
            source = self._with_room_behind(data, pos, end) if near_end else data
            stop = plain_record(source, pos, end, cython.address(fields))
            self._stopped = stop == 0 or fields.offset_delta > last_delta or fields.value_size < 0
            if self._stopped or stop > until:
                break
            if count == 0:
                keyless = fields.key_size < 0
            elif keyless != (fields.key_size < 0):
                break
            offsets[count] = base_offset + fields.offset_delta
            times[count] = base_time + time_factor * fields.time_delta
            self._earliest = min(self._earliest, times[count])
            if not keyless:
                memcpy(keys + key_size, source + fields.key_start, fields.key_size)
                key_size += fields.key_size
            key_ends[count] = key_size
            memcpy(values + value_size, source + fields.value_start, fields.value_size)
            value_size += fields.value_size
            value_ends[count] = value_size
            pos = stop
            count += 1
        self._added(count, key_size, value_size, keyless)
        return pos

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _with_room_behind(
        self, data: cython.p_uchar, pos: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.p_uchar:
        """Copies the last bytes, fewer than PLAIN_HEAD, to a larger buffer, because `plain_record`
        reads numbers before their size is known.

        Returns a pointer that has these bytes at the index `pos`.
        """
        tail: cython.p_uchar = self._tail._out
        memset(tail, 0, 2 * PLAIN_HEAD)
        memcpy(tail, data + pos, end - pos)
        return tail - pos

    @cython.cfunc
    @cython.exceptval(-1)
    def _room(self, rows: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.int:
        """Makes room for `rows` plain records with keys and values of `size` bytes."""
        bits: cython.Py_ssize_t = (rows >> 3) + 1
        self._offsets._room(8 * rows)
        self._timestamps._room(8 * rows)
        self._header_ends._room(4 * rows)
        self._keys._bits._room(bits)
        self._keys._ends._room(4 * rows)
        self._keys._bytes._room(size)
        self._values._bits._room(bits)
        self._values._ends._room(4 * rows)
        self._values._bytes._room(size)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _has_room(self, rows: cython.Py_ssize_t, size: cython.Py_ssize_t) -> cython.bint:
        """Whether `_room` would have nothing to do."""
        bits: cython.Py_ssize_t = (rows >> 3) + 1
        return (
            self._offsets._size + 8 * rows <= self._offsets._capacity
            and self._timestamps._size + 8 * rows <= self._timestamps._capacity
            and self._header_ends._size + 4 * rows <= self._header_ends._capacity
            and self._keys._bits._size + bits <= self._keys._bits._capacity
            and self._keys._ends._size + 4 * rows <= self._keys._ends._capacity
            and self._keys._bytes._size + size <= self._keys._bytes._capacity
            and self._values._bits._size + bits <= self._values._bits._capacity
            and self._values._ends._size + 4 * rows <= self._values._ends._capacity
            and self._values._bytes._size + size <= self._values._bytes._capacity
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _added(
        self,
        rows: cython.int,
        key_size: cython.Py_ssize_t,
        value_size: cython.Py_ssize_t,
        keyless: cython.bint,
    ) -> cython.void:
        """Records that `rows` plain records were written to the ends of the columns."""
        row: cython.int
        headers: cython.int = self._header_keys._count
        ends = cython.cast(cython.p_int, self._header_ends._out + self._header_ends._size)
        self._offsets._size += 8 * cython.cast(cython.Py_ssize_t, rows)
        self._timestamps._size += 8 * cython.cast(cython.Py_ssize_t, rows)
        self._keys._added(rows, key_size, keyless)
        self._values._added(rows, value_size, False)
        for row in range(rows):
            ends[row] = headers
        self._header_ends._size += 4 * cython.cast(cython.Py_ssize_t, rows)
        self._count += rows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _begin_batch(self) -> cython.void:
        """Marks the current end, for `_cut_batch`."""
        self._batch_count = self._count
        self._batch_nulls = self._keys._nulls
        self._batch_keys = self._keys._bytes._size
        self._batch_values = self._values._bytes._size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _cut_batch(self) -> cython.void:
        """Removes the plain records that were added since `_begin_batch`."""
        count: cython.Py_ssize_t = self._batch_count
        self._keys._truncate(self._batch_count, self._batch_nulls, self._batch_keys)
        self._values._truncate(self._batch_count, self._values._nulls, self._batch_values)
        self._count = self._batch_count
        self._offsets._size = self._timestamps._size = 8 * count
        self._header_ends._size = 4 * (count + 1)

    def append(self, offset: int, timestamp: int, key: bytes | None, value: bytes | None) -> None:
        """Adds one record without headers; used for messages of the old formats."""
        key_size = -1 if key is None else len(key)
        value_size = -1 if value is None else len(value)
        both = (key or b"") + (value or b"")
        self._add(both, offset, timestamp, 0, key_size, max(key_size, 0), value_size)
        self._end_row()

    def mark(self) -> tuple[tuple[int, int, int], ...]:
        """Returns the current end, for `rollback` if the next batch is corrupt."""
        return (
            self._keys._state(),
            self._values._state(),
            self._header_keys._state(),
            self._header_values._state(),
        )

    def rollback(self, mark: tuple[tuple[int, int, int], ...]) -> None:
        """Removes the rows that were added since `mark`."""
        keys, values, header_keys, header_values = mark
        self._keys._truncate(keys[0], keys[1], keys[2])
        self._values._truncate(values[0], values[1], values[2])
        self._header_keys._truncate(header_keys[0], header_keys[1], header_keys[2])
        self._header_values._truncate(header_values[0], header_values[1], header_values[2])
        self._count = self._keys._count
        self._offsets._size = self._timestamps._size = 8 * self._count
        self._header_ends._size = 4 * (self._count + 1)

    def take(self) -> dict[str, Any]:
        """The buffers by name; this object is spent."""
        return {
            "offset": self._offsets.take(),
            "timestamp": self._timestamps.take(),
            "has_negative_timestamps": self._earliest < 0,
            "key": self._keys.take(),
            "value": self._values.take(),
            "header_ends": self._header_ends.take(),
            "header_key": self._header_keys.take(),
            "header_value": self._header_values.take(),
        }
