"""Message streams: fetched chunks, their bounded queue, and the iterator of one application thread.

The loop puts chunks into the queue of a stream; the application's thread takes and decodes them.
Fetchers skip partitions whose queue is full, so a slow stream does not block the others. A record
counts as consumed when it is returned. Returning and clearing exclude each other, so the offset
that a rebalance commits is exact: no record below it is returned later, none above it was returned.

The record that a stream returned last is in progress until the application asks for the next one.
After an error the last commit does not include it.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients.connector.settings import StreamSettings
from barnabas.model.errors import BarnabasError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record

INVALID_OFFSET = -1
# Decoded at once: large enough to save calls, small enough for a stop to take effect soon.
_RECORDS_AT_A_TIME = 500


class ConsumerTimeoutError(DeadlineError):
    """No record arrived within `consumer.timeout.ms`; the stream is still usable."""


class PartitionTopicInfo:
    """One owned partition: its queue, fetch offset and consumed offset.

    `fetch_offset` belongs to the loop, `consumed_offset` to the stream that holds its lock.
    Each rebalance creates new objects and sets `revoked` in the old ones: a stream that took a
    chunk just before the queue was cleared sees that the chunk is invalid.
    """

    __slots__ = ("consumed_offset", "fetch_offset", "queue", "revoked", "topic_partition")

    def __init__(self, topic_partition: TopicPartition, queue: "ChunkQueue", offset: int) -> None:
        self.topic_partition = topic_partition
        self.queue = queue
        self.fetch_offset = offset
        self.consumed_offset = offset
        self.revoked = False


@dataclass(frozen=True, slots=True)
class FetchedDataChunk:
    """The bytes of one partition in one fetch response, not decoded.

    An empty chunk moves the stream to `fetch_offset`, so a reset takes effect after the chunks
    that were fetched before it.
    """

    info: PartitionTopicInfo
    fetch_offset: int
    data: memoryview
    aborted: tuple[tuple[int, int], ...] | None = None


class ChunkQueue:
    """The chunks of one stream. Calls `on_room` when a full queue has room again."""

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
        """Adds a chunk without waiting; one fetch response may exceed the limit of the queue."""
        with self._changed:
            if not self._closed:
                self._chunks.append(chunk)
                self._changed.notify()

    def take(self, timeout_s: float | None) -> FetchedDataChunk | None:
        """Waits for a chunk; returns None after `timeout_s` or if the queue is closed."""
        with self._changed:
            self._changed.wait_for(self._has_event, timeout_s)
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
        """Makes the next `take` raise this error."""
        with self._changed:
            self._failure = error
            self._changed.notify()

    def recover(self) -> None:
        """Removes an error that was not raised yet."""
        with self._changed:
            self._failure = None

    def close(self) -> None:
        """Ends the stream."""
        with self._changed:
            self._chunks.clear()
            self._closed = True
            self._changed.notify_all()

    def _has_event(self) -> bool:
        return bool(self._chunks) or self._closed or self._failure is not None


Decoder = Callable[[bytes], Any]


class MessageStream:
    """Iterator of records for one thread at a time; ends when the connector shuts down.

    With consumer.timeout.ms a wait that takes longer raises ConsumerTimeoutError; the next call
    continues at the same record. An exception of a decoder is raised as it is; the next call
    continues after its record.
    """

    def __init__(
        self,
        queue: ChunkQueue,
        settings: StreamSettings,
        key_decoder: Decoder | None = None,
        value_decoder: Decoder | None = None,
    ) -> None:
        self.queue = queue
        self._settings = settings
        self._key_decoder = key_decoder
        self._value_decoder = value_decoder
        self._lock = threading.Lock()
        self._chunk: FetchedDataChunk | None = None
        self._decoder: FetchDecoder | None = None
        self._records: list[Record] = []
        self._next = 0
        self._cleared: Record | None = None
        """The record in progress when its chunk was dropped."""

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        timeout_s = self._settings.timeout_s
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            with self._lock:
                record = self._take_record()
            if record is not None:
                return self._decoded(record)
            self._load(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def clear(self) -> None:
        """Drops the chunk that is being read; its other records are not returned."""
        with self._lock:
            self._cleared = self._in_progress()
            self._drop()

    def in_progress(self) -> Record | None:
        """Returns the last record, unless the application has asked for the next one."""
        with self._lock:
            return self._in_progress()

    # -- internal ------------------------------------------------------------------------------

    def _take_record(self) -> Record | None:
        """Returns the next record of the current chunk as consumed, None at its end."""
        if self._next >= len(self._records) and not self._decode_more():
            return None
        record = self._records[self._next]
        self._next += 1
        assert self._chunk is not None
        self._chunk.info.consumed_offset = record.offset + 1
        return record

    def _in_progress(self) -> Record | None:
        return self._records[self._next - 1] if self._next else self._cleared

    def _decode_more(self) -> bool:
        self._cleared = None
        if self._decoder is None or self._chunk is None:
            return False
        self._records, self._next = [], 0  # A corrupt batch raises in the next line.
        self._records = self._decoder.take(_RECORDS_AT_A_TIME)
        if not self._records:
            # Skips markers, aborted transactions and gaps that compaction left.
            self._chunk.info.consumed_offset = self._decoder.next_offset
            self._drop()
        return bool(self._records)

    def _load(self, timeout_s: float | None) -> None:
        """Waits for a chunk and starts it, unless its partition was released in the meantime."""
        chunk = self.queue.take(timeout_s)
        if chunk is None:
            if self.queue.closed:
                raise StopIteration
            raise ConsumerTimeoutError(f"no record arrived within {self._settings.timeout_s:g} s")
        with self._lock:
            if not chunk.info.revoked:
                self._begin(chunk)

    def _begin(self, chunk: FetchedDataChunk) -> None:
        self._chunk = chunk
        self._decoder = FetchDecoder(
            chunk.data,
            chunk.info.topic_partition.topic,
            chunk.info.topic_partition.partition,
            fetch_offset=chunk.fetch_offset,
            max_decompressed=self._settings.max_decompressed,
            aborted=chunk.aborted,
            check_crcs=self._settings.check_crcs,
        )

    def _drop(self) -> None:
        self._chunk = self._decoder = None
        self._records, self._next = [], 0

    def _decoded(self, record: Record) -> Record:
        if self._key_decoder is None and self._value_decoder is None:
            return record
        key = _apply(self._key_decoder, record.key)
        return record.replace(key, _apply(self._value_decoder, record.value))


def _apply(decoder: Decoder | None, data: bytes | None) -> object:
    return data if decoder is None or data is None else decoder(data)


class StreamSet:
    """All streams of a connector, by topic or for a filter."""

    def __init__(
        self, by_topic: Mapping[str, list[MessageStream]], by_filter: list[MessageStream]
    ) -> None:
        self.by_topic = dict(by_topic)
        self.by_filter = by_filter

    @property
    def all(self) -> list[MessageStream]:
        return [*self.by_filter, *(s for streams in self.by_topic.values() for s in streams)]

    def stream_of(self, topic: str, thread: int) -> MessageStream:
        """Returns the stream of a consumer thread."""
        return (self.by_topic.get(topic) or self.by_filter)[thread]

    def clear(self) -> None:
        """Drops fetched records that were not returned: queues first, then current chunks."""
        for stream in self.all:
            stream.queue.clear()
            stream.clear()

    def in_progress(self) -> list[Record]:
        """Returns the record that each stream returned last and that may not be processed yet."""
        found = (stream.in_progress() for stream in self.all)
        return [record for record in found if record is not None]

    def fail(self, error: BarnabasError) -> None:
        for stream in self.all:
            stream.queue.fail(error)

    def recover(self) -> None:
        for stream in self.all:
            stream.queue.recover()

    def close(self) -> None:
        """Ends every stream."""
        for stream in self.all:
            stream.queue.close()


class StreamMaker:
    """Creates streams with the same settings and decoders."""

    def __init__(
        self,
        settings: StreamSettings,
        on_room: Callable[[], None],
        key_decoder: Decoder | None = None,
        value_decoder: Decoder | None = None,
    ) -> None:
        self._settings = settings
        self._on_room = on_room
        self._key_decoder = key_decoder
        self._value_decoder = value_decoder

    def for_topics(self, topic_counts: Mapping[str, int]) -> StreamSet:
        return StreamSet({topic: self._make(n) for topic, n in topic_counts.items()}, [])

    def for_filter(self, streams: int) -> StreamSet:
        return StreamSet({}, self._make(streams))

    def _make(self, count: int) -> list[MessageStream]:
        return [self._one() for _ in range(count)]

    def _one(self) -> MessageStream:
        queue = ChunkQueue(self._settings.max_chunks, self._on_room)
        return MessageStream(queue, self._settings, self._key_decoder, self._value_decoder)
