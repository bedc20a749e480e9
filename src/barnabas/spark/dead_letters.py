"""Dead letters: records that a query could not process, and the writer that stores them.

A dead letter has the key, the value and the headers of its record, byte for byte, and the record's
timestamp. Further headers name its origin and the reason, as in the consumers' dead letters.

A task writes its dead letters when it has read all records. In a streaming query they are written
exactly once: in one transaction with the number of the micro-batch, like the rows of the sink. A
task that is retried, a micro-batch that is replayed and a second action on the same micro-batch in
foreachBatch find that number. A batch read has no persistent name: each action on its frame writes
its dead letters again.
"""

import logging
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from barnabas.model.errors import BarnabasError
from barnabas.spark.options import connection_settings
from barnabas.spark.sink.options import (
    BATCH_ID,
    QUERY_ID,
    Epoch,
    Guarantee,
    SinkOptions,
    with_defaults,
)
from barnabas.spark.source.options import SourceOptions

SUFFIX = ".dlq"
DECODE_ERROR = "DecodeError"
TIMESTAMP = "timestamp"
"""The column of `sink_batch` for the option `timestampColumn`."""
Header = tuple[str, bytes | None]
ATTEMPTS = 3
"""Two scans of one source in one query share a name: the one that is fenced retries."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record and the reason why it could not be processed."""

    topic: str | None
    """None, like partition and offset, if the record is the result of a grouping or a join."""
    partition: int | None
    offset: int | None
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]
    reason: str
    error_class: str = DECODE_ERROR

    def all_headers(self) -> list[Header]:
        """Returns the headers of the record, then those that describe the error."""
        described = {
            "dlq.topic": self.topic,
            "dlq.partition": self.partition,
            "dlq.offset": self.offset,
            "dlq.timestamp": self.timestamp,
            "dlq.error.class": self.error_class,
            "dlq.error.message": self.reason,
        }
        known = [
            (key, str(value).encode()) for key, value in described.items() if value is not None
        ]
        return [*self.headers, *known]


def take_letters(batch: pa.RecordBatch, reasons: dict[int, str]) -> Iterator[DeadLetter]:
    """Yields dead letters for the rows of an undecoded batch that have a reason.

    The batch has topic, partition, offset, key, value and, optionally, timestamp and headers.
    """
    for at in sorted(reasons):
        row = batch.slice(at, 1).to_pylist()[0]
        time = row.get("timestamp")
        pairs = row.get("headers") or ()
        yield DeadLetter(
            row["topic"],
            row["partition"],
            row["offset"],
            -1 if time is None else round(time.timestamp() * 1000),
            row["key"],
            row["value"],
            tuple((pair["key"], pair["value"]) for pair in pairs),
            reasons[at],
        )


def sink_batch(letters: Iterable[DeadLetter], topic: str | None) -> pa.RecordBatch:
    """Returns dead letters as rows of the sink; without `topic` each is written to `<its
    topic>.dlq`.
    """
    rows: list[dict[str, Any]] = [
        {
            "topic": topic or f"{letter.topic}{SUFFIX}",
            "key": letter.key,
            "value": letter.value,
            "headers": [{"key": key, "value": value} for key, value in letter.all_headers()],
            # Null where the record has no timestamp: the producer then sets the present time.
            TIMESTAMP: letter.timestamp if letter.timestamp >= 0 else None,
        }
        for letter in letters
    ]
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    fields = [("topic", pa.string()), ("key", pa.binary()), ("value", pa.binary())]
    time = (TIMESTAMP, pa.timestamp("ms", tz="UTC"))
    schema = pa.schema([*fields, ("headers", pa.list_(header)), time])
    return pa.RecordBatch.from_pylist(rows, schema=schema)


_log = logging.getLogger("barnabas.spark")


class DeadLetterWriter:
    """Collects the dead letters of one task and writes them to a topic.

    Owned by one task.

    Args:
        client: The client settings of the query's source or sink.
        topic: The dead-letter topic; None for `<topic>.dlq` of each record's own topic.
        name: The step of the query that the letters are from.
        index: The task's number within that step.
    """

    def __init__(self, client: Mapping[str, str], topic: str | None, name: str, index: int) -> None:
        self._client = client
        self._topic = topic
        self._name = name
        self._index = index
        self._letters: list[DeadLetter] = []

    @classmethod
    def of_source(cls, options: SourceOptions, index: int) -> "DeadLetterWriter":
        """Returns the writer of the `index`-th task that a source has planned."""
        # The query may have other sources, with tasks of the same numbers.
        source = zlib.crc32(repr((options.subscription, options.formats)).encode())
        topic = options.formats.dead_letter_topic
        return cls(options.client, topic, f"{source:08x}", index)

    def add(self, letters: list[DeadLetter]) -> None:
        self._letters.extend(letters)

    def send(self) -> None:
        """Writes the letters; to be called when the task has read all records."""
        if not self._letters:
            return
        self._write(sink_batch(self._letters, self._topic))
        _log.warning("wrote %d dead letters", len(self._letters))
        self._letters = []

    def _write(self, batch: pa.RecordBatch) -> None:
        # Start-up time: a task without dead letters needs no producer.
        from barnabas.spark.sink import transactional_write

        epoch = self._epoch()
        if epoch is None:
            sink = self._sink(Guarantee.AT_LEAST_ONCE)
            transactional_write.write_at_least_once(sink, iter([batch]))
            return
        sink = self._sink(Guarantee.EXACTLY_ONCE)
        for left in range(ATTEMPTS - 1, -1, -1):
            try:
                transactional_write.write_exactly_once(sink, epoch, iter([batch]))
                return
            except BarnabasError:
                if not left:
                    raise

    def _sink(self, guarantee: Guarantee) -> SinkOptions:
        client = with_defaults(connection_settings(self._client))
        return SinkOptions(None, guarantee, None, 0, client, timestamp_column=TIMESTAMP)

    def _epoch(self) -> Epoch | None:
        task = TaskContext.get()
        if task is None:
            return None
        query, batch = task.getLocalProperty(QUERY_ID), task.getLocalProperty(BATCH_ID)
        if query is None or batch is None:
            return None
        return Epoch(f"{query}-dlq-{self._name}", int(batch), self._index)
