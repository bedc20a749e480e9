"""Long loops on an event loop: other callbacks run between two slices of the items."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

_T = TypeVar("_T")


async def in_slices(items: Iterable[_T], size: int) -> AsyncIterator[_T]:
    """Yields the items; lets the loop run its other callbacks after every `size` of them.

    The caller must accept that the state of others changes at these points. If `items` is part of
    such a state, pass a copy.
    """
    left = size
    for item in items:
        yield item
        left -= 1
        if not left:
            await asyncio.sleep(0)
            left = size
