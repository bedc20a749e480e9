"""Spark's Python processes collect garbage after every task; what the imports made is no garbage.

Looking at all of it each time costs a small micro-batch more than its work does (60 to 120 ms over
the processes of a query). Called once a process has imported what it needs, this takes everything
that is there out of the collector's sight.
"""

import functools
import gc
import os


def freeze_once() -> None:
    """In this process, the first time; a fork begins anew."""
    _freeze(os.getpid())


@functools.cache
def _freeze(_process: int) -> None:
    gc.freeze()
