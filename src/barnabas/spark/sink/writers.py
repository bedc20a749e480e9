"""The writers of the sink for batch and streaming queries; the tasks write."""

import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from barnabas.model.errors import LocalError
from barnabas.spark.sink.options import (
    BATCH_ID,
    QUERY_ID,
    Epoch,
    Guarantee,
    SinkOptions,
    check_sink_schema,
)
from barnabas.spark.worker_memory import freeze_imports

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class WrittenRows(WriterCommitMessage):
    """The rows that one task wrote; 0 if an earlier attempt wrote them."""

    rows: int


class BatchWriter(DataSourceArrowWriter):
    """One `save()`. Pickled to the tasks, with the query id that all attempts share."""

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        check_sink_schema(schema, options.topic, options.timestamp_column)
        self._options = options
        self._query_id = options.query_id or uuid.uuid4().hex

    def write(self, iterator: Iterator["pa.RecordBatch"]) -> WrittenRows:
        if self._options.guarantee is Guarantee.AT_LEAST_ONCE:
            return _write(self._options, None, iterator)
        epoch = _epoch(_task(), self._query_id, self._options.batch_id)
        return _write(self._options, epoch, iterator)


class StreamWriter(DataSourceStreamArrowWriter):
    """One micro-batch of a query; its number is a local property of the task.

    Created on the driver for each micro-batch, in a separate process; committed in another.
    """

    def __init__(self, options: SinkOptions, schema: StructType) -> None:
        freeze_imports()
        check_sink_schema(schema, options.topic, options.timestamp_column)
        self._options = options

    def write(self, iterator: Iterator["pa.RecordBatch"]) -> WrittenRows:
        if self._options.guarantee is Guarantee.AT_LEAST_ONCE:
            return _write(self._options, None, iterator)
        task = _task()
        epoch = _epoch(task, _property(task, QUERY_ID), int(_property(task, BATCH_ID)))
        return _write(self._options, epoch, iterator)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Does nothing: each task has committed its own transaction."""
        freeze_imports()


def _write(
    options: SinkOptions, epoch: Epoch | None, rows: Iterator["pa.RecordBatch"]
) -> WrittenRows:
    """Writes the rows of a task: at least once without an epoch, otherwise exactly once."""
    # Start-up time: the processes that plan and commit need neither pyarrow nor a producer.
    from barnabas.spark.sink import transactional_write as sink

    freeze_imports()
    with _traced(options, rows) as traced:
        if epoch is None:
            return WrittenRows(sink.write_at_least_once(options, traced))
        return WrittenRows(sink.write_exactly_once(options, epoch, traced))


def _traced(
    options: SinkOptions, rows: Iterator["pa.RecordBatch"]
) -> AbstractContextManager[Iterator["pa.RecordBatch"]]:
    if not options.tracing:
        return nullcontext(rows)
    from barnabas.spark.tracing import write_span  # optional extra

    return write_span(options.client.get("client.id", "barnabas"), options.topic, rows)


def _epoch(task: TaskContext, query_id: str, batch_id: int) -> Epoch:
    return Epoch(query_id, batch_id, task.partitionId(), task.attemptNumber() == 0)


def _task() -> TaskContext:
    task = TaskContext.get()
    if task is None:
        raise LocalError("the sink can write only inside Spark's tasks")
    return task


def _property(task: TaskContext, name: str) -> str:
    value = task.getLocalProperty(name)
    if value is None:
        raise LocalError(f"the task has no local property {name}, which exactly-once needs")
    return value
