"""Spans of OpenTelemetry, kept in memory for a test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


@contextmanager
def recorded_spans(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], tuple[ReadableSpan, ...]]]:
    """Records spans instead of exporting them; yields a function that returns the finished ones."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter.get_finished_spans
    provider.shutdown()
