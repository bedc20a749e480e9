"""OpenTelemetry spans of Spark's tasks, with `kafka.tracing.enable=true` in the source or the sink.

A task has many rows, so a span covers a task and not a row. A task of the source creates `poll
TOPIC` with a link to the span of each record, up to a limit. A task of the sink creates `send
TOPIC`; rows that have no header `traceparent` get the context of this span. Other rows keep theirs,
for example one that the source has read (`includeHeaders=true`), and the span links to them.

Spark starts the Python processes of its tasks, so no application can set up a tracer provider in
them. This module does it if one of OpenTelemetry's variables names an endpoint
(OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT). Loaded only if tracing is on.
"""

import functools
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Loaded only if tracing is on; the package is an optional extra.
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode

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
            found = _span_context(pairs)
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
    contexts = _SentContexts(span)
    rows = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield contexts.add(batch)

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


class _SentContexts:
    """Adds the context of the span to rows that have none, and links the span to the others."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self._links = 0
        added: Headers = []
        inject_context(added, trace.set_span_in_context(span))
        self._names = {name for name, _ in added}
        self._pairs = [{"key": name, "value": value} for name, value in added]

    def add(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Returns the batch with a context in the headers of every row."""
        if not self._pairs:  # the span is not sampled, or the propagator writes nothing
            return batch
        index = batch.schema.get_field_index("headers")
        if index < 0:
            column = pa.array([self._pairs] * batch.num_rows, _HEADERS)
            return batch.append_column("headers", column)
        rows = [self._headers(row or []) for row in batch.column(index).to_pylist()]
        return batch.set_column(index, "headers", pa.array(rows, _HEADERS))

    def _headers(self, row: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if not any(pair["key"] in self._names for pair in row):
            return [*row, *self._pairs]
        if self._links < MAX_LINKS:
            found = _span_context(row)
            if found.is_valid:
                self._span.add_link(found)
                self._links += 1
        return row


def _span_context(pairs: Iterable[Mapping[str, Any]]) -> SpanContext:
    context = header_context((pair["key"], pair["value"]) for pair in pairs)
    return trace.get_current_span(context).get_span_context()
