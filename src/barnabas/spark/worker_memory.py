"""Memory in Spark's Python processes: what lies still is left alone, what is freed is kept.

They collect garbage after every task, and what the imports made is no garbage. Looking at all of
it each time costs a small micro-batch more than its work does (60 to 120 ms over the processes of
a query). Called when a process has imported what it needs, `freeze_imports` takes everything that
is there out of the collector's sight.

A reading worker asks for the same few megabytes again and again. The C library gives so much back
to the system at once, which then has to fill each page with zeros anew; here it keeps them.
"""

import ctypes
import gc
import os
import sys

TIMES = 3
KEPT_BYTES = 128 * 1024 * 1024
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST_MMAP_THRESHOLD = 32 * 1024 * 1024
# The process that was frozen, how often, and how many modules it had imported: a fork must not
# take its parent's for its own.
_frozen = [-1, 0, 0]


def freeze_imports() -> None:
    """In this process, the first times it is called, since the first task imports what it needs as
    it goes, and whenever something has been imported since: another query may need other modules.
    A fork begins anew."""
    process, times, modules = _frozen
    if process != os.getpid():
        times = 0
    if times < TIMES or len(sys.modules) != modules:
        _frozen[:] = os.getpid(), times + 1, len(sys.modules)
        gc.freeze()


def keep_freed_memory() -> None:
    """Where the C library knows how: GNU's."""
    setting = getattr(ctypes.CDLL(None), "mallopt", None)
    if setting is not None:
        setting(_M_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        setting(_M_TRIM_THRESHOLD, KEPT_BYTES)
