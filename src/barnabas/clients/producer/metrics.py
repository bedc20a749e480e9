"""Metrics of a producer: what its parts record, and under which of Kafka's names it is read.

The sender records once per batch and request, on its loop. A record that is appended to an open
batch costs nothing.
"""

from collections.abc import Callable, Iterator
from time import monotonic_ns
from typing import Protocol

from barnabas.clients.metrics.client_metrics import ClientMetrics, MetricGroup, MetricsByTopic
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.runtime._meter_hot import Meter
from barnabas.runtime.clock import Clock
from barnabas.runtime.metrics import Histogram

RATIO = 1_000_000
"""Ratios are recorded as integers: parts per million."""
MS = 0.001
NS_PER_S = 1e9
TIMES = (
    "bufferpool-wait",
    "metadata-wait",
    "flush",
    "txn-init",
    "txn-begin",
    "txn-send-offsets",
    "txn-commit",
    "txn-abort",
)
"""Times of calls that wait, in nanoseconds."""


class SentTopicMeters:
    """Records and bytes of one topic."""

    __slots__ = ("bytes", "compression", "errors", "retries", "sent")

    def __init__(self, created_ms: int) -> None:
        self.sent = Meter(created_ms)
        self.bytes = Meter(created_ms)
        self.compression = Meter(created_ms)
        self.retries = Meter(created_ms)
        self.errors = Meter(created_ms)

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.sent, self.bytes, self.compression, self.retries, self.errors)


class ProducerMeters:
    """Metrics of accumulator and sender; owned by the sender's loop."""

    def __init__(self, clock: Clock, *, debug: bool = False) -> None:
        self._clock = clock
        self.topics: dict[str, SentTopicMeters] = {}
        self.batch_size = Meter()
        self.queue_time = Meter()
        self.record_size = Meter()
        self.records_per_request = Meter()
        self.latency = Meter()
        self.latencies = Histogram() if debug else None
        self.throttle_time = Meter()
        self.splits = Meter()
        self.exhausted = Meter()
        self.times = {name: Meter() for name in TIMES}

    def __iter__(self) -> Iterator[Meter]:
        yield from (self.batch_size, self.queue_time, self.record_size, self.records_per_request)
        yield from (self.latency, self.throttle_time, self.splits, self.exhausted)
        yield from self.times.values()
        for topic in self.topics.values():
            yield from topic

    def topic(self, name: str) -> SentTopicMeters:
        found = self.topics.get(name)
        if found is None:
            found = SentTopicMeters(self._clock.monotonic_ms())
            # A new dictionary: another thread may be reading the old one.
            self.topics = {**self.topics, name: found}
        return found

    def sending(self, batches: list[ProducerBatch], now_ms: int) -> None:
        """Records the batches of a produce request, also of one that is sent again."""
        records = 0
        for batch in batches:
            assert batch.payload is not None
            size = len(batch.payload)
            topic = self.topics.get(batch.partition.topic) or self.topic(batch.partition.topic)
            topic.sent.record(batch.count)
            topic.bytes.record(size)
            if batch.unpacked_bytes:
                topic.compression.record(size * RATIO // batch.unpacked_bytes)
            self.batch_size.record(size)
            self.queue_time.record(max(now_ms - batch.created_ms, 0))
            self.record_size.record(batch.appender.largest)
            records += batch.count
        self.records_per_request.record(records)

    def on_response(self, latency_s: float, throttle_ms: int) -> None:
        """Records the response to a produce request."""
        latency = int(latency_s * 1_000_000)
        self.latency.record(latency)
        if self.latencies is not None:
            self.latencies.record(latency)
        self.throttle_time.record(throttle_ms)

    def retried(self, batch: ProducerBatch) -> None:
        self.topic(batch.partition.topic).retries.record(batch.count)

    def failed(self, batch: ProducerBatch) -> None:
        self.topic(batch.partition.topic).errors.record(batch.record_count)

    def waited(self, name: str, started_ns: int) -> None:
        """Records the time since `started_ns` of a call that waited."""
        self.times[name].record(monotonic_ns() - started_ns)


class Memory(Protocol):
    """The buffer memory whose use is shown."""

    total_bytes: int

    @property
    def available(self) -> int: ...

    @property
    def waiting_count(self) -> int: ...


def add_producer_metrics(
    metrics: ClientMetrics,
    meters: ProducerMeters,
    memory: Memory,
    metadata_age_ms: Callable[[], float],
    in_flight: Callable[[], int],
) -> None:
    """Adds the metrics of a producer to those of its connections."""
    metrics.windows.watch(meters)
    group = metrics.group("producer-metrics")
    _add_buffer(group, meters, memory)
    _add_sender(group, meters)
    group.gauge("metadata-age", lambda: metadata_age_ms() / 1000)
    group.gauge("requests-in-flight", in_flight)
    metrics.add(group)
    metrics.add(_topic_metrics(metrics, meters))


def _add_buffer(group: MetricGroup, meters: ProducerMeters, memory: Memory) -> None:
    group.gauge("waiting-threads", lambda: memory.waiting_count)
    group.gauge("buffer-total-bytes", lambda: memory.total_bytes)
    group.gauge("buffer-available-bytes", lambda: memory.available)
    group.counted("buffer-exhausted", meters.exhausted)
    group.share("bufferpool-wait-ratio", meters.times["bufferpool-wait"], NS_PER_S)
    for name, meter in meters.times.items():
        group.summed_total(f"{name}-time-ns-total", meter)


def _add_sender(group: MetricGroup, meters: ProducerMeters) -> None:
    def every(name: str) -> Callable[[], list[Meter]]:
        return lambda: [getattr(topic, name) for topic in meters.topics.values()]

    group.average_and_maximum("batch-size", meters.batch_size)
    group.counted("batch-split", meters.splits)
    group.average("compression-rate-avg", every("compression"), 1 / RATIO)
    group.average_and_maximum("produce-throttle-time", meters.throttle_time)
    group.summed("record-send", every("sent"))
    group.summed("record-retry", every("retries"))
    group.summed("record-error", every("errors"))
    group.average_and_maximum("record-queue-time", meters.queue_time)
    group.average_and_maximum("record-size", meters.record_size)
    group.average("records-per-request-avg", meters.records_per_request)
    group.average_and_maximum("request-latency", meters.latency, MS)
    if meters.latencies is not None:
        group.percentiles("request-latency", meters.latencies, MS)


def _topic_metrics(
    metrics: ClientMetrics, meters: ProducerMeters
) -> MetricsByTopic[SentTopicMeters]:
    def make_group(name: str, topic: SentTopicMeters) -> MetricGroup:
        group = metrics.group("producer-topic-metrics", topic=name)
        group.summed("byte", topic.bytes)
        group.average("compression-rate", topic.compression, 1 / RATIO)
        group.summed("record-send", topic.sent)
        group.summed("record-retry", topic.retries)
        group.summed("record-error", topic.errors)
        return group

    return MetricsByTopic(lambda: meters.topics, make_group)
