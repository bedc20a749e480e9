"""Listeners of a Spark session: report the lag of its queries, and serve their metrics.

Apart from `query_metrics`, which commands use that must not import pyspark.
"""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from barnabas.spark.query_metrics import Lag, MetricsServer, QueryMetrics, lag

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )


def watch_lag(spark: SparkSession, on_lag: Callable[[str, Lag], None]) -> "LagListener":
    """Calls `on_lag(query, lag)` after each micro-batch of every query of a session.

    Remove the listener with `spark.streams.removeListener`.
    """
    listener = LagListener(on_lag)
    spark.streams.addListener(listener)
    return listener


def serve_metrics(spark: SparkSession, port: int = 0, host: str = "127.0.0.1") -> MetricsServer:
    """Serves the metrics of every query of a session for Prometheus; returns the server.

    The metrics are rows per second, batch time by phase, lag and state size, with the query's name
    as `group`; `docs/metrics.md` lists them. The endpoint has no authentication.

    Args:
        spark: The session; queries that start later are included.
        port: The port, 0 for a free port; `server.url` has the address.
        host: The address to listen on.
    """
    metrics = QueryMetrics()
    server = MetricsServer(metrics, port, host)
    spark.streams.addListener(MetricsListener(metrics))
    return server


class LagListener(StreamingQueryListener):
    """Calls `on_lag(query, lag)` after each micro-batch, with the query's name or else its id."""

    def __init__(self, on_lag: Callable[[str, Lag], None]) -> None:
        self._on_lag = on_lag

    def onQueryStarted(self, event: "QueryStartedEvent") -> None:
        """Does nothing: no record has been read yet."""

    def onQueryProgress(self, event: "QueryProgressEvent") -> None:
        found = lag(event.progress)
        if found is not None:
            self._on_lag(event.progress.name or str(event.progress.id), found)

    def onQueryIdle(self, event: "QueryIdleEvent") -> None:
        """Does nothing: the lag has not changed."""

    def onQueryTerminated(self, event: "QueryTerminatedEvent") -> None:
        """Does nothing: the last progress was reported before."""


class MetricsListener(StreamingQueryListener):
    """Records the progress and the end of each query in `QueryMetrics`."""

    def __init__(self, metrics: QueryMetrics) -> None:
        self._metrics = metrics
        self._names: dict[str, str] = {}

    def onQueryStarted(self, event: "QueryStartedEvent") -> None:
        self._names[str(event.runId)] = event.name or str(event.id)

    def onQueryProgress(self, event: "QueryProgressEvent") -> None:
        progress = json.loads(event.progress.json)
        self._metrics.record(progress.get("name") or progress["id"], progress)

    def onQueryIdle(self, event: "QueryIdleEvent") -> None:
        self._metrics.idle(self._names.get(str(event.runId), str(event.id)))

    def onQueryTerminated(self, event: "QueryTerminatedEvent") -> None:
        name = self._names.pop(str(event.runId), str(event.id))
        self._metrics.ended(name, failed=event.exception is not None)
