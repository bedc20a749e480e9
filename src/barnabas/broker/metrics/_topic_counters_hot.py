"""The counts of one topic, which each request changes.

Compiled by Cython they are a C struct (`_topic_counters_hot.pxd`), whose fields the short paths of
Produce and Fetch change with one instruction each. It also runs as plain Python.

The exemplar of a topic is the trace of a record that was produced to it: a few times per second the
header `traceparent` is searched at the start of an uncompressed batch.
"""

from __future__ import annotations

import re

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from barnabas.runtime.metrics import Exemplar

COMPILED: bool = cython.compiled

_TRACE_PERIOD_MS = 200
_SEARCHED_BYTES = 4096
_TRACEPARENT = re.compile(rb"\x16traceparent\x6e00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
"""A record header on the wire: the lengths before name and value are zigzag numbers."""


@cython.cclass
class TopicCounters:
    """Counts of one topic; handlers add to the fields directly."""

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "bytes_rejected",
        "failed_fetch",
        "failed_produce",
        "messages_in",
        "replication_bytes_in",
        "replication_bytes_out",
        "total_fetch",
        "total_produce",
        "trace",
        "trace_due_ms",
    )

    def __init__(self) -> None:
        self.messages_in = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.bytes_rejected = 0
        self.replication_bytes_in = 0
        self.replication_bytes_out = 0
        self.failed_produce = 0
        self.failed_fetch = 0
        self.total_produce = 0
        self.total_fetch = 0
        self.trace: Exemplar | None = None
        self.trace_due_ms = 0
        """Time at which handlers call `find_trace` again."""

    def find_trace(self, batch: bytes | bytearray | memoryview, now_ms: int) -> None:
        """Stores the trace of the first traced record of an uncompressed batch, if any."""
        self.trace_due_ms = now_ms + _TRACE_PERIOD_MS
        found = _TRACEPARENT.search(batch[:_SEARCHED_BYTES])
        if found is not None:
            trace_id, span_id = (item.decode() for item in found.groups())
            self.trace = Exemplar({"trace_id": trace_id, "span_id": span_id}, 1, now_ms)
