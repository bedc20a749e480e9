"""Round-robin assignor: assigns all partitions of all topics one by one to the members."""

from collections.abc import Mapping, Sequence

from barnabas.clients.assignors.port import Assignment, MemberSubscription, in_order
from barnabas.model.ids import TopicPartition


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
