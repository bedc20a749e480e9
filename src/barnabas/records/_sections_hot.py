"""Decompresses the records sections of batches in compiled code: snappy, and most lz4 frames.

Compiled by Cython; the decoders are C functions (`_block_decoders.pxd`), which need no object for a
batch and no interpreter lock. `compression` decompresses what they refuse and the other codecs, and
raises the errors. Without a compiler they refuse everything.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.records._block_decoders import (
        SECTION_NO_ROOM,
        declared_size,
        expand_section,
    )
    from cython.cimports.barnabas.records._sections_hot import SectionMemory
    from cython.cimports.cpython.mem import PyMem_RawFree, PyMem_RawMalloc

COMPILED: bool = cython.compiled

# The first size of the output if the section does not declare one.
_MIN_GUESS = cython.declare(cython.Py_ssize_t, 65536)
_GROWTH = cython.declare(cython.Py_ssize_t, 4)
# A byte of an lz4 block stands for 255 bytes at most, one of a snappy block for 22.
_MAX_EXPANSION = cython.declare(cython.Py_ssize_t, 256)
# Larger sections are decompressed by `compression`, which returns a buffer of their own.
_MAX_SECTION = cython.declare(cython.Py_ssize_t, 16777216)
# Larger sections are decompressed without the interpreter lock.
_NOGIL_BYTES = cython.declare(cython.Py_ssize_t, 65536)


NO_ROOM = -2


def expand_into(codec: cython.int, data: Any, out: Any) -> int:
    """Decompresses a records section to the start of `out`; returns the content size.

    Returns NO_ROOM if `out` is too small, -1 if `compression` must decide.
    """
    if not cython.compiled:
        return -1
    source: cython.const[cython.uchar][::1] = data  # type: ignore[valid-type]
    target: cython.uchar[::1] = out
    size: cython.Py_ssize_t = source.shape[0]
    room: cython.Py_ssize_t = target.shape[0]
    found: cython.Py_ssize_t
    if size == 0 or room == 0:
        return -1
    if size + room > _NOGIL_BYTES:
        with cython.nogil:
            found = expand_section(
                codec, cython.address(source[0]), size, cython.address(target[0]), room
            )
    else:
        found = expand_section(
            codec, cython.address(source[0]), size, cython.address(target[0]), room
        )
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def expand_to(
    memory: cython.pointer[SectionMemory],
    codec: cython.int,
    data: cython.p_uchar,
    size: cython.Py_ssize_t,
    limit: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Decompresses a records section to `memory`; returns the content size, from 1 to `limit`.

    Returns -1 if `compression` must do it. The memory grows if necessary.
    """
    room: cython.Py_ssize_t = declared_size(codec, data, size)
    limit = min(limit, _MAX_SECTION, _MAX_EXPANSION * size)
    if room < 0 or room > limit:
        return -1
    if room == 0:
        room = max(_MIN_GUESS, _GROWTH * size)
    while True:
        room = min(max(room, memory.capacity), limit)
        if not _reserve(memory, room):
            return -1
        found: cython.Py_ssize_t = expand_section(codec, data, size, memory.data, room)
        if found != SECTION_NO_ROOM or room == limit:
            return found if found > 0 else -1
        room = _GROWTH * room


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reserve(memory: cython.pointer[SectionMemory], room: cython.Py_ssize_t) -> cython.bint:
    """Makes room, without keeping the content; returns False if there is not enough memory."""
    if room > memory.capacity:
        PyMem_RawFree(memory.data)
        memory.data = cython.cast(cython.p_uchar, PyMem_RawMalloc(room))
        memory.capacity = room if memory.data != cython.NULL else 0
    return room <= memory.capacity
