"""Forces logs to disk on a thread, one flush per log at a time.

For a broker that acknowledges only records on disk (`fsync.before.ack`, or `flush.messages`
of 1 on a topic), and for the periodic flushes. Appends during a flush are part of the next one, so
many producers share each fsync.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from barnabas.model.clock import Clock
from barnabas.model.errors import BrokerError
from barnabas.replication.durability import FlushTicket
from barnabas.replication.partition import Partition
from barnabas.storage.log import Log

_logger = logging.getLogger("barnabas.broker")


class Flusher:
    """Owned by the broker's loop; only `FlushTask.run` happens on the executor's threads."""

    def __init__(self, executor: Executor, clock: Clock) -> None:
        self._executor = executor
        self._clock = clock
        self._running: dict[Partition, asyncio.Task[None]] = {}
        self._again: set[Partition] = set()
        self.on_flushed: Callable[[Partition], None] = lambda _partition: None
        """Called after each flush: a follower may then report its flushed offset."""

    def request(self, partition: Partition) -> None:
        """Schedules a flush of the partition; calls `flushed` on it afterwards."""
        if partition in self._running:
            self._again.add(partition)
            return
        task = asyncio.get_running_loop().create_task(self._flush_partition(partition))
        self._running[partition] = task

    def after_append(self, partition: Partition) -> None:
        """Flushes a log that reached `flush.messages` or has finished a segment.

        A topic that needs every record on disk before its acknowledgement is flushed
        synchronously; the others in the background.
        """
        log = partition.log
        if not isinstance(log, Log) or not log.flush_due:
            return
        if log.config.flush_messages == 1:
            log.flush()
        else:
            self.request(partition)

    async def flush_log(self, log: Log) -> None:
        """Flushes one log; a failure takes its directory offline and is raised."""
        task = log.begin_flush()
        if task is not None:
            await asyncio.get_running_loop().run_in_executor(self._executor, task.run)
            log.finish_flush(task)
        log.last_flush_ms = self._clock.monotonic_ms()

    async def drain(self) -> None:
        """Waits for running flushes."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def _flush_partition(self, partition: Partition) -> None:
        try:
            while True:
                self._again.discard(partition)
                ticket: FlushTicket = partition.flush_ticket()
                await self.flush_log(partition.log)  # type: ignore[arg-type]
                partition.flushed(ticket)
                self.on_flushed(partition)
                if partition not in self._again:
                    return
        except BrokerError as error:
            _logger.error("%s: flush failed: %s", partition.topic_partition, error)
        finally:
            self._again.discard(partition)
            del self._running[partition]
