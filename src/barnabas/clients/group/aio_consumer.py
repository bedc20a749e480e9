"""The consumer for asyncio: runs on the caller's event loop.

A thread only receives large responses of small records (`Fetcher.shares_loop`), so that the loop
decodes meanwhile.
"""

import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

from barnabas.clients.core.apis.list_offsets import OffsetAndTimestamp
from barnabas.clients.core.backoff import check_timeout, deadline_of
from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.core.exit_hooks import LoopClient, interruptible, loop_of, not_interruptible
from barnabas.clients.group._iteration_hot import AsyncRecords
from barnabas.clients.group.aio_process import AioProcessRun
from barnabas.clients.group.base import (
    ASSIGNMENT_CHECK_SECONDS,
    CLOSE_SECONDS,
    ITERATION_SECONDS,
    PING_SECONDS,
    ConsumerBase,
    K,
    Offsets,
    OnCommit,
    Partitions,
    V,
    chosen_partitions,
)
from barnabas.clients.group.core import ConsumerCore
from barnabas.clients.group.errors import ConcurrentUseError
from barnabas.clients.group.fetch_buffer import empty_batch
from barnabas.clients.group.membership_actions import AssignmentStep, StepKind
from barnabas.clients.group.process import ProcessOptions
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.config import merged
from barnabas.model.errors import DeadlineError
from barnabas.model.ids import TopicPartition, Uuid, as_topic_partition
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, OffsetAndMetadata
from barnabas.records.record import Record
from barnabas.runtime.closing import AsyncClosesOnExit

if TYPE_CHECKING:
    import pyarrow

    from barnabas.clients.group.aio_process import AioHandler
    from barnabas.model.config_keys.keywords import ConsumerKeywords

SLICE_SECONDS = 0.005
"""An iteration yields to the event loop after this time, for fetches and heartbeats."""
T = TypeVar("T")


class OneTask:
    """Guard: raises ConcurrentUseError when a second task polls. Calls `on_end` after each poll.

    A class, because `contextlib.contextmanager` takes a tenth of the time of a poll().
    """

    __slots__ = ("_on_end", "_polling", "_task")

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._on_end = on_end
        self._polling = False
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        if self._polling:
            raise ConcurrentUseError("another task polls this consumer: one at a time")
        self._polling = True
        self._task = asyncio.current_task()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._polling = False
        self._on_end()

    def may_be_processing(self) -> bool:
        """Returns whether the task that polled last still runs, was cancelled or failed."""
        task = self._task
        return task is not None and (not task.done() or self.failed())

    def failed(self) -> bool:
        """Returns whether the task that polled last was cancelled or ended with an error."""
        task = self._task
        if task is None or not task.done():
            return False
        if task.cancelled():
            return True
        error = task.exception()
        return error is not None and not isinstance(error, SystemExit)


class Consumer(ConsumerBase, AsyncClosesOnExit, Generic[K, V]):
    """Reads records of topics, alone or as a member of a group; inside a running event loop.

    >>> async def main():
    ...     async with Consumer(bootstrap_servers="localhost:9092", group_id="g") as consumer:
    ...         await consumer.subscribe(["orders"])
    ...         async for record in consumer:
    ...             print(record.offset, record.value)

    Its calls are those of the blocking consumer; those that wait are coroutines. A listener's
    methods may be coroutines. One task polls at a time.

    Args:
        config: configuration keys in Kafka's spelling.
        **options: the same keys with underscores (`group_id="g"`).

    Raises:
        ConfigError: a key is unknown or a value is invalid.
    """

    _SUBSCRIBE = "await subscribe()"

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[ConsumerKeywords]"
    ) -> None:
        self._settings = ConsumerSettings.parse(merged(config, options))
        self._loop = loop_of(self)
        self._event = asyncio.Event()
        self._woken = False
        self._core = ConsumerCore(self._settings, self._event.set, slice_s=SLICE_SECONDS)
        self._one_task = OneTask(self._core.end_poll)
        self._exit = LoopClient(self._finish_at_exit, lambda: 0)
        interruptible(self)

    # -- what is read --------------------------------------------------------------------------

    async def subscribe(
        self, topics: "Iterable[str] | re.Pattern[str]", listener: Any = None
    ) -> None:
        """Reads these topics as a member of the group.

        Args:
            topics: names, or a compiled pattern that must match whole names; an empty list is
                the same as `unsubscribe()`.
            listener: rebalance listener, see the class.

        Raises:
            LocalError: `group.id` is not set, a name is invalid, or partitions are assigned.
        """
        names = topics if isinstance(topics, str | re.Pattern) else list(topics)
        if not names:
            await self.unsubscribe()
        else:
            self._subscribe(names, listener)

    async def unsubscribe(self) -> None:
        """Leaves the group or drops the assignment; calls the listener for the revocation.

        Commits nothing, as in Kafka's own clients: call `commit()` before, or the next member
        reads the records after the last commit again.
        """
        self._check_open()
        await self._revoke_all(self._core.leaving_step())
        await self._core.unsubscribe()
        self._core.subscription.unsubscribe()

    # -- records -------------------------------------------------------------------------------

    async def poll(self, timeout: float = 0.0) -> dict[TopicPartition, list[Record[K, V]]]:  # noqa: ASYNC109
        """Returns up to `max.poll.records` records by partition.

        Automatic commits treat all records that earlier calls returned as processed.

        Args:
            timeout: seconds to wait for the first record; the result is empty afterwards.

        Raises:
            WakeupError: `wakeup()` was called.
            OffsetError: a partition has no valid position and `auto.offset.reset` is `none`.
            DeserializationError: a deserializer raised; `seek()` past its offset to continue.
        """
        self._core.all_processed()
        await asyncio.sleep(0)  # lets fetches and heartbeats run, even if records are buffered
        limit = self._settings.max_poll_records
        return await self._poll(timeout, lambda: self._core.take_records(limit)) or {}

    async def poll_arrow(self, timeout: float = 0.0) -> "pyarrow.RecordBatch":  # noqa: ASYNC109
        """Returns prefetched records as one Arrow batch, without creating an object per record."""
        self._core.all_processed()
        await asyncio.sleep(0)
        batch = await self._poll(timeout, self._core.take_arrow)
        if batch is None:
            return empty_batch()
        return batch

    def __aiter__(self) -> AsyncIterator[Record[K, V]]:
        """Returns records one by one and waits for more; ends when the consumer is closed.

        Each record counts as a poll(): it moves the position, and an automatic commit covers the
        records before it. seek(), pause() and a rebalance take effect with the next record.
        """
        return AsyncRecords(self._core.reader, self._next_block)

    async def process(self, handler: "AioHandler", **options: Any) -> None:
        """Awaits `handler(record)` for every record until `wakeup()` is called.

        The same as in the blocking consumer, with tasks instead of threads: `concurrency` handlers
        run at the same time; `ordering` is "partition" or "key". `on_error` is "stop" (raise),
        "retry" (`retries` attempts, then raise), "skip" (log) or "dlq" (send the record with the
        asyncio `producer` to `dead_letter_topic`, by default the topic + ".dlq", with the reason in
        headers). A commit never passes an unfinished record; needs enable.auto.commit=false. A
        plain function as handler blocks the loop while it runs. Further options: see
        `ProcessOptions`.

        >>> async def handle(record):
        ...     await store(record.value)
        >>> await consumer.process(handle, concurrency=8, ordering="key")  # doctest: +SKIP
        """
        self._check_reads()
        self._check_processes()
        run = AioProcessRun(self, handler, ProcessOptions(**options))
        subscription = self._core.subscription
        inner = subscription.listener
        subscription.listener = run.listener(inner)
        try:
            await run.run()
        finally:
            subscription.listener = inner

    def wakeup(self) -> None:
        """Makes the current or next poll() raise WakeupError."""
        self._woken = True
        self._core.reader.interrupt()
        self._event.set()

    def interrupt(self) -> None:
        """Ends the current poll() when the program receives SIGTERM. Any thread may call it."""
        self._woken = True  # Set directly: a task that never yields to the loop checks it too.
        self._core.reader.interrupt()
        with suppress(RuntimeError):  # The loop is closed, so this consumer is closed too.
            self._loop.call_soon_threadsafe(self._event.set)

    # -- offsets -------------------------------------------------------------------------------

    async def commit(self, offsets: Offsets | None = None, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Commits offsets, by default the position of every partition.

        Raises:
            CommitFailedError: the group has rebalanced without this member.
        """
        self._check_open()
        await self._core.commit(self._confirmed(offsets), self._limit(timeout))

    def commit_async(
        self, offsets: Offsets | None = None, callback: OnCommit | None = None
    ) -> None:
        """Commits without waiting; the loop calls `callback(offsets, error)` at the end."""
        self._check_open()
        self._core.commits.begin(self._confirmed(offsets), callback)

    async def committed(
        self,
        *partitions: Partitions,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Returns committed offsets of the group, by default of all assigned partitions."""
        chosen = chosen_partitions(partitions or (self._core.subscription.assigned(),))
        return await self._core.committed(chosen, self._limit(timeout))

    async def position(self, partition: TopicPartition, timeout: float | None = None) -> int:  # noqa: ASYNC109
        """Returns the offset of the next record that poll() returns."""
        return await self._core.position(partition, self._limit(timeout))

    async def beginning_offsets(
        self,
        partitions: Iterable[TopicPartition],
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> dict[TopicPartition, int]:
        """Returns the log start offset of each partition."""
        return await self._ends(partitions, EARLIEST_TIMESTAMP, timeout)

    async def end_offsets(
        self,
        partitions: Iterable[TopicPartition],
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> dict[TopicPartition, int]:
        """Returns the high watermark, or the last stable offset with `read_committed`."""
        return await self._ends(partitions, LATEST_TIMESTAMP, timeout)

    async def offsets_for_times(
        self,
        timestamps: Mapping[TopicPartition, int],
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Returns the first record at or after each time in milliseconds, None if there is none."""
        found = await self._core.find_offsets(timestamps, self._limit(timeout))
        return {
            topic_partition: at if at.offset >= 0 else None for topic_partition, at in found.items()
        }

    async def partitions_for(
        self,
        topic: str,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> list[PartitionMetadata]:
        """Returns the partitions of a topic by number, each with leader, replicas and ISR."""
        return await self._core.partitions_for(topic, self._limit(timeout))

    async def ping(self, timeout: float = PING_SECONDS) -> None:  # noqa: ASYNC109
        """Sends one request to a broker and returns when the response has arrived.

        Raises:
            AuthenticationError: the login failed, or only one side uses TLS.
            DeadlineError: no response within `timeout` seconds.
            UnavailableError: unknown host, refused connection, or the server is not a broker.

        >>> await consumer.ping()  # doctest: +SKIP
        """
        self._check_open()
        await self._core.ping(timeout)

    async def client_instance_id(self, timeout: float = PING_SECONDS) -> Uuid:  # noqa: ASYNC109
        """Returns the id under which this client pushes its metrics (KIP-714).

        Args:
            timeout: seconds to wait for a broker.

        Raises:
            LocalError: enable.metrics.push is false.
            BrokerError: the brokers do not collect metrics of clients.
            DeadlineError: there is no response after `timeout` seconds.
        """
        self._check_open()
        return await self._core.client.client_instance_id(timeout)

    async def wait_for_assignment(self, timeout: float | None = None) -> set[TopicPartition]:  # noqa: ASYNC109
        """Waits until this consumer has its partitions and their positions; returns the partitions.

        Raises DeadlineError after `timeout` seconds, with the missing condition in its message, and
        the same errors as poll().
        """
        self._check_reads()
        with self._one_task:
            self._core.begin_wait()
            return await self._until_assigned(self._limit(timeout))

    # -- the end -------------------------------------------------------------------------------

    async def close(self, timeout: float = CLOSE_SECONDS) -> None:  # noqa: ASYNC109
        """Commits if commits are automatic, leaves the group and closes connections. Idempotent.

        A consumer that is never closed does the same when `asyncio.run` shuts its loop down, or
        at exit; the records in progress are not committed if the task that used it failed.
        """
        await self._close(timeout)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._failed_in_progress(error):
            await self._close(CLOSE_SECONDS, processed_only=True)
        else:
            await self.close()

    # -- private ------------------------------------------------------------------------------

    async def _close(self, timeout_s: float, *, processed_only: bool = False) -> None:
        if self._closed:
            return
        check_timeout(timeout_s)
        try:
            await self._finish(timeout_s, processed_only=processed_only)
        finally:
            await self._exit.closed()

    async def _next_block(self) -> bool:
        """Loads a block of records for the iteration; returns False if the consumer is closed."""
        while not self._closed:
            self._core.all_processed()
            await asyncio.sleep(0)
            if await self._poll(ITERATION_SECONDS, self._core.load_block):
                return True
        return False

    async def _poll(self, timeout_s: float, take: Callable[[], T]) -> T | None:
        self._check_reads()
        deadline_s = deadline_of(self._loop.time(), timeout_s)
        with self._one_task:
            self._core.begin_poll()
            return await self._until(deadline_s, take)

    async def _until_assigned(self, limit_s: float) -> set[TopicPartition]:
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + limit_s
        while True:
            self._event.clear()
            self._raise_wakeup()
            step = self._core.take_step()
            if step is not None:
                await self._commit_and_run(step)
            self._core.raise_failures()
            pending = self._core.assignment_pending()
            if pending is None:
                return self.assignment()
            if loop.time() >= deadline_s:
                raise DeadlineError(f"no assignment within {limit_s:g} s: {pending}")
            await self._wait_until(min(deadline_s, loop.time() + ASSIGNMENT_CHECK_SECONDS))

    async def _wait_until(self, deadline_s: float) -> None:
        """Waits for data, a rebalance step or a failure, at most until the deadline."""
        try:
            async with asyncio.timeout_at(deadline_s):
                await self._event.wait()
        except TimeoutError:
            pass

    async def _until(self, deadline_s: float, take: Callable[[], T]) -> T | None:
        while True:
            self._event.clear()
            self._core.reader.resume()
            self._raise_wakeup()
            step = self._core.take_step()
            if step is not None:
                await self._commit_and_run(step)
            found = take() if self._core.buffer.ready else None
            if found:
                return found
            self._core.raise_failures()
            if self._loop.time() >= deadline_s:
                return None
            await self._wait_until(deadline_s)

    async def _commit_and_run(self, step: AssignmentStep) -> None:
        offsets = self._core.commit_before(step)
        if offsets:
            await self._core.commits.before_rebalance(offsets)
        try:
            await self._run_step(step)
        finally:
            self._core.step_done(step)

    async def _run_step(self, step: AssignmentStep) -> None:
        call = self._core.listener_call(step)
        if step.kind is StepKind.ASSIGN:
            self._core.apply_step(step)
            await _called(call)
            return
        try:
            await _called(call)
        finally:
            self._core.apply_step(step)

    async def _finish(self, timeout_s: float, *, processed_only: bool, revoke: bool = True) -> None:
        """Commits, revokes all partitions if `revoke` is set, then leaves the group."""
        self._core.end_block()
        try:
            step = self._core.leaving_step()
            await self._commit_last(step, timeout_s, processed_only=processed_only)
            if revoke:
                await self._revoke_all(step)
        finally:
            self._closed = True
            not_interruptible(self)
            await self._core.close(timeout_s)

    async def _finish_at_exit(self, timeout_s: float) -> None:
        if not self._closed:
            in_progress = self._core.subscription.has_records_in_progress
            failed = in_progress and self._one_task.failed()
            processing = self._one_task.may_be_processing()
            await self._finish(timeout_s, processed_only=processing, revoke=not failed)

    async def _commit_last(
        self, step: AssignmentStep, timeout_s: float, *, processed_only: bool
    ) -> None:
        """Commits if commits are automatic."""
        offsets = self._core.commit_before(step, processed_only=processed_only)
        if offsets:
            await self._core.commits.before_leaving(offsets, timeout_s)

    async def _revoke_all(self, step: AssignmentStep) -> None:
        """Calls the listener and drops the partitions that the group assigned."""
        if self._core.subscription.uses_group:
            await self._run_step(step)

    async def _ends(
        self, partitions: Iterable[TopicPartition], timestamp: int, timeout_s: float | None
    ) -> dict[TopicPartition, int]:
        requested = {
            as_topic_partition(topic_partition): timestamp for topic_partition in partitions
        }
        found = await self._core.find_offsets(requested, self._limit(timeout_s))
        return {topic_partition: at.offset for topic_partition, at in found.items()}


async def _called(call: Callable[[], object] | None) -> None:
    """Calls a listener and awaits the result if it is awaitable."""
    result = call() if call is not None else None
    if inspect.isawaitable(result):
        await result
