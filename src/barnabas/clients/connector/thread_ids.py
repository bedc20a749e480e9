"""The names by which a group shares partitions out: one per stream."""

from collections.abc import Mapping
from typing import NamedTuple


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
    """Numbers begin at 0 for each topic.

    >>> {topic: len(ids) for topic, ids in thread_ids_per_topic("C1", {"a": 2, "b": 3}).items()}
    {'a': 2, 'b': 3}
    """
    return {
        topic: [ConsumerThreadId(consumer, number) for number in range(count)]
        for topic, count in topic_counts.items()
    }
