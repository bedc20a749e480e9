"""The interface of an assignor, and the assignors `range` and `roundrobin`. Pure.

Every client computes the same assignment from the same input, so that a group of different clients
agrees, whichever member leads it. Members have Kafka's order: static members first by instance id,
then the others by member id. `range` and `roundrobin` do not consider earlier assignments, and no
assignor considers racks (KIP-881).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from barnabas.model.ids import TopicPartition

Assignment = dict[str, list[TopicPartition]]
"""Partitions by member id; every member has an entry."""


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """One member with its subscription, its partitions and the user data of its assignor."""

    member_id: str
    topics: frozenset[str]
    instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int = -1
    user_data: bytes | None = None
    rack: str | None = None

    @property
    def order(self) -> tuple[bool, str]:
        """Sorts as Kafka sorts members."""
        if self.instance_id is not None:
            return (False, self.instance_id)
        return (True, self.member_id)


@runtime_checkable
class Assignor(Protocol):
    """Computes the assignment of a group.

    Attributes:
        name: the protocol name on which the members of a group agree.
        cooperative: members keep their partitions during a rebalance and revoke only those that
            move (KIP-429). Such an assignor never assigns a partition that another member owns.
    """

    @property
    def name(self) -> str: ...

    @property
    def cooperative(self) -> bool: ...

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        """Returns bytes that this member sends to the leader with its subscription, or None."""
        ...

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        """Returns the partitions of each member.

        Args:
            partitions: number of partitions by topic.
            members: every member of the group with its subscription.
        """
        ...


def in_order(members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    return sorted(members, key=lambda member: member.order)


def subscribers(topic: str, members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    """Returns the members that are subscribed to a topic, in the given order."""
    return [member for member in members if topic in member.topics]


class RangeAssignor:
    """Assigns consecutive partitions of each topic. See the module."""

    name = "range"
    cooperative = False

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return None

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        ordered = in_order(members)
        assignment: Assignment = {member.member_id: [] for member in members}
        for topic, count in sorted(partitions.items()):
            takers = subscribers(topic, ordered)
            if not takers:
                continue
            each, more = divmod(count, len(takers))
            start = 0
            for index, member in enumerate(takers):
                end = start + each + (1 if index < more else 0)
                assignment[member.member_id].extend(
                    TopicPartition(topic, number) for number in range(start, end)
                )
                start = end
        return assignment


class RoundRobinAssignor:
    """Assigns partitions in turn; skips members that are not subscribed to the topic."""

    name = "roundrobin"
    cooperative = False

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return None

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        circle = in_order(members)
        wanted = {topic for member in members for topic in member.topics}
        assignment: Assignment = {member.member_id: [] for member in members}
        turn = 0
        for topic in sorted(wanted & partitions.keys()):
            for number in range(partitions[topic]):
                while topic not in circle[turn % len(circle)].topics:
                    turn += 1
                member = circle[turn % len(circle)]
                assignment[member.member_id].append(TopicPartition(topic, number))
                turn += 1
        return assignment
