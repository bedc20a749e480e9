"""Chooses the partition of a record.

The built-in partitioner is Kafka's (KIP-480, KIP-794). The hash of the key selects the partition of
a record with a key. Records without a key use one partition, the sticky one, until it has received
about batch.size bytes, or a few times as many while its batch cannot be sent; then the next one is
chosen at random among the partitions that have a leader. Partitions with longer queues, whose
brokers are slower, are chosen less often.
"""

import itertools
import zlib
from collections.abc import Callable, Mapping, Sequence
from random import randrange
from typing import Any

from barnabas.clients.producer._send_hot import UNLIMITED, TopicAppender
from barnabas.clients.producer.settings import PartitionerKind, ProducerSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError

QueueLengths = Callable[[str], Mapping[int, int]]
"""Returns the number of queued batches of each partition of a topic that has any."""
_MAX_DRAWS = 50
"""After so many refusals nearly all queues are as long as the longest: any of them will do."""
RandomBelow = Callable[[int], int]
"""Returns a random number from 0 to the argument, exclusive."""


STICKY_BATCHES = 4
"""An open batch keeps the records without a key up to this multiple of batch.size.

Java's producer changes the partition after one to two times batch.size. Each change costs as much
as the append of about thirty records, and with four, 20,000 records of 100 bytes still reach every
one of ten partitions.
"""
MANY_PARTITIONS = 50
STICKY_BATCHES_OF_MANY = 16
"""With many partitions the batches would stay small, and each one costs the sender the same."""


class PartitionChooser:
    """Chooses partitions for the records of one producer. Thread-safe."""

    def __init__(
        self,
        settings: ProducerSettings,
        queue_lengths: QueueLengths,
        random_below: RandomBelow = randrange,
    ) -> None:
        self._settings = settings
        self._queue_lengths = queue_lengths
        self._random_below = random_below
        self._counters: dict[str, itertools.count[int]] = {}

    def choose(self, topic: str, key: Any, value: Any, size: int, appender: TopicAppender) -> int:
        """Returns the partition of a record of `size` bytes that `send()` got without one."""
        settings = self._settings
        if settings.partitioner is not None:
            return settings.partitioner(topic, key, value, appender.count)
        match settings.partitioner_kind:
            case PartitionerKind.ROUND_ROBIN:
                return self._round_robin(topic, appender)
            case PartitionerKind.HASH_OR_ROUND_ROBIN if key is None:
                return self._round_robin(topic, appender)
            case PartitionerKind.RANDOM:
                return self._random(appender)
            case PartitionerKind.CONSISTENT | PartitionerKind.CONSISTENT_RANDOM if key:
                return zlib.crc32(key) % appender.count
            case PartitionerKind.CONSISTENT:
                return zlib.crc32(b"") % appender.count
            case PartitionerKind.CONSISTENT_RANDOM:
                return self._random(appender)
        if key is not None and settings.hash_keys:
            return appender.partition_for(key)
        return self.sticky(topic, size, appender)

    def sticky(self, topic: str, size: int, appender: TopicAppender) -> int:
        """Returns the sticky partition; chooses another after batch.size bytes.

        A batch that is full and still open is enlarged first, if batch.size is not configured: the
        sender is behind, and each batch costs it the same.
        """
        current = appender.sticky
        used = appender.sticky_bytes
        leaderless = bool(appender.available) and current not in appender.available
        limit = self._settings.batch_size
        if appender.sticky_batch_is_open:
            limit = self._sticky_limit(appender)
        if leaderless or (used and used + size > limit):
            current = self.next_sticky(topic, appender)
        return current

    def next_sticky(self, topic: str, appender: TopicAppender) -> int:
        """Chooses the next sticky partition at random, with a preference for short queues."""
        candidates = appender.available or range(appender.count)
        if self._settings.adaptive_partitioning and len(candidates) > 1:
            chosen = _weighted_choice(candidates, self._queue_lengths(topic), self._random_below)
        else:
            chosen = candidates[self._random_below(len(candidates))]
        appender.stick_to(chosen, self._sticky_limit(appender))
        return chosen

    def _sticky_limit(self, appender: TopicAppender) -> int:
        """Returns the bytes that the sticky partition takes while its batch is open."""
        if appender.count == 1:
            return UNLIMITED
        if not self._settings.adaptive:
            return self._settings.batch_size
        many = appender.count >= MANY_PARTITIONS
        return self._settings.batch_size * (STICKY_BATCHES_OF_MANY if many else STICKY_BATCHES)

    def _round_robin(self, topic: str, appender: TopicAppender) -> int:
        counter = self._counters.get(topic)
        if counter is None:
            first = itertools.count(self._random_below(1 << 16))
            counter = self._counters.setdefault(topic, first)
        candidates = appender.available or range(appender.count)
        return candidates[next(counter) % len(candidates)]

    def _random(self, appender: TopicAppender) -> int:
        candidates = appender.available or range(appender.count)
        return candidates[self._random_below(len(candidates))]


def _weighted_choice(
    candidates: Sequence[int], lengths: Mapping[int, int], random_below: RandomBelow
) -> int:
    """Returns a random candidate: the longest queue has weight 1, an empty one the highest weight.

    Draws a candidate and accepts it in proportion to its weight. So the cost depends on the queues
    that are not empty and not on the number of partitions: this runs for each batch, and a sum of
    the weights of 1,000 partitions took longer than appending the records of the batch.
    """
    longest = max(lengths.values(), default=0) + 1
    chosen = candidates[random_below(len(candidates))]
    for _ in range(_MAX_DRAWS):
        if random_below(longest) >= lengths.get(chosen, 0):
            break
        chosen = candidates[random_below(len(candidates))]
    return chosen


def check_partition(topic: str, partition: int, appender: TopicAppender) -> int:
    """Returns the partition; raises LocalError if the topic does not have it."""
    if type(partition) is int and 0 <= partition < appender.count:
        return partition
    raise LocalError(_not_a_partition(topic, partition, appender))


def unknown_partition(topic: str, partition: int, appender: TopicAppender) -> BrokerError:
    """Returns the error for a partition that the topic does not have now."""
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return BrokerError(code, _not_a_partition(topic, partition, appender))


def _not_a_partition(topic: str, partition: object, appender: TopicAppender) -> str:
    return f"topic {topic!r} has partitions 0 to {appender.count - 1}, not {partition!r}"
