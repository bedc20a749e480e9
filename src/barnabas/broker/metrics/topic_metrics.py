"""Counts records, bytes and failures by topic (Kafka's BrokerTopicMetrics).

The hot path adds to the counters of one topic; the sums over all topics, which Kafka reports
without the label `topic`, are computed when the metrics are read. Counts of deleted topics stay in
the sums, so that a sum never decreases.
"""

from collections.abc import Callable, Iterable, Iterator

from barnabas.broker.metrics import catalog
from barnabas.broker.metrics._topic_counters_hot import TopicCounters
from barnabas.runtime.metrics import Exemplar, Labels, Metric, Registry, Sample

_METRICS: dict[str, Metric] = {
    "messages_in": catalog.MESSAGES_IN,
    "bytes_in": catalog.BYTES_IN,
    "bytes_out": catalog.BYTES_OUT,
    "bytes_rejected": catalog.BYTES_REJECTED,
    "replication_bytes_in": catalog.REPLICATION_BYTES_IN,
    "replication_bytes_out": catalog.REPLICATION_BYTES_OUT,
    "failed_produce": catalog.FAILED_PRODUCE,
    "failed_fetch": catalog.FAILED_FETCH,
    "total_produce": catalog.TOTAL_PRODUCE,
    "total_fetch": catalog.TOTAL_FETCH,
}


class TopicMetrics:
    """The counts of all topics; owned by the broker's loop."""

    def __init__(self, registry: Registry) -> None:
        self._topics: dict[str, TopicCounters] = {}
        self._deleted = TopicCounters()
        for field, metric in _METRICS.items():
            exemplars = self._trace if metric is catalog.MESSAGES_IN else None
            registry.source(metric, self._source(field), exemplars)

    def of(self, topic: str) -> TopicCounters:
        """Returns the counts of a topic."""
        counters = self._topics.get(topic)
        if counters is None:
            counters = self._topics[topic] = TopicCounters()
        return counters

    def count_replicated(self, topic: str, size: int) -> None:
        """Counts bytes that this broker received from the leader of a partition."""
        self.of(topic).replication_bytes_in += size

    def forget(self, topics: Iterable[str]) -> None:
        """Removes deleted topics; their counts stay in the sums."""
        for topic in topics:
            counters = self._topics.pop(topic, None)
            if counters is None:
                continue
            for field in _METRICS:
                value = getattr(self._deleted, field) + getattr(counters, field)
                setattr(self._deleted, field, value)

    def total(self, field: str) -> int:
        """Returns the sum of a field over all topics, also deleted ones."""
        values = (getattr(counters, field) for counters in self._topics.values())
        return int(getattr(self._deleted, field) + sum(values))

    def _trace(self, labels: Labels) -> Exemplar | None:
        counters = self._topics.get(labels[0]) if labels else None
        return None if counters is None else counters.trace

    def _source(self, field: str) -> Callable[[], Iterator[Sample]]:
        def samples() -> Iterator[Sample]:
            yield (), self.total(field)
            for topic, counters in list(self._topics.items()):
                yield (topic,), getattr(counters, field)

        return samples
