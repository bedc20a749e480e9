"""The limit on replication traffic during reassignments (KIP-73).

A leaky bucket with the capacity of one second: copied bytes fill it, and it drains at the allowed
rate. While it is over capacity, throttled replicas receive nothing. Only replicas that the topic
configuration names are throttled, and only while they lag: a reassignment must not shrink the ISR.
The bytes of in-sync replicas count as well, so that the total stays below the rate. Times are
monotonic.
"""

from collections.abc import Callable, Sequence

from barnabas.model.ids import BrokerId, TopicPartition

EVERY_REPLICA = "*"
_LONGEST_WAIT_MS = 1000
"""Limits the time until a raised rate takes effect; also the wait for a rate of zero."""


class ThrottledReplicas:
    """The replicas of this broker in a topic's `*.replication.throttled.replicas`."""

    __slots__ = ("_all", "_partitions")

    def __init__(self, entries: Sequence[str], broker_id: BrokerId) -> None:
        """`entries` are `partition:broker` pairs, or `*` alone."""
        self._all = EVERY_REPLICA in entries
        pairs = (entry.split(":") for entry in entries if ":" in entry)
        self._partitions = frozenset(
            int(partition) for partition, broker in pairs if int(broker) == broker_id
        )

    def __contains__(self, partition: int) -> bool:
        return self._all or partition in self._partitions


class ReplicationThrottle:
    """Throttle of one direction of a broker's replication; owned by the event loop.

    `applies_to` looks up `*.replication.throttled.replicas` of the topic. A rate of None, the
    default, means no limit.
    """

    __slots__ = ("_applies_to", "_level_bytes", "_rate_bytes_s", "_updated_ms")

    def __init__(self, applies_to: Callable[[TopicPartition], bool]) -> None:
        self._applies_to = applies_to
        self._rate_bytes_s: int | None = None
        self._level_bytes = 0.0
        self._updated_ms = 0

    @property
    def active(self) -> bool:
        """Whether a rate is set."""
        return self._rate_bytes_s is not None

    def set_rate(self, bytes_per_second: int | None) -> None:
        """Sets the rate; a different rate starts with an empty bucket."""
        if bytes_per_second != self._rate_bytes_s:
            self._rate_bytes_s = bytes_per_second
            self._level_bytes = 0.0

    def record(self, topic_partition: TopicPartition, size: int, now_ms: int) -> None:
        """Counts copied bytes of a throttled replica."""
        if self._rate_bytes_s is not None and self._applies_to(topic_partition):
            self._drain(now_ms)
            self._level_bytes += size

    def wait_ms(self, topic_partition: TopicPartition, now_ms: int) -> int:
        """Returns the time until this replica may fetch again; 0 if it may fetch now."""
        rate = self._rate_bytes_s
        if rate is None or not self._applies_to(topic_partition):
            return 0
        if rate == 0:
            return _LONGEST_WAIT_MS
        self._drain(now_ms)
        excess = self._level_bytes - rate
        return min(int(excess * 1000 / rate) + 1, _LONGEST_WAIT_MS) if excess > 0 else 0

    def _drain(self, now_ms: int) -> None:
        rate = self._rate_bytes_s or 0
        gone = (now_ms - self._updated_ms) * rate / 1000
        self._level_bytes = max(0.0, self._level_bytes - gone)
        self._updated_ms = now_ms
