"""The interface of an assignor.

Every client computes the same assignment from the same input, so that a group of different clients
agrees, whichever member leads it. Members have Kafka's order: static members first by instance id,
then the others by member id.
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
