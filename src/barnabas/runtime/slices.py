"""Long loops on an event loop: other callbacks run between two slices of the items.

A job over all partitions of a large broker would take longer than a request may wait.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TypeVar

_T = TypeVar("_T")

SLICE_S = 0.002
"""Time after which a long loop lets other callbacks run: they wait for at most one slice."""


async def in_slices(items: Iterable[_T]) -> AsyncIterator[_T]:
    """Yields the items; lets the loop run its other callbacks after each `SLICE_S` of work.

    A slice is a time and not a number of items, because the cost of an item depends on the state of
    the broker: a partition may have one replica or five, a log may be on a slow disk.

    The loop's clock is used: in a simulation it does not advance during a callback, so that the
    order of the callbacks depends on the seed alone.

    Between two slices other callbacks may change the state of the broker. If they may change
    `items`, pass a copy.
    """
    now = asyncio.get_running_loop().time
    end = now() + SLICE_S
    for item in items:
        yield item
        if now() >= end:
            await asyncio.sleep(0)
            end = now() + SLICE_S


async def slices_of(items: Sequence[_T], size: int) -> AsyncIterator[Sequence[_T]]:
    """Yields slices of `size` items and lets the loop run other callbacks between two of them."""
    for start in range(0, len(items), size):
        if start:
            await asyncio.sleep(0)
        yield items[start : start + size]
