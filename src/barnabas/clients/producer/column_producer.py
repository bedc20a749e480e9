"""A producer that also takes columns: Arrow arrays of keys and values, no object per record.

`send_columns` does what a `send()` for each row would do, order within each partition included.
Rows are sorted by partition, and runs of them are encoded into the open batches in compiled code;
a row that begins a batch, or is larger than one, takes the way of `send()`. Headers are for
`send()`. A settled batch answers for all its rows, so errors are asked for by batch: `Deliveries`.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING, Any

from barnabas.clients.producer._send_hot import SendFuture, TopicAppender
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.producer import Producer
from barnabas.clients.producer.visiting import call_visiting, run_visiting
from barnabas.model.errors import LocalError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.records._rows_hot import BytesColumn, RowEncoder

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

STICKY = -1
"""Instead of a partition: wherever records without a key go for now."""

NOW = -(2**63)
"""Instead of a time: the one at which a record is appended."""


@dataclass(slots=True)
class Deliveries:
    """Records on their way; owned by the thread that sends."""

    _batches: set[ProducerBatch] = field(default_factory=set)
    _futures: list[SendFuture] = field(default_factory=list)

    def add(self, batch: ProducerBatch) -> None:
        self._batches.add(batch)

    def add_future(self, future: SendFuture) -> None:
        self._futures.append(future)

    @property
    def done(self) -> bool:
        """Whether `check` has seen all of them arrive."""
        return not (self._batches or self._futures)

    def check(self) -> None:
        """Raise what went wrong so far, and forget what has arrived."""
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


class ColumnProducer(Producer):
    """Thread-safe as its base is."""

    def send_columns(
        self,
        topic: str,
        value: "pa.Array",
        key: "pa.Array | None" = None,
        partition: "pa.Array | None" = None,
        timestamp: "pa.Array | None" = None,
    ) -> Deliveries:
        """Send one record per row. Keys and values are binary or text arrays with 32-bit ends;
        timestamps are 64-bit milliseconds. A partition that is null is chosen as `send()` would,
        a time that is null is now. Look at the answer after `flush()`.
        """
        deliveries = Deliveries()
        if not len(value):
            return deliveries
        appender = self._appender(topic)
        places = self._places(appender, key, partition, len(value))
        order = places.argsort(kind="stable")
        keys = None if key is None else _column(key)
        encoder = RowEncoder(keys, _column(value), order, _times(timestamp))
        for place, start, stop in _runs(places[order]):
            self._send_run((topic, place), appender, encoder, (start, stop), deliveries)
        return deliveries

    def flush(self, timeout: float | None = None) -> None:
        run_visiting(self._thread, partial(self._core.flush, timeout))

    def begin_transaction(self) -> None:
        call_visiting(self._thread, self._core.begin)

    def commit_with_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: GroupMetadata,
        timeout: float = 60.0,
    ) -> None:
        """`send_offsets_to_transaction` and `commit_transaction` in one: what is left to deliver
        and the offsets are on their way together, and this thread does the work if it can."""
        run_visiting(self._thread, partial(self._core.commit_with, offsets, group, timeout))

    def _send_run(
        self,
        target: tuple[str, int],
        appender: TopicAppender,
        encoder: RowEncoder,
        rows: tuple[int, int],
        deliveries: Deliveries,
    ) -> None:
        (topic, place), (start, stop) = target, rows
        while start < stop:
            count, batch = 0, None
            # The rest of the topic's life decides whether the short way is open, as in `send()`.
            if self._core.direct and not self._closed and place < appender.count:
                chosen = appender.sticky if place == STICKY else place
                count, batch = appender.try_send_rows(chosen, encoder, start, stop)
            if count and batch is not None:
                deliveries.add(batch)
            else:
                key, value = encoder.row(start)
                number = None if place == STICKY else place
                time = encoder.time(start, NOW)
                stamp = None if time == NOW else time
                deliveries.add_future(self.send(topic, value, key, (), number, stamp))
                count = 1
            start += count

    def _places(
        self,
        appender: TopicAppender,
        key: "pa.Array | None",
        partition: "pa.Array | None",
        count: int,
    ) -> "np.ndarray[Any, Any]":
        """The partition of each row, STICKY for those that go anywhere."""
        import numpy as np

        if key is None or key.null_count == count or not self._settings.hashes_keys:
            places = np.full(count, STICKY, np.int32)
        else:
            places = _hashed(appender, key)
        if partition is not None:
            given = np.asarray(partition.fill_null(STICKY), np.int32)
            chosen = np.asarray(partition.is_valid())
            if (given[chosen] < 0).any():
                raise LocalError(f"there is no partition {given[chosen].min()}")
            places = np.where(chosen, given, places)
        # Sixteen bits are sorted by their digits, in a third of the time.
        return places.astype(np.int16) if places.max() < 2**15 else places


def _hashed(appender: TopicAppender, key: "pa.Array") -> "np.ndarray[Any, Any]":
    import numpy as np

    _, ends, data = key.buffers()
    bounds = memoryview(ends).cast("B")[4 * key.offset : 4 * (key.offset + len(key) + 1)]
    found = appender.partitions_of(bounds, memoryview(data or b"\0"))
    places = np.frombuffer(found, np.int32)
    if key.null_count:
        places = np.where(np.asarray(key.is_valid()), places, np.int32(STICKY))
    return places


def _column(array: "pa.Array") -> BytesColumn:
    bits, ends, data = array.buffers()
    return BytesColumn(bits if array.null_count else None, ends, data, array.offset)


def _times(timestamp: "pa.Array | None") -> "np.ndarray[Any, Any] | None":
    import numpy as np

    if timestamp is None:
        return None
    filled = timestamp.fill_null(time_ns() // 1_000_000) if timestamp.null_count else timestamp
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False), np.int64)


def _runs(places: "np.ndarray[Any, Any]") -> Iterator[tuple[int, int, int]]:
    """(partition, start, stop) of equal neighbours."""
    import numpy as np

    bounds = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
    for start, stop in itertools.pairwise(bounds):
        yield int(places[start]), start, stop


def _settled(batch: ProducerBatch) -> bool:
    return batch.done and all(_settled(part) for _, part in batch.parts)


def _error(batch: ProducerBatch) -> Exception | None:
    """The first error of a batch, or of the parts it was split into."""
    found = (_error(part) for _, part in batch.parts)
    return batch.error if not batch.parts else next((e for e in found if e is not None), None)
