"""Finds requests that block the event loop for a long time.

One loop serves every client: a request that computes for 50 ms delays all others by as much.
`LoopWatch` counts such requests by API and logs them. The dispatcher measures a handler that
returns at once; `watched` measures each step of one that awaits. The metrics read the counts.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from time import perf_counter_ns
from typing import Any

from barnabas.runtime.clock import Clock
from barnabas.runtime.rate_limited_log import RateLimitedLog
from barnabas.wire.api_keys import ApiKey

_logger = logging.getLogger("barnabas.broker")
SLOW_REQUEST_NS = 50_000_000
"""A handler that occupies the loop this long delays every other connection: it is logged."""


class LoopWatch:
    """Counts by API; owned by the broker's loop."""

    def __init__(self, clock: Clock, now_ns: Callable[[], int] = perf_counter_ns) -> None:
        self.now_ns = now_ns
        self.slow_requests: Counter[str] = Counter()
        """Number of requests, by API, that blocked the loop for more than 50 ms."""
        self._log = RateLimitedLog(_logger, clock, period_ms=10_000)

    def held_by(self, api_key: int, held_ns: int) -> None:
        """Like `held`, by the key of the API."""
        self.held(api_name(api_key), held_ns)

    def held(self, name: str, held_ns: int) -> None:
        """Counts and logs a request of API `name` that blocked the loop longer than the limit."""
        self.slow_requests[name] += 1
        line = "a %s request held the event loop for %d ms; other clients waited"
        self._log.warning(name, line, name, held_ns // 1_000_000)

    def watched(self, name: str, awaitable: Awaitable[Any]) -> Awaitable[Any]:
        """Wraps an awaitable to measure each of its steps on the loop."""
        return _Watched(self, name, awaitable)


class _Watched:
    """Runs the steps of an awaitable and measures each.

    No variable may refer to an error, or to a future that contains one, while the error is raised:
    its traceback contains the calls of this class. The reference cycle would keep the memory of a
    rejected frame until a garbage collection.
    """

    __slots__ = ("_awaitable", "_name", "_watch")

    def __init__(self, watch: LoopWatch, name: str, awaitable: Awaitable[object]) -> None:
        self._watch = watch
        self._name = name
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        steps = self._awaitable.__await__()
        step: Callable[[], Any] = steps.__next__
        while True:
            try:
                awaited = self._measured(step)
            except StopIteration as end:
                return end.value
            finally:
                step = steps.__next__
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - of a future, or a cancellation
                step = partial(steps.throw, error)
            del awaited

    def _measured(self, step: Callable[[], Any]) -> Any:
        started_ns = self._watch.now_ns()
        try:
            return step()
        finally:
            del step
            held_ns = self._watch.now_ns() - started_ns
            if held_ns > SLOW_REQUEST_NS:
                self._watch.held(self._name, held_ns)


def api_name(api_key: int) -> str:
    """Returns Kafka's name of an API, or its number."""
    try:
        return ApiKey(api_key).name
    except ValueError:
        return f"api key {api_key}"
