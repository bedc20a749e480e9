"""Decompresses the successive batches of one codec on several threads; for Arrow columns.

Compiled by Cython; `BatchPass` in `_batches_hot` uses it. Each thread takes the next section that
no other thread has taken: the helpers (`runtime.helper_threads`) until all are taken, and the
caller whenever the section that it must add next is not complete. So the caller adds rows
while the helpers decompress, and needs no helper at all.

lz4 and snappy need no interpreter lock. For gzip and zstd each section is a call of `unpack`, whose
library releases the lock. Checksums are verified here, because they read the same bytes.

Memory: a section uses the memory of an earlier one that was added, so there are at most
`_MAX_SLOTS` sections at a time, and their limit is `_MAX_BYTES` divided by their number. A section
that is larger, corrupt or refused by the decoders gets the size -1; then `reader` decodes its batch
alone, with the limit of the caller, or raises its error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import CorruptRecordError
from barnabas.runtime.helper_threads import helper_count, start_helpers

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import u32
    from cython.cimports.barnabas.records._atomics import (
        atomic_add,
        atomic_compare_exchange,
        atomic_load,
        atomic_pause,
        atomic_store,
    )
    from cython.cimports.barnabas.records._crc32c import (
        crc32c_of,
        crc32c_prepare,
        crc32c_supported,
    )
    from cython.cimports.barnabas.records._section_runs_hot import Section
    from cython.cimports.barnabas.records._sections_hot import SectionMemory, expand_to
    from cython.cimports.cpython.mem import PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc

COMPILED: bool = cython.compiled

_HEADER_SIZE = cython.declare(cython.Py_ssize_t, 61)
_SNAPPY = cython.declare(cython.int, 2)
_LZ4 = cython.declare(cython.int, 3)
_MAX_SECTIONS = cython.declare(cython.Py_ssize_t, 2048)
_MIN_SLOTS = cython.declare(cython.Py_ssize_t, 4)
_MAX_SLOTS = cython.declare(cython.Py_ssize_t, 64)
# The bytes of all sections that are decompressed at the same time: expected, and at most.
_USUAL_BYTES = cython.declare(cython.Py_ssize_t, 4194304)
_MAX_BYTES = cython.declare(cython.Py_ssize_t, 16777216)
# A helper for each of so many bytes. To start one takes 4 us.
_HELPER_BYTES = cython.declare(cython.Py_ssize_t, 262144)
# The threads would wait for the interpreter lock most of the time if `unpack` took less.
_MIN_UNPACKED = cython.declare(cython.Py_ssize_t, 4096)
# Results of `_take`.
_NONE_LEFT = cython.declare(cython.Py_ssize_t, -1)
_NO_MEMORY_FREE = cython.declare(cython.Py_ssize_t, -2)
# The caller adds the rows of about so many sections between two calls of `unpack`.
_UNPACKED_AT_ONCE = cython.declare(cython.Py_ssize_t, 8)
if cython.compiled and crc32c_supported():
    crc32c_prepare()


@cython.final
@cython.cclass
class SectionRun:
    """The sections of successive batches. `_append` all, `_start`, then `_front` and `_pass_by` for
    each; after `_start`, `_close` must be called, whatever happened.
    """

    def __init__(self, codec: cython.int, check_crcs: cython.bint) -> None:
        self._codec = codec
        self._native = codec in (_SNAPPY, _LZ4)
        self._check_crcs = check_crcs
        self._count = self._next = self._added = self._active = 0
        self._sections = self._memories = cython.NULL
        self._closed = True

    def __dealloc__(self) -> None:
        PyMem_RawFree(self._sections)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _append(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Adds the batch between two positions of the response; returns False if there is no room
        for it.
        """
        if self._sections == cython.NULL:
            self._sections = cython.cast(
                cython.pointer[Section],
                PyMem_RawMalloc(_MAX_SECTIONS * cython.sizeof(Section)),
            )
        if self._sections == cython.NULL or self._count == _MAX_SECTIONS:
            return False
        section: cython.pointer[Section] = self._sections + self._count
        section.begin = begin
        section.end = end
        section.data = cython.NULL
        section.size = 0
        self._count += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _start(
        self,
        data: Any,
        unpack: Callable[[int, memoryview, int], Any],
        content: cython.Py_ssize_t,
        limit: cython.Py_ssize_t,
    ) -> cython.int:
        """Starts the helpers; returns 0 if the run is not worth it.

        A section has about `content` bytes and at most `limit`; `data` is the response.
        """
        expected: cython.Py_ssize_t = content * self._count
        helpers: cython.Py_ssize_t = min(helper_count(), expected // _HELPER_BYTES)
        if not self._native and (helpers == 0 or content < _MIN_UNPACKED):
            return 0
        self._slots = max(_MIN_SLOTS, min(_MAX_SLOTS, _USUAL_BYTES // (content + 1)))
        self._limit = min(limit, _MAX_BYTES // self._slots)
        if content > self._limit // 2:
            return 0
        view: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
        self._response = cython.cast(cython.p_uchar, cython.address(view[0]))
        self._bytes = data
        self._unpack = unpack
        if self._native:
            self._memories = cython.cast(
                cython.pointer[SectionMemory],
                PyMem_RawCalloc(self._slots, cython.sizeof(SectionMemory)),
            )
            if self._memories == cython.NULL:
                return 0
        else:
            self._pieces = [None] * self._slots
        self._closed = False
        if helpers > 0:
            start_helpers(self.help, helpers)
        return 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _close(self) -> cython.int:
        """Waits for the helpers that have begun, and frees the memory."""
        turn: cython.int = 0
        slot: cython.Py_ssize_t
        self._closed = True
        with cython.nogil:
            atomic_store(cython.address(self._next), self._count)
            while atomic_load(cython.address(self._active)) > 0:
                atomic_pause(turn)
                turn += 1
        if self._memories != cython.NULL:
            for slot in range(self._slots):
                PyMem_RawFree(self._memories[slot].data)
            PyMem_RawFree(self._memories)
            self._memories = cython.NULL
        self._bytes = None
        self._pieces = []
        return 0

    # -- called by the thread that adds the rows -----------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _front(self) -> cython.pointer[Section]:
        """Returns the section to add next; NULL if `_unpack_some` must be called first."""
        section: cython.pointer[Section] = self._sections + self._added
        turn: cython.int = 0
        while atomic_load(cython.address(section.size)) == 0:
            if not self._native:
                return cython.NULL
            index: cython.Py_ssize_t = self._take()
            if index >= 0:
                self._expand(index)
            else:
                atomic_pause(turn)
                turn += 1
        return section

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _pass_by(self) -> cython.void:
        """Marks the front section as added: another one may use its memory."""
        atomic_store(cython.address(self._added), self._added + 1)

    @cython.cfunc
    @cython.exceptval(-1)
    def _unpack_some(self) -> cython.int:
        """Decompresses some sections by `unpack`; waits for the front one if none is left."""
        turn: cython.int = 0
        done: cython.Py_ssize_t = 0
        section: cython.pointer[Section] = self._sections + self._added
        while done < _UNPACKED_AT_ONCE:
            index: cython.Py_ssize_t = self._take()
            if index < 0:
                break
            self._unpack_one(index)
            done += 1
        if done == 0:
            with cython.nogil:
                while atomic_load(cython.address(section.size)) == 0:
                    atomic_pause(turn)
                    turn += 1
        return 0

    # -- called by all threads -----------------------------------------------------------------

    def help(self) -> None:
        """Decompresses sections until all are taken; the task of a helper."""
        if self._closed:
            return
        atomic_add(cython.address(self._active), 1)
        if self._native:
            with cython.nogil:
                self._expand_all()
                # Before the thread waits for the interpreter lock.
                atomic_add(cython.address(self._active), -1)
            return
        turn: cython.int = 0
        try:
            while True:
                index: cython.Py_ssize_t = self._take()
                if index >= 0:
                    self._unpack_one(index)
                elif index == _NONE_LEFT:
                    return
                else:
                    with cython.nogil:
                        atomic_pause(turn)
                    turn += 1
        finally:
            atomic_add(cython.address(self._active), -1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _take(self) -> cython.Py_ssize_t:
        """Returns the number of a section that no thread has taken, or a negative result."""
        index: cython.Py_ssize_t = atomic_load(cython.address(self._next))
        while index < self._count:
            if index >= atomic_load(cython.address(self._added)) + self._slots:
                return _NO_MEMORY_FREE
            if atomic_compare_exchange(
                cython.address(self._next), cython.address(index), index + 1
            ):
                return index
        return _NONE_LEFT

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _expand_all(self) -> cython.void:
        turn: cython.int = 0
        while True:
            index: cython.Py_ssize_t = self._take()
            if index >= 0:
                self._expand(index)
            elif index == _NONE_LEFT:
                return
            else:
                atomic_pause(turn)
                turn += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _expand(self, index: cython.Py_ssize_t) -> cython.void:
        section: cython.pointer[Section] = self._sections + index
        memory: cython.pointer[SectionMemory] = self._memories + index % self._slots
        begin: cython.Py_ssize_t = section.begin + _HEADER_SIZE
        size: cython.Py_ssize_t = -1
        if self._crc_ok(section):
            size = expand_to(
                memory, self._codec, self._response + begin, section.end - begin, self._limit
            )
        section.data = memory.data
        atomic_store(cython.address(section.size), size)

    @cython.cfunc
    @cython.exceptval(-1)
    def _unpack_one(self, index: cython.Py_ssize_t) -> cython.int:
        section: cython.pointer[Section] = self._sections + index
        size: cython.Py_ssize_t = -1
        try:
            if self._crc_ok(section):
                piece = self._unpack(
                    self._codec,
                    self._bytes[section.begin + _HEADER_SIZE : section.end],
                    self._limit,
                )
                view: cython.const[cython.uchar][::1] = piece  # type: ignore[valid-type]
                if view.shape[0] > 0:
                    section.data = cython.cast(cython.p_uchar, cython.address(view[0]))
                    size = view.shape[0]
                    self._pieces[index % self._slots] = piece
        except CorruptRecordError:
            pass  # `reader` raises it again
        finally:
            atomic_store(cython.address(section.size), size)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _crc_ok(self, section: cython.pointer[Section]) -> cython.bint:
        if not self._check_crcs:
            return True
        data: cython.p_uchar = self._response + section.begin
        return crc32c_of(data + 21, section.end - section.begin - 21, 0) == u32(data, 17)
