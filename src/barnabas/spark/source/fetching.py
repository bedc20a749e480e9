"""Prefetches a partition: the next fetch is in flight while the last one is decoded.

The task itself sends the first fetch: most micro-batches end with it, and a thread would delay
them. After that one thread per worker process fetches one response ahead. The thread and the task
never use the consumer at the same time.
"""

import struct
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from barnabas.clients.simple import FetchedBatches

_HEAD = struct.Struct(">qi4xb6xi")
_HEAD_SIZE = 12
_BATCH_MAGIC = 2

Fetch = Callable[[int], FetchedBatches]


class Prefetch:
    """The fetches of one range, by offset. Close it to release the consumer."""

    def __init__(self, fetch: Fetch, pool: Callable[[], ThreadPoolExecutor], end: int) -> None:
        self._fetch = fetch
        self._pool = pool
        self._end = end
        self._ahead: tuple[int, Future[FetchedBatches]] | None = None

    def get(self, position: int) -> FetchedBatches:
        """Returns the batches from an offset on and starts the next fetch."""
        fetched = self._take(position)
        following = following_offset(fetched.data, position)
        if position < following < self._end:
            self._ahead = following, self._pool().submit(self._fetch, following)
        return fetched

    def close(self) -> None:
        """Waits for the fetch in flight and discards it."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and not ahead[1].cancel():
            ahead[1].exception()

    def _take(self, position: int) -> FetchedBatches:
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return self._fetch(position)
        at, future = ahead
        if at == position:
            return future.result()
        future.exception()
        return self._fetch(position)


def following_offset(data: memoryview, position: int) -> int:
    """Returns the offset to fetch after `data`, from the headers of its complete batches."""
    at = 0
    while at + _HEAD.size <= len(data):
        base, length, magic, delta = _HEAD.unpack_from(data, at)
        at += _HEAD_SIZE + max(length, 1)
        if at > len(data):
            break
        last = base + delta if magic >= _BATCH_MAGIC else base
        position = max(position, last + 1)
    return position
