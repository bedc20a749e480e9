"""Implements the blocking and the asyncio producer: their parts and coroutines."""

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic_ns
from typing import Any, TypeVar

from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.core.exit_hooks import report, report_undelivered
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.clients.metrics.client_metrics import ClientMetrics
from barnabas.clients.producer._send_hot import SendState, TopicAppender
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.batch_results import deadline_error
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.metrics import add_producer_metrics
from barnabas.clients.producer.partitioners import PartitionChooser
from barnabas.clients.producer.sender import Sender
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.clients.producer.topics import TopicTracker
from barnabas.clients.producer.transaction import Transaction
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ClosedError, DeadlineError, LocalError
from barnabas.model.ids import TopicPartition, topic_name_problem
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.net.event_loop import LoopWaker
from barnabas.runtime.clock import SystemClock
from barnabas.runtime.plugins import close as close_plugin

logger = logging.getLogger(__name__)

T = TypeVar("T")

CLOSE_SECONDS = 30.0
"""Time limit of `close()` unless the caller gives another."""


class ProducerCore(SendState):
    """The components of a producer that run on the client's loop.

    Created on the event loop that owns it: the caller's own, or that of a loop thread.

    `wake`, `wait` and the accumulator may be used from any thread. `thread` is the loop thread of
    a blocking producer; without one the caller's loop is the producer's, and nothing may block.
    """

    def __init__(self, settings: ProducerSettings, thread: LoopThread | None = None) -> None:
        self.settings = settings
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        self._loop_ident = threading.get_ident()
        self._wake_posted = False
        self._waker = LoopWaker(self._loop, self._woken)
        clock = SystemClock()
        client_id = settings.client.connection.client_id
        self.metrics = ClientMetrics("producer", client_id, settings.metrics, clock)
        self.client = KafkaClient(settings.client, self.metrics)
        self.identity = ProducerIdentity(settings.idempotent, settings.max_in_flight)
        self.accumulator = Accumulator(settings, clock, self)
        self.chooser = PartitionChooser(settings, self.accumulator.queue_lengths)
        self._clock = clock
        self._topics = TopicTracker(settings, self.client, self.accumulator, self.chooser)
        self.sender = Sender(settings, self.client, self.accumulator, self.identity, clock)
        self.sender.topics = self._topics
        self._meters = self.accumulator.meters
        add_producer_metrics(
            self.metrics,
            self._meters,
            self.accumulator.memory,
            lambda: self.client.metadata_age_ms,
            self.client.in_flight,
        )
        self._topics.on_removed = self.sender.fail_removed
        self.direct = settings.plain and settings.transactional_id is None
        self.transaction: Transaction | None = None
        if settings.transactional_id is not None:
            self.transaction = Transaction(settings, self.client, self.identity)
            self.transaction.on_progress = self.sender.wake
            self.transaction.on_failure = self._end_direct
            self.sender.gate = self.transaction
        self.sender.start()

    def wake(self) -> None:
        """Lets the sender check for ready batches. Thread-safe."""
        if threading.get_ident() == self._loop_ident:
            self.sender.run_soon()
            return
        if self._wake_posted:
            return  # the pending callback will see this batch too
        self._wake_posted = True
        try:
            self._waker.wake()
        except RuntimeError:
            raise ClosedError("the producer is closed") from None

    def wake_by(self, due_ms: int) -> None:
        """Lets the sender check at this monotonic time or earlier. Thread-safe.

        A thread that sends and waits opens a batch for each record. It wakes the loop only when it
        waits, because the timer of an earlier batch is usually still running.
        """
        if not self.sender.runs_by(due_ms):
            self.wake()

    def _woken(self) -> None:
        # Cleared first, so that a batch opened from now on posts another wake-up.
        self._wake_posted = False
        self.sender.wake()

    def wait(self, awaited: ProducerBatch, timeout_s: float | None) -> bool:
        """Ends the linger of a batch and blocks until it is done.

        Returns False when `timeout_s` seconds pass first.
        """
        if self._thread is None:
            awaited.end_linger()
            return awaited.done
        self._thread.check()
        if self.is_loop_thread() and not awaited.done:
            raise LocalError("a delivery callback cannot wait for the result of another record")
        awaited.end_linger()  # first: the rest is done while the loop thread wakes up
        # A lock that is released once: a threading.Event does the same in three times the time.
        done = threading.Lock()
        done.acquire()
        awaited.notify(done.release)
        return done.acquire(timeout=-1 if timeout_s is None else timeout_s)

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the loop thread and waits for it; for blocking producers."""
        assert self._thread is not None
        return self._thread.call(coroutine)

    def topic_appender(self, topic: str) -> TopicAppender:
        """Returns the appender of a topic, blocking while its metadata is fetched."""
        appender = self.accumulator.topics.get(topic)
        return self.call(self.appender(topic)) if appender is None else appender

    async def appender(self, topic: str) -> TopicAppender:
        """Returns the appender of a topic; waits up to max.block.ms for the topic's metadata."""
        problem = topic_name_problem(topic)
        if problem is not None:
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        deadline_s = self._loop.time() + self.settings.max_block_ms / 1000
        with self._timed("metadata-wait"):
            await self.client.partitions(topic, deadline_s)
        return self._topics.appender(topic, self._clock.monotonic_ms())

    async def partitions_for(self, topic: str) -> list[PartitionMetadata]:
        """Returns the partitions of a topic; waits up to max.block.ms for its metadata."""
        await self.appender(topic)
        return self.client.metadata.partitions_of(topic)

    async def refreshed(self, topic: str) -> TopicAppender:
        """Returns the appender after a metadata refresh: the topic may have new partitions."""
        with suppress(BarnabasError, TimeoutError):  # the cached metadata is used then
            async with asyncio.timeout(self.settings.max_block_ms / 1000):
                await self.client.refresh({topic})
        return await self.appender(topic)

    def no_memory(self) -> DeadlineError:
        """Returns the error of a `send()` that waited too long for buffer memory."""
        self._meters.exhausted.record(1)
        limit_s = self.settings.max_block_ms / 1000
        what = f"no room in buffer.memory within max.block.ms ({limit_s:g} s)"
        return deadline_error(what, self.sender.cause())

    async def flush(self, timeout_s: float | None = None) -> None:
        """Waits until every record sent so far is stored or has failed."""
        with self._timed("flush"), self.accumulator.no_lingering() as batches:
            try:
                async with asyncio.timeout(timeout_s):
                    await asyncio.gather(*(self._completed(batch) for batch in batches))
            except TimeoutError:
                left = [batch for batch in batches if not batch.done]
                what = f"{len(left)} batches without a response after {timeout_s:g} s"
                cause = self.sender.cause(left)
                raise deadline_error(what, cause) from cause

    async def close(self, timeout_s: float | None = None) -> None:
        """Aborts an open transaction, sends the other records, then stops.

        Records without a response after `timeout_s` seconds fail with ClosedError.
        """
        try:
            if self.transaction is not None and self.transaction.is_open:
                await self._abort_at_close(timeout_s)
            await self.flush(timeout_s)
        finally:
            await self.sender.close()
            await self.client.close()
            for batch in self.accumulator.incomplete():
                self.sender.fail_closed(batch)
            self.sender.failures.close()
            self._waker.close()
            close_plugin(self.settings.partitioner_object)
            for conversion in (self.settings.key_serializer, self.settings.value_serializer):
                if conversion is not None:
                    conversion.close()

    async def finish(self, timeout_s: float) -> None:
        """Closes a producer that was left open, and reports lost records on stderr."""
        in_transaction = self.transaction is not None and self.transaction.is_open
        batches = self.accumulator.incomplete()
        for batch in batches:
            batch.read = True  # reported below, so not logged as well
        with suppress(DeadlineError):  # the batches have the errors
            await self.close(timeout_s)
        if in_transaction:
            report("the transaction that was open at exit is aborted")
            return
        failed = [part for batch in batches for part in batch.undelivered()]
        if failed:
            report_undelivered(sum(batch.record_count for batch in failed), failed[0].error)

    async def _abort_at_close(self, timeout_s: float | None) -> None:
        limit_s = CLOSE_SECONDS if timeout_s is None else timeout_s
        try:
            await self.abort_transaction(limit_s)
        except BarnabasError as error:
            logger.warning("the open transaction could not be aborted: %s", error)

    # -- transactions --------------------------------------------------------------------------

    async def init_transactions(self, timeout_s: float) -> None:
        with self._timed("txn-init"):
            await self._transactional().init(timeout_s)

    async def begin_transaction(self) -> None:
        self.begin()

    def begin(self) -> None:
        with self._timed("txn-begin"):
            self._transactional().begin()
            self.direct = self.settings.plain

    async def send_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: GroupMetadata,
        timeout_s: float,
    ) -> None:
        if not isinstance(group, GroupMetadata):
            raise TypeError(f"the group must be consumer.group_metadata(), not {group!r}")
        with self._timed("txn-send-offsets"):
            await self._transactional().send_offsets(offsets, group, timeout_s)

    async def commit_transaction(self, timeout_s: float) -> None:
        """Flushes, then commits. Raises if a record of the transaction failed."""
        transaction = self._transactional()
        self._end_direct()
        with self._timed("txn-commit"):
            await self.flush(timeout_s)
            await transaction.end(True, timeout_s)

    async def commit_with(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: GroupMetadata,
        timeout_s: float,
    ) -> None:
        """Flushes and sends the offsets at the same time, then commits."""
        transaction = self._transactional()
        self._end_direct()
        with self._timed("txn-commit"):
            await asyncio.gather(
                self.flush(timeout_s), transaction.send_offsets(offsets, group, timeout_s)
            )
            await transaction.end(True, timeout_s)

    async def abort_transaction(self, timeout_s: float) -> None:
        """Drops unsent batches, waits for those in flight, then aborts."""
        transaction = self._transactional()
        self._end_direct()
        while queued := self.accumulator.waiting():
            for batch in queued:
                self._drop(batch)
        with self._timed("txn-abort"):
            await self.flush(timeout_s)
            await transaction.end(False, timeout_s)

    def _end_direct(self) -> None:
        """Makes every later send check the transaction state."""
        self.direct = False

    def _drop(self, batch: ProducerBatch) -> None:
        self.accumulator.discard(batch)
        batch.complete(-1, -1, LocalError("the transaction was aborted"))
        self.accumulator.finished(batch)

    def _transactional(self) -> Transaction:
        if self.transaction is None:
            raise LocalError("transactions need the configuration transactional.id")
        return self.transaction

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started_ns = monotonic_ns()
        try:
            yield
        finally:
            self._meters.waited(name, started_ns)

    def _settle_later(self, future: "asyncio.Future[None]") -> None:
        if self.is_loop_thread():
            _settle(future)
        else:
            self._loop.call_soon_threadsafe(_settle, future)

    def is_loop_thread(self) -> bool:
        """Whether the calling thread is the loop thread, which needs no wake-up."""
        return threading.get_ident() == self._loop_ident

    async def _completed(self, batch: ProducerBatch) -> None:
        """Waits until the batch, or all parts of a split one, have a result."""
        if not batch.done:
            future: asyncio.Future[None] = self._loop.create_future()
            batch.notify(partial(self._settle_later, future))
            await future
        for _, part in batch.parts:
            await self._completed(part)


def _settle(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
