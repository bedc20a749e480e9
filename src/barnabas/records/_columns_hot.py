"""Arrow column buffers that the decoder fills, no Python object per record.

Compiled by Cython as it stands, with the C types of `_columns_hot.pxd` (a `.pxd`, since the
decoder in `_records_hot` reaches these structs from another module). Knows Arrow's layout, not
pyarrow: `arrow` makes arrays of the buffers. Numbers are little-endian, as Arrow has them.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from barnabas.records import _cython_shim as cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import (
        PyByteArray_AS_STRING,
        PyByteArray_Resize,
    )
    from cython.cimports.libc.string import memcpy

COMPILED: bool = cython.compiled


@cython.cclass
class Bytes:
    """A growing bytearray, written through a pointer when compiled; little-endian numbers."""

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
    def _put_i64(self, value: cython.longlong) -> cython.int:
        if self._size + 8 > self._capacity:
            self._grow(8)
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
        if self._size + 4 > self._capacity:
            self._grow(4)
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
        if self._size + size > self._capacity:
            self._grow(size)
        if cython.compiled:
            memcpy(self._out + self._size, data + start, size)
        else:
            self._out[self._size : self._size + size] = data[start : start + size]
        self._size += size
        return 0

    def take(self) -> bytearray:
        """The bytes written; this object is spent."""
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
        """Append data[start:start+size], or a null when size is negative."""
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
    @cython.exceptval(-1)
    def _truncate(self, count: cython.int, nulls: cython.int, size: cython.int) -> cython.int:
        self._count = count
        self._nulls = nulls
        self._ends._size = 4 * (cython.cast(cython.Py_ssize_t, count) + 1)
        self._bytes._size = size
        self._bits._size = (count + 7) >> 3
        if count & 7:
            self._bits._out[count >> 3] &= (1 << (count & 7)) - 1
        return 0

    def _state(self) -> tuple[int, int, int]:
        return self._count, self._nulls, self._bytes._size

    def take(self) -> tuple[bytearray | None, bytearray, bytearray, int, int]:
        """(validity or None when nothing is null, ends, bytes, length, null count)."""
        bits = self._bits.take() if self._nulls else None
        return bits, self._ends.take(), self._bytes.take(), self._count, self._nulls


@cython.cclass
class ArrowColumns:
    """Column buffers that `RecordCursor.columns` fills; `arrow` makes arrays of them."""

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

    @property
    def count(self) -> int:
        return self._count

    @property
    def size(self) -> int:
        """Bytes of the fullest column: Arrow's 32-bit offsets end at 2 GiB."""
        return max(self._keys._bytes._size, self._values._bytes._size)

    def reserve(self, value_bytes: cython.Py_ssize_t) -> None:
        """Make room for that many bytes of values at once; pages cost nothing until written."""
        column = self._values._bytes
        if column._size + value_bytes > column._capacity:
            column._grow(value_bytes)

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
        """Begin a row; headers go to their own columns, then `_end_row`."""
        self._offsets._put_i64(offset)
        self._timestamps._put_i64(timestamp)
        self._keys._put(data, key_start, key_size)
        self._values._put(data, value_start, value_size)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _end_row(self) -> cython.int:
        self._header_ends._put_i32(self._header_keys._count)
        self._count += 1
        return 0

    def append(self, offset: int, timestamp: int, key: bytes | None, value: bytes | None) -> None:
        """Add one record without headers: the way in for messages of the old formats."""
        key_size = -1 if key is None else len(key)
        value_size = -1 if value is None else len(value)
        both = (key or b"") + (value or b"")
        self._add(both, offset, timestamp, 0, key_size, max(key_size, 0), value_size)
        self._end_row()

    def mark(self) -> tuple[tuple[int, int, int], ...]:
        """The present end, for `rollback` when the next batch turns out corrupt half-way."""
        return (
            self._keys._state(),
            self._values._state(),
            self._header_keys._state(),
            self._header_values._state(),
        )

    def rollback(self, mark: tuple[tuple[int, int, int], ...]) -> None:
        """Forget what was added since `mark`."""
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
            "key": self._keys.take(),
            "value": self._values.take(),
            "header_ends": self._header_ends.take(),
            "header_key": self._header_keys.take(),
            "header_value": self._header_values.take(),
        }
