"""Garbage collector settings for Spark's Python workers.

Spark runs the garbage collector after every task. Traversing the objects that imports have created
costs a small micro-batch more than its work does (60 to 120 ms over the processes of a query).
`freeze_imports`, called when a process has imported what it needs, excludes them from collection.
"""

import gc
import os
import sys

TIMES = 3
# Process id, number of calls, number of imported modules. In a forked process the id differs: the
# numbers are those of its parent.
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
