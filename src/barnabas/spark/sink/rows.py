"""Sends rows as records: the columns of the sink and their types."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from barnabas.clients.producer.column_producer import ColumnProducer, Deliveries
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
PENDING_BATCHES = 16
DELIVERY_SECONDS = 600.0


def check_sink_schema(
    schema: StructType, topic: str | None, timestamp_column: str | None = None
) -> None:
    """Raises ConfigError for a missing column or a wrong type; other columns are ignored."""
    kinds = {field.name: field.dataType.simpleString() for field in schema.fields}
    if "value" not in kinds:
        raise ConfigError(f"the sink needs a column 'value'; there are: {', '.join(kinds)}")
    if topic is None and "topic" not in kinds:
        raise ConfigError("the sink needs the option 'topic' or a column 'topic'")
    if timestamp_column is not None and kinds.get(timestamp_column) != "timestamp":
        raise ConfigError(
            f"timestampColumn={timestamp_column!r}: is not a column of type timestamp"
        )
    for name, allowed in _TYPES.items():
        kind = kinds.get(name, allowed[0])
        if kind not in allowed:
            raise ConfigError(f"column {name!r} must be {' or '.join(allowed)}, not {kind}")


@dataclass(slots=True)
class Sending:
    """Sends the rows of one task; `finish` raises the first error of any of them."""

    producer: ColumnProducer
    topic: str | None
    timestamp_column: str | None = None
    rows: int = 0
    first_topic: str | None = None
    _pending: list[Deliveries] = field(default_factory=list)

    def send(self, batches: Iterable["pa.RecordBatch"]) -> None:
        """Starts to send all rows."""
        for batch in batches:
            for topic, rows in self._by_topic(batch):
                self.first_topic = self.first_topic or topic
                self._pending.append(self._send(topic, rows))
            self.rows += batch.num_rows
            if len(self._pending) > PENDING_BATCHES:
                self._check()

    def finish(self) -> None:
        """Waits until all rows are acknowledged."""
        self.producer.flush(DELIVERY_SECONDS)
        self._check()

    def _by_topic(self, batch: "pa.RecordBatch") -> Iterator[tuple[str, "pa.RecordBatch"]]:
        """Yields the rows of each topic, in their order."""
        if self.topic is not None:
            yield self.topic, batch
            return
        import pyarrow.compute as pc

        topics = batch.column("topic")
        if topics.null_count:
            raise LocalError("the column 'topic' is null in a row, and no option names a topic")
        for topic in topics.unique().to_pylist():
            yield topic, batch.filter(pc.equal(topics, topic))

    def _send(self, topic: str, batch: "pa.RecordBatch") -> Deliveries:
        columns = {name: batch.column(name) for name in batch.schema.names if name in _TYPES}
        headers = columns.get("headers")
        if headers is not None and headers.null_count < len(headers):
            return self._send_one_by_one(topic, batch)
        return self.producer.send_columns(
            topic,
            _bytes(columns["value"]),
            _bytes(columns.get("key")),
            columns.get("partition"),
            _times(batch, self.timestamp_column),
        )

    def _send_one_by_one(self, topic: str, batch: "pa.RecordBatch") -> Deliveries:
        """Sends record by record: columns cannot hold headers."""
        deliveries, send = Deliveries(), self.producer.send
        times = _times(batch, self.timestamp_column)
        for value, key, pairs, partition, time in zip(
            _objects(batch, "value"),
            _objects(batch, "key"),
            _list(batch, "headers"),
            _list(batch, "partition"),
            [None] * batch.num_rows if times is None else times.to_pylist(),
            strict=True,
        ):
            headers = [(pair["key"], pair["value"]) for pair in pairs or ()]
            deliveries.add_future(send(topic, value, key, headers, partition, time))
        return deliveries

    def _check(self) -> None:
        for deliveries in self._pending:
            deliveries.check()
        self._pending = [item for item in self._pending if not item.done]


def _bytes(column: "pa.Array | None") -> "pa.Array | None":
    """Returns a column of bytes or text, which have the same layout, with 32-bit offsets."""
    import pyarrow as pa

    if column is None or column.type in (pa.binary(), pa.string()):
        return column
    return column.cast(pa.binary())


def _list(batch: "pa.RecordBatch", name: str) -> list[Any]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    found: list[Any] = batch.column(name).to_pylist()
    return found


def _objects(batch: "pa.RecordBatch", name: str) -> list[Any]:
    import pyarrow as pa

    if name not in batch.schema.names:
        return [None] * batch.num_rows
    found: list[Any] = batch.column(name).cast(pa.binary()).to_pylist()
    return found


def _times(batch: "pa.RecordBatch", name: str | None) -> "pa.Array | None":
    """Returns timestamps in milliseconds; for null the producer takes the present time."""
    import pyarrow as pa

    if name is None:
        return None
    millis = batch.column(name).cast(pa.timestamp("ms", tz="UTC"), safe=False)
    return millis.cast(pa.int64())
