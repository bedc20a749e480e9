"""Metrics of Spark queries for Prometheus: rows per second, batch time by phase, lag, state size.

Spark reports the progress of each micro-batch to a listener in the driver. `QueryMetrics` keeps the
last progress of every query and serves it on an HTTP port of the driver; the label `group` is the
query's name, which is also the consumer group under which the broker reports the query's lag in
seconds. No state of Spark is read, and nothing runs on the executors.

Spark also reports triggers without new data: such an idle progress has no phase `addBatch`, and its
`batchId` is that of the next micro-batch. Batch number, duration and phases are therefore those of
the last micro-batch that was executed.

A Python source cannot add metrics to the progress. But it reports the latest offsets; with the end
offsets of the micro-batch they give the lag, as the metrics of Spark's own Kafka source do.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from prometheus_client import Metric as Family
from prometheus_client import start_http_server
from prometheus_client.registry import Collector, CollectorRegistry

from barnabas.model.ids import TopicPartition
from barnabas.runtime.metrics import Metric, MetricKind
from barnabas.spark.source.offsets import Offsets, read

_WHOLE_BATCH = "triggerExecution"
_GROUP = ("group",)
ROWS = Metric(
    "barnabas_query_rows", MetricKind.COUNTER, "rows", "Rows that the query has read.", _GROUP
)
ROW_RATE = Metric(
    "barnabas_query_rows_per_second",
    MetricKind.GAUGE,
    "rows/s",
    "Rows of the last micro-batch by its duration; 0 while there is no new data.",
    _GROUP,
)
PHASE_TIME = Metric(
    "barnabas_query_batch_seconds",
    MetricKind.GAUGE,
    "seconds",
    "Duration of the last micro-batch, by Spark's phases; triggerExecution is the sum.",
    ("group", "phase"),
)
QUERY_LAG = Metric(
    "kafka_consumergroup_lag",
    MetricKind.GAUGE,
    "records",
    "Records between the end of the last micro-batch and the end of the partition.",
    ("group", "topic", "partition"),
)
STATE_ROWS = Metric(
    "barnabas_query_state_rows", MetricKind.GAUGE, "rows", "Rows in the query's state.", _GROUP
)
STATE_BYTES = Metric(
    "barnabas_query_state_bytes", MetricKind.GAUGE, "bytes", "Memory of the query's state.", _GROUP
)
FAILED = Metric(
    "barnabas_query_failed", MetricKind.GAUGE, "0 or 1", "Whether the query ended by an error.",
    _GROUP,
)  # fmt: skip


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


def lag(progress: object) -> Lag | None:
    """Returns the lag of a query from its `lastProgress`; None before its first micro-batch.

    `lag(query.lastProgress).metrics()` has the names of Spark's own Kafka source. A listener's
    progress is accepted as well. Sources other than topics are ignored.

    >>> lag(query.lastProgress).metrics()  # doctest: +SKIP
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


def is_idle(progress: Mapping[str, Any]) -> bool:
    """Returns whether a progress reports a trigger that executed no micro-batch.

    Spark reports such triggers every ten seconds; `batchId` is that of the next micro-batch.

    >>> is_idle({"batchId": 2, "numInputRows": 0, "durationMs": {"latestOffset": 1}})
    True
    """
    return not progress["numInputRows"] and "addBatch" not in progress["durationMs"]


def last_batch(progress: Mapping[str, Any]) -> int:
    """Returns the last micro-batch that had ended at a progress; -1 before the first."""
    return int(progress["batchId"]) - (1 if is_idle(progress) else 0)


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _offsets(value: object) -> Offsets | None:
    """Returns None for the positions of other sources, which are not offsets."""
    try:
        return read(json.loads(value) if isinstance(value, str) else value)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """Figures of the last micro-batch of a query; `lag` is None if no source reports it.

    `batch` is None while the query has executed no micro-batch since its start.
    `phases` has the milliseconds of each phase in Spark's words (`addBatch`, `queryPlanning`, …).
    `state_rows` and `state_bytes` are 0 for a query without state.
    """

    batch: int | None
    rows: int
    rows_per_second: float
    lag: int | None
    batch_ms: int
    phases: Mapping[str, int] = field(default_factory=dict)
    state_rows: int = 0
    state_bytes: int = 0

    @classmethod
    def of(cls, progress: Mapping[str, Any], last: "QueryFigures | None" = None) -> "QueryFigures":
        """Returns the figures of a query's progress.

        Args:
            progress: One of Spark's progress reports.
            last: The figures before it; an idle progress keeps their micro-batch.

        >>> figures = QueryFigures.of({"batchId": 1, "numInputRows": 10,
        ...     "durationMs": {"addBatch": 4, "triggerExecution": 5}})
        >>> figures.rows_per_second
        2000.0
        >>> idle = {"batchId": 2, "numInputRows": 0, "durationMs": {"triggerExecution": 1}}
        >>> QueryFigures.of(idle, figures).line("spending")
        'spending  batch 1  0 rows/s  lag -  5 ms'
        """
        behind = lag(progress)
        operators = progress.get("stateOperators") or ()
        return replace(
            (last or _NO_BATCH).idle() if is_idle(progress) else cls._of_batch(progress),
            lag=None if behind is None else behind.total,
            state_rows=sum(int(operator["numRowsTotal"]) for operator in operators),
            state_bytes=sum(int(operator["memoryUsedBytes"]) for operator in operators),
        )

    @classmethod
    def _of_batch(cls, progress: Mapping[str, Any]) -> "QueryFigures":
        phases = {str(name): int(ms) for name, ms in progress["durationMs"].items()}
        batch_ms = phases.pop(_WHOLE_BATCH, 0)  # the sum of the others
        rows = int(progress["numInputRows"])
        rate = round(rows / batch_ms * 1000, 1) if batch_ms else 0.0
        return cls(int(progress["batchId"]), rows, rate, None, batch_ms, phases)

    def idle(self) -> "QueryFigures":
        """Returns the figures while there is no new data: no rows, the same micro-batch."""
        return replace(self, rows=0, rows_per_second=0.0)

    def line(self, name: str) -> str:
        """Returns one line for a terminal.

        >>> QueryFigures(41, 114, 1204.3, 0, 95).line("spending")
        'spending  batch 41  1,204 rows/s  lag 0  95 ms'
        """
        lag = "-" if self.lag is None else f"{self.lag:,}"
        batch = "-" if self.batch is None else str(self.batch)
        rate = f"{self.rows_per_second:,.0f} rows/s"
        return f"{name}  batch {batch}  {rate}  lag {lag}  {self.batch_ms:,} ms"

    def document(self) -> dict[str, Any]:
        """Returns the figures for a status file."""
        return asdict(self)


_NO_BATCH = QueryFigures(None, 0, 0.0, None, 0)


class QueryMetrics(Collector):
    """The figures of all queries of a driver; any thread may record and read them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._figures: dict[str, QueryFigures] = {}
        self._lags: dict[str, Lag | None] = {}
        self._counted: dict[str, tuple[object, object]] = {}
        self._rows: dict[str, int] = {}
        self._failed: dict[str, bool] = {}

    def record(self, query: str, progress: Mapping[str, Any]) -> None:
        """Stores the progress of a query; a micro-batch that was recorded before counts once."""
        with self._lock:
            self._figures[query] = QueryFigures.of(progress, self._figures.get(query))
            self._lags[query] = lag(progress)
            self._failed[query] = False
            # A restarted query may begin with batch 0 again, so its run belongs to the identity.
            batch = (progress.get("runId"), progress["batchId"])
            if not is_idle(progress) and self._counted.get(query) != batch:
                self._counted[query] = batch
                self._rows[query] = self._rows.get(query, 0) + int(progress["numInputRows"])

    def idle(self, query: str) -> None:
        """Stores that a query has no new data."""
        with self._lock:
            if query in self._figures:
                self._figures[query] = self._figures[query].idle()

    def ended(self, query: str, *, failed: bool) -> None:
        """Stores how a query ended; its last figures stay."""
        with self._lock:
            self._failed[query] = failed

    def collect(self) -> Iterator[Family]:
        with self._lock:
            figures, lags = dict(self._figures), dict(self._lags)
            rows, failed = dict(self._rows), dict(self._failed)
        yield _family(ROWS, (((name,), count) for name, count in rows.items()))
        yield _family(ROW_RATE, (((n,), f.rows_per_second) for n, f in figures.items()))
        phases = [
            ((n, phase), ms / 1000) for n, f in figures.items() for phase, ms in f.phases.items()
        ]
        whole = [
            ((n, _WHOLE_BATCH), f.batch_ms / 1000)
            for n, f in figures.items()
            if f.batch is not None
        ]
        yield _family(PHASE_TIME, phases + whole)
        behind = (
            ((name, topic_partition.topic, str(topic_partition.partition)), records)
            for name, found in lags.items()
            if found is not None
            for topic_partition, records in found.partitions.items()
        )
        yield _family(QUERY_LAG, behind)
        yield _family(STATE_ROWS, (((n,), f.state_rows) for n, f in figures.items()))
        yield _family(STATE_BYTES, (((n,), f.state_bytes) for n, f in figures.items()))
        yield _family(FAILED, (((name,), int(value)) for name, value in failed.items()))


def _family(metric: Metric, values: Iterable[tuple[tuple[str, ...], float]]) -> Family:
    family = Family(metric.name, metric.description, metric.kind.value)
    suffix = "_total" if metric.kind is MetricKind.COUNTER else ""
    for labels, value in values:
        family.add_sample(
            metric.name + suffix, dict(zip(metric.labels, labels, strict=True)), value
        )
    return family


class MetricsServer:
    """An HTTP port that serves the metrics of queries; use it as a context manager or `close`."""

    def __init__(self, metrics: QueryMetrics, port: int, host: str = "127.0.0.1") -> None:
        """Raises OSError if the port is in use; 0 selects a free port."""
        registry = CollectorRegistry()
        registry.register(metrics)
        self._server, self._thread = start_http_server(port, host, registry)
        self.url = f"http://{host}:{self._server.server_port}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "MetricsServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
