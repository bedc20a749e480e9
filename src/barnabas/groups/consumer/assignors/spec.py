"""What an assignor is given and gives."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from barnabas.groups.consumer.member import Partitions
from barnabas.model.ids import Uuid


class MemberSpec(NamedTuple):
    """A member to be assigned: subscribed topics, and what it was last assigned."""

    topics: frozenset[Uuid]
    instance_id: str | None
    previous: Partitions


class GroupSpec(NamedTuple):
    """Members by id, and the partition count of every subscribed topic that exists."""

    members: Mapping[str, MemberSpec]
    topics: Mapping[Uuid, int]

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same topics."""
        return len({member.topics for member in self.members.values()}) <= 1

    def subscribers(self, topic_id: Uuid) -> list[str]:
        return [name for name, member in self.members.items() if topic_id in member.topics]

    def partitions(self) -> Iterator[tuple[Uuid, int]]:
        """All partitions of the topics, in a fixed order."""
        for topic_id in sorted(self.topics):
            for partition in range(self.topics[topic_id]):
                yield topic_id, partition


Assignor = Callable[[GroupSpec], dict[str, dict[Uuid, frozenset[int]]]]
"""Every member of the spec is in the result; every partition with a subscriber has one owner."""


def freeze(owned: Mapping[str, set[tuple[Uuid, int]]]) -> dict[str, dict[Uuid, frozenset[int]]]:
    """From sets of single partitions to partitions by topic."""
    result: dict[str, dict[Uuid, frozenset[int]]] = {}
    for member_id, partitions in owned.items():
        by_topic: dict[Uuid, set[int]] = {}
        for topic_id, partition in partitions:
            by_topic.setdefault(topic_id, set()).add(partition)
        result[member_id] = {topic_id: frozenset(found) for topic_id, found in by_topic.items()}
    return result
