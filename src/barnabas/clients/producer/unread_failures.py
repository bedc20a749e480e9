"""Logs records that were not delivered and whose errors the application has not read.

A program that only calls `send()` and `flush()` would otherwise lose records without a trace. The
application has read an error when `on_delivery` was called with it, or when `result()` or
`exception()` of one future of the batch returned. It gets a second to do so; then the failed
records are counted per partition and logged, at most once in ten seconds. Failures of a transaction
are not logged here: its commit raises them.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress

from barnabas.clients.producer.batch import ProducerBatch
from barnabas.model.ids import TopicPartition

logger = logging.getLogger(__name__)

GRACE_S = 1.0
"""Time in which the application may read the error of a failed batch."""
REPEAT_S = 10.0
"""Least time between two reports."""
MAX_HELD = 100
"""Failed batches that are held for the grace time: each keeps its encoded records in memory."""
MAX_LINES = 10
"""Partitions that one report names."""


class UnreadFailures:
    """Collects the failed batches of a producer. Owned by its event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._held: deque[tuple[float, ProducerBatch]] = deque()
        """Failed batches with the time at which their grace time ends."""
        self._counts: dict[TopicPartition, int] = {}
        self._errors: dict[TopicPartition, Exception] = {}
        self._next_report_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def failed(self, batch: ProducerBatch) -> None:
        """Takes a batch that has failed."""
        self._held.append((self._loop.time() + GRACE_S, batch))
        while len(self._held) > MAX_HELD:
            self._count(self._held.popleft()[1])
        if self._timer is None:
            self._set_timer(GRACE_S)

    def failed_in_thread(self, batch: ProducerBatch) -> None:
        """Takes a batch that has failed in a thread of the application."""
        with suppress(RuntimeError):  # another thread has closed the producer
            self._loop.call_soon_threadsafe(self.failed, batch)

    def close(self) -> None:
        """Logs the failures that were not logged yet."""
        if self._timer is not None:
            self._timer.cancel()
        for _, batch in self._held:
            self._count(batch)
        self._held.clear()
        self._log()

    def _set_timer(self, delay_s: float) -> None:
        self._timer = self._loop.call_later(delay_s, self._check)

    def _check(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._held and self._held[0][0] <= now:
            self._count(self._held.popleft()[1])
        if now >= self._next_report_s:
            self._log()
        if self._counts:
            self._set_timer(self._next_report_s - now)
        elif self._held:
            self._set_timer(self._held[0][0] - now)

    def _count(self, batch: ProducerBatch) -> None:
        if batch.read or batch.error is None:
            return
        topic_partition = batch.partition
        self._counts[topic_partition] = self._counts.get(topic_partition, 0) + batch.record_count
        self._errors[topic_partition] = batch.error

    def _log(self) -> None:
        if not self._counts:
            return
        self._next_report_s = self._loop.time() + REPEAT_S
        for topic_partition in list(self._counts)[:MAX_LINES]:
            count = self._counts.pop(topic_partition)
            logger.warning(
                "%s: %s not delivered: %s",
                _where(topic_partition),
                "1 record was" if count == 1 else f"{count} records were",
                self._errors[topic_partition],
            )
        if self._counts:
            count = sum(self._counts.values())
            logger.warning("%d records of other partitions were not delivered either", count)
        self._counts.clear()
        self._errors.clear()


def _where(topic_partition: TopicPartition) -> str:
    """Returns the partition, or the topic of a record that failed before it had a partition."""
    known = topic_partition.partition >= 0
    return f"partition {topic_partition}" if known else f"topic {topic_partition.topic}"
