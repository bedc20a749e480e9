"""Requests the latest offsets for the next micro-batch while the current one is processed.

Only for queries with a limit per trigger. The result is used only if the backlog exceeds the limit:
records that arrived since then do not change the next micro-batch. With a smaller backlog the
offsets are requested again when Spark needs them, so that no record waits longer than necessary.
"""

import threading
import time
from collections.abc import Callable, Mapping

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.spark.source.planner import ClusterView

FRESH_SECONDS = 1.0
"""An older view is discarded: partitions may have been added, deleted or truncated."""
GIVE_WAY_SECONDS = 0.004
"""A pause, so that the plan that Spark waits for is sent first: both need the interpreter lock."""


class LookAhead:
    """Owned by the driver side of one query. With `limit` None it does nothing."""

    def __init__(self, ask: Callable[[], ClusterView], limit: int | None) -> None:
        self._ask = ask
        self._limit = limit
        self._pause = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: tuple[float, ClusterView] | None = None

    def begin(self) -> None:
        """Starts the request in another thread."""
        if self._limit is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._look, name="look-ahead", daemon=True)
        self._thread.start()

    def take(self, start: Mapping[TopicPartition, int]) -> ClusterView | None:
        """Returns the view, if it is sufficient for a query whose position is `start`."""
        thread, self._thread = self._thread, None
        if thread is None:
            return None
        thread.join()
        seen, self._seen = self._seen, None
        if seen is None or time.monotonic() - seen[0] > FRESH_SECONDS:
            return None
        return seen[1] if self._enough(start, seen[1].latest) else None

    def close(self) -> None:
        """Waits for the thread. Close the cluster first: that ends a request in flight."""
        self._pause.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        self._pause.wait(GIVE_WAY_SECONDS)
        begin = time.monotonic()
        try:
            self._seen = begin, self._ask()
        except BarnabasError:
            self._seen = None  # the request is repeated by the planner, which reports the error

    def _enough(
        self, start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
    ) -> bool:
        assert self._limit is not None
        if start.keys() != latest.keys():
            return False
        ahead = [latest[topic_partition] - position for topic_partition, position in start.items()]
        return min(ahead, default=0) >= 0 and sum(ahead) >= self._limit
