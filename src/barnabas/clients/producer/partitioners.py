"""Chooses the partition of a record.

The built-in partitioner is Kafka's (KIP-480, KIP-794). A record with a key goes by the key's
hash. Records without a key stay on one partition, the sticky one, until about batch.size bytes
went there; then the next is drawn at random among the partitions that have a leader. Partitions
with longer queues, whose brokers are slower, are drawn less often.
"""

import itertools
import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from random import randrange
from typing import Any

from barnabas.clients.producer._send_hot import TopicAppender
from barnabas.clients.producer.settings import PartitionerKind, ProducerSettings
from barnabas.model.errors import LocalError

QueueLengths = Callable[[str, Sequence[int]], list[int]]
"""Batches that wait in the queue of each of these partitions of a topic."""
Draw = Callable[[int], int]


class PartitionChooser:
    """Thread-safe. The partitions of a topic and their leaders come from its appender."""

    def __init__(
        self, settings: ProducerSettings, queue_lengths: QueueLengths, draw: Draw = randrange
    ) -> None:
        self._settings = settings
        self._queue_lengths = queue_lengths
        self._draw = draw
        self._turns: dict[str, itertools.count[int]] = {}

    def choose(self, topic: str, key: Any, value: Any, size: int, appender: TopicAppender) -> int:
        """The partition of a record without an explicit one; `size` is its length in bytes."""
        settings = self._settings
        if settings.partitioner is not None:
            return settings.partitioner(topic, key, value, appender.count)
        match settings.partitioner_kind:
            case PartitionerKind.ROUND_ROBIN:
                return self._in_turn(topic, appender)
            case PartitionerKind.HASH_OR_ROUND_ROBIN if key is None:
                return self._in_turn(topic, appender)
            case PartitionerKind.RANDOM:
                return self._any(appender)
            case PartitionerKind.CONSISTENT | PartitionerKind.CONSISTENT_RANDOM if key:
                return zlib.crc32(key) % appender.count
            case PartitionerKind.CONSISTENT:
                return zlib.crc32(b"") % appender.count
            case PartitionerKind.CONSISTENT_RANDOM:
                return self._any(appender)
        if key is not None and settings.hash_keys:
            return appender.partition_for(key)
        return self.sticky(topic, size, appender)

    def sticky(self, topic: str, size: int, appender: TopicAppender) -> int:
        """The partition of a record without a key; moves on once a batch went there."""
        current = appender.sticky
        used = appender.sticky_bytes
        leaderless = bool(appender.available) and current not in appender.available
        if leaderless or (used and used + size > self._settings.batch_size):
            current = self.next_sticky(topic, appender)
        return current

    def next_sticky(self, topic: str, appender: TopicAppender) -> int:
        """Draw the next sticky partition; short queues are drawn more often."""
        candidates = appender.available or range(appender.count)
        if self._settings.adaptive_partitioning and len(candidates) > 1:
            chosen = candidates[_drawn(self._queue_lengths(topic, candidates), self._draw)]
        else:
            chosen = candidates[self._draw(len(candidates))]
        appender.stick_to(chosen)
        return chosen

    def _in_turn(self, topic: str, appender: TopicAppender) -> int:
        turns = self._turns.get(topic)
        if turns is None:
            first = itertools.count(self._draw(1 << 16))
            turns = self._turns.setdefault(topic, first)
        candidates = appender.available or range(appender.count)
        return candidates[next(turns) % len(candidates)]

    def _any(self, appender: TopicAppender) -> int:
        candidates = appender.available or range(appender.count)
        return candidates[self._draw(len(candidates))]


def _drawn(lengths: list[int], draw: Draw) -> int:
    """An index drawn with weights: the longest queue has weight 1, an empty one the highest."""
    longest = max(lengths) + 1
    bounds = list(itertools.accumulate(longest - length for length in lengths))
    return bisect_right(bounds, draw(bounds[-1]))


def check_partition(topic: str, number: int, appender: TopicAppender) -> int:
    """The number, if the topic has this partition."""
    if type(number) is int and 0 <= number < appender.count:
        return number
    raise LocalError(f"topic {topic!r} has partitions 0 to {appender.count - 1}, not {number}")
