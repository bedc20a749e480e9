"""Collects the dead letters of a task and writes them when the task has read all records.

In a streaming query they are written exactly once: in one transaction with the number of the
micro-batch, like the rows of the sink. A task that is retried, a micro-batch that is replayed and a
second action on the same micro-batch in foreachBatch find that number. A batch read has no
persistent name: each action on its frame writes its dead letters again.
"""

import logging
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark import TaskContext

from barnabas.model.errors import BarnabasError
from barnabas.spark.client_settings import connection_settings
from barnabas.spark.formats.dead_letters import TIMESTAMP, DeadLetter, sink_batch
from barnabas.spark.source.options import SourceOptions

if TYPE_CHECKING:
    import pyarrow as pa

    from barnabas.spark.sink.options import Guarantee, SinkOptions
    from barnabas.spark.sink.transactional_write import Epoch

ATTEMPTS = 3
"""Two scans of one source in one query share a name: the one that is fenced retries."""

_log = logging.getLogger("barnabas.spark")


class DeadLetterBox:
    """Owned by one task.

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
    def of_source(cls, options: SourceOptions, index: int) -> "DeadLetterBox":
        """For the `index`-th task that a source has planned."""
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
        # Start-up time: a task without dead letters needs no producer.
        from barnabas.spark.sink.options import Guarantee
        from barnabas.spark.sink.transactional_write import write_at_least_once

        batch = sink_batch(self._letters, self._topic)
        epoch = self._epoch()
        if epoch is None:
            write_at_least_once(self._sink(Guarantee.AT_LEAST_ONCE), iter([batch]))
        else:
            self._send_once(epoch, batch)
        _log.warning("wrote %d dead letters", len(self._letters))
        self._letters = []

    def _send_once(self, epoch: "Epoch", batch: "pa.RecordBatch") -> None:
        from barnabas.spark.sink.options import Guarantee
        from barnabas.spark.sink.transactional_write import write_exactly_once

        sink = self._sink(Guarantee.EXACTLY_ONCE)
        for left in range(ATTEMPTS - 1, -1, -1):
            try:
                write_exactly_once(sink, epoch, iter([batch]))
                return
            except BarnabasError:
                if not left:
                    raise

    def _sink(self, guarantee: "Guarantee") -> "SinkOptions":
        from barnabas.spark.sink.options import SinkOptions, with_defaults

        client = with_defaults(connection_settings(self._client))
        return SinkOptions(None, guarantee, None, 0, client, timestamp_column=TIMESTAMP)

    def _epoch(self) -> "Epoch | None":
        from barnabas.spark.sink.transactional_write import Epoch
        from barnabas.spark.sink.writers import BATCH_ID, QUERY_ID

        task = TaskContext.get()
        if task is None:
            return None
        query, batch = task.getLocalProperty(QUERY_ID), task.getLocalProperty(BATCH_ID)
        if query is None or batch is None:
            return None
        return Epoch(f"{query}-dlq-{self._name}", int(batch), self._index)
