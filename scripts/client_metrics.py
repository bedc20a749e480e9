"""The part of docs/metrics.md about the clients, made from the declarations of their metrics."""

import importlib.util
from pathlib import Path
from typing import Any

from barnabas.clients.metrics.catalog import CATALOG, NOT_SERVED
from barnabas.runtime.metric_types import MetricName, telemetry_name
from scripts.generated_page import table

MOVES = Path("tests/support/clients/metric_moves.py")
TEXT = """\
## Clients

`metrics()` of producers, consumers and admin clients, blocking and asyncio, returns the current
values under Kafka's names. It does not wait, and any thread may call it:

```python
values = producer.metrics()
values.value("record-send-rate")                      # of the client
values.value("record-send-total", topic="orders")     # of one topic
consumer.metrics().value("records-lag", topic="orders", partition=0)
for name, metric in values.items():
    print(name.group, name.name, dict(name.tags), metric.value, metric.unit)
```

Rates, averages, maxima and minima cover the last `metrics.num.samples` windows of
`metrics.sample.window.ms` (2 windows of 30 s). Averages and maxima without a value are NaN.
`metrics.recording.level=DEBUG` adds percentiles. `SimpleConsumer` and `ConsumerConnector` have no
metrics, as Kafka's clients of these names have none of these.

### Reporters

`metric.reporters` names objects that get all metrics of a client or of a broker every
`metrics.report.interval.ms`, and once more when the client is closed or the broker stops:

| reporter | writes |
|---|---|
| `json` | one JSON object per report to `metrics.json.file`, or to stderr |
| `otlp` | OTLP over HTTP to `metrics.otlp.endpoint`; needs the extra `otel` |
| an object, a class or its import path | what its `report()` does |

Without `metrics.otlp.endpoint`, OpenTelemetry's environment variables apply, such as
`OTEL_EXPORTER_OTLP_ENDPOINT`.

```python
from barnabas import Producer

class Printer:
    def configure(self, config): ...      # optional: once, with the settings of the client

    def report(self, metrics, now_ms):    # a list of Metric, and the time since 1970
        for metric in metrics:
            print(metric.name.name, dict(metric.name.tags), metric.value)

    def close(self): ...                  # optional: after the last report

producer = Producer(bootstrap_servers="localhost:9092", metric_reporters=[Printer, "json"])
```

Reporters are called in a thread of their own. An exception is logged, and the reporter is called
again at the next interval. Kafka's `JmxReporter` is accepted without effect; any other Java class
is an error at the start.

In a broker's `server.properties` a reporter is `json`, `otlp` or an import path, which must be on
`PYTHONPATH` or installed beside the broker; keys that begin with `metric.reporters.` are passed to
its `configure()` with all other settings:

```
metric.reporters=json,ourcompany.monitoring.Reporter
metrics.json.file=/var/log/barnabas/metrics.json
metric.reporters.url=https://metrics.example.org
```

It gets the samples of `/metrics` under the same names, with the labels and `broker-id` as tags and
Kafka's JMX name as group; the lag of groups too. No HTTP endpoint is needed. `kafka-configs
--entity-type brokers --add-config metric.reporters=…` changes the list while the broker runs. The
brokers of a cluster that share a collector differ in the attribute `broker_id`.

### Push to the broker (KIP-714)

A client pushes its metrics to a broker that requests them; the broker serves them at `/metrics`
under `kafka_client_telemetry`. A Barnabas broker requests them if it has an HTTP endpoint, Apache
Kafka if it has a client-metrics resource and a plug-in that receives them.
`enable.metrics.push=false` turns this off. `client_instance_id()` returns the id of the client in
these metrics. A closing client pushes a last time; it waits up to 0.25 s for the broker.

### Traces

`tracing.enable=true` creates OpenTelemetry spans for producers and consumers; it needs the extra
`otel` and a tracer provider that the application or `opentelemetry-instrument` sets up. Without it
nothing is imported, and records are not changed.

- `send TOPIC` (kind PRODUCER): from `send()` until the record is stored or has failed. Its context
  is written to the record header `traceparent`; an older header of this name is replaced.
- `poll TOPIC` (kind CONSUMER): for the records of a topic that `poll()` or the iteration returns,
  with a link to the span of each record, up to 128. `poll_arrow()` creates no spans.
- `barnabas.clients.core.tracing.record_context(record)` returns the context in a record's headers,
  as the parent of the application's own span:

```python
with tracer.start_as_current_span("process", context=record_context(record)):
    handle(record)
```

In Spark, `kafka.tracing.enable=true` in the options of the source or the sink creates one span for
each task and topic: `poll TOPIC` and `send TOPIC`, with links to the spans of up to 128 records.
Rows with a header `traceparent` keep it, so that a trace leads from the producer through Spark to
the last consumer; other rows get the context of `send TOPIC`. A query passes the header on in the
column `headers` (source option `includeHeaders=true`). A pipeline with a decoded format does it
by itself if its `kafka` settings have `tracing.enable: true`: rows have the column `_headers`,
which steps of the kinds `select`, `sql` and `apply` must keep. Aggregated rows begin a new trace.

Spark's worker processes export the spans to `OTEL_EXPORTER_OTLP_ENDPOINT`: set this variable where
the driver is started, and on a cluster also as `spark.executorEnv.OTEL_EXPORTER_OTLP_ENDPOINT`.
Headers make the sink send row by row.

The spans follow the semantic conventions for messaging. They are created by interceptors, so
`send()` takes the slower path for records that are not plain bytes.

### Metrics of the clients

The name of a metric in OpenTelemetry and in pushes follows from group and name, for example
"""


def client_section() -> str:
    """Returns the section about the clients."""
    tests = _tests()
    rows = [
        [
            f"`{metric.group}`",
            f"`{metric.name}`" + (" (DEBUG)" if metric.debug else ""),
            metric.kind.value,
            metric.unit,
            ", ".join(f"`{tag}`" for tag in metric.tags),
            metric.description,
            f"`{tests[key]}`",
        ]
        for key, metric in CATALOG.items()
    ]
    header = ["group", "name", "kind", "unit", "tags", "meaning", "test"]
    example = telemetry_name(MetricName("record-send-total", "producer-topic-metrics"))
    missing = ["Kafka's metric", "reason"]
    reasons = [[f"`{names}`", reason] for names, reason in NOT_SERVED.items()]
    return (
        f"{TEXT}`{example}`.\n\n{table(header, rows)}\n"
        "\n### Metrics of Kafka's clients that are not served\n\n"
        f"{table(missing, reasons)}\n"
    )


def _tests() -> dict[Any, str]:
    """Returns the test that moves each metric."""
    spec = importlib.util.spec_from_file_location("metric_moves", MOVES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[Any, str] = module.movers()
    return found


def _pushed(name: str) -> str:
    return f'kafka_client_telemetry{{metric="org.apache.kafka.{name}"}}'


CLIENT_PANELS = (
    ("Records sent", "short", (_pushed("producer.record.send.rate"), "{{client_id}}")),
    ("Records that failed", "short", (_pushed("producer.record.error.rate"), "{{client_id}}")),
    ("Produce latency", "ms", (_pushed("producer.request.latency.avg"), "{{client_id}} average")),
    ("Batch size", "bytes", (_pushed("producer.batch.size.avg"), "{{client_id}}")),
    (
        "Records consumed",
        "short",
        (
            'kafka_client_telemetry{metric="org.apache.kafka.consumer.fetch.manager.'
            'records.consumed.rate",attributes=""}',
            "{{client_id}}",
        ),
    ),
    (
        "Largest lag",
        "short",
        (
            'kafka_client_telemetry{metric="org.apache.kafka.consumer.fetch.manager.'
            'records.lag.max",attributes=""}',
            "{{client_id}}",
        ),
    ),
    (
        "Rebalances per hour",
        "short",
        (_pushed("consumer.coordinator.rebalance.rate.per.hour"), "{{client_id}}"),
    ),
    ("Time between polls", "ms", (_pushed("consumer.time.between.poll.max"), "{{client_id}}")),
    ("Clients that push metrics", "short", ("sum(kafka_client_telemetry_clients)", "clients")),
)
"""Panels of the dashboard of clients; the metrics are those that clients push."""
