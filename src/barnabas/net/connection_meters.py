"""Counts the traffic of client connections to one broker, for the metrics of a client.

All connections of a client to the same address share one object, on the client's event loop.
"""

from collections.abc import Iterator

from barnabas.runtime._meter_hot import Meter

MICROSECONDS = 1_000_000
LENGTH_BYTES = 4
"""Bytes of the length in front of a frame."""


class ConnectionMeters:
    """Sizes of requests and responses in bytes; times in microseconds."""

    __slots__ = (
        "failed_reauthentications",
        "latency",
        "reauthentications",
        "requests",
        "responses",
    )

    def __init__(self, created_ms: int = 0) -> None:
        self.requests = Meter(created_ms)
        self.responses = Meter(created_ms)
        self.latency = Meter(created_ms)
        self.reauthentications = Meter(created_ms)
        self.failed_reauthentications = Meter(created_ms)

    def __iter__(self) -> Iterator[Meter]:
        yield self.requests
        yield self.responses
        yield self.latency
        yield self.reauthentications
        yield self.failed_reauthentications

    def received(self, frame_bytes: int, latency_s: float) -> None:
        """Counts a response and the time since its request was sent."""
        self.responses.record(frame_bytes + LENGTH_BYTES)
        self.latency.record(int(latency_s * MICROSECONDS))

    def reauthenticated(self, duration_s: float) -> None:
        self.reauthentications.record(int(duration_s * MICROSECONDS))
