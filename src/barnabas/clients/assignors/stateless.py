"""The assignors `range` and `roundrobin`, which do not consider earlier assignments. Pure.

Racks (KIP-881) are not considered.
"""

from collections.abc import Mapping, Sequence

from barnabas.clients.assignors.port import Assignment, MemberSubscription, in_order, subscribers
from barnabas.model.ids import TopicPartition


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
