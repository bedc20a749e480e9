"""Lets the C library keep freed memory for the next use.

Clients allocate and free megabytes of records again and again. By default malloc of glibc returns
free memory to the system, which must clear every page before it is used again: on virtual machines
a page fault takes up to some microseconds, which is as much as sending the page. Other C libraries
have no such setting; nothing happens there.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_HEAP_BLOCK_BYTES = 32 * 1024 * 1024
"""Blocks up to this size are part of the heap, which keeps freed memory; the most glibc accepts."""
_MOST_BYTES = 512 * 1024 * 1024
_kept = [0]


def keep_freed_memory(size: int) -> None:
    """Lets malloc keep up to `size` bytes of freed memory, for the whole process; at most 512 MB.

    The limit is never lowered, and takes no memory that the process has not used before.
    """
    size = min(size, _MOST_BYTES)
    if size <= _kept[0] or sys.platform == "win32":
        return
    _kept[0] = size
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _HEAP_BLOCK_BYTES)
        set_option(_M_TRIM_THRESHOLD, size)
