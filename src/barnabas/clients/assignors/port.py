"""What an assignor is given and must return.

Every client of a group computes the same division from the same input, so that a group of mixed
clients agrees whoever leads: members go in Kafka's order, static ones first by their instance id,
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
    """One member: what it wants, what it has, and what its own assignor told the leader."""

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
    """A strategy. `name` is what the members of a group agree on.

    `cooperative`: members keep what they have during a rebalance and give up only what moves
    (KIP-429); such an assignor never gives a partition to one member while another has it.
    """

    @property
    def name(self) -> str: ...

    @property
    def cooperative(self) -> bool: ...

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        """What this member tells the leader beside its topics."""
        ...

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        """Divide the partitions of topics (name to count) among members."""
        ...


def in_order(members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    return sorted(members, key=lambda member: member.order)


def subscribers(topic: str, members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    """The members that want a topic, in the order given."""
    return [member for member in members if topic in member.topics]
