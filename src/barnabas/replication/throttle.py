"""The limit on replication traffic while replicas are moved (KIP-73).

A leaky bucket that holds one second's worth: bytes go in as they are copied, and leave at the
allowed rate; while it is overfull, throttled replicas get nothing. Only replicas that the topic
names are throttled, and of those only the ones that lag: a move must not cost a partition its
in-sync replicas. What in-sync replicas copy is counted all the same, so that the sum stays below
the rate. Times are monotonic.
"""

from collections.abc import Callable, Sequence

from barnabas.model.ids import BrokerId, TopicPartition

EVERY_REPLICA = "*"
_LONGEST_WAIT_MS = 1000
"""A raised rate is noticed this soon, and a rate of nothing does not divide by zero."""


class ThrottledReplicas:
    """What a topic's `*.replication.throttled.replicas` says about this broker's replicas."""

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
    """One direction of one broker's replication; owned by the broker's loop.

    `applies_to` answers from the topics' `*.replication.throttled.replicas`. A rate of None, the
    default, is no limit.
    """

    __slots__ = ("_applies_to", "_level_bytes", "_rate_bytes_s", "_updated_ms")

    def __init__(self, applies_to: Callable[[TopicPartition], bool]) -> None:
        self._applies_to = applies_to
        self._rate_bytes_s: int | None = None
        self._level_bytes = 0.0
        self._updated_ms = 0

    @property
    def active(self) -> bool:
        """Whether there is a limit at all."""
        return self._rate_bytes_s is not None

    def set_rate(self, bytes_per_second: int | None) -> None:
        """A new limit starts afresh; the one in force goes on."""
        if bytes_per_second != self._rate_bytes_s:
            self._rate_bytes_s = bytes_per_second
            self._level_bytes = 0.0

    def record(self, topic_partition: TopicPartition, size: int, now_ms: int) -> None:
        """Count what was copied, if it is throttled at all."""
        if self._rate_bytes_s is not None and self._applies_to(topic_partition):
            self._drain(now_ms)
            self._level_bytes += size

    def wait_ms(self, topic_partition: TopicPartition, now_ms: int) -> int:
        """How long this replica has to wait before it may ask again; 0 when it may copy now."""
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
