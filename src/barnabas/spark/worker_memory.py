"""Garbage collector and malloc settings for Spark's Python workers.

Spark runs the garbage collector after every task. Traversing the objects that imports have created
costs a small micro-batch more than its work does (60 to 120 ms over the processes of a query).
`freeze_imports`, called when a process has imported what it needs, excludes them from collection.

A reading worker allocates the same few megabytes again and again. By default the C library returns
them to the system at once, and the system clears each page before it gives it out again.
`keep_freed_memory` makes the C library keep them.
"""

import ctypes
import gc
import os
import sys

TIMES = 3
KEPT_BYTES = 128 * 1024 * 1024
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024
# Process id, number of calls, number of imported modules. A forked process sees by the id that the
# numbers are its parent's.
_frozen = [-1, 0, 0]


def freeze_imports() -> None:
    """Excludes all objects of this process from garbage collection.

    Does so at the first calls, because the first task still imports modules, and later whenever
    modules have been imported since: another query may need others. A forked process starts from
    zero.
    """
    process, times, modules = _frozen
    if process != os.getpid():
        times = 0
    if times < TIMES or len(sys.modules) != modules:
        _frozen[:] = os.getpid(), times + 1, len(sys.modules)
        gc.freeze()


def keep_freed_memory() -> None:
    """Sets malloc's thresholds; only GNU's C library has them."""
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:
        setting(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        setting(_M_TRIM_THRESHOLD, KEPT_BYTES)
