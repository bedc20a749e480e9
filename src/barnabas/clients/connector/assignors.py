"""Thread ids of the ZooKeeper consumer and its assignment strategies, range and round-robin. Pure.

Every member computes the assignment of the whole group from the same view, so equal input must give
equal output on every member, also on members that run Kafka's own client.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.model.java_hash import java_string_hash


class AssignmentError(LocalError):
    """The configured assignor does not support the subscriptions of the group."""


class ConsumerThreadId(NamedTuple):
    """One stream of one consumer, for one topic.

    Ordered as text, as Kafka does: with more than ten streams `C-10` comes before `C-2`, and all
    members must agree on that.

    >>> sorted([ConsumerThreadId("C", 2), ConsumerThreadId("C", 10)])[0].thread
    10
    """

    consumer: str
    thread: int

    def __str__(self) -> str:
        return f"{self.consumer}-{self.thread}"

    def __lt__(self, other: object) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: object) -> bool:
        return str(self) > str(other)

    def __le__(self, other: object) -> bool:
        return str(self) <= str(other)

    def __ge__(self, other: object) -> bool:
        return str(self) >= str(other)


def thread_ids_per_topic(
    consumer: str, topic_counts: Mapping[str, int]
) -> dict[str, list[ConsumerThreadId]]:
    """Returns the thread ids of a consumer; numbers start at 0 for each topic.

    >>> {topic: len(ids) for topic, ids in thread_ids_per_topic("C1", {"a": 2, "b": 3}).items()}
    {'a': 2, 'b': 3}
    """
    return {
        topic: [ConsumerThreadId(consumer, number) for number in range(count)]
        for topic, count in topic_counts.items()
    }


Assignment = dict[str, dict[TopicPartition, ConsumerThreadId]]
"""For each consumer of the group, its partitions with the stream that reads each."""


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """Input of an assignor: the view of the group for one consumer.

    `threads_for_topic` has the streams of all members, `partitions_for_topic` the partitions of
    the topics that exist.
    """

    consumer: str
    my_topics: Sequence[str]
    threads_for_topic: Mapping[str, Sequence[ConsumerThreadId]]
    partitions_for_topic: Mapping[str, Sequence[int]]
    consumers: Sequence[str]


Assignor = Callable[[AssignmentContext], Assignment]


def range_assignor(context: AssignmentContext) -> Assignment:
    """Assigns consecutive partitions of each topic to the streams in order.

    If the number of partitions is no multiple of the number of streams, the first streams get one
    more.
    """
    assignment: Assignment = {consumer: {} for consumer in context.consumers}
    for topic in context.my_topics:
        partitions = sorted(context.partitions_for_topic.get(topic, ()))
        threads = sorted(context.threads_for_topic.get(topic, ()))
        for thread, piece in zip(threads, _pieces(partitions, len(threads)), strict=True):
            mine = assignment.setdefault(thread.consumer, {})
            mine.update((TopicPartition(topic, partition), thread) for partition in piece)
    return assignment


def _pieces(partitions: Sequence[int], count: int) -> list[Sequence[int]]:
    if not count:
        return []
    each, extra = divmod(len(partitions), count)
    starts = [each * position + min(position, extra) for position in range(count + 1)]
    return [partitions[starts[n] : starts[n + 1]] for n in range(count)]


def round_robin_assignor(context: AssignmentContext) -> Assignment:
    """Assigns the partitions of all topics, in hash order, to the streams one by one.

    The hash scatters the partitions of one topic, so that no consumer gets all of them.
    """
    assignment: Assignment = {consumer: {} for consumer in context.consumers}
    if not context.threads_for_topic:
        return assignment
    threads = _common_threads(context.threads_for_topic)
    topic_partitions = [
        TopicPartition(topic, partition)
        for topic, partitions in context.partitions_for_topic.items()
        for partition in partitions
    ]
    for topic_partition, thread in zip(
        sorted(topic_partitions, key=_hash_order), cycle(threads), strict=False
    ):
        assignment.setdefault(thread.consumer, {})[topic_partition] = thread
    return assignment


def _hash_order(topic_partition: TopicPartition) -> tuple[int, str, int]:
    # TopicAndPartition.toString.hashCode of Kafka 0.8 to 0.10 (1.x hashes "topic-partition", so it
    # assigns differently). For equal hashes, Kafka's order is that of a hash map.
    return (
        java_string_hash(f"[{topic_partition.topic},{topic_partition.partition}]"),
        topic_partition.topic,
        topic_partition.partition,
    )


def _common_threads(
    threads_for_topic: Mapping[str, Sequence[ConsumerThreadId]],
) -> list[ConsumerThreadId]:
    (head, head_threads), *others = sorted(threads_for_topic.items())
    for topic, threads in others:
        if set(threads) != set(head_threads):
            raise AssignmentError(
                "Round-robin assignment is allowed only if all consumers in the group subscribe "
                "to the same topics, AND if the stream counts across topics are identical for a "
                "given consumer instance.\n"
                f"Topic {topic} has the following available consumer streams: {_shown(threads)}\n"
                f"Topic {head} has the following available consumer streams: "
                f"{_shown(head_threads)}"
            )
    return sorted(set(head_threads))


def _shown(threads: Sequence[ConsumerThreadId]) -> str:
    return ", ".join(str(thread) for thread in sorted(threads))


ASSIGNORS: Mapping[str, Assignor] = {"range": range_assignor, "roundrobin": round_robin_assignor}
