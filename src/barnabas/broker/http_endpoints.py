"""The contents of a broker's HTTP endpoints; every coroutine here runs on the broker's loop.

- /metrics: all metrics as text for Prometheus.
- /healthz: whether the process should be restarted (liveness): 200 while the loop responds and a
  log directory works.
- /readyz: whether clients should be sent here (readiness): started, registered, not shutting down,
  and all replicas of this broker in sync.
- /status: a summary as JSON.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from time import perf_counter_ns

from barnabas.broker.http_server import Endpoint, HttpReply
from barnabas.broker.listeners import Listeners
from barnabas.broker.metrics.broker_metrics import BrokerMetrics
from barnabas.broker.metrics.exposition import Exposition
from barnabas.broker.services import Services
from barnabas.model.version import VERSION
from barnabas.runtime.clock import Clock
from barnabas.zk.tree import MetadataTree, SessionState

_LAG_SAMPLE_S = 0.5


class HttpEndpoints:
    """The endpoints of one broker; owned by its loop."""

    def __init__(
        self, metrics: BrokerMetrics, clock: Clock, listeners: Listeners, failed: asyncio.Event
    ) -> None:
        self._metrics = metrics
        self._exposition = Exposition(metrics.registry, clock)
        self._listeners = listeners
        self._failed = failed
        self._services: Services | None = None
        self._tree: MetadataTree | None = None

    def observe(self, services: Services, tree: MetadataTree) -> None:
        """Called when the parts of the broker exist."""
        self._services, self._tree = services, tree

    def table(self) -> Mapping[str, Endpoint]:
        """Returns the endpoints by their paths."""
        return {
            "/": self._index,
            "/metrics": self._metrics_text,
            "/healthz": self._health,
            "/readyz": self._readiness,
            "/status": self._status,
        }

    async def _index(self, _accept: str) -> HttpReply:
        return HttpReply("".join(f"{path}\n" for path in self.table() if path != "/").encode())

    async def _metrics_text(self, accept: str) -> HttpReply:
        await self._metrics.refresh()
        text, content_type = await self._exposition.render(accept)
        return HttpReply(text, content_type)

    async def _health(self, _accept: str) -> HttpReply:
        if self._failed.is_set():
            text = b"every log directory is offline\n"
            return HttpReply(text, status=HTTPStatus.SERVICE_UNAVAILABLE)
        return HttpReply(b"ok\n")

    async def _readiness(self, _accept: str) -> HttpReply:
        await self._metrics.refresh()
        problems = self.problems()
        status = HTTPStatus.SERVICE_UNAVAILABLE if problems else HTTPStatus.OK
        return HttpReply.of_json({"ready": not problems, "problems": problems}, status)

    def problems(self) -> list[str]:
        """Returns the reasons why clients should not be sent to this broker."""
        services, tree = self._services, self._tree
        if self._failed.is_set():
            return ["every log directory is offline"]
        if services is None or tree is None or not self._metrics.is_running:
            stopping = self._metrics.state > 3
            return ["the broker is shutting down" if stopping else "the broker is starting"]
        found = []
        if tree.state is not SessionState.CONNECTED:
            found.append("the session on the metadata tree is not connected")
        counts = self._metrics.replicas
        behind = 0 if counts is None else counts.of("out_of_sync_here")
        if behind:
            found.append(f"{behind} replicas on this broker are not in sync")
        return found

    async def _status(self, _accept: str) -> HttpReply:
        await self._metrics.refresh()
        services = self._services
        status: dict[str, object] = {
            "version": VERSION,
            "state": {1: "starting", 3: "running"}.get(self._metrics.state, "stopping"),
            "problems": self.problems(),
            "listeners": {e.listener: f"{e.host}:{e.port}" for e in self._listeners.endpoints},
        }
        if services is not None:
            status.update(_summary(services, self._metrics))
        return HttpReply.of_json(status)

    async def sample_loop_lag(self) -> None:
        """Measures the delay of the loop's timers until the task is cancelled."""
        while True:
            started_ns = perf_counter_ns()
            await asyncio.sleep(_LAG_SAMPLE_S)
            late_ns = perf_counter_ns() - started_ns - int(_LAG_SAMPLE_S * 1e9)
            self._metrics.loop_lag.record(max(late_ns, 0))


def _summary(services: Services, metrics: BrokerMetrics) -> dict[str, object]:
    topics = metrics.topics
    counts = metrics.replicas
    assert counts is not None  # it exists as soon as the services do
    lags = metrics.lag.groups if metrics.lag is not None else {}
    return {
        "broker_id": services.broker_id,
        "cluster_id": services.cluster_id,
        "controller_id": services.metadata.controller_id,
        "brokers": sorted(broker.broker_id for broker in services.metadata.brokers()),
        "topics": counts.of("topics"),
        "partitions_led": counts.of("led"),
        "under_replicated": counts.of("under_replicated"),
        "records_in": topics.total("messages_in"),
        "bytes_in": topics.total("bytes_in"),
        "bytes_out": topics.total("bytes_out"),
        "groups": {name: asdict(lag) for name, lag in sorted(lags.items())},
    }
