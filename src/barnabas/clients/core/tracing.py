"""OpenTelemetry spans of producers and consumers, as interceptors (`tracing.enable`).

The context of a span is passed in the record headers that OpenTelemetry's propagator writes
(`traceparent` by default). Spans follow the semantic conventions for messaging: a producer creates
`send TOPIC`, a consumer `poll TOPIC` with a link to the span of each record. This module is loaded
only if tracing is on: without it no record is changed and nothing is imported.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

# Loaded only if tracing.enable is true; the package is an optional extra.
from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Getter, Setter
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode

from barnabas.model.version import VERSION

MAX_LINKS = 128
"""OpenTelemetry's limit of links of a span; further records of a poll have none."""
Headers = list[tuple[str, bytes | None]]
T = TypeVar("T", bound="Sendable")


class Sendable(Protocol):
    """A record that a producer is about to send."""

    topic: str
    headers: Headers


class Received(Protocol):
    """A record that a consumer has read."""

    @property
    def headers(self) -> Iterable[tuple[str, bytes | None]]: ...


class _HeaderSetter(Setter[Headers]):
    def set(self, carrier: Headers, key: str, value: str) -> None:
        carrier[:] = [header for header in carrier if header[0] != key]
        carrier.append((key, value.encode()))


class _HeaderGetter(Getter[Mapping[str, str]]):
    def get(self, carrier: Mapping[str, str], key: str) -> list[str] | None:
        return [carrier[key]] if key in carrier else None

    def keys(self, carrier: Mapping[str, str]) -> list[str]:
        return list(carrier)


_SETTER, _GETTER = _HeaderSetter(), _HeaderGetter()


def record_context(record: Received) -> Context:
    """Returns the context in the headers of a record, the parent of an application's own spans."""
    return header_context(record.headers)


def header_context(headers: Iterable[tuple[str, bytes | None]]) -> Context:
    """Returns the context in the headers of a record."""
    texts = {name: value.decode("ascii", "replace") for name, value in headers if value}
    return propagate.extract(texts, getter=_GETTER)


def inject(headers: Headers, context: Context) -> None:
    """Writes a context to headers; replaces an older one."""
    propagate.inject(headers, context, _SETTER)


def span_attributes(client_id: str, operation: str, topic: str) -> dict[str, str | int]:
    """Returns the attributes that the semantic conventions for messaging require."""
    return {
        "messaging.system": "kafka",
        "messaging.operation.name": operation,
        "messaging.operation.type": "send" if operation == "send" else "receive",
        "messaging.destination.name": topic,
        "messaging.client.id": client_id,
    }


class ProducerTracing:
    """Starts a span in `send()` and ends it when the record is stored or has failed."""

    def __init__(self, client_id: str) -> None:
        self._client_id = client_id
        self._tracer = trace.get_tracer("barnabas", VERSION)
        self._open: dict[bytes, Span] = {}

    def on_send(self, record: T) -> T:
        attributes = span_attributes(self._client_id, "send", record.topic)
        span = self._tracer.start_span(
            f"send {record.topic}", kind=SpanKind.PRODUCER, attributes=attributes
        )
        inject(record.headers, trace.set_span_in_context(span))
        self._open[_span_key(span)] = span
        return record

    def on_acknowledgement(
        self, record: Sendable, metadata: Any | None, error: Exception | None
    ) -> None:
        found = record_context(record)
        key = _span_key(trace.get_current_span(found))
        span = self._open.pop(key, None)
        if span is None:
            return
        if metadata is not None:
            span.set_attribute("messaging.destination.partition.id", str(metadata.partition))
            span.set_attribute("messaging.kafka.offset", metadata.offset)
        if error is not None:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(Status(StatusCode.ERROR, str(error)))
        span.end()


class ConsumerTracing:
    """Creates a span for the records of each topic that poll() returns."""

    def __init__(self, client_id: str, group_id: str | None) -> None:
        self._client_id = client_id
        self._group_id = group_id
        self._tracer = trace.get_tracer("barnabas", VERSION)

    def on_consume(self, taken: dict[Any, list[Any]]) -> dict[Any, list[Any]]:
        by_topic: dict[str, list[Any]] = {}
        for topic_partition, records in taken.items():
            by_topic.setdefault(topic_partition.topic, []).extend(records)
        for topic, records in by_topic.items():
            self._span(topic, records)
        return taken

    def on_commit(self, offsets: object) -> None:
        """Commits have no spans."""

    def _span(self, topic: str, records: Sequence[Received]) -> None:
        attributes = span_attributes(self._client_id, "poll", topic)
        attributes["messaging.batch.message_count"] = len(records)
        if self._group_id is not None:
            attributes["messaging.consumer.group.name"] = self._group_id
        contexts = (
            trace.get_current_span(record_context(record)).get_span_context()
            for record in records[:MAX_LINKS]
        )
        links = [Link(context) for context in contexts if context.is_valid]
        name, kind = f"poll {topic}", SpanKind.CONSUMER
        self._tracer.start_span(name, kind=kind, attributes=attributes, links=links).end()


def _span_key(span: Span) -> bytes:
    context = span.get_span_context()
    return context.trace_id.to_bytes(16, "big") + context.span_id.to_bytes(8, "big")
