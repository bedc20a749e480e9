"""Threads that work on records, each in the order it gets them.

A record's worker is chosen by its partition or its key, so what must stay in order goes to one
worker. The first error ends all work: what is queued behind it is left alone.
"""

import queue
import threading
from collections.abc import Callable
from itertools import count

from barnabas.clients.group.failures import FailurePolicy, Handler
from barnabas.clients.group.offset_tracker import OffsetTracker
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

Route = Callable[[Record], int]
Job = tuple[TopicPartition, Record]


def route_by(ordering: str, concurrency: int) -> Route:
    """Which worker takes a record."""
    if ordering == "partition":
        return lambda record: hash((record.topic, record.partition)) % concurrency
    if ordering != "key":
        raise LocalError(f"ordering={ordering!r}: must be 'partition' or 'key'")
    turns = count()
    # Without a key there is no order to keep, so whoever is next.
    return lambda record: (
        (next(turns) if record.key is None else hash((record.topic, record.key))) % concurrency
    )


class Workers:
    """Started at once; `close` waits for what is under way."""

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
        """Finish the records under way; drop what is still queued."""
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
            try:
                self._policy.handle(self._handler, record, self._stop.wait)
            except BaseException as error:  # noqa: BLE001 - raised again in the polling thread
                self.failure = error
                self.failed.set()
            else:
                self._tracker.finish(topic_partition, record)
