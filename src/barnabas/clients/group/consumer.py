"""The blocking consumer: records by `poll()`, fetched and kept alive by a loop thread behind it.

Records are decoded in the caller's thread from what was fetched ahead; nothing per record crosses
threads. For one thread at a time; only `wakeup()` is for any. Not to be used after a fork.
"""

import re
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from barnabas.clients.core.apis.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    OffsetAndTimestamp,
)
from barnabas.clients.core.exit_hooks import close_at_exit, closed, park_daemon_thread
from barnabas.clients.core.graceful import interruptible, not_interruptible
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.clients.group.base import ConsumerBase, Offsets, OnCommit
from barnabas.clients.group.core import ConsumerCore
from barnabas.clients.group.errors import ConcurrentUseError, WakeupError
from barnabas.clients.group.membership.actions import Step, StepKind
from barnabas.clients.group.one_thread import OneThread
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.errors import BarnabasError, DeadlineError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.records.record import Record

if TYPE_CHECKING:
    import pyarrow

CLOSE_SECONDS = 30.0
ITERATION_SECONDS = 1.0
PING_SECONDS = 10.0
LOOK_SECONDS = 0.05
T = TypeVar("T")


class Consumer(ConsumerBase):
    """Reads records of topics, alone or as one of a group.

    >>> config = {"bootstrap.servers": "localhost:9092", "group.id": "g"}
    >>> with Consumer(config) as consumer:  # doctest: +SKIP
    ...     consumer.subscribe(["orders"])
    ...     for record in consumer:
    ...         print(record.offset, record.value)

    Configuration goes by Kafka's names, or as snake_case keywords. A listener is any object with
    `on_partitions_assigned`, `on_partitions_revoked` and, if wanted, `on_partitions_lost`, each
    taking a list of partitions; it is called from within poll().
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        self._settings = ConsumerSettings.parse({**(config or {}), **options})
        self._bell = threading.Event()
        self._woken = False
        self._one_thread = OneThread()
        self._callbacks: list[Callable[[], Any]] = []
        self._thread = LoopThread("barnabas-consumer")
        self._core: ConsumerCore = self._thread.call(_make_core(self._settings, self._bell.set))
        self._exiting = False
        close_at_exit(self)
        interruptible(self)

    # -- what is read --------------------------------------------------------------------------

    def subscribe(self, topics: "Iterable[str] | re.Pattern[str]", listener: Any = None) -> None:
        """Read these topics as a member of the group; an empty list is `unsubscribe()`."""
        with self._one_thread:
            names = topics if isinstance(topics, str | re.Pattern) else list(topics)
            if not names:
                self.unsubscribe()
            else:
                self._subscribe(names, listener)

    def unsubscribe(self) -> None:
        """Leave the group, or drop what was assigned; a listener hears of the revocation."""
        with self._one_thread:
            self._check_open()
            self._give_up_partitions()
            self._thread.call(self._core.unsubscribe())
            self._core.subscription.unsubscribe()

    def assign(self, partitions: "Iterable[TopicPartition | tuple[str, int]]") -> None:
        """Read exactly these partitions, without a group's say; an empty list is `unsubscribe()`.

        Raises LocalError for a name that no topic can have, and while topics are subscribed.
        """
        with self._one_thread:
            chosen = list(partitions)
            if chosen:
                super().assign(chosen)
            else:
                self.unsubscribe()

    # -- records -------------------------------------------------------------------------------

    def poll(self, timeout: float = 0.0) -> dict[TopicPartition, list[Record]]:
        """Up to max.poll.records records; waits up to `timeout` seconds for the first.

        Calling it says that everything returned before is processed: automatic commits go by it.
        """
        with self._one_thread:
            limit = self._settings.max_poll_records
            return self._poll(timeout, lambda: self._core.take_records(limit)) or {}

    def poll_arrow(self, timeout: float = 0.0) -> "pyarrow.RecordBatch":
        """Whole fetched buffers as one Arrow batch, without an object per record.

        Columns: topic, partition, offset, timestamp, key, value, headers; keys and values as raw
        bytes, deserializers do not apply. max.poll.records does not either.
        """
        with self._one_thread:
            batch = self._poll(timeout, self._core.take_arrow)
        if batch is None:
            from barnabas.clients.group.fetching.arrow_pieces import empty_batch

            return empty_batch()
        return batch

    def __iter__(self) -> Iterator[Record]:
        """Records one by one, for ever. Positions follow each record handed out."""
        while not self._closed:
            with self._one_thread:
                found = self._poll(ITERATION_SECONDS, lambda: self._core.take_records(1))
            for records in (found or {}).values():
                yield from records

    def process(self, handler: Callable[[Record], Any], **options: Any) -> None:
        """Call `handler(record)` for every record, until `wakeup()`, or `stop()` says so.

        `concurrency` workers; `ordering` "partition" or "key" is the order that is kept.
        `on_error`: "stop" raises, "retry" tries `retries` times first, "skip" logs, "dlq" sends
        the record by `producer` to `dead_letter_topic` (default: topic + ".dlq") with the reason
        in its headers. Commits never pass a record that is not done; needs
        enable.auto.commit=false. Further options: see `ProcessOptions`.
        """
        from barnabas.clients.group.patterns.process import ProcessOptions, ProcessRun

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
        """From any thread: the blocking call under way, or the next, raises WakeupError."""
        self._woken = True
        self._bell.set()

    def interrupt(self) -> None:
        """The program was asked to end: as `wakeup()`."""
        self.wakeup()

    # -- offsets -------------------------------------------------------------------------------

    def commit(self, offsets: Offsets | None = None, timeout: float | None = None) -> None:
        """Commit positions, of everything poll() returned unless `offsets` are given; waits."""
        with self._one_thread:
            chosen = self._offsets(offsets)
            self._call(self._core.commit(chosen, self._limit(timeout)))

    def commit_async(
        self, offsets: Offsets | None = None, callback: OnCommit | None = None
    ) -> None:
        """Commit without waiting; `callback(offsets, error)` is called from a later poll()."""
        with self._one_thread:
            self._check_open()
            chosen = self._offsets(offsets)
            future = self._thread.submit(self._core.commit_once(chosen))
            if callback is not None:
                future.add_done_callback(lambda done: self._committed(callback, chosen, done))

    def committed(
        self, *partitions: TopicPartition, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets; of all assigned partitions when none is named."""
        with self._one_thread:
            chosen = partitions or self._core.subscription.assigned()
            return self._call(self._core.committed(chosen, self._limit(timeout)))

    def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record poll() returns."""
        with self._one_thread:
            return self._call(self._core.position(partition, self._limit(timeout)))

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        return self._ends(partitions, EARLIEST_TIMESTAMP, timeout)

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """The offset after the last record that this isolation level shows."""
        return self._ends(partitions, LATEST_TIMESTAMP, timeout)

    def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after each time in milliseconds; None where there is none."""
        with self._one_thread:
            found = self._call(self._core.find_offsets(timestamps, self._limit(timeout)))
            return {place: at if at.offset >= 0 else None for place, at in found.items()}

    def partitions_for(self, topic: str, timeout: float | None = None) -> list[int]:
        """The partition numbers of a topic."""
        with self._one_thread:
            return self._call(self._core.partitions_for(topic, self._limit(timeout)))

    def ping(self, timeout: float = PING_SECONDS) -> None:
        """Ask a broker one question now; returns when it has answered.

        Raises at the first failure, with its reason: AuthenticationError for a refused login and
        for TLS on one side only, DeadlineError after `timeout` seconds, UnavailableError for an
        unknown host, a refused connection, or a server that is not a broker.

        >>> consumer.ping()  # doctest: +SKIP
        """
        with self._one_thread:
            self._call(self._core.ping(timeout))

    def wait_for_assignment(self, timeout: float | None = None) -> set[TopicPartition]:
        """Wait until the group has given this consumer its partitions, with their positions.

        Records that are sent afterwards are read, also with auto.offset.reset=latest. Returns the
        partitions, none if the group has more members than partitions. Listeners are called;
        records that arrive meanwhile are kept for poll(), and nothing is committed.

        Raises DeadlineError after `timeout` seconds (default: default.api.timeout.ms), naming what
        is missing, and whatever poll() would raise.

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

    # -- the end -------------------------------------------------------------------------------

    def close(self, timeout: float = CLOSE_SECONDS) -> None:
        """Commit if commits are automatic, leave the group and end. Idempotent."""
        with self._one_thread:
            if self._closed:
                return
            try:
                self._give_up_partitions()
            finally:
                self._end(timeout)
                self._run_callbacks()

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        """The program ends without close(): the returned function leaves the group.

        After an uncaught exception nothing is committed, so that the records which were being
        processed are read again.
        """
        deadline_s = time.monotonic() + timeout_s
        self._exiting = True

        def leave() -> None:
            try:
                with self._one_thread:
                    if not failed:
                        self._give_up_partitions()
            except ConcurrentUseError:
                pass  # a daemon thread polls
            left_s = max(deadline_s - time.monotonic(), 0.0)
            self._thread.call(self._core.close(left_s))

        return leave

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- inside --------------------------------------------------------------------------------

    def _end(self, timeout: float) -> None:
        closed(self)
        not_interruptible(self)
        self._closed = True
        try:
            self._thread.call(self._core.close(timeout))
        finally:
            self._thread.close()

    def _poll(self, timeout: float, take: Callable[[], T]) -> T | None:
        self._stop_at_exit()
        self._check_reads()
        self._thread.check()
        self._core.begin_poll()
        deadline = time.monotonic() + timeout
        try:
            while True:
                self._bell.clear()
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
                self._bell.wait(left)
        finally:
            self._core.end_poll()

    def _until_assigned(self, limit_s: float) -> set[TopicPartition]:
        deadline = time.monotonic() + limit_s
        while True:
            self._bell.clear()
            self._raise_wakeup()
            self._run_steps()
            self._core.raise_failures()
            pending = self._core.assignment_pending()
            if pending is None:
                return self.assignment()
            left = deadline - time.monotonic()
            if left <= 0:
                raise DeadlineError(f"no assignment within {limit_s:g} s: {pending}")
            self._bell.wait(min(left, LOOK_SECONDS))

    def _stop_at_exit(self) -> None:
        if self._exiting:
            park_daemon_thread()

    def _run_steps(self) -> None:
        """What the group asks of this thread; a listener's error is raised when all is done."""
        step = self._core.take_step()
        if step is None:
            return
        offsets = self._core.commit_before(step)
        if offsets:
            self._thread.call(self._core.commit_quietly(offsets))
        try:
            self._run_step(step)
        finally:
            self._core.step_done(step)

    def _run_step(self, step: Step) -> None:
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

    def _give_up_partitions(self) -> None:
        """Before leaving on one's own will: commit, tell the listener, drop."""
        step = self._core.parting_step()
        offsets = self._core.commit_before(step)
        if offsets:
            self._thread.call(self._core.commit_on_parting(offsets))
        if self._core.subscription.uses_group:
            self._run_step(step)

    def _ends(
        self, partitions: Iterable[TopicPartition], timestamp: int, timeout: float | None
    ) -> dict[TopicPartition, int]:
        with self._one_thread:
            asked = {as_topic_partition(place): timestamp for place in partitions}
            found = self._call(self._core.find_offsets(asked, self._limit(timeout)))
            return {place: at.offset for place, at in found.items()}

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run on the loop and wait here, where wakeup() can end it."""
        if self._closed:
            work.close()
            self._check_open()
        future = self._thread.submit(work)
        future.add_done_callback(lambda _: self._bell.set())
        try:
            while not future.done():
                self._bell.clear()
                self._raise_wakeup()
                if not future.done():
                    self._bell.wait()
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
        self._bell.set()

    def _run_callbacks(self) -> None:
        while self._callbacks:
            self._callbacks.pop(0)()

    def _raise_wakeup(self) -> None:
        if self._woken:
            self._woken = False
            raise WakeupError("wakeup() was called")

    def _limit(self, timeout: float | None) -> float:
        return self._settings.api_timeout_s if timeout is None else timeout


async def _make_core(settings: ConsumerSettings, ring: Callable[[], None]) -> ConsumerCore:
    return ConsumerCore(settings, ring)
