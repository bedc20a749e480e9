"""Rows to records: which columns the sink takes, of which types, and how they are sent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from barnabas.clients.producer import Producer
from barnabas.model.errors import ConfigError, LocalError

if TYPE_CHECKING:
    import pyarrow as pa

_TYPES = {
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "topic": ("string",),
    "partition": ("int",),
    "headers": ("array<struct<key:string,value:binary>>",),
}
PENDING_FUTURES = 50_000
DELIVERY_SECONDS = 600.0


def check_sink_schema(
    schema: StructType, topic: str | None, timestamp_column: str | None = None
) -> None:
    """ConfigError names a column that is missing or of a wrong type; others are left alone."""
    kinds = {field.name: field.dataType.simpleString() for field in schema.fields}
    if "value" not in kinds:
        raise ConfigError(f"the sink needs a column 'value'; there are: {', '.join(kinds)}")
    if topic is None and "topic" not in kinds:
        raise ConfigError("the sink needs the option 'topic' or a column 'topic'")
    if timestamp_column is not None and kinds.get(timestamp_column) != "timestamp":
        raise ConfigError(f"timestampColumn={timestamp_column!r}: is no column of type timestamp")
    for name, allowed in _TYPES.items():
        kind = kinds.get(name, allowed[0])
        if kind not in allowed:
            raise ConfigError(f"column {name!r} must be {' or '.join(allowed)}, not {kind}")


@dataclass(slots=True)
class Sending:
    """The rows of one task on their way; every future is looked at before the task is done."""

    producer: Producer
    topic: str | None
    timestamp_column: str | None = None
    rows: int = 0
    first_topic: str | None = None

    def send_all(self, batches: Iterable["pa.RecordBatch"]) -> None:
        pending: list[Any] = []
        for batch in batches:
            pending.extend(self._send(batch))
            if len(pending) > PENDING_FUTURES:
                half = len(pending) // 2
                _check(pending[:half])
                del pending[:half]
        self.producer.flush(DELIVERY_SECONDS)
        _check(pending)

    def _send(self, batch: "pa.RecordBatch") -> Iterator[Any]:
        send = self.producer.send
        for topic, value, key, headers, partition, time in self._records(batch):
            if topic is None:
                raise LocalError("the column 'topic' is null in a row, and no option names a topic")
            if self.first_topic is None:
                self.first_topic = topic
            yield send(topic, value, key, headers, partition, time)
        self.rows += batch.num_rows

    def _records(self, batch: "pa.RecordBatch") -> Iterator[tuple[Any, ...]]:
        count = batch.num_rows
        topics = [self.topic] * count if self.topic else _list(batch, "topic", count)
        headers = [
            () if row is None else [(pair["key"], pair["value"]) for pair in row]
            for row in _list(batch, "headers", count)
        ]
        return zip(
            topics,
            _bytes(batch, "value", count),
            _bytes(batch, "key", count),
            headers,
            _list(batch, "partition", count),
            _times(batch, self.timestamp_column, count),
            strict=True,
        )


def _list(batch: "pa.RecordBatch", name: str, count: int) -> list[Any]:
    if name not in batch.schema.names:
        return [None] * count
    found: list[Any] = batch.column(name).to_pylist()
    return found


def _times(batch: "pa.RecordBatch", name: str | None, count: int) -> list[Any]:
    """Milliseconds; where there is none the producer's own time is taken."""
    import pyarrow as pa

    if name is None:
        return [None] * count
    micros = batch.column(name).cast(pa.int64()).to_pylist()
    return [None if value is None else value // 1000 for value in micros]


def _bytes(batch: "pa.RecordBatch", name: str, count: int) -> list[Any]:
    import pyarrow as pa

    if name not in batch.schema.names:
        return [None] * count
    found: list[Any] = batch.column(name).cast(pa.binary()).to_pylist()
    return found


def _check(futures: list[Any]) -> None:
    for future in futures:
        future.result(DELIVERY_SECONDS)
