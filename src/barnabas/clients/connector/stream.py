"""A message stream: what one application thread reads of one topic, or of a filter's topics.

Records are decoded here, in the thread that reads them. A record counts as consumed from the
moment it is handed out; handing out and clearing exclude each other, so the offset a rebalance
commits is exact: nothing below it is handed out afterwards, nothing above it was before.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.clients.connector.chunks import ChunkQueue, FetchedDataChunk
from barnabas.clients.connector.errors import ConsumerTimeoutError
from barnabas.clients.connector.settings import StreamSettings
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record

Decoder = Callable[[bytes], Any]
_RECORDS_AT_A_TIME = 500


class MessageStream:
    """Iterate it, in one thread at a time; it ends when the connector shuts down.

    With consumer.timeout.ms a wait that takes longer raises ConsumerTimeoutError; the next call
    goes on where it was. An exception of a decoder is raised as it is; its record is consumed.
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

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        timeout_s = self._settings.timeout_s
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            with self._lock:
                record = self._hand_out()
            if record is not None:
                return self._decoded(record)
            self._load(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def clear(self) -> None:
        """Drop the chunk that is being read; the reader does not see the rest of it."""
        with self._lock:
            self._drop()

    # -- inside --------------------------------------------------------------------------------

    def _hand_out(self) -> Record | None:
        """The next record of the chunk at hand, marked as consumed; None at its end."""
        if self._next >= len(self._records) and not self._decode_more():
            return None
        record = self._records[self._next]
        self._next += 1
        assert self._chunk is not None
        self._chunk.info.consumed_offset = record.offset + 1
        return record

    def _decode_more(self) -> bool:
        if self._decoder is None or self._chunk is None:
            return False
        self._records, self._next = self._decoder.take(_RECORDS_AT_A_TIME), 0
        if not self._records:
            # Past markers, aborted transactions and what compaction removed.
            self._chunk.info.consumed_offset = self._decoder.next_offset
            self._drop()
        return bool(self._records)

    def _load(self, timeout_s: float | None) -> None:
        """Wait for a chunk and begin it, unless its partition was given up meanwhile."""
        chunk = self.queue.take(timeout_s)
        if chunk is None:
            if self.queue.closed:
                raise StopIteration
            raise ConsumerTimeoutError(f"no record came within {self._settings.timeout_s:g} s")
        with self._lock:
            if not chunk.info.revoked:
                self._begin(chunk)

    def _begin(self, chunk: FetchedDataChunk) -> None:
        self._chunk = chunk
        self._decoder = FetchDecoder(
            chunk.data,
            chunk.info.place.topic,
            chunk.info.place.partition,
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


def _apply(decoder: Decoder | None, data: bytes | None) -> Any:
    return data if decoder is None or data is None else decoder(data)
