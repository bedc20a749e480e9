"""`consumer.process(handler)`: worker threads behind one consumer, with safe commits.

The polling thread polls, submits records to the workers and commits; the workers call the handler.
A commit never passes an unfinished record, so after a crash every record that may not have been
processed is read again. While too many records are in progress the partitions are paused, but
polling continues, so the member stays in its group.

The worker of a record is selected by its partition or key, so records that must stay in order have
the same worker. The first error ends all work; records that are queued behind it are not processed.
At the end (`stop`, wakeup()) and before partitions are revoked, records in progress are finished
and queued ones are dropped: the next poll, or the next owner, reads them again.
"""

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from barnabas.clients.group.errors import CommitFailedError, WakeupError
from barnabas.clients.group.failures import DeadLetterProducer, FailurePolicy, Handler
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.records.record import Record

logger = logging.getLogger(__name__)


class _Partition:
    __slots__ = ("committed", "dropped", "epoch", "finished", "order", "position", "started")

    def __init__(self) -> None:
        self.order: deque[int] = deque()
        self.finished: set[int] = set()
        self.started = -1
        """The highest offset that a worker has started."""
        self.dropped: int | None = None
        """The first offset that `drop_queued` has removed."""
        self.position = -1
        self.epoch = -1
        self.committed = -1


class OffsetTracker:
    """Tracks records from `begin` to `finish`; `committable` returns the offsets to commit.

    A worker calls `start` before it handles a record, because a record may have been dropped while
    it was queued.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._partitions: dict[TopicPartition, _Partition] = {}

    def begin(self, topic_partition: TopicPartition, records: Iterable[Record]) -> None:
        """Adds records in progress; the offsets of a partition must be ascending."""
        with self._changed:
            held = self._partitions.setdefault(topic_partition, _Partition())
            held.order.extend(record.offset for record in records)

    def start(self, topic_partition: TopicPartition, record: Record) -> bool:
        """Returns whether the record is still to be handled."""
        with self._changed:
            held = self._partitions.get(topic_partition)
            if held is None or (held.dropped is not None and record.offset >= held.dropped):
                return False
            held.started = max(held.started, record.offset)
            return True

    def drop_queued(self, topic_partitions: Iterable[TopicPartition] | None = None) -> None:
        """Drops the queued records behind the last started one, of some partitions or of all.

        Earlier ones remain: without them the records that were finished before their turn could
        not be committed, and would be processed again.
        """
        with self._changed:
            for held in self._chosen(topic_partitions):
                while held.order and held.order[-1] > held.started:
                    held.dropped = held.order.pop()
            self._changed.notify_all()

    def finish(self, topic_partition: TopicPartition, record: Record) -> None:
        """Marks a record as finished, processed or not; ignored after `forget`."""
        with self._changed:
            held = self._partitions.get(topic_partition)
            if held is None:
                return
            held.finished.add(record.offset)
            while held.order and held.order[0] in held.finished:
                offset = held.order.popleft()
                held.finished.discard(offset)
                held.position, held.epoch = offset + 1, record.leader_epoch
            self._changed.notify_all()

    def committable(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Returns the positions that have changed since the last commit."""
        with self._changed:
            return {
                topic_partition: OffsetAndMetadata(held.position, "", held.epoch)
                for topic_partition, held in self._partitions.items()
                if held.position > held.committed
            }

    def committed(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        with self._changed:
            for topic_partition, at in offsets.items():
                held = self._partitions.get(topic_partition)
                if held is not None:
                    held.committed = max(held.committed, at.offset)

    def first_unfinished(self, topic_partition: TopicPartition) -> int | None:
        """Returns the first offset that is in progress or was dropped, or None."""
        with self._changed:
            held = self._partitions.get(topic_partition)
            if held is None:
                return None
            return held.order[0] if held.order else held.dropped

    def unfinished(self, topic_partitions: Iterable[TopicPartition] | None = None) -> int:
        """Returns the number of records in progress, of some partitions or of all."""
        with self._changed:
            return self._unfinished(topic_partitions)

    def wait(self, topic_partitions: Iterable[TopicPartition] | None, timeout_s: float) -> bool:
        """Waits until no record of these is in progress; returns False after `timeout_s`."""
        chosen = None if topic_partitions is None else list(topic_partitions)
        with self._changed:
            return self._changed.wait_for(lambda: not self._unfinished(chosen), timeout_s)

    def wait_for_room(self, limit: int, timeout_s: float) -> bool:
        """Waits until there are fewer records in progress; returns False after `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._unfinished(None) < limit, timeout_s)

    def forget(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Removes partitions that were revoked."""
        with self._changed:
            for topic_partition in topic_partitions:
                self._partitions.pop(topic_partition, None)
            self._changed.notify_all()

    def _unfinished(self, topic_partitions: Iterable[TopicPartition] | None) -> int:
        return sum(len(one.order) - len(one.finished) for one in self._chosen(topic_partitions))

    def _chosen(self, topic_partitions: Iterable[TopicPartition] | None) -> list[_Partition]:
        if topic_partitions is None:
            return list(self._partitions.values())
        held = (self._partitions.get(topic_partition) for topic_partition in topic_partitions)
        return [one for one in held if one is not None]


Route = Callable[[Record], int]
Job = tuple[TopicPartition, Record]


def route_by(ordering: str, concurrency: int) -> Route:
    """Returns the function that selects the worker of a record."""
    if ordering == "partition":
        return lambda record: hash((record.topic, record.partition)) % concurrency
    if ordering != "key":
        raise LocalError(f"ordering={ordering!r}: must be 'partition' or 'key'")
    sequence = count()
    # Records without a key need no order, so they are distributed in turn.
    return lambda record: (
        (next(sequence) if record.key is None else hash((record.topic, record.key))) % concurrency
    )


class Workers:
    """The worker threads, started by the constructor; `close` waits for records in progress."""

    def __init__(
        self, handler: Handler, policy: FailurePolicy, tracker: OffsetTracker, route: Route, n: int
    ) -> None:
        self.failure: BaseException | None = None
        self.failed = threading.Event()
        self._handler = handler
        self._policy = policy
        self._tracker = tracker
        self._route = route
        self._stop = threading.Event()
        self._queues: list[queue.SimpleQueue[Job | None]] = [queue.SimpleQueue() for _ in range(n)]
        self._threads = [
            threading.Thread(target=self._run, args=(jobs,), name=f"barnabas-worker-{i}")
            for i, jobs in enumerate(self._queues)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, topic_partition: TopicPartition, records: list[Record]) -> None:
        self._tracker.begin(topic_partition, records)
        for record in records:
            self._queues[self._route(record)].put((topic_partition, record))

    def close(self) -> None:
        """Finishes the records in progress and drops the queued ones."""
        self._stop.set()
        for jobs in self._queues:
            jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self, jobs: "queue.SimpleQueue[Job | None]") -> None:
        while not self._stop.is_set():
            job = jobs.get()
            if job is None or self._stop.is_set() or self.failed.is_set():
                continue
            topic_partition, record = job
            if not self._tracker.start(topic_partition, record):
                continue
            try:
                self._policy.handle(self._handler, record, self._stop.wait)
            except BaseException as error:  # noqa: BLE001 - raised again in the polling thread
                self.failure = error
                self.failed.set()
            else:
                self._tracker.finish(topic_partition, record)


POLL_SECONDS = 0.1
# Records in work may finish before their partitions are given up.
DRAIN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """The arguments of `Consumer.process`."""

    concurrency: int = 1
    ordering: str = "partition"
    on_error: str = "stop"
    retries: int = 3
    backoff_s: float = 0.1
    producer: DeadLetterProducer | None = None
    dead_letter_topic: str | None = None
    max_in_progress: int = 1000
    commit_interval_s: float = 1.0
    stop: Callable[[], bool] | None = None

    def check(self) -> None:
        if self.concurrency < 1:
            raise LocalError(f"concurrency={self.concurrency}: must be at least 1")

    def policy(self) -> FailurePolicy:
        """Returns the reaction to a failed record; raises LocalError for a wrong option."""
        return FailurePolicy(
            self.on_error, self.retries, self.backoff_s, self.producer, self.dead_letter_topic
        )


class PausableConsumer(Protocol):
    """The calls of both consumers that need no network."""

    def assignment(self) -> set[TopicPartition]: ...

    def paused(self) -> set[TopicPartition]: ...

    def pause(self, *partitions: TopicPartition) -> None: ...

    def resume(self, *partitions: TopicPartition) -> None: ...

    def seek(self, partition: TopicPartition, offset: int) -> None: ...


class PollingConsumer(PausableConsumer, Protocol):
    """The calls of the blocking consumer that `ProcessRun` needs."""

    def poll(self, timeout: float = ...) -> dict[TopicPartition, list[Record]]: ...

    def commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None: ...


class _Listener:
    """Finishes the records of revoked partitions, then calls the application's listener."""

    def __init__(self, run: "ProcessRun", inner: Any) -> None:
        self._run = run
        self._inner = inner

    def on_partitions_assigned(self, partitions: Sequence[TopicPartition]) -> None:
        self._call_listener("on_partitions_assigned", partitions)

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        self._run.give_up(partitions)
        self._call_listener("on_partitions_revoked", partitions)

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        self._run.tracker.forget(partitions)
        name = "on_partitions_lost"
        self._call_listener(
            name if hasattr(self._inner, name) else "on_partitions_revoked", partitions
        )

    def _call_listener(self, name: str, partitions: Sequence[TopicPartition]) -> None:
        method = getattr(self._inner, name, None)
        if method is not None:
            method(partitions)


class ProcessRun:
    """One call of `process`; owned by the polling thread."""

    def __init__(
        self, consumer: PollingConsumer, handler: Handler, options: ProcessOptions
    ) -> None:
        options.check()
        self.tracker = OffsetTracker()
        self._consumer = consumer
        self._options = options
        policy = options.policy()
        route = route_by(options.ordering, options.concurrency)
        self._workers = Workers(handler, policy, self.tracker, route, options.concurrency)
        self._paused: set[TopicPartition] = set()

    def run(self) -> None:
        """Processes records until `stop()` returns True, wakeup() is called or a record fails."""
        try:
            self._loop()
        except WakeupError:
            logger.debug("processing was ended by wakeup()")
        finally:
            self._finish()
        if self._workers.failure is not None:
            raise self._workers.failure

    def give_up(self, partitions: Sequence[TopicPartition]) -> None:
        """Finishes the started records of revoked partitions and commits them."""
        self.tracker.drop_queued(partitions)
        if not self._workers.failed.is_set() and not self.tracker.wait(partitions, DRAIN_SECONDS):
            logger.warning(
                "%d revoked partitions have unfinished records",
                len(partitions),
            )
        self._commit()
        self.tracker.forget(partitions)
        self._paused.difference_update(partitions)

    def listener(self, inner: Any) -> Any:
        return _Listener(self, inner)

    def _loop(self) -> None:
        next_commit_s = time.monotonic() + self._options.commit_interval_s
        while not self._stopped():
            self._hold_or_go_on()
            poll_s = 0.0 if self._paused else POLL_SECONDS
            for topic_partition, records in self._consumer.poll(poll_s).items():
                self._workers.submit(topic_partition, records)
            if self._paused:
                # Not in `poll`: without partitions to read it returns when its time has passed.
                self.tracker.wait_for_room(self._options.max_in_progress, POLL_SECONDS)
            if time.monotonic() >= next_commit_s:
                self._commit()
                next_commit_s = time.monotonic() + self._options.commit_interval_s

    def _stopped(self) -> bool:
        wanted = self._options.stop is not None and self._options.stop()
        return wanted or self._workers.failed.is_set()

    def _hold_or_go_on(self) -> None:
        if self.tracker.unfinished() >= self._options.max_in_progress:
            more = self._consumer.assignment() - self._consumer.paused()
            self._consumer.pause(*more)
            self._paused |= more
        elif self._paused:
            self._consumer.resume(*(self._paused & self._consumer.assignment()))
            self._paused.clear()

    def _finish(self) -> None:
        self.tracker.drop_queued()
        if not self._workers.failed.is_set():
            self.tracker.wait(None, DRAIN_SECONDS)
        self._workers.close()
        self._commit()
        if self._paused:
            self._consumer.resume(*(self._paused & self._consumer.assignment()))
        for topic_partition in self._consumer.assignment():
            self._rewind(topic_partition)

    def _rewind(self, topic_partition: TopicPartition) -> None:
        """Seeks back to the first unfinished record, so that the next poll returns it again."""
        first = self.tracker.first_unfinished(topic_partition)
        if first is not None:
            self._consumer.seek(topic_partition, first)

    def _commit(self) -> None:
        offsets = self.tracker.committable()
        if not offsets:
            return
        try:
            self._consumer.commit(offsets)
        except CommitFailedError as error:
            logger.warning("%s", error)
        except BarnabasError as error:
            logger.warning("a commit failed, the next one includes its offsets: %s", error)
        else:
            self.tracker.committed(offsets)
