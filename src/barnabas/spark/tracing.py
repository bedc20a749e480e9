"""OpenTelemetry spans of Spark's tasks, with `kafka.tracing.enable=true` in the source or the sink.

A task has many rows, so a span covers a task and not a row. A task of the source creates `poll
TOPIC` with a link to the span of each record, up to a limit. A task of the sink creates `send
TOPIC`; rows that have no header `traceparent` get the context of this span, other rows keep theirs,
for example one that the source has read (`includeHeaders=true`).

Spark starts the Python processes of its tasks, so no application can set up a tracer provider in
them. This module does it if one of OpenTelemetry's variables names an endpoint
(OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT). Loaded only if tracing is on.
"""

import functools
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Loaded only if tracing is on; the package is an optional extra.
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode

from barnabas.clients.core.tracing import MAX_LINKS, Headers, header_context, span_attributes
from barnabas.clients.core.tracing import inject as inject_context
from barnabas.model.version import VERSION

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_FLUSH_MS = 2_000
_PAIR = pa.struct([("key", pa.string()), ("value", pa.binary())])
_HEADERS = pa.list_(_PAIR)


@functools.cache
def _set_up_provider(_process_id: int) -> None:
    """Sets up the provider of a worker process, once after its fork."""
    named = any(os.environ.get(name) for name in _ENDPOINTS)
    if not named or not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _tracer() -> trace.Tracer:
    _set_up_provider(os.getpid())
    return trace.get_tracer("barnabas.spark", VERSION)


def _flush() -> None:
    """Exports the spans of the task: Spark may end the process at any time after it."""
    flush = getattr(trace.get_tracer_provider(), "force_flush", None)
    if flush is not None:
        flush(_FLUSH_MS)


class ReadSpans:
    """Collects the records of a source's task; `finish` creates a span for each topic."""

    def __init__(self, client_id: str, group: str | None) -> None:
        self._client_id = client_id
        self._group = group
        self._started_ns = time.time_ns()
        self._counts: dict[str, int] = {}
        self._links: dict[str, list[SpanContext]] = {}

    def add(self, topic: str, batch: pa.RecordBatch) -> None:
        """Counts the rows of a batch, which has the column `headers`, and keeps their contexts."""
        self._counts[topic] = self._counts.get(topic, 0) + batch.num_rows
        links = self._links.setdefault(topic, [])
        headers = batch.column("headers")
        traced = headers.filter(pc.greater(pc.list_value_length(headers), 0))
        for pairs in traced.slice(0, MAX_LINKS - len(links)).to_pylist():
            context = header_context((pair["key"], pair["value"]) for pair in pairs)
            found = trace.get_current_span(context).get_span_context()
            if found.is_valid:
                links.append(found)

    def finish(self) -> None:
        for topic, count in self._counts.items():
            attributes = span_attributes(self._client_id, "poll", topic)
            attributes["messaging.batch.message_count"] = count
            if self._group is not None:
                attributes["messaging.consumer.group.name"] = self._group
            span = _tracer().start_span(
                f"poll {topic}",
                kind=SpanKind.CONSUMER,
                attributes=attributes,
                links=[Link(context) for context in self._links[topic]],
                start_time=self._started_ns,
            )
            span.end()
        _flush()


@contextmanager
def write_span(
    client_id: str, topic: str | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[Iterator[pa.RecordBatch]]:
    """Yields the batches with the context of a span in their headers; the block writes them.

    The name of the span has no topic if the rows name their topics.
    """
    name = "send" if topic is None else f"send {topic}"
    attributes = span_attributes(client_id, "send", topic or "")
    span = _tracer().start_span(name, kind=SpanKind.PRODUCER, attributes=attributes)
    added: Headers = []
    inject_context(added, trace.set_span_in_context(span))
    rows = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield _with_headers(batch, added)

    try:
        yield counted()
    except BaseException as error:
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(Status(StatusCode.ERROR, str(error)))
        raise
    finally:
        span.set_attribute("messaging.batch.message_count", rows)
        span.end()
        _flush()


def _with_headers(batch: pa.RecordBatch, added: Headers) -> pa.RecordBatch:
    """Returns the batch with headers added to the rows that have none of these names."""
    if not added:
        return batch
    pairs = [{"key": name, "value": value} for name, value in added]
    names = {name for name, _ in added}
    index = batch.schema.get_field_index("headers")
    if index < 0:
        column = pa.array([pairs] * batch.num_rows, _HEADERS)
        return batch.append_column("headers", column)
    rows: list[Any] = [
        row if any(pair["key"] in names for pair in row or ()) else [*(row or ()), *pairs]
        for row in batch.column(index).to_pylist()
    ]
    return batch.set_column(index, "headers", pa.array(rows, _HEADERS))
