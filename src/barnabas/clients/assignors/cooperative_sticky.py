"""Cooperative sticky: the sticky division, given out in two steps (KIP-429).

Members keep reading during the rebalance. A partition that moves is first left out, so that its
owner gives it up; the rebalance that follows hands it to its new owner.

User data, big-endian: generation: int32. Subscriptions from version 2 on carry it as a field too.
"""

from collections.abc import Mapping, Sequence
from struct import Struct

from barnabas.clients.assignors.balanced import balanced_assignment
from barnabas.clients.assignors.port import Assignment, MemberSubscription
from barnabas.model.ids import TopicPartition

_GENERATION = Struct(">i")


class CooperativeStickyAssignor:
    """See the module."""

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
    """The assignment less every partition that another member still has."""
    holders: dict[TopicPartition, set[str]] = {}
    for member in members:
        for place in member.owned:
            holders.setdefault(place, set()).add(member.member_id)
    return {
        member_id: [place for place in places if not holders.get(place, set()) - {member_id}]
        for member_id, places in assignment.items()
    }


def _generation(member: MemberSubscription) -> int:
    if member.generation >= 0:
        return member.generation
    data = member.user_data
    return _GENERATION.unpack_from(data)[0] if data and len(data) >= 4 else -1
