"""The limit on replication traffic while replicas are moved (KIP-73).

A leaky bucket that holds one second's worth: bytes go in as they are copied, and leave at the
allowed rate; while it is overfull, the throttled replicas are not fetched. Only replicas that the
topic names are throttled, so that a move does not starve those that are in sync. Times are
monotonic.
"""

from collections.abc import Callable

from barnabas.model.ids import TopicPartition


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

    def set_rate(self, bytes_per_second: int | None) -> None:
        self._rate_bytes_s = bytes_per_second
        self._level_bytes = 0.0

    def record(self, topic_partition: TopicPartition, size: int, now_ms: int) -> None:
        """Count what was copied, if it is throttled at all."""
        if self._rate_bytes_s is not None and self._applies_to(topic_partition):
            self._drain(now_ms)
            self._level_bytes += size

    def wait_ms(self, topic_partition: TopicPartition, now_ms: int) -> int:
        """How long this replica has to wait; 0 when it may be fetched."""
        rate = self._rate_bytes_s
        if rate is None or not self._applies_to(topic_partition):
            return 0
        self._drain(now_ms)
        excess = self._level_bytes - rate
        return int(excess * 1000 / rate) + 1 if excess > 0 else 0

    def _drain(self, now_ms: int) -> None:
        rate = self._rate_bytes_s or 0
        gone = (now_ms - self._updated_ms) * rate / 1000
        self._level_bytes = max(0.0, self._level_bytes - gone)
        self._updated_ms = now_ms
