"""Range and round-robin: who reads what. Pure.

Every member computes the assignment of the whole group from the same picture, so the same input
must give the same output on every member, on our side and on Kafka's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from barnabas.clients.connector.errors import AssignmentError
from barnabas.clients.connector.thread_ids import ConsumerThreadId
from barnabas.model.ids import TopicPartition
from barnabas.model.java_hash import java_string_hash

Assignment = dict[str, dict[TopicPartition, ConsumerThreadId]]
"""For each consumer of the group, its partitions with the stream that reads each."""


@dataclass(frozen=True, slots=True)
class AssignmentContext:
    """The group's picture, from the view of one consumer.

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
    """Topic by topic: partitions in order, cut into pieces, one piece per stream in order.

    Where it does not divide, the first streams get one more.
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
    """All partitions of all topics in hash order, dealt out to the streams in turn.

    The hash scatters the partitions of one topic, so that no consumer gets all of them.
    """
    assignment: Assignment = {consumer: {} for consumer in context.consumers}
    if not context.threads_for_topic:
        return assignment
    threads = _common_threads(context.threads_for_topic)
    places = [
        TopicPartition(topic, partition)
        for topic, partitions in context.partitions_for_topic.items()
        for partition in partitions
    ]
    for place, thread in zip(sorted(places, key=_hash_order), cycle(threads), strict=False):
        assignment.setdefault(thread.consumer, {})[place] = thread
    return assignment


def _hash_order(place: TopicPartition) -> tuple[int, str, int]:
    # TopicAndPartition.toString.hashCode of Kafka 0.8 to 0.10 (1.x has "topic-partition", and deals
    # other hands). Where hashes are equal Kafka goes by the order of a hash map.
    return java_string_hash(f"[{place.topic},{place.partition}]"), place.topic, place.partition


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
