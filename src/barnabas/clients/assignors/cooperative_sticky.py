"""Cooperative sticky assignor: the sticky assignment in two rebalances (KIP-429).

Members keep reading during the rebalance. The first one leaves out a partition that moves, so that
its owner revokes it; the second one assigns it to the new owner.

User data, big-endian: generation: int32. Subscriptions from version 2 on also carry it as a field.
"""

from collections.abc import Mapping, Sequence
from struct import Struct

from barnabas.clients.assignors.balanced import balanced_assignment
from barnabas.clients.assignors.port import Assignment, MemberSubscription
from barnabas.model.ids import TopicPartition

_GENERATION = Struct(">i")


class CooperativeStickyAssignor:
    """Sticky assignment with cooperative rebalances. See the module."""

    name = "cooperative-sticky"
    cooperative = True

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return _GENERATION.pack(generation)

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        claims = {member.member_id: (member.owned, _generation(member)) for member in members}
        assignment = balanced_assignment(partitions, members, claims)
        return without_moving(assignment, members)


def without_moving(assignment: Assignment, members: Sequence[MemberSubscription]) -> Assignment:
    """Returns the assignment without the partitions that another member still owns."""
    holders: dict[TopicPartition, set[str]] = {}
    for member in members:
        for topic_partition in member.owned:
            holders.setdefault(topic_partition, set()).add(member.member_id)
    return {
        member_id: [
            topic_partition
            for topic_partition in topic_partitions
            if not holders.get(topic_partition, set()) - {member_id}
        ]
        for member_id, topic_partitions in assignment.items()
    }


def _generation(member: MemberSubscription) -> int:
    if member.generation >= 0:
        return member.generation
    data = member.user_data
    return _GENERATION.unpack_from(data)[0] if data and len(data) >= 4 else -1
