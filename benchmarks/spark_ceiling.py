"""The highest rate of a Python source and sink in Spark: rows without any fetch or write.

`format("prepared")` has the columns of `format("barnabas")` and yields one Arrow batch, made once
per process, repeatedly; as a sink it receives Arrow batches and drops them. The difference to its
rates is the cost of fetching, decoding, encoding and producing.
"""

import functools
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from barnabas.spark.worker_memory import freeze_imports

FORMAT = "prepared"
TASKS = 2
BATCH_ROWS = 10_000
VALUE_BYTES = 100
KEYS = 10_000
SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, "
    "timestamp timestamp, timestampType int"
)


def key_of(number: int) -> bytes:
    return b"key%05d" % (number % KEYS)


@functools.cache
def prepared_batch() -> pa.RecordBatch:
    """All columns of a decoded fetch."""
    freeze_imports()
    count = BATCH_ROWS
    return pa.RecordBatch.from_arrays(
        [
            pa.array([key_of(number) for number in range(count)], pa.binary()),
            pa.array([bytes(VALUE_BYTES)] * count, pa.binary()),
            pa.array(["prepared"] * count, pa.string()),
            pa.array([0] * count, pa.int32()),
            pa.array(range(count), pa.int64()),
            pa.array([1_767_258_000_000_000] * count, pa.timestamp("us", tz="UTC")),
            pa.array([0] * count, pa.int32()),
        ],
        names=["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"],
    )


def rows_of(partition: InputPartition, names: list[str]) -> Iterator[pa.RecordBatch]:
    left, batch = partition.value, prepared_batch().select(names)
    while left > 0:
        yield batch if left >= BATCH_ROWS else batch.slice(0, left)
        left -= BATCH_ROWS


def shares(rows: int) -> list[InputPartition]:
    return [InputPartition(rows // TASKS)] * TASKS


class PreparedDataSource(DataSource):
    """Options: `rows` in all, `rowsPerBatch` of a micro-batch."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        return PreparedReader(int(self.options["rows"]), schema.fieldNames())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        rows = int(self.options["rows"])
        per_batch = int(self.options.get("rowsPerBatch", rows))
        return PreparedStreamReader(rows, per_batch, schema.fieldNames())

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamArrowWriter:
        freeze_imports()
        return DroppingWriter()


class PreparedReader(DataSourceReader):
    def __init__(self, rows: int, names: list[str]) -> None:
        self._rows, self._names = rows, names

    def partitions(self) -> list[InputPartition]:
        return shares(self._rows)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return rows_of(partition, self._names)


class PreparedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, rows: int, per_batch: int, names: list[str]) -> None:
        self._rows, self._per_batch, self._names = rows, per_batch, names

    def initialOffset(self) -> dict[str, int]:
        return {"rows": 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        return {"rows": min(start["rows"] + self._per_batch, self._rows)}

    def prepareForTriggerAvailableNow(self) -> None:
        """The end is known from the start."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return shares(end["rows"] - start["rows"])

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return rows_of(partition, self._names)


class DroppingWriter(DataSourceStreamArrowWriter):
    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        freeze_imports()
        for _ in iterator:
            pass
        return WriterCommitMessage()

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        freeze_imports()
