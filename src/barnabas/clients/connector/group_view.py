"""The picture of a group that a rebalance rests on, and what follows from it. Pure.

Two views that are equal give the same assignment, so a change that leaves the view as it was
(a watch that fired for nothing, a burst that ended where it began) needs no rebalance.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.clients.connector.assignors import AssignmentContext
from barnabas.clients.connector.thread_ids import ConsumerThreadId, thread_ids_per_topic
from barnabas.clients.connector.topic_count import STATIC, topic_count_of
from barnabas.zk.consumer_znodes import ConsumerNode


@dataclass(frozen=True, slots=True)
class Member:
    """A member's subscription as its node tells it."""

    subscription: Mapping[str, int]
    pattern: str

    @property
    def is_wildcard(self) -> bool:
        return self.pattern != STATIC

    @classmethod
    def of(cls, node: ConsumerNode) -> "Member":
        return cls(dict(node.subscription), node.pattern)

    def topic_counts(self, topics: frozenset[str], exclude_internal: bool) -> dict[str, int]:
        node = ConsumerNode(self.subscription, self.pattern)
        return topic_count_of(node, exclude_internal).topic_counts(topics)


def subscribed_topics(
    members: Mapping[str, Member], topics: frozenset[str], exclude_internal: bool
) -> set[str]:
    """Every topic that somebody in the group reads."""
    return {
        topic
        for member in members.values()
        for topic in member.topic_counts(topics, exclude_internal)
    }


@dataclass(frozen=True, slots=True)
class GroupView:
    """Members, the topics that filters choose from, and the partitions of what is read."""

    members: Mapping[str, Member]
    topics: frozenset[str]
    partitions: Mapping[str, tuple[int, ...]]
    exclude_internal: bool = True

    def context(self, consumer: str) -> AssignmentContext:
        """The assignors' input for one member; without topics when it is not registered."""
        threads: dict[str, list[ConsumerThreadId]] = {}
        mine: tuple[str, ...] = ()
        for name, member in sorted(self.members.items()):
            counts = member.topic_counts(self.topics, self.exclude_internal)
            for topic, ids in thread_ids_per_topic(name, counts).items():
                threads.setdefault(topic, []).extend(ids)
            if name == consumer:
                mine = tuple(sorted(counts))
        return AssignmentContext(
            consumer=consumer,
            my_topics=mine,
            threads_for_topic={topic: sorted(ids) for topic, ids in threads.items()},
            partitions_for_topic=self.partitions,
            consumers=tuple(sorted(self.members)),
        )
