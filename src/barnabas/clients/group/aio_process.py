"""`await consumer.process(handler)`: worker tasks behind one asyncio consumer.

The counterpart of `process` for one event loop. One task polls, submits records and commits;
worker tasks await the handler. `OffsetTracker`, `route_by` and `FailurePolicy` are shared with it.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from barnabas.clients.group.errors import CommitFailedError, WakeupError
from barnabas.clients.group.failures import FailurePolicy
from barnabas.clients.group.process import (
    DRAIN_SECONDS,
    POLL_SECONDS,
    Job,
    OffsetTracker,
    PausableConsumer,
    ProcessOptions,
    route_by,
)
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.records.record import Record

logger = logging.getLogger(__name__)

AioHandler = Callable[[Record], Awaitable[Any] | Any]


class AioPollingConsumer(PausableConsumer, Protocol):
    """The calls of the asyncio consumer that `AioProcessRun` needs."""

    async def poll(
        self,
        timeout: float = ...,  # noqa: ASYNC109
    ) -> dict[TopicPartition, list[Record]]: ...

    async def commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None: ...


class _Tasks:
    """The worker tasks; each one handles its records in the order of submission."""

    def __init__(self, handler: AioHandler, policy: FailurePolicy, options: ProcessOptions) -> None:
        self.tracker = OffsetTracker()
        self.failure: BaseException | None = None
        self.moved = asyncio.Event()
        """Set when a record is finished or has failed."""
        self._handler = handler
        self._policy = policy
        self._route = route_by(options.ordering, options.concurrency)
        self._queues = [asyncio.Queue[Job]() for _ in range(options.concurrency)]
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._run(jobs)) for jobs in self._queues]

    def submit(self, topic_partition: TopicPartition, records: list[Record]) -> None:
        self.tracker.begin(topic_partition, records)
        for record in records:
            self._queues[self._route(record)].put_nowait((topic_partition, record))

    async def drain(self, topic_partitions: Sequence[TopicPartition] | None) -> bool:
        """Drops queued records and finishes started ones.

        Returns False after a failure, or if DRAIN_SECONDS were not enough.
        """
        self.tracker.drop_queued(topic_partitions)
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while self.tracker.unfinished(topic_partitions) and self.failure is None:
                    self.moved.clear()
                    await self.moved.wait()
        return not self.tracker.unfinished(topic_partitions)

    async def wait_for_room(self, limit: int) -> None:
        """Waits until fewer than `limit` records are in progress or one failed; POLL_SECONDS."""
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_SECONDS):
                while self.tracker.unfinished() >= limit and self.failure is None:
                    self.moved.clear()
                    await self.moved.wait()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, jobs: "asyncio.Queue[Job]") -> None:
        while True:
            topic_partition, record = await jobs.get()
            if self.failure is None and self.tracker.start(topic_partition, record):
                await self._work(topic_partition, record)
                self.moved.set()

    async def _work(self, topic_partition: TopicPartition, record: Record) -> None:
        try:
            await self._policy.handle_async(self._handler, record)
        except Exception as error:  # noqa: BLE001 - raised again by the polling task
            self.failure = error
        else:
            self.tracker.finish(topic_partition, record)


class _AsyncListener:
    """Finishes the records of revoked partitions, then calls the application's listener."""

    def __init__(self, run: "AioProcessRun", inner: object) -> None:
        self._run = run
        self._inner = inner

    async def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        await self._call_listener("on_partitions_assigned", partitions)

    async def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        await self._run.give_up(partitions)
        await self._call_listener("on_partitions_revoked", partitions)

    async def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        self._run.forget(partitions)
        name = "on_partitions_lost"
        await self._call_listener(
            name if hasattr(self._inner, name) else "on_partitions_revoked", partitions
        )

    async def _call_listener(self, name: str, partitions: Sequence[TopicPartition]) -> None:
        method = getattr(self._inner, name, None)
        result = method(partitions) if method is not None else None
        if inspect.isawaitable(result):
            await result


class AioProcessRun:
    """One call of `process`; owned by the polling task."""

    def __init__(
        self, consumer: AioPollingConsumer, handler: AioHandler, options: ProcessOptions
    ) -> None:
        options.check()
        # `send` of our asyncio producer is compiled, and not recognized as a coroutine function.
        flush = getattr(options.producer, "flush", None)
        if options.producer and not inspect.iscoroutinefunction(flush):
            raise LocalError("producer= must be an asyncio producer: barnabas.aio.Producer")
        self._consumer = consumer
        self._options = options
        self._tasks = _Tasks(handler, options.policy(), options)
        self._paused: set[TopicPartition] = set()

    async def run(self) -> None:
        """Processes records until `stop()` returns True, wakeup() is called or a record fails."""
        try:
            await self._loop()
            await self._tasks.drain(None)
        except WakeupError:
            logger.debug("processing was ended by wakeup()")
            await self._tasks.drain(None)
        finally:
            await self._finish()
        if self._tasks.failure is not None:
            raise self._tasks.failure

    async def give_up(self, partitions: Sequence[TopicPartition]) -> None:
        """Finishes the started records of revoked partitions and commits them."""
        if not await self._tasks.drain(partitions) and self._tasks.failure is None:
            logger.warning(
                "%d revoked partitions have unfinished records",
                len(partitions),
            )
        await self._commit()
        self.forget(partitions)

    def forget(self, partitions: Sequence[TopicPartition]) -> None:
        self._tasks.tracker.forget(partitions)
        self._paused.difference_update(partitions)

    def listener(self, inner: Any) -> Any:
        return _AsyncListener(self, inner)

    async def _loop(self) -> None:
        loop = asyncio.get_running_loop()
        next_commit_s = loop.time() + self._options.commit_interval_s
        while not self._stopped():
            self._hold_or_go_on()
            poll_s = 0.0 if self._paused else POLL_SECONDS
            for topic_partition, records in (await self._consumer.poll(poll_s)).items():
                self._tasks.submit(topic_partition, records)
            if self._paused:
                # Not in `poll`: without partitions to read it returns when its time has passed.
                await self._tasks.wait_for_room(self._options.max_in_progress)
            if loop.time() >= next_commit_s:
                await self._commit()
                next_commit_s = loop.time() + self._options.commit_interval_s

    def _stopped(self) -> bool:
        wanted = self._options.stop is not None and self._options.stop()
        return wanted or self._tasks.failure is not None

    def _hold_or_go_on(self) -> None:
        if self._tasks.tracker.unfinished() >= self._options.max_in_progress:
            more = self._consumer.assignment() - self._consumer.paused()
            self._consumer.pause(*more)
            self._paused |= more
        elif self._paused:
            self._resume()

    def _resume(self) -> None:
        self._consumer.resume(*(self._paused & self._consumer.assignment()))
        self._paused.clear()

    async def _finish(self) -> None:
        """Commits finished records; seeks back to the first unfinished one of each partition."""
        await self._tasks.close()
        await self._commit()
        self._resume()
        for topic_partition in self._consumer.assignment():
            first = self._tasks.tracker.first_unfinished(topic_partition)
            if first is not None:
                self._consumer.seek(topic_partition, first)

    async def _commit(self) -> None:
        offsets = self._tasks.tracker.committable()
        if not offsets:
            return
        try:
            await self._consumer.commit(offsets)
        except CommitFailedError as error:
            logger.warning("%s", error)
        except BarnabasError as error:
            logger.warning("a commit failed, the next one includes its offsets: %s", error)
        else:
            self._tasks.tracker.committed(offsets)
