"""Decodes batches of a fetch response: many small batches in one compiled pass.

Compiled by Cython. It accepts batches of magic 2 and stops before the first other one: a control
batch, a batch that may be aborted, an old format, or a corrupt one. Uncompressed records for Arrow
columns must be plain (short numbers, a value, no headers). `reader` decodes the batch at which it
stopped, or raises its error. Without a compiler it accepts no batch.

Records compressed with snappy or lz4 are decompressed by `_sections_hot`, to memory that the next
batch uses again; `unpack` decompresses the others. For Arrow columns, several threads decompress
many batches at the same time (`_section_runs_hot`).

Uncompressed batches are added to Arrow columns without the interpreter lock, checksums included, so
that the loop thread receives the next response at the same time, also when the batches are small.

Offsets of the header's fields are those of `batch`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from crc32c import crc32c

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import CorruptRecordError

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import i16, i32, i64, u32
    from cython.cimports.barnabas.records._batch_header_hot import header_at
    from cython.cimports.barnabas.records._columns_hot import ArrowColumns
    from cython.cimports.barnabas.records._crc32c import (
        crc32c_of,
        crc32c_prepare,
        crc32c_supported,
    )
    from cython.cimports.barnabas.records._records_hot import add_records, append_records
    from cython.cimports.barnabas.records._section_runs_hot import Section, SectionRun
    from cython.cimports.barnabas.records._sections_hot import SectionMemory, expand_to
    from cython.cimports.cpython.mem import PyMem_RawFree
else:
    from barnabas.records._columns_hot import ArrowColumns
    from barnabas.records._section_runs_hot import SectionRun

COMPILED: bool = cython.compiled

_HEADER_SIZE = cython.declare(cython.Py_ssize_t, 61)
_MIN_RECORD = cython.declare(cython.Py_ssize_t, 7)
_MAX_OFFSET = cython.declare(cython.longlong, 9223372036854775807)
# Arrow's 32-bit offsets: stop before a column could pass 2 GiB.
_MAX_COLUMN_BYTES = cython.declare(cython.Py_ssize_t, 1073741824)
# More bytes are checked and copied without the interpreter lock. To take it again costs as much as
# some kilobytes, and much more if another thread has it.
_NOGIL_BYTES = cython.declare(cython.Py_ssize_t, 65536)
# A large batch is checked and copied in steps of this size, so that the processor's cache still has
# the bytes when they are copied.
_STEP_BYTES = cython.declare(cython.Py_ssize_t, 24576)
# The most that columns of compressed records grow at once; the system clears only used pages.
_MAX_RESERVE = cython.declare(cython.Py_ssize_t, 33554432)
# The columns grow once for this many bytes of small batches.
_RUN_BYTES = cython.declare(cython.Py_ssize_t, 4194304)
# Whether the processor computes checksums in C, so that no Python function is needed.
_NATIVE_CRC = cython.declare(cython.bint, False)
if cython.compiled and crc32c_supported():
    crc32c_prepare()
    _NATIVE_CRC = True


@cython.final
@cython.cclass
class BatchPass:
    """One pass over the batches in `buf`; `pos`, `next_offset` and `leader_epoch` are its result.

    `unpack(codec, view, limit)` decompresses and raises CorruptRecordError. It is called by several
    threads at the same time, and not at all for sections that `_sections_hot` accepts.
    """

    pos = cython.declare(cython.Py_ssize_t, visibility="public")
    next_offset = cython.declare(cython.longlong, visibility="public")
    leader_epoch = cython.declare(cython.int, visibility="public")
    _bytes: Any
    _view: cython.const[cython.uchar][::1]  # type: ignore[valid-type]
    _data: cython.p_uchar
    _end: cython.Py_ssize_t
    _check_crcs: cython.bint
    _makes_runs: cython.bint
    _reserved: cython.bint
    _makes_section_runs: cython.bint
    # Size of the last decompressed section; 0 if the next one must be decoded alone.
    _content: cython.Py_ssize_t
    _unpack: Any
    _max_decompressed: cython.Py_ssize_t
    _memory: SectionMemory

    def __init__(
        self,
        buf: Any,
        check_crcs: bool,
        unpack: Callable[[int, memoryview, int], Any],
        max_decompressed: cython.Py_ssize_t,
    ) -> None:
        self.pos = 0
        self.next_offset = 0
        self.leader_epoch = -1
        self._bytes = memoryview(buf)
        self._end = len(buf)
        self._check_crcs = check_crcs
        self._makes_runs = _NATIVE_CRC or not check_crcs
        self._makes_section_runs = self._makes_runs
        self._reserved = False
        self._unpack = unpack
        self._max_decompressed = max_decompressed
        if cython.compiled and self._end:
            self._view = buf
            self._data = cython.cast(cython.p_uchar, cython.address(self._view[0]))

    def __dealloc__(self) -> None:
        PyMem_RawFree(self._memory.data)

    def add(
        self, columns: ArrowColumns, max_records: cython.longlong, transactional: cython.bint
    ) -> None:
        """Adds batches from `pos` on until there are `max_records`; the last one is added
        completely.

        With `transactional`, batches of transactions are added as well: none is aborted.
        """
        if not cython.compiled:
            return
        while columns._count < max_records and self._has_room(columns):
            if self._makes_runs and self._add_run(columns, max_records, transactional):
                continue
            if self._content and self._add_sections(columns, max_records, transactional):
                continue
            size: cython.Py_ssize_t = self._whole(self.pos)
            if self._makes_runs and size > 0 and self._data[self.pos + 22] & 7 == 0:
                return
            if not self._is_visible(size, transactional):
                return
            if not self._add_batch(columns, size, max_records):
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
        if not cython.compiled:
            return
        while len(out) < least:
            size: cython.Py_ssize_t = self._whole(self.pos)
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
    @cython.nogil
    @cython.exceptval(check=False)
    def _pass_by(self, size: cython.Py_ssize_t) -> cython.void:
        self.next_offset = i64(self._data, self.pos) + i32(self._data, self.pos + 23) + 1
        self.leader_epoch = i32(self._data, self.pos + 12)
        self.pos += size

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _has_room(self, columns: ArrowColumns) -> cython.bint:
        return (
            columns._values._bytes._size < _MAX_COLUMN_BYTES
            and columns._keys._bytes._size < _MAX_COLUMN_BYTES
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _whole(self, at: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Returns the size of the batch at `at`; 0 if it is incomplete or has another format."""
        left: cython.Py_ssize_t = self._end - at
        if left < _HEADER_SIZE or self._data[at + 16] != 2:
            return 0
        size: cython.Py_ssize_t = 12 + cython.cast(cython.Py_ssize_t, i32(self._data, at + 8))
        return size if _HEADER_SIZE <= size <= left else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _is_readable(
        self, at: cython.Py_ssize_t, next_offset: cython.longlong, transactional: cython.bint
    ) -> cython.bint:
        """Whether the header at `at` says that all records of the batch are to be read."""
        data: cython.p_uchar = self._data
        attributes: cython.int = i16(data, at + 21)
        if attributes & 0x20 or (attributes & 0x10 and not transactional):
            return False
        base: cython.longlong = i64(data, at)
        delta: cython.longlong = i32(data, at + 23)
        return base >= next_offset and delta >= 0 and base <= _MAX_OFFSET - 1 - delta

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_visible(self, size: cython.Py_ssize_t, transactional: cython.bint) -> cython.int:
        """Returns 1 if all records of the batch of `size` bytes at `pos` are to be read, and its
        checksum is correct.
        """
        if size == 0 or not self._is_readable(self.pos, self.next_offset, transactional):
            return 0
        if not self._check_crcs:
            return 1
        found: cython.ulonglong
        if cython.compiled and _NATIVE_CRC:
            found = self._native_crc(size)
        else:
            found = crc32c(self._bytes[self.pos + 21 : self.pos + size])
        return found == u32(self._data, self.pos + 17)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _native_crc(self, size: cython.Py_ssize_t) -> cython.uint:
        found: cython.uint
        if size > _NOGIL_BYTES:
            with cython.nogil:
                found = crc32c_of(self._data + self.pos + 21, size - 21, 0)
        else:
            found = crc32c_of(self._data + self.pos + 21, size - 21, 0)
        return found

    # -- Runs of uncompressed batches ----------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_run(
        self, columns: ArrowColumns, max_records: cython.longlong, transactional: cython.bint
    ) -> cython.int:
        """Adds the uncompressed batches from `pos` on; returns 0 if it could add none.

        It first reads their headers and makes room for all of their records. Then nothing needs
        the interpreter.
        """
        begin: cython.Py_ssize_t = self.pos
        end: cython.Py_ssize_t = begin
        next_offset: cython.longlong = self.next_offset
        rows: cython.longlong = 0
        while columns._count + rows < max_records and end - begin < _RUN_BYTES:
            size: cython.Py_ssize_t = self._plain_batch(end, next_offset, transactional)
            if size == 0:
                break
            rows += i32(self._data, end + 57)
            next_offset = i64(self._data, end) + i32(self._data, end + 23) + 1
            end += size
        if rows == 0:
            return 0
        columns._room(rows, end - begin)
        if end - begin > _NOGIL_BYTES:
            with cython.nogil:
                self._add_until(columns, end)
        else:
            self._add_until(columns, end)
        return self.pos > begin

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _plain_batch(
        self, at: cython.Py_ssize_t, next_offset: cython.longlong, transactional: cython.bint
    ) -> cython.Py_ssize_t:
        """Returns the size of the batch at `at` if it is uncompressed and has records, else 0."""
        size: cython.Py_ssize_t = self._whole(at)
        if size == 0 or self._data[at + 22] & 7:
            return 0
        if not self._is_readable(at, next_offset, transactional):
            return 0
        count: cython.int = i32(self._data, at + 57)
        return size if 0 < count <= (size - _HEADER_SIZE) // _MIN_RECORD else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_until(self, columns: ArrowColumns, end: cython.Py_ssize_t) -> cython.void:
        """Adds the batches up to `end`, for which there is room; stops at the first one that is
        corrupt or has records that are not plain.
        """
        while self.pos < end:
            size: cython.Py_ssize_t = 12 + cython.cast(
                cython.Py_ssize_t, i32(self._data, self.pos + 8)
            )
            if not self._add_rows(
                columns, self._data, self.pos + _HEADER_SIZE, self.pos + size, self._check_crcs
            ):
                return
            self._pass_by(size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_rows(
        self,
        columns: ArrowColumns,
        data: cython.p_uchar,
        pos: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        check: cython.bint,
    ) -> cython.bint:
        """Adds the records from `pos` to `end` of `data`, which are those of the batch at `pos` of
        this pass; there is room for them.

        Adds nothing and returns False if the checksum is wrong or a record is not plain. Only an
        uncompressed batch is checked here.
        """
        at: cython.Py_ssize_t = self.pos
        append_time: cython.bint = self._data[at + 22] & 0x08 != 0
        base_offset: cython.longlong = i64(self._data, at)
        last_delta: cython.longlong = i32(self._data, at + 23)
        time: cython.longlong = i64(self._data, at + (35 if append_time else 27))
        rows: cython.int = i32(self._data, at + 57)
        checked: cython.Py_ssize_t = at + 21 if check else end
        crc: cython.uint = 0
        more: cython.bint = rows > 0
        columns._begin_batch()
        while more:
            if checked < end:
                step: cython.Py_ssize_t = min(_STEP_BYTES, end - checked)
                crc = crc32c_of(data + checked, step, crc)
                checked += step
            before: cython.int = columns._count
            pos = columns._copy_plain(
                data,
                pos,
                checked,
                end,
                rows,
                base_offset,
                last_delta,
                time,
                0 if append_time else 1,
            )
            rows -= columns._count - before
            more = not columns._stopped and (checked < end or columns._count > before)
        if rows > 0 or pos != end or (check and crc != u32(self._data, at + 17)):
            columns._cut_batch()
            return False
        return True

    # -- Runs of compressed batches ------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_sections(
        self, columns: ArrowColumns, max_records: cython.longlong, transactional: cython.bint
    ) -> cython.int:
        """Adds the compressed batches from `pos` on, with helpers if they are many.

        Returns 0 if it could add none. The next batch is then decoded alone.
        """
        begin: cython.Py_ssize_t = self.pos
        content: cython.Py_ssize_t = self._content
        self._content = 0
        if not self._makes_section_runs or self._whole(begin) == 0:
            return 0
        if self._data[begin + 22] & 7 == 0:
            return 0
        run: SectionRun = SectionRun(self._data[begin + 22] & 7, self._check_crcs)
        self._collect(run, max_records - columns._count, transactional)
        if run._count < 2:
            return 0
        try:
            self._makes_section_runs = run._start(
                self._bytes, self._unpack, content, self._max_decompressed
            )
            if self._makes_section_runs and self._add_all(columns, run):
                self._content = content
        finally:
            run._close()
        return self.pos > begin

    @cython.cfunc
    @cython.exceptval(check=False)
    def _collect(
        self, run: SectionRun, max_records: cython.longlong, transactional: cython.bint
    ) -> cython.void:
        """Adds the batches from `pos` on to `run` that are to be read and have its codec."""
        at: cython.Py_ssize_t = self.pos
        next_offset: cython.longlong = self.next_offset
        rows: cython.longlong = 0
        while rows < max_records:
            size: cython.Py_ssize_t = self._whole(at)
            if size <= _HEADER_SIZE or not self._is_readable(at, next_offset, transactional):
                return
            count: cython.int = i32(self._data, at + 57)
            if self._data[at + 22] & 7 != run._codec or count <= 0:
                return
            if not run._append(at, at + size):
                return
            rows += count
            next_offset = i64(self._data, at) + i32(self._data, at + 23) + 1
            at += size

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_all(self, columns: ArrowColumns, run: SectionRun) -> cython.int:
        """Adds the sections of a run; returns 0 if `reader` must decode one of them."""
        while run._added < run._count and self._has_room(columns):
            with cython.nogil:
                self._add_complete(columns, run)
            if run._added == run._count:
                break
            section: cython.pointer[Section] = run._front()
            if section == cython.NULL:
                run._unpack_some()
                continue
            rows: cython.int = i32(self._data, self.pos + 57)
            if section.size < 0 or rows > section.size // _MIN_RECORD:
                return 0
            if not columns._has_room(rows, section.size):
                columns._room(rows, section.size)
            elif self._add_any(columns, section.data, section.size):
                self._pass_by(section.end - section.begin)
                run._pass_by()
            else:
                return 0
        return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _add_complete(self, columns: ArrowColumns, run: SectionRun) -> cython.void:
        """Adds the next sections of a run as long as they are complete, there is room for them, and
        their records are plain.
        """
        while run._added < run._count and self._has_room(columns):
            section: cython.pointer[Section] = run._front()
            if section == cython.NULL or section.size < 0:
                return
            rows: cython.int = i32(self._data, self.pos + 57)
            if rows > section.size // _MIN_RECORD or not columns._has_room(rows, section.size):
                return
            if not self._add_rows(columns, section.data, 0, section.size, False):
                return
            self._pass_by(section.end - section.begin)
            run._pass_by()

    # -- One batch -----------------------------------------------------------------------------

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
        size = self._expand(codec, size)
        if size > 0:
            return append_records(
                self._memory.data, 0, size, header_at(data + self.pos), topic, partition, out
            )
        section = self._unpack(codec, self._bytes[begin:end], self._max_decompressed)
        plain: cython.const[cython.uchar][::1] = section  # type: ignore[valid-type]
        size = plain.shape[0]
        if size > 0:
            data = cython.cast(cython.p_uchar, cython.address(plain[0]))
        return append_records(
            data, 0, size, header_at(self._data + self.pos), topic, partition, out
        )

    @cython.cfunc
    @cython.exceptval(check=False)
    def _expand(self, codec: cython.int, size: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Decompresses the batch of `size` bytes at `pos` to `_memory`; returns the content size.

        Returns -1 if `_unpack` must do it.
        """
        section: cython.p_uchar = self._data + self.pos + _HEADER_SIZE
        found: cython.Py_ssize_t
        size -= _HEADER_SIZE
        if size > _NOGIL_BYTES:
            with cython.nogil:
                found = expand_to(
                    cython.address(self._memory), codec, section, size, self._max_decompressed
                )
        else:
            found = expand_to(
                cython.address(self._memory), codec, section, size, self._max_decompressed
            )
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_batch(
        self, columns: ArrowColumns, size: cython.Py_ssize_t, max_records: cython.longlong
    ) -> cython.int:
        """Returns 1 if the batch of `size` bytes at `pos` was added, 0 if `reader` must decode
        it.
        """
        codec: cython.int = self._data[self.pos + 22] & 7
        if codec == 0:  # without runs only
            if self._plain_batch(self.pos, self.next_offset, True) == 0:
                return 0
            columns._room(i32(self._data, self.pos + 57), size)
            return self._add_rows(
                columns, self._data, self.pos + _HEADER_SIZE, self.pos + size, False
            )
        found: cython.Py_ssize_t = self._expand(codec, size)
        if found > 0:
            return self._add_section(columns, self._memory.data, found, size, max_records)
        try:
            section = self._unpack(
                codec,
                self._bytes[self.pos + _HEADER_SIZE : self.pos + size],
                self._max_decompressed,
            )
        except CorruptRecordError:
            return 0
        plain: cython.const[cython.uchar][::1] = section  # type: ignore[valid-type]
        if plain.shape[0] == 0:
            return 0
        data: cython.p_uchar = cython.cast(cython.p_uchar, cython.address(plain[0]))
        return self._add_section(columns, data, plain.shape[0], size, max_records)

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_section(
        self,
        columns: ArrowColumns,
        data: cython.p_uchar,
        size: cython.Py_ssize_t,
        packed: cython.Py_ssize_t,
        max_records: cython.longlong,
    ) -> cython.int:
        """Adds the decompressed records of the batch at `pos`, which has `packed` bytes and a
        correct checksum.
        """
        rows: cython.int = i32(self._data, self.pos + 57)
        if rows <= 0 or rows > size // _MIN_RECORD:
            return 0
        if not self._reserved:
            self._reserved = True
            # The following batches are probably like this one: columns that grow are copied.
            expected: cython.longlong = rows * ((self._end - self.pos) // packed + 1)
            expected = min(expected, max_records - columns._count + rows)
            expected = min(expected, _MAX_RESERVE // (size // rows + 1))
            columns._room(expected, expected * (size // rows + 1))
        columns._room(rows, size)
        added: cython.bint
        if size > _NOGIL_BYTES:
            with cython.nogil:
                added = self._add_rows(columns, data, 0, size, False)
        else:
            added = self._add_rows(columns, data, 0, size, False)
        if not added and not self._add_any(columns, data, size):
            return 0
        self._content = size
        return 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _add_any(
        self, columns: ArrowColumns, data: cython.p_uchar, size: cython.Py_ssize_t
    ) -> cython.int:
        """Adds decompressed records of any kind; returns 0 if one of them is corrupt."""
        try:
            add_records(data, 0, size, header_at(self._data + self.pos), columns)
        except CorruptRecordError:
            return 0
        return 1
