"""Spans of producers and consumers, connected by the record header traceparent."""

import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from support.clients.spans import recorded_spans

from barnabas import Consumer, Producer
from barnabas.clients.core.tracing import record_context
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def broker():
    with Broker(in_memory=True) as running:
        yield running


@pytest.fixture
def spans(monkeypatch):
    with recorded_spans(monkeypatch) as finished:
        yield finished


def test_the_span_of_poll_links_to_the_span_of_send(broker, spans):
    topic = broker.topic()
    common = {"bootstrap_servers": broker.bootstrap_servers, "tracing_enable": True}
    with Producer(client_id="p", value_serializer="json", **common) as producer:
        producer.send(topic, {"a": 1}, headers=[("own", b"kept")]).result(60)
    with Consumer(client_id="c", auto_offset_reset="earliest", **common) as consumer:
        consumer.assign([(topic, 0)])
        record = next(iter(consumer))
    sent, polled = spans()
    assert (sent.name, sent.kind) == (f"send {topic}", SpanKind.PRODUCER)
    assert (polled.name, polled.kind) == (f"poll {topic}", SpanKind.CONSUMER)
    assert polled.links[0].context.span_id == sent.context.span_id
    headers = dict(record.headers)
    assert headers["own"] == b"kept"
    assert headers["traceparent"].split(b"-")[2] == b"%016x" % sent.context.span_id
    assert sent.attributes["messaging.system"] == "kafka"
    assert sent.attributes["messaging.destination.name"] == topic
    assert sent.attributes["messaging.kafka.offset"] == 0
    parent = trace.get_current_span(record_context(record)).get_span_context()
    assert parent.trace_id == sent.context.trace_id


def test_a_record_that_fails_ends_its_span_with_the_error(broker, spans):
    settings = {"bootstrap_servers": broker.bootstrap_servers, "max_request_size": 100}
    with Producer(tracing_enable=True, **settings) as producer:
        error = producer.send(broker.topic(), b"x" * 1000).exception(10)
    (span,) = spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes["error.type"] == type(error).__name__


def test_without_tracing_nothing_is_imported_or_added(broker):
    topic = broker.topic()
    code = f"""
import sys, barnabas
with barnabas.Producer(bootstrap_servers={broker.bootstrap_servers!r}) as producer:
    producer.send({topic!r}, b"x").result(60)
sys.exit(any(name.startswith("opentelemetry") for name in sys.modules))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    settings = {"bootstrap_servers": broker.bootstrap_servers, "auto_offset_reset": "earliest"}
    with Consumer(**settings) as consumer:
        consumer.assign([(topic, 0)])
        assert list(next(iter(consumer)).headers) == []
