"""Tries the short path of a request and measures it, in one compiled call.

A handler may have a short path (`ApiHandler.short`): a function from the frame to the response for
the common form of its request. `ShortPaths.serve` finds it by the API key and records the same
metrics as the dispatcher. It returns None if there is none, if a guard forbids it, or if it leaves
the request to the handler.

A connection without TLS and SASL calls `serve` before its handler; so does the dispatcher for every
other connection.

Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.model.errors import BrokerError

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import u16
    from cython.cimports.barnabas.runtime._clock_hot import perf_ns
    from cython.cimports.barnabas.runtime._histogram_hot import (
        Counter,
        Histogram,
        RequestHistograms,
    )
    from cython.cimports.cpython.memoryview import PyMemoryView_GET_BUFFER
else:
    from barnabas.runtime._clock_hot import perf_ns
    from barnabas.runtime._histogram_hot import Counter, Histogram, RequestHistograms

if TYPE_CHECKING:
    from barnabas.broker.loop_watch import LoopWatch
    from barnabas.broker.metrics.request_metrics import RequestMetrics
    from barnabas.net.replies import Reply
    from barnabas.net.server_connection import ServerConnection

COMPILED: bool = cython.compiled

_requests = logging.getLogger("barnabas.request")
_DEBUG = logging.DEBUG
_levels: dict = _requests._cache  # type: ignore[attr-defined]
"""The levels for which the logger has been asked; `logging` clears it when a level changes."""
_HEADER_BYTES = cython.declare(cython.Py_ssize_t, 8)
_SLOW_NS = cython.declare(cython.longlong, 50_000_000)


@cython.cclass
class ShortPath:
    """The short path of one API.

    `serve` gets the services and the frame. `guards` say for a connection whether nothing between
    dispatcher and handler would change the request. `failed` returns the response to a request for
    which `serve` raised BrokerError. The metrics are those of the API's meter, None before its
    first request.
    """

    __slots__ = ("_send_time", "_served", "_versions", "failed", "guards", "serve")

    def __init__(
        self,
        serve: Callable[[Any, memoryview], bytes | None],
        guards: tuple[Callable[[ServerConnection], bool], ...],
        failed: Callable[[ServerConnection, memoryview, BrokerError], Reply],
    ) -> None:
        self.serve = serve
        self.guards = guards
        self.failed = failed
        self._served: RequestHistograms | None = None
        self._send_time: Histogram | None = None
        self._versions: dict[int, Counter] = {}


@cython.cclass
class ShortPaths:
    """The short paths of a broker, by API key; `enabled` unless an interceptor sees all requests.

    `internal_error` logs an unexpected error and returns the one to raise.
    """

    __slots__ = (
        "_internal_error",
        "_metrics",
        "_now_ns",
        "_services",
        "_system_clock",
        "_watch",
        "enabled",
        "paths",
    )

    def __init__(
        self,
        paths: dict[int, ShortPath],
        services: Any,
        watch: LoopWatch,
        metrics: RequestMetrics,
        internal_error: Callable[[memoryview, Exception], Exception],
    ) -> None:
        self.paths = paths
        self.enabled = True
        self._services = services
        self._watch = watch
        self._now_ns = watch.now_ns
        self._system_clock = watch.now_ns is perf_counter_ns
        self._metrics = metrics
        self._internal_error = internal_error

    def serve(self, connection: ServerConnection, frame: memoryview) -> Reply:
        """Returns the reply of the short path and records its metrics; None without one."""
        size: cython.Py_ssize_t = len(frame)
        if size < _HEADER_BYTES or not self.enabled:
            return None
        api_key: cython.int = _number_at(frame, 0)
        path: ShortPath | None = self.paths.get(api_key)
        # The request log needs the decoded header.
        if path is None or _logs_requests():
            return None
        for guard in path.guards:
            if not guard(connection):
                return None
        started_ns: cython.longlong = self._time_ns()
        try:
            response = path.serve(self._services, frame)
        except BrokerError as error:
            # The request was served in part, so it must not be served again.
            return path.failed(connection, frame, error)
        except Exception as error:  # noqa: BLE001 - one of the top-level loops
            raise self._internal_error(frame, error) from None
        if response is None:
            return None
        held_ns: cython.longlong = self._time_ns() - started_ns
        if held_ns > _SLOW_NS:
            self._watch.held_by(api_key, held_ns)
        self._count(path, api_key, _number_at(frame, 2))
        connection.send_time = path._send_time
        served: RequestHistograms | None = path._served
        assert served is not None
        served.record(size, started_ns - connection.received_ns, held_ns)
        return [response]

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _time_ns(self) -> cython.longlong:
        now_ns: cython.longlong = perf_ns() if self._system_clock else self._now_ns()
        return now_ns

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _count(self, path: ShortPath, api_key: cython.int, version: cython.int) -> cython.int:
        """Counts the request of a version; the first one finds the meter of the API."""
        found = path._versions.get(version)
        if found is None:
            meter = self._metrics.of(api_key)
            path._served, path._send_time = meter._served, meter.send
            found = path._versions[version] = meter._of(version)
        counter: Counter = found
        counter.value += 1
        return 0


@cython.cfunc
@cython.exceptval(-1, check=False)
def _number_at(frame: memoryview, at: cython.Py_ssize_t) -> cython.int:
    """Returns the unsigned number of two bytes at a position that exists."""
    if cython.compiled:
        return u16(cython.cast(cython.p_uchar, PyMemoryView_GET_BUFFER(frame).buf), at)
    return (frame[at] << 8) | frame[at + 1]


@cython.cfunc
def _logs_requests() -> cython.bint:
    """Whether the request log is at DEBUG; a call of `isEnabledFor` for each request is slower."""
    known = _levels.get(_DEBUG)
    return _requests.isEnabledFor(_DEBUG) if known is None else known
