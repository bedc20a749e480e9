"""`consumer.process(handler)`: worker threads behind one consumer, with safe commits.

The polling thread polls, submits records to the workers and commits; the workers call the handler.
A commit never passes an unfinished record, so after a crash every record that may not have been
processed is read again. While too many records are in progress the partitions are paused, but
polling continues, so the member stays in its group.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from barnabas.clients.group.errors import CommitFailedError, WakeupError
from barnabas.clients.group.failures import DeadLetters, FailurePolicy, Handler
from barnabas.clients.group.offset_tracker import OffsetTracker
from barnabas.clients.group.workers import Workers, route_by
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.1
DRAIN_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ProcessOptions:
    """The arguments of `Consumer.process`."""

    concurrency: int = 1
    ordering: str = "partition"
    on_error: str = "stop"
    retries: int = 3
    backoff_s: float = 0.1
    producer: DeadLetters | None = None
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
    """The calls of a consumer that need no network; the blocking and the asyncio one have them."""

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
        self._tell("on_partitions_assigned", partitions)

    def on_partitions_revoked(self, partitions: Sequence[TopicPartition]) -> None:
        self._run.give_up(partitions)
        self._tell("on_partitions_revoked", partitions)

    def on_partitions_lost(self, partitions: Sequence[TopicPartition]) -> None:
        self._run.tracker.forget(partitions)
        name = "on_partitions_lost"
        self._tell(name if hasattr(self._inner, name) else "on_partitions_revoked", partitions)

    def _tell(self, name: str, partitions: Sequence[TopicPartition]) -> None:
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
        """Waits for the records of revoked partitions and commits them."""
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
            for topic_partition, records in self._consumer.poll(POLL_SECONDS).items():
                self._workers.submit(topic_partition, records)
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
