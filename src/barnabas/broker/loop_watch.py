"""Counts and logs requests that block the broker's event loop for a long time.

One loop serves every client: a request that computes for 50 ms delays all others by as much.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from time import perf_counter_ns
from typing import Any

from barnabas.model.clock import Clock
from barnabas.runtime.rate_limited_log import RateLimitedLog

_logger = logging.getLogger("barnabas.broker")

LIMIT_NS = 50_000_000


class LoopWatch:
    """Counts by API; owned by the broker's loop."""

    def __init__(self, clock: Clock, now_ns: Callable[[], int] = perf_counter_ns) -> None:
        self.now_ns = now_ns
        self.slow_requests: Counter[str] = Counter()
        """Number of requests, by API, that blocked the loop for more than 50 ms."""
        self._log = RateLimitedLog(_logger, clock, period_ms=10_000)

    def held(self, name: str, held_ns: int) -> None:
        """Counts and logs a request of API `name` that blocked the loop longer than the limit."""
        self.slow_requests[name] += 1
        line = "a %s request held the event loop for %d ms; other clients waited"
        self._log.warning(name, line, name, held_ns // 1_000_000)

    def watched(self, name: str, awaitable: Awaitable[Any]) -> Awaitable[Any]:
        """Wraps an awaitable to measure each of its steps on the loop."""
        return _Watched(self, name, awaitable)


class _Watched:
    """Runs the steps of an awaitable and measures each."""

    __slots__ = ("_awaitable", "_name", "_watch")

    def __init__(self, watch: LoopWatch, name: str, awaitable: Awaitable[Any]) -> None:
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
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - a cancellation, passed on
                step = partial(steps.throw, error)
            else:
                step = steps.__next__

    def _measured(self, step: Callable[[], Any]) -> Any:
        started_ns = self._watch.now_ns()
        try:
            return step()
        finally:
            held_ns = self._watch.now_ns() - started_ns
            if held_ns > LIMIT_NS:
                self._watch.held(self._name, held_ns)
