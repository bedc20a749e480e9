"""Writes docs/metrics.md and the Grafana dashboards from the declarations of the metrics.

--check compares only.
"""

import ast
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from barnabas.broker.metrics import catalog, component_catalog
from barnabas.runtime.metrics import Metric, MetricKind
from barnabas.spark import query_metrics
from scripts.client_metrics import CLIENT_PANELS, client_section
from scripts.generated_page import table, write_or_check

PAGE = Path("docs/metrics.md")
FILES = Path("src/barnabas/broker/metrics/files")
COMMAND = "python -m scripts.metrics"

INTRODUCTION = """\
# Metrics

A broker serves its metrics over HTTP when it is started with `--http-port` or with the setting
`http.listener`:

```
barnabas up --http-port 9404
curl http://127.0.0.1:9404/metrics
```

| path | content |
|---|---|
| `/metrics` | all metrics, in OpenMetrics or in Prometheus' older text format |
| `/healthz` | 200 while the process works; 503 means: restart it |
| `/readyz` | 200 when clients may be sent here; otherwise 503 and the reasons |
| `/status` | a summary as JSON, with the lag of each group |

A broker is ready when it has started, is registered, is not shutting down, and all its replicas are
in sync. It stops being ready when a shutdown begins, before its leaderships move to other brokers;
`/healthz` stays 200 until the process ends.

A log directory that is full or offline appears under `warnings` in `/readyz` and `/status`, and the
broker stays ready as long as one directory is online: consumers can read, and the tools that free
space (`barnabas records delete`, `topics delete`, a shorter `retention.ms`) need to connect. The
alerts `LogDirectoryFull` and `LogDirectoryOffline` report both; a follower with a full disk falls
out of sync and is not ready.

The endpoint has no authentication: it listens on 127.0.0.1 unless `http.listener` gives another
address, which only your monitoring network should reach.

The names are those that the usual configuration of Prometheus' JMX exporter gives to Kafka's
metrics, so dashboards and alerts for Apache Kafka work. `barnabas metrics files DIR` writes
Grafana dashboards and alert rules; `barnabas metrics show PATTERN` prints current values;
`barnabas top` shows brokers, topics, groups and pipelines live, for any Kafka cluster.

Sections: [a broker in five minutes](#observe-a-broker-in-five-minutes), [its metrics](#broker),
[metrics of clients](#clients) with [reporters](#reporters) and [traces](#traces), and
[Spark queries](#spark-queries-and-pipelines).

## Observe a broker in five minutes

1. Start it with an HTTP endpoint and JSON logs: `barnabas up --http-port 9404 --log-format json`.
   With a `server.properties`: `http.listener=9404`, or `http.listener=10.0.0.5:9404` for another
   address than 127.0.0.1.
2. See that it works: `curl -s localhost:9404/readyz`, `curl -s localhost:9404/status`.
3. See what it does: `barnabas top` (`--sort lag`, `--format json`), and single values with
   `barnabas metrics show lag`, `barnabas metrics show topic=orders --format json`. Both also write
   to a file or a pipe. `metrics show` needs `--url` for another port than 9404.
4. Let Prometheus collect: `barnabas metrics files ./monitoring`, then in `prometheus.yml`

   ```yaml
   rule_files: [monitoring/alerts.yml]
   scrape_configs:
     - job_name: kafka
       static_configs: [{targets: ["127.0.0.1:9404"]}]
   ```

   and import `monitoring/dashboard-*.json` into Grafana. The rule `BrokerDown` expects a job name
   that contains `kafka` or `barnabas`.
5. Look closer while it runs: log levels of an area, the requests of clients, and the audit log:

   ```
   barnabas kafka-configs --bootstrap-server localhost:9092 --alter --entity-type broker-loggers \\
     --entity-name 1001 --add-config barnabas.request=DEBUG  # the broker_id of /status
   barnabas consume audit --follow     # with audit.log=all and audit.log.topic=audit
   ```

Without Prometheus, `metric.reporters` passes the metrics to a file, to OpenTelemetry or to your
own class ([Reporters](#reporters)). In Kubernetes, use `/healthz` as liveness probe and `/readyz`
as readiness probe.

## What the metrics contain

**Metrics of clients.** Clients of Java 4.x, librdkafka 2.x and this package push their metrics to
the broker (KIP-714); `/metrics` shows them as `kafka_client_telemetry`. Every client pushes all its
metrics every `client.telemetry.interval.ms`, until there is a `client-metrics` resource; then only
the resources decide:

```
barnabas kafka-configs --bootstrap-server localhost:9092 --alter --entity-type client-metrics \\
  --entity-name orders --add-config 'interval.ms=10000,match=[client_id=orders-.*],metrics=[*]'
```

**Exemplars.** In the OpenMetrics format, `kafka_server_brokertopicmetrics_messagesin_total` of a
topic has the `trace_id` and `span_id` of a record that was produced with the header `traceparent`
(in an uncompressed batch), so Grafana links a rate to a trace. Prometheus stores them with
`--enable-feature=exemplar-storage`.

**Lag.** The coordinator of a group computes the lag in records and in seconds every
`group.lag.interval.ms` (10 s). The lag in seconds is the age of the first record that the group has
not committed: the coordinator reads its timestamp from its own replica of the partition, or from
the leader if it has no replica. With an authorizer, the brokers' own user needs Describe and Read
on these topics; super users have both. Groups of the ZooKeeper high-level consumer are reported by
the broker that would coordinate a group of their name, and Spark queries as the consumer group
under which they commit.

| case | lag |
|---|---|
| the consumers of a group are stopped | grows, in seconds also without new records |
| all records are committed, the topic is idle | 0 in both units |
| the group has never committed in a partition | none: there is no series for this partition |
| the committed records are deleted by retention | counts from the first record that still exists |
| the topic was deleted | the series disappear with the group's offsets of the topic |
| a log ends with a transaction marker | 1 record, as in Kafka's tools, but 0 seconds |
| an open transaction | its records count: a group that reads committed records waits for them |
| a compacted topic | removed records count, as in Kafka's tools; seconds: first record left |

The tables below are generated from the code.
"""


SPARK = """\
## Spark queries and pipelines

The driver of a query serves these metrics; the label `group` is the query's name. The query commits
its position as the consumer group of the same name, so the broker serves its lag in records and in
seconds (`kafka_consumergroup_lag_seconds`) as that of any other group.

- A pipeline: `barnabas pipeline run FILE --http-port 9405`. Its status file has the same figures
  (`barnabas pipeline status NAME --format json`: `rows_per_second`, `phases`, `lag`,
  `state_rows`, `state_bytes`, `error`).
- Any session: `server = barnabas.spark.serve_metrics(spark, port=9405)`.
"""

NOT_SERVED = [
    (
        "ResponseQueueTimeMs; RequestQueueSize, ResponseQueueSize",
        "There are no queues between threads: one loop reads, handles and sends. "
        "`barnabas_event_loop_lag_seconds` is the time that a request waits before it is read.",
    ),
    (
        "NetworkProcessorAvgIdlePercent, RequestHandlerAvgIdlePercent",
        "There are no thread pools; use `process_cpu_seconds_total` and the loop's lag.",
    ),
    (
        "ThrottleTimeMs by request; byte-rate, request-time and exempt-throttle-time of quotas",
        "Throttle times are served by quota (`kafka_server_produce_throttle_time` and others); "
        "rates follow from the byte counters.",
    ),
    (
        "MessageConversionsTimeMs, TemporaryMemoryBytes; "
        "ProduceMessageConversionsPerSec, FetchMessageConversionsPerSec",
        "Record batches are stored and sent as they are; the broker converts none.",
    ),
    (
        "ReassignmentBytesInPerSec, ReassignmentBytesOutPerSec",
        "Bytes of reassigned replicas are part of the replication bytes.",
    ),
    (
        "FetcherLagMetrics: ConsumerLag by partition",
        "`kafka_server_replicafetchermanager_maxlag` has the largest; followers by partition would "
        "be one more time series for each replica.",
    ),
    (
        "EventQueueProcessingTimeMs, and times by event (IsrChangeRateAndTimeMs and others)",
        "`barnabas_controller_event_seconds` has them with the label `event`.",
    ),
    (
        "QueueSize and RequestRateAndQueueTimeMs of the controller's channels, by broker",
        "`kafka_controller_controllerchannelmanager_totalqueuesize` is the sum.",
    ),
    (
        "ReplicasToDeleteCount, ReplicasIneligibleToDeleteCount",
        "Deletions are counted by topic.",
    ),
    (
        "max-compaction-delay-secs, DeadThreadCount and uncleanable-bytes of the cleaner",
        "The cleaner has no thread of its own that could end; disabled partitions are counted.",
    ),
    (
        "successful-authentication-total, ExpiredConnectionsKilledCount, "
        "expired-connections-killed-count",
        "Failed logins are in `barnabas_refused_connections_total` by reason and in the audit log.",
    ),
    (
        "ZooKeeperAuthFailuresPerSec, ZooKeeperReadOnlyConnectsPerSec, "
        "ZooKeeperSaslAuthenticationsPerSec",
        "A broker does not start without its ZooKeeper login, and does not use read-only servers.",
    ),
    (
        "VerificationTimeMs and VerificationFailureRate of transactions",
        "`kafka_network_requestmetrics_totaltimems` and `_errors_total` of AddPartitionsToTxn.",
    ),
    (
        "NoKeyCompactedTopicRecordsPerSec, InvalidMagicNumberRecordsPerSec, "
        "InvalidMessageCrcRecordsPerSec, InvalidOffsetOrSequenceRecordsPerSec",
        '`kafka_network_requestmetrics_errors_total{request="Produce"}` has the error codes '
        "INVALID_RECORD, CORRUPT_MESSAGE and OUT_OF_ORDER_SEQUENCE_NUMBER, by partition.",
    ),
    (
        "Tiered storage: "
        "RemoteFetchBytesPerSec, RemoteFetchRequestsPerSec, RemoteFetchErrorsPerSec, "
        "RemoteCopyBytesPerSec, RemoteCopyRequestsPerSec, RemoteCopyErrorsPerSec, "
        "RemoteCopyLagBytes, RemoteCopyLagSegments, RemoteDeleteRequestsPerSec, "
        "RemoteDeleteErrorsPerSec, RemoteDeleteLagBytes, RemoteDeleteLagSegments, "
        "BuildRemoteLogAuxStateRequestsPerSec, BuildRemoteLogAuxStateErrorsPerSec, "
        "RemoteLogSizeComputationTime, RemoteLogSizeBytes, RemoteLogMetadataCount, "
        "DelayedRemoteFetchMetrics, DelayedRemoteListOffsetsMetrics, RemoteStorageThreadPool, "
        "RemoteLogManager",
        "There is no tiered storage.",
    ),
    (
        "raft-metrics, MetadataLoader, SnapshotEmitter, broker-metadata-metrics; of the KRaft "
        "controller: FencedBrokerCount, MetadataErrorCount, LastAppliedRecordOffset, "
        "LastCommittedRecordOffset, LastAppliedRecordTimestamp, LastAppliedRecordLagMs, "
        "TimedOutBrokerHeartbeatCount, EventQueueOperationsStartedCount, "
        "EventQueueOperationsTimedOutCount, NewActiveControllersCount",
        "There is no KRaft quorum: the cluster uses a metadata tree (ZooKeeper or embedded). A "
        "broker is live while its session exists.",
    ),
    (
        "MigratingZkBrokerCount, ZkMigrationState, ZkWriteBehindLag, ZkWriteSnapshotTimeMs, "
        "ZkWriteDeltaTimeMs",
        "There is no migration from ZooKeeper to KRaft.",
    ),
    (
        "remainingLogsToRecover, remainingSegmentsToRecover",
        "A broker that recovers its logs logs the progress, and `/readyz` answers 503; the metrics "
        "are served when it has started.",
    ),
    (
        "ElectionFromEligibleLeaderReplicasPerSec",
        "There are no eligible leader replicas (KIP-966); a leader comes from the ISR.",
    ),
    (
        "thread-idle-ratio-avg, event-queue-size, event-queue-time-ms, event-processing-time-ms, "
        "event-purgatory-time-ms, batch-linger-time-ms, batch-flush-time-ms, batch-flush-rate of "
        "the group coordinator",
        "The coordinator works on the broker's loop and appends at once, without threads, queue or "
        "batches. `kafka_network_requestmetrics_localtimems` and `_remotetimems` of JoinGroup, "
        "OffsetCommit and the others have its times.",
    ),
    (
        "consumer-group-count by state",
        '`kafka_server_group_coordinator_metrics_group_count{protocol="consumer"}`, by state.',
    ),
    (
        "streams-group-count, streams-group-rebalance-rate, streams-group-rebalance-count",
        "There are no streams groups.",
    ),
    ("Share group metrics", "There are no share groups."),
    ("JVM metrics", "There is no JVM; `process_*` describes the process."),
]

TESTS = Path("tests")


def declared(*modules: ModuleType) -> list[Metric]:
    """Returns the metrics that these modules declare, in their order."""
    return [
        value for module in modules for value in vars(module).values() if isinstance(value, Metric)
    ]


def test_functions() -> dict[str, str]:
    """Returns the source text of all test functions, by file and name."""
    found: dict[str, str] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        for node in ast.parse(text).body:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and node.name.startswith("test_"):
                found[f"{path.name}::{node.name}"] = ast.get_source_segment(text, node) or ""
    return found


def test_of(metric: Metric, tests: dict[str, str]) -> str:
    """Returns the test that names the metric; KeyError if there is none."""
    name = metric.prometheus_name
    pattern = re.compile(rf"\b{re.escape(name)}(_total|_count|_sum)?\b")
    for title, text in tests.items():
        if pattern.search(text):
            return title
    raise KeyError(f"{name}: no test names this metric")


def main() -> int:
    tests = test_functions()
    broker = declared(catalog, component_catalog)
    missing = table(["Kafka's metric", "reason"], [[f"`{name}`", why] for name, why in NOT_SERVED])
    page = f"{INTRODUCTION}\n## Broker\n\n{metric_table(broker, tests)}\n"
    page += f"\n## Metrics of Kafka that are not served\n\n{missing}\n\n{client_section()}"
    page += f"\n{SPARK}\n{metric_table(declared(query_metrics), tests)}\n"
    status = write_or_check(PAGE, page, COMMAND)
    for name, dashboard in DASHBOARDS.items():
        text = json.dumps(dashboard, indent=1) + "\n"
        status = write_or_check(FILES / f"{name}.json", text, COMMAND) or status
    return status


def metric_table(metrics: list[Metric], tests: dict[str, str]) -> str:
    """Returns the table of some metrics, with the test that moves each."""
    rows = [
        [
            f"`{_shown_name(metric)}`",
            f"`{metric.kafka_name}`" if metric.kafka_name else "",
            metric.kind.value,
            metric.unit,
            ", ".join(f"`{label}`" for label in metric.labels),
            metric.description,
            f"`{test_of(metric, tests)}`",
        ]
        for metric in metrics
    ]
    header = ["Prometheus name", "Kafka's name", "kind", "unit", "labels", "meaning", "test"]
    return table(header, rows)


def _shown_name(metric: Metric) -> str:
    suffix = "_total" if metric.kind is MetricKind.COUNTER else ""
    return metric.prometheus_name + suffix


# --- dashboards ----------------------------------------------------------------------------------


def _panel(number: int, title: str, unit: str, *queries: tuple[str, str]) -> dict[str, Any]:
    return {
        "id": number,
        "type": "timeseries",
        "title": title,
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "gridPos": {"h": 8, "w": 12, "x": 12 * ((number - 1) % 2), "y": 8 * ((number - 1) // 2)},
        "fieldConfig": {
            "defaults": {"unit": unit, "custom": {"axisSoftMin": 0}},
            "overrides": [],
        },
        "targets": [
            {"expr": expression, "legendFormat": legend, "refId": chr(ord("A") + index)}
            for index, (expression, legend) in enumerate(queries)
        ],
    }


def _dashboard(title: str, *panels: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "title": title,
        "uid": title.lower().replace(" ", "-"),
        "schemaVersion": 39,
        "editable": True,
        "tags": ["kafka", "barnabas"],
        "time": {"from": "now-1h", "to": "now"},
        "refresh": "10s",
        "templating": {
            "list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [_panel(number, *panel) for number, panel in enumerate(panels, 1)],
    }


def _rate(metric: Metric, by: str, where: str = "") -> str:
    return f"sum by ({by}) (rate({metric.prometheus_name}_total{{{where}}}[1m]))"


_NO_TOPIC = 'topic=""'
_TOPICS = 'topic!=""'
_P99 = 'quantile="0.99"'

DASHBOARDS = {
    "dashboard-clients": _dashboard("Barnabas clients", *CLIENT_PANELS),
    "dashboard-cluster": _dashboard(
        "Kafka cluster",
        (
            "Bytes in and out",
            "Bps",
            (_rate(catalog.BYTES_IN, "instance", _NO_TOPIC), "in {{instance}}"),
            (_rate(catalog.BYTES_OUT, "instance", _NO_TOPIC), "out {{instance}}"),
        ),
        (
            "Records in",
            "short",
            (_rate(catalog.MESSAGES_IN, "instance", _NO_TOPIC), "{{instance}}"),
        ),
        ("Requests", "reqps", (_rate(catalog.REQUESTS, "request"), "{{request}}")),
        (
            "Request time, p99",
            "ms",
            (f"max by (request) ({catalog.TOTAL_TIME.prometheus_name}{{{_P99}}})", "{{request}}"),
        ),
        (
            "Partitions with problems",
            "short",
            (f"sum({catalog.UNDER_REPLICATED.prometheus_name})", "under-replicated"),
            (f"sum({catalog.UNDER_MIN_ISR.prometheus_name})", "under min ISR"),
            (f"sum({catalog.OFFLINE_PARTITIONS.prometheus_name})", "offline"),
        ),
        (
            "Leaders and replicas",
            "short",
            (catalog.LEADER_COUNT.prometheus_name, "leaders {{instance}}"),
            (catalog.PARTITION_COUNT.prometheus_name, "replicas {{instance}}"),
        ),
        (
            "Event loop lag, p99",
            "s",
            (f"{catalog.LOOP_LAG.prometheus_name}{{{_P99}}}", "{{instance}}"),
        ),
        (
            "CPU and memory",
            "short",
            (f"rate({catalog.PROCESS_CPU.prometheus_name}_total[1m])", "cores {{instance}}"),
        ),
        ("Resident memory", "bytes", (catalog.PROCESS_MEMORY.prometheus_name, "{{instance}}")),
        (
            "Free disk space",
            "bytes",
            (catalog.DIRECTORY_FREE.prometheus_name, "{{instance}} {{log_directory}}"),
        ),
        (
            "Connections",
            "short",
            (catalog.CONNECTIONS.prometheus_name, "{{instance}} {{listener}}"),
        ),
        (
            "ISR changes",
            "short",
            (_rate(catalog.ISR_SHRINKS, "instance"), "shrinks {{instance}}"),
            (_rate(catalog.ISR_EXPANDS, "instance"), "expands {{instance}}"),
        ),
    ),
    "dashboard-topics": _dashboard(
        "Kafka topics",
        ("Records in", "short", (_rate(catalog.MESSAGES_IN, "topic", _TOPICS), "{{topic}}")),
        ("Bytes in", "Bps", (_rate(catalog.BYTES_IN, "topic", _TOPICS), "{{topic}}")),
        ("Bytes out", "Bps", (_rate(catalog.BYTES_OUT, "topic", _TOPICS), "{{topic}}")),
        (
            "Failed requests",
            "reqps",
            (_rate(catalog.FAILED_PRODUCE, "topic", _TOPICS), "produce {{topic}}"),
            (_rate(catalog.FAILED_FETCH, "topic", _TOPICS), "fetch {{topic}}"),
        ),
        (
            "Size on disk",
            "bytes",
            (f"sum by (topic) ({catalog.LOG_SIZE.prometheus_name})", "{{topic}}"),
        ),
        (
            "Segments",
            "short",
            (f"sum by (topic) ({catalog.LOG_SEGMENTS.prometheus_name})", "{{topic}}"),
        ),
    ),
    "dashboard-pipelines": _dashboard(
        "Spark pipelines",
        ("Rows per second", "short", (query_metrics.ROW_RATE.name, "{{group}}")),
        ("Rows", "short", (_rate(query_metrics.ROWS, "group"), "{{group}}")),
        (
            "Batch time",
            "s",
            (f'{query_metrics.PHASE_TIME.name}{{phase="triggerExecution"}}', "{{group}}"),
        ),
        (
            "Batch time by phase",
            "s",
            (
                f'{query_metrics.PHASE_TIME.name}{{phase!="triggerExecution"}}',
                "{{group}} {{phase}}",
            ),
        ),
        ("Lag", "short", (f"sum by (group) ({query_metrics.QUERY_LAG.name})", "{{group}}")),
        ("State size", "bytes", (query_metrics.STATE_BYTES.name, "{{group}}")),
        ("State rows", "short", (query_metrics.STATE_ROWS.name, "{{group}}")),
        ("Failed queries", "short", (f"sum({query_metrics.FAILED.name})", "failed")),
    ),
    "dashboard-groups": _dashboard(
        "Kafka consumer groups",
        (
            "Lag in records",
            "short",
            (f"sum by (group) ({catalog.LAG.prometheus_name})", "{{group}}"),
        ),
        (
            "Lag in seconds",
            "s",
            (f"max by (group) ({catalog.LAG_SECONDS.prometheus_name})", "{{group}}"),
        ),
        ("Time to catch up", "s", (catalog.CATCH_UP.prometheus_name, "{{group}}")),
        ("Change of the lag per second", "short", (catalog.LAG_TREND.prometheus_name, "{{group}}")),
        (
            "Groups by state",
            "short",
            (f"sum by (state) ({catalog.GROUPS.prometheus_name})", "{{state}}"),
        ),
        (
            "Committed offsets per second",
            "short",
            (f"sum by (group) (rate({catalog.COMMITTED.prometheus_name}[1m]))", "{{group}}"),
        ),
        (
            "Lag by topic",
            "short",
            (f"sum by (group, topic) ({catalog.LAG.prometheus_name})", "{{group}} {{topic}}"),
        ),
    ),
}

if __name__ == "__main__":
    sys.exit(main())
