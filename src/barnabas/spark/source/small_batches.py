"""Experimental: the driver reads small micro-batches and hands the records to Spark with the plan.

The option `smallBatchesOnDriver=true` turns this on; it is off by default, because it depends on a
private class of PySpark.

A Python process beside the task costs a micro-batch of a few records more than reading them does.
Spark's engine can take the records of a micro-batch from the driver, store them as a block, and let
the task read the block; without the block the task reads the range itself. Spark offers this only
to readers that it wraps itself (`simpleStreamReader`) and recognises them by the class of the
wrapper. So a reader reports that class while it has records to hand over.

Only small micro-batches are read this way: few records of few partitions, undecoded, that the first
fetch of each partition returns. Everything else, including errors, is left to the task.

Spark writes its own log between its requests for the end and for the plan of a micro-batch; another
thread reads the rows in that time.

A fetch returns at least one complete batch, often much more than a small micro-batch needs. The
rest is kept for the range that begins where this one ended, and is not used for any other range.
"""

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from barnabas.model.errors import BarnabasError
from barnabas.spark.source.columns import decoded_names, spark_batch
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import RangesPartition
from barnabas.spark.source.range_reader import read_ahead, read_at_once

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.clients.simple import FetchedBatches
    from barnabas.model.ids import TopicPartition
    from barnabas.spark.source.planner import OffsetRange

    Ranges = tuple[OffsetRange, ...]

try:
    from pyspark.sql.datasource_internal import _SimpleStreamReaderWrapper as READER_WRAPPER
except ImportError:  # in other versions of Spark the tasks read everything
    READER_WRAPPER = None  # type: ignore[assignment,misc]  # no such class

# Above this, reading in parallel tasks is faster than on the driver.
MOST_RECORDS = 1000
MOST_RANGES = 8
YIELD_SECONDS = 0.001
"""A pause, so that replies that Spark waits for are sent first: both need the interpreter lock."""
_log = logging.getLogger("barnabas.spark")


class SmallBatches:
    """The records that the driver has read for the planned micro-batch; owned by its reader."""

    def __init__(self, options: SourceOptions, schema: StructType, *, decoded: bool) -> None:
        self._options = options
        self._names = schema.fieldNames()
        # Spark compares the schema of the records with its own, including metadata, and the columns
        # of a table in its catalog have metadata.
        plain = not decoded and not any(field.metadata for field in schema.fields)
        self._possible = READER_WRAPPER is not None and options.read_on_driver and plain
        self._ready: list[pa.RecordBatch] | None = None
        self._kept: dict[TopicPartition, FetchedBatches] = {}
        self._ahead: tuple[Ranges, Future[list[pa.RecordBatch] | None]] | None = None

    @property
    def shown_class(self) -> type[Any] | None:
        """The class to imitate while there are records to hand over."""
        return None if self._ready is None else READER_WRAPPER

    def begin(self, tasks: Sequence[RangesPartition]) -> None:
        """Starts to read the only task of the next micro-batch, if it is small."""
        ranges = self._small_ranges(tasks)
        if self._ahead is None and ranges is not None:
            self._ahead = ranges, read_ahead(lambda: self._yield_and_read(ranges))

    def plan(self, tasks: Sequence[RangesPartition]) -> None:
        """Reads the only task of a micro-batch, if it is small, or takes the started read."""
        ranges = self._small_ranges(tasks)
        begun, self._ahead = self._ahead, None
        found = None if begun is None else begun[1].result()
        if ranges is None:
            self._ready = None
        elif begun is not None and begun[0] == ranges:
            self._ready = found
        else:
            self._ready = self._read(ranges)

    def take(self) -> "Iterator[pa.RecordBatch] | None":
        """Returns the records of the planned micro-batch once; None if the task must read them."""
        ready, self._ready = self._ready, None
        return None if ready is None else iter(ready)

    def _small_ranges(self, tasks: Sequence[RangesPartition]) -> "Ranges | None":
        if not self._possible or len(tasks) != 1:
            return None
        ranges = tasks[0].ranges
        small = len(ranges) <= MOST_RANGES and sum(item.size for item in ranges) <= MOST_RECORDS
        return ranges if small else None

    def _yield_and_read(self, ranges: "Ranges") -> "list[pa.RecordBatch] | None":
        threading.Event().wait(YIELD_SECONDS)
        return self._read(ranges)

    def _read(self, ranges: "Ranges") -> "list[pa.RecordBatch] | None":
        try:
            found = read_at_once(ranges, self._options, decoded_names(self._names), self._kept)
        except BarnabasError as error:
            _log.info("the driver could not read a small micro-batch, its task will: %s", error)
            return None
        if found is None:
            return None
        return [
            spark_batch(fetched, batch, self._names, {})
            for fetched, batch in found
            if batch.num_rows
        ]
