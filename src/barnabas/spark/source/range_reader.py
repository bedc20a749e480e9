"""The executor side of the source: reads ranges of offsets as Arrow batches.

Runs in Spark's Python workers, which execute many tasks: consumers with their connections and
metadata are cached per process and settings. The simple consumer handles leader changes; offsets
that no longer exist are handled here.

While one fetch is decoded, the next is in flight. The task itself sends the first fetch: most
micro-batches end with it, and a thread would delay them. After that one thread per worker process
fetches one response ahead. The thread and the task never use the consumer at the same time.
"""

import atexit
import logging
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql.types import StructType

from barnabas.clients.simple import FetchedBatches, SimpleConsumer
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.records.arrow import take_arrow
from barnabas.runtime.freed_memory import keep_freed_memory
from barnabas.spark.dead_letters import DeadLetterWriter
from barnabas.spark.formats.decoding import DLQ
from barnabas.spark.source.columns import RowDecoder, decoded_names, spark_batch
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import (
    DataLossError,
    Loss,
    OffsetRange,
    RangesPartition,
    log_end_loss,
    log_start_loss,
)
from barnabas.spark.worker_memory import freeze_imports

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.spark.tracing import ReadSpans

_HEAD = struct.Struct(">qi4xb6xi")
_HEAD_SIZE = 12
_BATCH_MAGIC = 2

Fetch = Callable[[int], FetchedBatches]
BATCH_BYTES = 24 * 1024 * 1024
"""The approximate size of a batch for Spark, estimated from the rows before."""
FIRST_FETCH_BYTES = 1024 * 1024
"""The first fetch of a range is small, because nothing is decoded while it is in flight."""
LEAST_FETCH_BYTES = 64 * 1024
KEPT_BYTES = 128 * 1024 * 1024
"""A worker allocates the same megabytes for each fetch; malloc keeps them."""
EXPECTED_RECORD_BYTES = 1024
"""Larger records need more fetches; each is in flight while the one before is decoded."""


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


Read = TypeVar("Read")
_log = logging.getLogger("barnabas.spark")


class ConsumerCache:
    """Consumers of this process by their settings; a forked process starts with none."""

    def __init__(self) -> None:
        self._process = -1
        self._consumers: dict[tuple[tuple[str, str], ...], SimpleConsumer] = {}
        self._ahead: ThreadPoolExecutor | None = None

    def get(self, settings: Mapping[str, str]) -> SimpleConsumer:
        self._after_fork()
        key = tuple(sorted(settings.items()))
        consumer = self._consumers.get(key)
        if consumer is None:
            consumer = self._consumers[key] = SimpleConsumer(settings)
        return consumer

    def ahead(self) -> ThreadPoolExecutor:
        """Returns the thread that fetches ahead."""
        self._after_fork()
        if self._ahead is None:
            self._ahead = ThreadPoolExecutor(1, "fetch-ahead")
        return self._ahead

    def drop(self, settings: Mapping[str, str]) -> None:
        """Closes a consumer after an error: the next task opens new connections."""
        consumer = self._consumers.pop(tuple(sorted(settings.items())), None)
        if consumer is not None:
            consumer.close()

    def close(self) -> None:
        """Closes the consumers of this process; those of the parent stay open after a fork."""
        while self._process == os.getpid() and self._consumers:
            self._consumers.popitem()[1].close()

    def _after_fork(self) -> None:
        if self._process != os.getpid():
            self._process, self._consumers, self._ahead = os.getpid(), {}, None
            freeze_imports()
            keep_freed_memory(KEPT_BYTES)


# One per worker process, because connections must outlive a task.
_consumers = ConsumerCache()
# Small micro-batches are read in the driver. Spark's workers end without these functions.
atexit.register(_consumers.close)


def read_ahead(work: Callable[[], Read]) -> Future[Read]:
    """Runs a function in the prefetch thread; the consumers must not be used until it has ended."""
    return _consumers.ahead().submit(work)


def read_task(
    task: RangesPartition, options: SourceOptions, schema: StructType
) -> Iterator["pa.RecordBatch"]:
    """Yields all records of a task's ranges as batches for Spark."""
    columns = schema.fieldNames()
    rows = RowDecoder.of(options.formats, schema)
    box = DeadLetterWriter.of_source(options, task.index)
    # A dead letter contains the whole record.
    wanted = None if options.formats.on_error == DLQ else decoded_names(columns)
    spans = _read_spans(options)
    if spans is not None and wanted is not None and "headers" not in wanted:
        wanted.append("headers")
    for fetched, batch in read_ranges(task.ranges, options, wanted):
        if spans is not None:
            spans.add(fetched.partition.topic, batch)
        found = rows.decode(batch, fetched.partition)
        box.add(found.letters)
        if found.batch.num_rows:
            yield spark_batch(fetched, found.batch, columns, found.columns)
        # Frees the memory of this fetch before the next one starts.
        del fetched, batch
    box.send()
    if spans is not None:
        spans.finish()
    freeze_imports()


def _read_spans(options: SourceOptions) -> "ReadSpans | None":
    if not options.tracing:
        return None
    from barnabas.spark.tracing import ReadSpans  # optional extra

    return ReadSpans(options.client.get("client.id", "barnabas"), options.group)


def read_ranges(
    ranges: Iterable[OffsetRange], options: SourceOptions, columns: list[str] | None = None
) -> Iterator[tuple[FetchedBatches, "pa.RecordBatch"]]:
    """Yields the fetches of some ranges and their records as Arrow batches."""
    try:
        consumer = _consumers.get(options.client)
        for item in ranges:
            yield from RangeReader(consumer, item, options).batches(_consumers.ahead, columns)
    except BarnabasError:
        _consumers.drop(options.client)
        raise


def read_at_once(
    ranges: Iterable[OffsetRange],
    options: SourceOptions,
    columns: list[str],
    kept: dict[TopicPartition, FetchedBatches],
) -> list[tuple[FetchedBatches, "pa.RecordBatch"]] | None:
    """Returns all records of some ranges with at most one fetch each; None if that is not enough.

    `kept` has the last fetch of each partition, which may contain the next range. It is updated.
    """
    found = []
    try:
        consumer = _consumers.get(options.client)
        for item in ranges:
            before = kept.pop(item.topic_partition, None)
            whole = RangeReader(consumer, item, options).at_once(columns, before)
            if whole is None:
                return None
            found.append(whole)
            # With aborted transactions the next range needs a new list of them from the broker.
            if not whole[0].aborted:
                kept[item.topic_partition] = replace(whole[0], fetch_offset=item.end)
    except BarnabasError:
        _consumers.drop(options.client)
        raise
    return found


def fetch_size(records: int, most: int) -> int:
    """Returns the fetch size in bytes: a small range needs no full fetch."""
    return min(most, max(LEAST_FETCH_BYTES, records * EXPECTED_RECORD_BYTES))


class RangeReader:
    """Reads one range to its end, across gaps and leader changes."""

    def __init__(
        self,
        consumer: SimpleConsumer,
        item: OffsetRange,
        options: SourceOptions,
    ) -> None:
        self._consumer = consumer
        self._range = item
        self._options = options
        self._position = item.start
        self._row_bytes = EXPECTED_RECORD_BYTES
        self._poll_timeout_s = options.poll_timeout_ms / 1000

    def batches(
        self, ahead: Callable[[], ThreadPoolExecutor], columns: list[str] | None
    ) -> Iterator[tuple[FetchedBatches, "pa.RecordBatch"]]:
        fetches = Prefetch(self._fetch, ahead, self._range.end)
        try:
            yield from self._read(fetches, columns)
        finally:
            fetches.close()

    def at_once(
        self, columns: list[str], before: FetchedBatches | None = None
    ) -> tuple[FetchedBatches, "pa.RecordBatch"] | None:
        """Returns the whole range from the batches fetched before or from one fetch.

        None if neither contains all of it.
        """
        if before is not None and before.fetch_offset == self._position:
            found = self._whole(before, columns)
            if found is not None:
                return found
        return self._whole(self._fetch(self._position), columns)

    def _whole(
        self, fetched: FetchedBatches, columns: list[str]
    ) -> tuple[FetchedBatches, "pa.RecordBatch"] | None:
        decoder = fetched.decoder()
        batch = take_arrow(decoder, self._range.size, columns)
        if decoder.next_offset < self._range.end:
            return None
        return fetched, self._within(batch, decoder.next_offset)

    def _read(
        self, fetches: Prefetch, columns: list[str] | None
    ) -> Iterator[tuple[FetchedBatches, "pa.RecordBatch"]]:
        deadline = time.monotonic() + self._poll_timeout_s
        while self._position < self._range.end:
            before = self._position
            # Not assigned to a name, which would keep its memory during the next fetch.
            yield from self._decoded(self._next(fetches), columns)
            if self._position > before:
                deadline = time.monotonic() + self._poll_timeout_s
            # No progress is normal for a while: the leader changes, or a fetch contains only
            # records of aborted transactions. The deadline counts from the last progress.
            elif time.monotonic() >= deadline:
                self._end_missing()

    def _decoded(
        self, fetched: FetchedBatches | None, columns: list[str] | None
    ) -> Iterator[tuple[FetchedBatches, "pa.RecordBatch"]]:
        """Decodes a fetch in pieces, because compressed data may become many times larger."""
        if fetched is None:
            return
        decoder = fetched.decoder()
        while self._position < self._range.end and not decoder.exhausted:
            rows = min(BATCH_BYTES // self._row_bytes + 1, self._range.end - self._position)
            batch = self._within(take_arrow(decoder, rows, columns), decoder.next_offset)
            self._position = max(self._position, decoder.next_offset)
            if batch.num_rows:
                self._row_bytes = batch.nbytes // batch.num_rows + 1
                yield fetched, batch

    def _fetch(self, position: int) -> FetchedBatches:
        item = self._range
        size = fetch_size(item.end - position, self._options.fetch_bytes)
        if position == item.start:
            # The task can decode nothing until the first fetch has arrived; a small one arrives
            # sooner.
            size = min(size, FIRST_FETCH_BYTES)
        return self._consumer.fetch(item.topic, item.partition, position, size)

    def _next(self, fetches: Prefetch) -> FetchedBatches | None:
        try:
            return fetches.get(self._position)
        except BrokerError as error:
            if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
                raise
        self._out_of_range()
        return None

    def _within(self, batch: "pa.RecordBatch", next_offset: int) -> "pa.RecordBatch":
        if next_offset <= self._range.end or not batch.num_rows:
            return batch
        # A broker returns whole record batches, so the last one can go beyond the range.
        offsets = batch.column("offset").to_numpy()
        return batch.slice(0, int(offsets.searchsorted(self._range.end)))

    def _out_of_range(self) -> None:
        item = self._range
        earliest = self._consumer.earliest_offset(item.topic, item.partition)
        # The log start has moved over the position: retention, or DeleteRecords.
        if earliest > self._position:
            # A partition that is new to the query begins at 0 by definition; it never promised
            # the records that retention has deleted before.
            if not item.fresh:
                self._lost(log_start_loss(item.topic_partition, self._position, earliest, item.end))
            self._position = earliest
            return
        latest = self._consumer.latest_offset(item.topic, item.partition)
        # The log ends before the position: truncated, or created again. Otherwise the error was
        # outdated, for example during a leader change, and the fetch is repeated.
        if latest < self._position:
            self._lost(log_end_loss(item.topic_partition, self._position, latest, item.end))
            self._position = item.end

    def _end_missing(self) -> None:
        """Handles a range whose end is beyond the end of the partition."""
        item = self._range
        latest = self._consumer.latest_offset(item.topic, item.partition)
        # The records exist, so this is no loss: the broker was too slow.
        if latest >= item.end:
            raise DeadlineError(
                f"{item.topic_partition}: no record from offset {self._position} within "
                f"kafkaConsumer.pollTimeoutMs ({self._options.poll_timeout_ms})"
            )
        self._lost(log_end_loss(item.topic_partition, self._position, latest, item.end))
        self._position = item.end

    def _lost(self, loss: Loss) -> None:
        if self._options.fail_on_data_loss:
            raise DataLossError([loss])
        _log.warning("continuing without lost records: %s", loss)
