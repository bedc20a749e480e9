"""The blocking consumer; a loop thread fetches records and sends heartbeats.

The caller's thread decodes the prefetched batches, so records are passed between threads in
batches, not one by one. One thread at a time may use a consumer; only `wakeup()` may be called from
any thread. A consumer does not work after a fork.
"""

import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

from barnabas.clients.core.apis.list_offsets import OffsetAndTimestamp
from barnabas.clients.core.backoff import check_timeout, deadline_of
from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.core.exit_hooks import (
    close_at_exit,
    closed,
    interruptible,
    not_interruptible,
    park_daemon_thread,
)
from barnabas.clients.core.loop_thread import LoopThread
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
from barnabas.clients.group.process import ProcessOptions, ProcessRun
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.config import merged
from barnabas.model.errors import BarnabasError, DeadlineError
from barnabas.model.ids import TopicPartition, Uuid, as_topic_partition
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, OffsetAndMetadata
from barnabas.records.record import Record
from barnabas.runtime.closing import ClosesOnExit

if TYPE_CHECKING:
    import pyarrow

    from barnabas.model.config_keys.keywords import ConsumerKeywords


class OneThread:
    """Re-entrant guard: raises ConcurrentUseError when a second thread uses the consumer."""

    __slots__ = ("_depth", "_lock", "_owner")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        if self._owner != me:
            if not self._lock.acquire(blocking=False):
                raise ConcurrentUseError(
                    "the consumer is in use by another thread: use it from one thread at a time "
                    "(only wakeup() may be called from others)"
                )
            self._owner = me
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._owner = 0
            self._lock.release()


T = TypeVar("T")


class Consumer(ConsumerBase, ClosesOnExit, Generic[K, V]):
    """Reads records of topics, alone or as a member of a group.

    Args:
        config: configuration keys in Kafka's spelling.
        **options: the same keys with underscores (`group_id="g"`).

    Raises:
        ConfigError: a key is unknown or a value is invalid.

    >>> config = {"bootstrap.servers": "localhost:9092", "group.id": "g"}
    >>> with Consumer(config) as consumer:  # doctest: +SKIP
    ...     consumer.subscribe(["orders"])
    ...     for record in consumer:
    ...         print(record.offset, record.value)

    A rebalance listener is any object with the methods `on_partitions_assigned`,
    `on_partitions_revoked` and, optionally, `on_partitions_lost`; each takes a list of partitions.
    `poll()` calls it.
    """

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[ConsumerKeywords]"
    ) -> None:
        self._settings = ConsumerSettings.parse(merged(config, options))
        self._event = threading.Event()
        self._woken = False
        self._one_thread = OneThread()
        self._callbacks: list[Callable[[], Any]] = []
        self._thread = LoopThread("barnabas-consumer")
        self._core: ConsumerCore = self._thread.call(
            _make_core(self._settings, self._event.set, self._next_block)
        )
        self._exiting = False
        close_at_exit(self)
        interruptible(self)

    # -- subscription and assignment -----------------------------------------------------------

    def subscribe(self, topics: "Iterable[str] | re.Pattern[str]", listener: Any = None) -> None:
        """Reads these topics as a member of the group.

        Args:
            topics: names, or a compiled pattern that must match whole names; an empty list is
                the same as `unsubscribe()`.
            listener: rebalance listener, see the class.

        Raises:
            LocalError: `group.id` is not set, a name is invalid, or partitions are assigned.
        """
        with self._one_thread:
            names = topics if isinstance(topics, str | re.Pattern) else list(topics)
            if not names:
                self.unsubscribe()
            else:
                self._subscribe(names, listener)

    def unsubscribe(self) -> None:
        """Leaves the group or drops the assignment; calls the listener for the revocation.

        Commits nothing, as in Kafka's own clients: call `commit()` before, or the next member
        reads the records after the last commit again.
        """
        with self._one_thread:
            self._check_open()
            self._revoke_all(self._core.leaving_step())
            self._thread.call(self._core.unsubscribe())
            self._core.subscription.unsubscribe()

    def assign(self, partitions: "Iterable[TopicPartition | tuple[str, int]]") -> None:
        """Reads exactly these partitions, without group management.

        Args:
            partitions: an empty list is the same as `unsubscribe()`.

        Raises:
            LocalError: a topic name is invalid, or topics are subscribed.
        """
        with self._one_thread:
            chosen = list(partitions)
            if chosen:
                super().assign(chosen)
            else:
                self.unsubscribe()

    # -- records -------------------------------------------------------------------------------

    def poll(self, timeout: float = 0.0) -> dict[TopicPartition, list[Record[K, V]]]:
        """Returns up to `max.poll.records` records by partition.

        Automatic commits treat all records that earlier calls returned as processed.

        Args:
            timeout: seconds to wait for the first record; the result is empty afterwards.

        Raises:
            WakeupError: `wakeup()` was called.
            OffsetError: a partition has no valid position and `auto.offset.reset` is `none`.
            DeserializationError: a deserializer raised; `seek()` past its offset to continue.
            BrokerError: access is denied, or another error that a retry cannot cure.
        """
        with self._one_thread:
            limit = self._settings.max_poll_records
            return self._poll(timeout, lambda: self._core.take_records(limit)) or {}

    def poll_arrow(self, timeout: float = 0.0) -> "pyarrow.RecordBatch":
        """Returns prefetched records as one Arrow batch, without creating an object per record.

        Columns: topic, partition, offset, timestamp, key, value, headers. Keys and values are
        raw bytes: deserializers and `max.poll.records` do not apply. Needs the extra `arrow`.

        Args:
            timeout: seconds to wait for the first record; the batch is empty afterwards.
        """
        with self._one_thread:
            batch = self._poll(timeout, self._core.take_arrow)
        if batch is None:
            return empty_batch()
        return batch

    def __iter__(self) -> Iterator[Record[K, V]]:
        """Returns records one by one and waits for more; ends when the consumer is closed.

        Each record counts as a poll(): it moves the position, and an automatic commit covers the
        records before it. seek(), pause() and a rebalance take effect with the next record.
        """
        return self._core.reader

    def process(self, handler: Callable[[Record[K, V]], Any], **options: Any) -> None:
        """Calls `handler(record)` for every record until `wakeup()` is called.

        A commit never passes an unfinished record. Needs `enable.auto.commit=false`.

        Args:
            handler: its return value is ignored; an exception is a failure of the record.
            **options: the fields of `ProcessOptions`: `concurrency` worker threads; `ordering`
                "partition" or "key"; `on_error` "stop" (raise), "retry" (`retries` attempts, then
                raise), "skip" (log) or "dlq" (send the record with `producer` to
                `dead_letter_topic`, by default the topic + ".dlq", with the reason in headers);
                `stop`, a function that ends the call by returning True.

        Raises:
            LocalError: an option is invalid, or commits are automatic.

        >>> consumer.process(handle, concurrency=8, ordering="key")  # doctest: +SKIP
        """
        with self._one_thread:
            self._check_reads()
            self._check_processes()
            run = ProcessRun(self, handler, ProcessOptions(**options))
            subscription = self._core.subscription
            inner = subscription.listener
            subscription.listener = run.listener(inner)
            try:
                run.run()
            finally:
                subscription.listener = inner

    def wakeup(self) -> None:
        """Makes the current or next blocking call raise WakeupError. Any thread may call it."""
        self._woken = True
        self._core.reader.interrupt()
        self._event.set()

    def interrupt(self) -> None:
        """Ends the current call when the program receives SIGTERM, as `wakeup()` does."""
        self.wakeup()

    # -- offsets -------------------------------------------------------------------------------

    def commit(self, offsets: Offsets | None = None, timeout: float | None = None) -> None:
        """Commits offsets and waits for the response.

        Args:
            offsets: the default is the position of every partition.
            timeout: seconds, by default `default.api.timeout.ms`.

        Raises:
            CommitFailedError: the group has rebalanced without this member.
            DeadlineError: no response within `timeout`.
        """
        with self._one_thread:
            chosen = self._confirmed(offsets)
            self._call(self._core.commit(chosen, self._limit(timeout)))

    def commit_async(
        self, offsets: Offsets | None = None, callback: OnCommit | None = None
    ) -> None:
        """Commits without waiting; a later poll() calls `callback(offsets, error)`."""
        with self._one_thread:
            self._check_open()
            chosen = self._confirmed(offsets)
            future = self._thread.submit(self._core.commits.commit_once(chosen))
            if callback is not None:
                future.add_done_callback(lambda done: self._committed(callback, chosen, done))

    def committed(
        self, *partitions: Partitions, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Returns committed offsets of the group, by default of all assigned partitions."""
        with self._one_thread:
            chosen = chosen_partitions(partitions or (self._core.subscription.assigned(),))
            return self._call(self._core.committed(chosen, self._limit(timeout)))

    def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """Returns the offset of the next record that poll() returns."""
        with self._one_thread:
            return self._call(self._core.position(partition, self._limit(timeout)))

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """Returns the log start offset of each partition."""
        return self._ends(partitions, EARLIEST_TIMESTAMP, timeout)

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """Returns the high watermark, or the last stable offset with `read_committed`."""
        return self._ends(partitions, LATEST_TIMESTAMP, timeout)

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Returns the first record at or after each time in milliseconds, None if there is none."""
        with self._one_thread:
            found = self._call(self._core.find_offsets(timestamps, self._limit(timeout)))
            return {
                topic_partition: at if at.offset >= 0 else None
                for topic_partition, at in found.items()
            }

    def partitions_for(self, topic: str, timeout: float | None = None) -> list[PartitionMetadata]:
        """Returns the partitions of a topic by number, each with leader, replicas and ISR."""
        with self._one_thread:
            return self._call(self._core.partitions_for(topic, self._limit(timeout)))

    def ping(self, timeout: float = PING_SECONDS) -> None:
        """Sends one request to a broker and returns when the response has arrived.

        Raises:
            AuthenticationError: the login failed, or only one side uses TLS.
            DeadlineError: no response within `timeout` seconds.
            UnavailableError: unknown host, refused connection, or the server is not a broker.

        >>> consumer.ping()  # doctest: +SKIP
        """
        with self._one_thread:
            self._call(self._core.ping(timeout))

    def client_instance_id(self, timeout: float = PING_SECONDS) -> Uuid:
        """Returns the id under which this client pushes its metrics (KIP-714).

        Args:
            timeout: seconds to wait for a broker.

        Raises:
            LocalError: enable.metrics.push is false.
            BrokerError: the brokers do not collect metrics of clients.
            DeadlineError: there is no response after `timeout` seconds.
        """
        with self._one_thread:
            return self._call(self._core.client.client_instance_id(timeout))

    def wait_for_assignment(self, timeout: float | None = None) -> set[TopicPartition]:
        """Waits until this consumer has its partitions and their positions; returns the partitions.

        The consumer reads every record that is sent afterwards, also with
        `auto.offset.reset=latest`. The result is empty if the group has more members than
        partitions. Calls the listener; keeps records that arrive for poll(); commits nothing.

        Args:
            timeout: seconds, by default `default.api.timeout.ms`.

        Raises:
            DeadlineError: the message names the missing condition.
            BarnabasError: the same errors as poll().

        >>> consumer.subscribe(["orders"])  # doctest: +SKIP
        >>> consumer.wait_for_assignment(10)  # doctest: +SKIP
        {TopicPartition(topic='orders', partition=0)}
        """
        with self._one_thread:
            self._check_reads()
            self._core.begin_wait()
            try:
                return self._until_assigned(self._limit(timeout))
            finally:
                self._core.end_poll()

    # -- close ---------------------------------------------------------------------------------

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Commits if commits are automatic, leaves the group and closes connections. Idempotent."""
        self._finish(timeout)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._failed_in_progress(error):
            self._finish(CLOSE_SECONDS, processed_only=True)
        else:
            self.close()

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        """Leaves the group at the end of a program that did not call `close()`.

        After an uncaught exception the records which were being processed are not committed, so
        that they are read again.
        """
        deadline_s = time.monotonic() + timeout_s
        self._exiting = True
        self._core.reader.interrupt()

        def leave() -> None:
            try:
                with self._one_thread:
                    self._leave_at_exit(timeout_s, failed)
            except ConcurrentUseError:
                pass  # a daemon thread polls
            left_s = max(deadline_s - time.monotonic(), 0.0)
            self._thread.call(self._core.close(left_s))

        return leave

    # -- private ------------------------------------------------------------------------------

    def _leave_at_exit(self, timeout_s: float, failed: bool) -> None:
        self._core.end_block()
        step = self._core.leaving_step()
        self._commit_last(step, timeout_s, processed_only=failed)
        if not failed:
            self._revoke_all(step)

    def _finish(self, timeout: float, *, processed_only: bool = False) -> None:
        with self._one_thread:
            if self._closed or self._thread.inherited:
                return
            check_timeout(timeout)
            self._core.end_block()
            try:
                step = self._core.leaving_step()
                self._commit_last(step, timeout, processed_only=processed_only)
                self._revoke_all(step)
            finally:
                self._end(timeout)
                self._run_callbacks()

    def _end(self, timeout: float) -> None:
        closed(self)
        not_interruptible(self)
        self._closed = True
        try:
            self._thread.call(self._core.close(timeout))
        finally:
            self._thread.close()

    def _next_block(self) -> Record[K, V]:
        """Returns the next record of the iteration when `RecordIterator` needs another block."""
        while not self._closed:
            with self._one_thread:
                if self._poll(ITERATION_SECONDS, self._core.load_block):
                    record: Record[K, V] | None = self._core.reader.take()
                    if record is not None:
                        return record
        raise StopIteration

    def _poll(self, timeout: float, take: Callable[[], T]) -> T | None:
        self._stop_at_exit()
        self._check_reads()
        self._thread.check()
        self._core.all_processed()
        deadline = deadline_of(time.monotonic(), timeout)
        self._core.begin_poll()
        try:
            while True:
                self._event.clear()
                self._core.reader.resume()
                self._stop_at_exit()
                self._raise_wakeup()
                self._run_callbacks()
                self._run_steps()
                found = take() if self._core.buffer.ready else None
                if found:
                    return found
                self._core.raise_failures()
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                self._event.wait(left)
        finally:
            self._core.end_poll()

    def _until_assigned(self, limit_s: float) -> set[TopicPartition]:
        deadline = time.monotonic() + limit_s
        while True:
            self._event.clear()
            self._raise_wakeup()
            self._run_steps()
            self._core.raise_failures()
            pending = self._core.assignment_pending()
            if pending is None:
                return self.assignment()
            left = deadline - time.monotonic()
            if left <= 0:
                raise DeadlineError(f"no assignment within {limit_s:g} s: {pending}")
            self._event.wait(min(left, ASSIGNMENT_CHECK_SECONDS))

    def _stop_at_exit(self) -> None:
        if self._exiting:
            park_daemon_thread()

    def _run_steps(self) -> None:
        """Runs one rebalance step; raises an error of the listener after the step is complete."""
        step = self._core.take_step()
        if step is None:
            return
        offsets = self._core.commit_before(step)
        if offsets:
            self._thread.call(self._core.commits.before_rebalance(offsets))
        try:
            self._run_step(step)
        finally:
            self._core.step_done(step)

    def _run_step(self, step: AssignmentStep) -> None:
        call = self._core.listener_call(step)
        if step.kind is StepKind.ASSIGN:
            self._core.apply_step(step)
            if call is not None:
                call()
            return
        try:
            if call is not None:
                call()
        finally:
            self._core.apply_step(step)

    def _commit_last(self, step: AssignmentStep, timeout_s: float, *, processed_only: bool) -> None:
        """Commits if commits are automatic."""
        offsets = self._core.commit_before(step, processed_only=processed_only)
        if offsets:
            self._thread.call(self._core.commits.before_leaving(offsets, timeout_s))

    def _revoke_all(self, step: AssignmentStep) -> None:
        """Calls the listener and drops the partitions that the group assigned."""
        if self._core.subscription.uses_group:
            self._run_step(step)

    def _ends(
        self, partitions: Iterable[TopicPartition], timestamp: int, timeout: float | None
    ) -> dict[TopicPartition, int]:
        with self._one_thread:
            requested = {
                as_topic_partition(topic_partition): timestamp for topic_partition in partitions
            }
            found = self._call(self._core.find_offsets(requested, self._limit(timeout)))
            return {topic_partition: at.offset for topic_partition, at in found.items()}

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs work on the loop thread and waits; wakeup() ends the wait."""
        if self._closed:
            work.close()
            self._check_open()
        future = self._thread.submit(work)
        future.add_done_callback(lambda _: self._event.set())
        try:
            while not future.done():
                self._event.clear()
                self._raise_wakeup()
                if not future.done():
                    self._event.wait()
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _committed(
        self,
        callback: OnCommit,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        done: "Future[None]",
    ) -> None:
        error = None if done.cancelled() else done.exception()
        cause = error if isinstance(error, BarnabasError) else None
        self._callbacks.append(lambda: callback(offsets, cause))
        self._core.reader.interrupt()
        self._event.set()

    def _run_callbacks(self) -> None:
        while self._callbacks:
            self._callbacks.pop(0)()


async def _make_core(
    settings: ConsumerSettings, notify: Callable[[], None], refill: Callable[[], Record]
) -> ConsumerCore:
    return ConsumerCore(settings, notify, refill)
