"""What passes from the fetchers to a stream: chunks of a partition, through a bounded queue.

The queue is where two threads meet: the loop puts, the application's thread takes. It is bounded
by back-pressure, not by blocking the loop: fetchers leave out partitions whose queue is full, so a
slow stream does not hold up the others.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition

INVALID_OFFSET = -1


class PartitionTopicInfo:
    """One owned partition: its queue, what was fetched and what was consumed of it.

    `fetch_offset` belongs to the loop, `consumed_offset` to the stream that holds its lock.
    Each rebalance makes new ones and sets `revoked` in the old: a chunk that was taken from the
    queue just before it was cleared is recognised by that.
    """

    __slots__ = ("consumed_offset", "fetch_offset", "place", "queue", "revoked")

    def __init__(self, place: TopicPartition, queue: "ChunkQueue", offset: int) -> None:
        self.place = place
        self.queue = queue
        self.fetch_offset = offset
        self.consumed_offset = offset
        self.revoked = False


@dataclass(frozen=True, slots=True)
class FetchedDataChunk:
    """The bytes of one partition of one fetch answer, undecoded.

    An empty one moves the stream to `fetch_offset`: that is how a reset takes its place behind
    what was fetched before it.
    """

    info: PartitionTopicInfo
    fetch_offset: int
    data: memoryview
    aborted: tuple[tuple[int, int], ...] | None = None


class ChunkQueue:
    """The chunks of one stream. `on_room` is called when a full queue has room again."""

    def __init__(self, max_chunks: int, on_room: Callable[[], None] = lambda: None) -> None:
        self._max = max_chunks
        self._on_room = on_room
        self._chunks: deque[FetchedDataChunk] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._failure: BarnabasError | None = None

    def __len__(self) -> int:
        return len(self._chunks)

    @property
    def full(self) -> bool:
        return len(self._chunks) >= self._max

    @property
    def closed(self) -> bool:
        return self._closed

    def put(self, chunk: FetchedDataChunk) -> None:
        """Never waits; one fetch answer may bring more chunks than there is room for."""
        with self._changed:
            if not self._closed:
                self._chunks.append(chunk)
                self._changed.notify()

    def take(self, timeout_s: float | None) -> FetchedDataChunk | None:
        """The next chunk, waited for; None when the time is up or the queue is closed."""
        with self._changed:
            self._changed.wait_for(self._has_news, timeout_s)
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            if self._closed or not self._chunks:
                return None
            was_full = self.full
            chunk = self._chunks.popleft()
            has_room = was_full and not self.full
        if has_room:
            self._on_room()
        return chunk

    def clear(self) -> None:
        with self._changed:
            self._chunks.clear()

    def fail(self, error: BarnabasError) -> None:
        """Raise this to the one who takes next."""
        with self._changed:
            self._failure = error
            self._changed.notify()

    def recover(self) -> None:
        """Take back an error nobody has seen yet."""
        with self._changed:
            self._failure = None

    def close(self) -> None:
        """The stream ends."""
        with self._changed:
            self._chunks.clear()
            self._closed = True
            self._changed.notify_all()

    def _has_news(self) -> bool:
        return bool(self._chunks) or self._closed or self._failure is not None
