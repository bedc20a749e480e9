"""Sends columns: Arrow arrays of keys and values, without one Python object per record.

`send_columns` has the effect of one `send()` per row and keeps the order within each partition.
It sorts the rows by partition and encodes runs of them into the open batches in compiled code. A
row that begins a batch, or is larger than one, is sent with `send()`. Headers are not supported.
All rows of a batch have the same result, so `Deliveries` keeps batches instead of futures.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import time_ns
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from barnabas.clients.producer._futures_hot import SendFuture
from barnabas.clients.producer._send_hot import Headers, TopicAppender
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.producer import CLOSE_SECONDS, Producer
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.records._rows_hot import BytesColumn, RowEncoder
from barnabas.runtime.closing import ClosesOnExit

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.model.config_keys.keywords import ProducerKeywords

STICKY = -1
"""Stands for the sticky partition, to which records without a key are appended."""

NOW = -(2**63)
"""Stands for the time at which a record is appended."""


@dataclass(slots=True)
class Deliveries:
    """The records of one or more `send_columns` calls; owned by the thread that sends."""

    _batches: set[ProducerBatch] = field(default_factory=set)
    _futures: list[SendFuture] = field(default_factory=list)

    def add(self, batch: ProducerBatch) -> None:
        self._batches.add(batch)

    def add_future(self, future: SendFuture) -> None:
        self._futures.append(future)

    @property
    def done(self) -> bool:
        """Whether `check` has seen the result of every record."""
        return not (self._batches or self._futures)

    def check(self) -> None:
        """Raises the first error so far, and drops the records that were stored."""
        settled = {batch for batch in self._batches if _settled(batch)}
        for batch in settled:
            error = _error(batch)
            if error is not None:
                raise error
        self._batches -= settled
        for future in self._futures:
            if future.done():
                future.result(0)
        self._futures = [future for future in self._futures if not future.done()]


class ColumnProducer(ClosesOnExit):
    """Sends columns through a `Producer` that it owns. Thread-safe, as that producer is."""

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[ProducerKeywords]"
    ) -> None:
        self._producer = Producer(config, **options)
        self._core = self._producer.core

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> SendFuture:
        """See `Producer.send`."""
        return self._producer.send(topic, value, key, headers, partition, timestamp)

    def flush(self, timeout: float | None = None) -> None:
        """See `Producer.flush`."""
        self._producer.flush(timeout)

    def close(self, timeout: float | None = CLOSE_SECONDS) -> None:
        """See `Producer.close`."""
        self._producer.close(timeout)

    def init_transactions(self, timeout: float = 60.0) -> None:
        """See `Producer.init_transactions`."""
        self._producer.init_transactions(timeout)

    def begin_transaction(self) -> None:
        """See `Producer.begin_transaction`."""
        self._producer.begin_transaction()

    def commit_transaction(self, timeout: float = 60.0) -> None:
        """See `Producer.commit_transaction`."""
        self._producer.commit_transaction(timeout)

    def abort_transaction(self, timeout: float = 60.0) -> None:
        """See `Producer.abort_transaction`."""
        self._producer.abort_transaction(timeout)

    def send_columns(
        self,
        topic: str,
        value: "pa.Array",
        key: "pa.Array | None" = None,
        partition: "pa.Array | None" = None,
        timestamp: "pa.Array | None" = None,
    ) -> Deliveries:
        """Sends one record per row; check the result after `flush()`.

        Args:
            value: Binary or string array with 32-bit offsets.
            key: As `value`; None sends all records without a key.
            partition: Partition numbers; a null is chosen as `send()` chooses it.
            timestamp: Milliseconds as 64-bit integers; a null is the current time.
        """
        deliveries = Deliveries()
        if not len(value):
            return deliveries
        appender = self._core.topic_appender(topic)
        partitions = self._partition_of_rows(appender, key, partition, len(value))
        order = partitions.argsort(kind="stable")
        keys = None if key is None else _column(key)
        encoder = RowEncoder(keys, _column(value), order, _times(timestamp))
        for chosen, start, stop in _runs(partitions[order]):
            self._send_run((topic, chosen), appender, encoder, (start, stop), deliveries)
        return deliveries

    def commit_with_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: GroupMetadata,
        timeout: float = 60.0,
    ) -> None:
        """Does `send_offsets_to_transaction` and `commit_transaction` in one step.

        The unsent records and the offsets are sent at the same time.
        """
        self._core.call(self._core.commit_with(offsets, group, timeout))

    def _send_run(
        self,
        target: tuple[str, int],
        appender: TopicAppender,
        encoder: RowEncoder,
        rows: tuple[int, int],
        deliveries: Deliveries,
    ) -> None:
        (topic, chosen), (start, stop) = target, rows
        partition = None if chosen == STICKY else chosen
        while start < stop:
            count, batch = 0, None
            # Checked for each run, as in `send()`: `direct` becomes False when the producer is
            # closed or its transaction ends.
            if self._core.direct and chosen < appender.count:
                count, batch = appender.try_send_rows(partition, encoder, start, stop)
            if count and batch is not None:
                deliveries.add(batch)
            else:
                key, value = encoder.row(start)
                time = encoder.time(start, NOW)
                stamp = None if time == NOW else time
                sent = self._producer.send(topic, value, key, (), partition, stamp)
                if sent.done():
                    sent.result()  # raises at once if the row cannot be sent
                deliveries.add_future(sent)
                count = 1
            start += count

    def _partition_of_rows(
        self,
        appender: TopicAppender,
        key: "pa.Array | None",
        partition: "pa.Array | None",
        count: int,
    ) -> np.ndarray[Any, Any]:
        """Returns the partition of each row; STICKY for rows without a key or partition."""
        if key is None or key.null_count == count or not self._core.settings.hashes_keys:
            partitions = np.full(count, STICKY, np.int32)
        else:
            partitions = _hashed(appender, key)
        if partition is not None:
            given = np.asarray(partition.fill_null(STICKY), np.int32)
            chosen = np.asarray(partition.is_valid())
            if (given[chosen] < 0).any():
                raise LocalError(f"there is no partition {given[chosen].min()}")
            partitions = np.where(chosen, given, partitions)
        # Sixteen bits are sorted by their digits, in a third of the time.
        return partitions.astype(np.int16) if partitions.max() < 2**15 else partitions


def _hashed(appender: TopicAppender, key: "pa.Array") -> np.ndarray[Any, Any]:
    _, ends, data = key.buffers()
    bounds = memoryview(ends).cast("B")[4 * key.offset : 4 * (key.offset + len(key) + 1)]
    found = appender.partitions_of(bounds, memoryview(data or b"\0"))
    partitions = np.frombuffer(found, np.int32)
    if key.null_count:
        partitions = np.where(np.asarray(key.is_valid()), partitions, np.int32(STICKY))
    return partitions


def _column(array: "pa.Array") -> BytesColumn:
    bits, ends, data = array.buffers()
    return BytesColumn(bits if array.null_count else None, ends, data, array.offset)


def _times(timestamp: "pa.Array | None") -> np.ndarray[Any, Any] | None:
    if timestamp is None:
        return None
    filled = timestamp.fill_null(time_ns() // 1_000_000) if timestamp.null_count else timestamp
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False), np.int64)


def _runs(partitions: np.ndarray[Any, Any]) -> Iterator[tuple[int, int, int]]:
    """Yields (partition, start, stop) of each run of rows with the same partition."""
    bounds = [0, *(np.flatnonzero(np.diff(partitions)) + 1).tolist(), len(partitions)]
    for start, stop in itertools.pairwise(bounds):
        yield int(partitions[start]), start, stop


def _settled(batch: ProducerBatch) -> bool:
    return batch.done and all(_settled(part) for _, part in batch.parts)


def _error(batch: ProducerBatch) -> Exception | None:
    """Returns the first error of a batch or of the parts it was split into."""
    found = (_error(part) for _, part in batch.parts)
    return batch.error if not batch.parts else next((e for e in found if e is not None), None)
