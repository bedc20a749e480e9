"""Spans of the tasks of source and sink, connected by the header traceparent.

The tests of single tasks run without Spark; the last one runs a pipeline in a process of its own.
"""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.trace import SpanKind, StatusCode
from support.clients.spans import recorded_spans
from support.network.otlp_collector import otlp_collector

from barnabas import Consumer, Producer
from barnabas.model.errors import BarnabasError
from barnabas.spark.sink.options import SinkOptions
from barnabas.spark.sink.transactional_write import clients
from barnabas.spark.sink.writers import BatchWriter
from barnabas.spark.source import range_reader
from barnabas.spark.source.options import SourceOptions
from barnabas.spark.source.planner import OffsetRange, RangesPartition
from barnabas.spark.source.range_reader import read_task
from barnabas.spark.source.schema import source_schema

pytestmark = pytest.mark.integration

TRACED = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch):
    with recorded_spans(monkeypatch) as finished:
        yield finished


def options(broker, **others):
    return {
        "kafka.bootstrap.servers": broker.bootstrap_servers,
        "kafka.client.id": "etl",
        "kafka.tracing.enable": "true",
        **others,
    }


def write(broker, topic, batch):
    made = SinkOptions.parse(options(broker, topic=topic), streaming=False)
    writer = BatchWriter.__new__(BatchWriter)  # its constructor checks a schema of Spark
    writer._options, writer._query_id = made, "query"
    try:
        return writer.write(iter([batch]))
    finally:
        clients.drop(made.client)  # of the worker process: this test


def headers(broker, topic):
    return [dict(record.headers).get("traceparent") for record in broker.records(topic)]


def test_rows_get_the_context_of_the_task_unless_they_have_one(broker, topic_name, spans):
    topic = broker.topic(topic_name)
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    own = [{"key": "traceparent", "value": TRACED}]
    rows = {
        "value": ["a", "b", "c"],
        "headers": pa.array([None, own, [{"key": "x", "value": b"y"}]], kind),
    }
    assert write(broker, topic, pa.RecordBatch.from_pydict(rows)).rows == 3
    (span,) = spans()
    assert (span.name, span.kind) == (f"send {topic}", SpanKind.PRODUCER)
    assert span.attributes["messaging.batch.message_count"] == 3
    assert span.attributes["messaging.client.id"] == "etl"
    added = b"00-%032x-%016x-" % (span.context.trace_id, span.context.span_id)
    first, second, third = headers(broker, topic)
    assert first == third
    assert first.startswith(added)
    assert second == TRACED
    (link,) = span.links
    assert b"%016x" % link.context.span_id == TRACED.split(b"-")[2]


def test_rows_without_a_column_of_headers(broker, topic_name, spans):
    topic = broker.topic(topic_name)
    write(broker, topic, pa.RecordBatch.from_pydict({"value": ["a", "b"]}))
    assert None not in headers(broker, topic)
    task = RangesPartition((OffsetRange(topic, 0, 0, 2),), 0)
    made = SourceOptions.parse(options(broker, subscribe=topic), streaming=False)
    (batch,) = read_task(task, made, source_schema(False))
    range_reader._consumers.drop(made.client)
    assert "headers" not in batch.schema.names
    sent, polled = spans()
    assert (polled.name, polled.kind) == (f"poll {topic}", SpanKind.CONSUMER)
    assert polled.attributes["messaging.batch.message_count"] == 2
    assert {link.context.span_id for link in polled.links} == {sent.context.span_id}


def test_a_failed_write_ends_the_span_with_the_error(broker, spans):
    with pytest.raises(BarnabasError):
        write(broker, "not a topic", pa.RecordBatch.from_pydict({"value": ["a"]}))
    (span,) = spans()
    assert span.status.status_code is StatusCode.ERROR


# --- a pipeline from a topic to a topic ----------------------------------------------------------

PIPELINE = """\
name: traced
bootstrap_servers: {servers}
source:
  topic: {topic}
  format: json
  schema: user string, amount double
steps:
  - where: amount > 1
sink:
  topic: {topic}-out
  key: user
kafka:
  client.id: etl
  tracing.enable: true
trigger: available-now
checkpoint: {folder}/checkpoint
"""


@pytest.fixture
def collector():
    with otlp_collector() as running:
        yield running


def spans_in(body):
    """Yields the spans that a worker process of Spark has posted."""
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


def run_pipeline(broker, topic, folder, collector):
    file = folder / "traced.yaml"
    file.write_text(PIPELINE.format(servers=broker.bootstrap_servers, topic=topic, folder=folder))
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "BARNABAS_STATE_DIR": str(folder / "state"),
    }
    command = [sys.executable, "-m", "barnabas.cli.main", "pipeline", "run", str(file)]
    ran = subprocess.run(command, env=environment, capture_output=True, timeout=560, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


@pytest.mark.xdist_group("spark")
def test_a_trace_continues_through_a_pipeline(broker, topic_name, tmp_path, spans, collector):
    topic = broker.topic(topic_name)
    common = {"bootstrap_servers": broker.bootstrap_servers, "tracing_enable": True}
    with Producer(client_id="shop", value_serializer="json", **common) as producer:
        for amount in (1, 2, 3):
            producer.send(topic, {"user": "a", "amount": amount}, headers=[("own", b"1")])
    sent = spans()[1:]
    run_pipeline(broker, topic, tmp_path, collector)
    with Consumer(client_id="report", auto_offset_reset="earliest", **common) as consumer:
        consumer.assign([(f"{topic}-out", 0)])
        records = [next(iter(consumer)) for _ in sent]
    assert [json.loads(record.value)["amount"] for record in records] == [2, 3]

    traces = {span.context.trace_id for span in sent}
    parents = [dict(record.headers)["traceparent"].split(b"-") for record in records]
    assert {int(parent[1], 16) for parent in parents} == traces
    assert [name for record in records for name, _ in record.headers] == ["traceparent"] * 2
    polled = [span for span in spans() if span.name == f"poll {topic}-out"]
    assert {link.context.trace_id for span in polled for link in span.links} == traces

    of_spark = {span.name: span for body in collector.bodies for span in spans_in(body)}
    assert set(of_spark) == {f"poll {topic}", f"send {topic}-out"}
    for span in of_spark.values():
        linked = {int.from_bytes(link.trace_id, "big") for link in span.links}
        assert traces <= linked
