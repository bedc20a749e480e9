"""Spans of the tasks of source and sink, connected by the header traceparent; without Spark."""

import pyarrow as pa
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

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
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter.get_finished_spans
    provider.shutdown()


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
