"""What the cluster holds for the next micro-batch, asked for while this one is being processed.

Only for queries with a limit per trigger, and believed only when there is more than the limit
allows: then what has come since makes no difference to the next micro-batch. Anything less is
asked for again when Spark wants to know, so that no record waits for longer than it must.
"""

import threading
import time
from collections.abc import Callable, Mapping

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.spark.source.planner import ClusterView

FRESH_SECONDS = 1.0
"""A view that is older says nothing: partitions may have come, gone or moved."""
GIVE_WAY_SECONDS = 0.004
"""First the plan that Spark waits for is sent; it needs the same interpreter."""


class LookAhead:
    """Owned by one query's driver side. `limit` None: never looks."""

    def __init__(self, ask: Callable[[], ClusterView], limit: int | None) -> None:
        self._ask = ask
        self._limit = limit
        self._pause = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: tuple[float, ClusterView] | None = None

    def begin(self) -> None:
        """Look, in another thread."""
        if self._limit is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._look, name="look-ahead", daemon=True)
        self._thread.start()

    def take(self, start: Mapping[TopicPartition, int]) -> ClusterView | None:
        """What was seen, if a query that stands at `start` needs to know no more."""
        thread, self._thread = self._thread, None
        if thread is None:
            return None
        thread.join()
        seen, self._seen = self._seen, None
        if seen is None or time.monotonic() - seen[0] > FRESH_SECONDS:
            return None
        return seen[1] if self._enough(start, seen[1].latest) else None

    def close(self) -> None:
        """Once what it asks is closed: the look that is under way ends with it."""
        self._pause.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        self._pause.wait(GIVE_WAY_SECONDS)
        begin = time.monotonic()
        try:
            self._seen = begin, self._ask()
        except BarnabasError:
            self._seen = None  # it will be asked again, by somebody who can tell what is wrong

    def _enough(
        self, start: Mapping[TopicPartition, int], latest: Mapping[TopicPartition, int]
    ) -> bool:
        assert self._limit is not None
        if start.keys() != latest.keys():
            return False
        ahead = [latest[place] - position for place, position in start.items()]
        return min(ahead, default=0) >= 0 and sum(ahead) >= self._limit
