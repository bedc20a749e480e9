"""Lag and metrics of queries from the progress that Spark reports to listeners.

A Python source cannot add metrics to the progress. But it reports the latest offsets; with the end
offsets of the micro-batch they give the metrics of Spark's own Kafka source.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from barnabas.model.ids import TopicPartition
from barnabas.spark.query_metrics import MetricsServer, QueryMetrics
from barnabas.spark.source.offsets import Offsets, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )


@dataclass(frozen=True, slots=True)
class Lag:
    """Number of offsets that one query has not yet processed, by partition."""

    partitions: Mapping[TopicPartition, int]

    @property
    def total(self) -> int:
        return sum(self.partitions.values())

    def metrics(self) -> dict[str, float]:
        """Returns the metrics with the names of Spark's own Kafka source."""
        behind = self.partitions.values()
        return {
            "minOffsetsBehindLatest": float(min(behind, default=0)),
            "maxOffsetsBehindLatest": float(max(behind, default=0)),
            "avgOffsetsBehindLatest": self.total / len(behind) if behind else 0.0,
        }


def lag_of(progress: Any) -> Lag | None:
    """Returns the lag of a query's `lastProgress` or a listener's progress; None if there is none.

    Sources other than topics are ignored.
    """
    if progress is None:
        return None
    behind: dict[TopicPartition, int] = {}
    reported = False
    for source in _field(progress, "sources") or ():
        end, latest = (_offsets(_field(source, name)) for name in ("endOffset", "latestOffset"))
        if end is None or latest is None:
            continue
        reported = True
        for topic_partition, offset in latest.items():
            behind[topic_partition] = behind.get(topic_partition, 0) + max(
                offset - end.get(topic_partition, 0), 0
            )
    return Lag(behind) if reported else None


class LagListener(StreamingQueryListener):
    """Calls `on_lag(query, lag)` after each micro-batch, with the query's name or else its id."""

    def __init__(self, on_lag: Callable[[str, Lag], None]) -> None:
        self._on_lag = on_lag

    def onQueryStarted(self, event: "QueryStartedEvent") -> None:
        """Does nothing: no record has been read yet."""

    def onQueryProgress(self, event: "QueryProgressEvent") -> None:
        found = lag_of(event.progress)
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
        """Does nothing: the figures have not changed."""

    def onQueryTerminated(self, event: "QueryTerminatedEvent") -> None:
        name = self._names.pop(str(event.runId), str(event.id))
        self._metrics.ended(name, failed=event.exception is not None)


def listen(spark: "SparkSession", on_lag: Callable[[str, Lag], None]) -> LagListener:
    """Implements `barnabas.spark.watch_lag`."""
    listener = LagListener(on_lag)
    spark.streams.addListener(listener)
    return listener


def serve_session(spark: "SparkSession", port: int, host: str) -> MetricsServer:
    """Implements `barnabas.spark.serve_metrics`."""
    metrics = QueryMetrics()
    server = MetricsServer(metrics, port, host)
    spark.streams.addListener(MetricsListener(metrics))
    return server


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _offsets(value: Any) -> Offsets | None:
    """Returns None for the positions of other sources, which are not offsets."""
    try:
        return read(json.loads(value) if isinstance(value, str) else value)
    except ValueError:
        return None
