"""Threads that take a part of short computations; the whole process shares them.

For work whose functions release the interpreter lock. The caller divides the work into pieces, does
pieces itself until none is left, and never waits for a helper that has not begun: the helpers may
be busy, or missing because of a fork or the end of the program. Nothing here returns a result.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_MOST_HELPERS = 4
_executor: ThreadPoolExecutor | None = None
_executor_process: int | None = None


def helper_count() -> int:
    """Returns the most helpers of one computation: one less than the processors, at most four."""
    return min(_processors() - 1, _MOST_HELPERS)


def start_helpers(task: Callable[[], None], count: int) -> None:
    """Runs `task` on up to `count` helper threads, as soon as they are idle."""
    global _executor, _executor_process
    if _executor is None or _executor_process != os.getpid():  # a fork does not copy threads
        _executor = ThreadPoolExecutor(_MOST_HELPERS, "barnabas-helper")
        _executor_process = os.getpid()
    try:
        for _ in range(count):
            _executor.submit(task)
    except RuntimeError:  # the interpreter exits, or the system has no thread left
        return


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
