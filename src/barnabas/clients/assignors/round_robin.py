"""Round robin: all partitions of all topics dealt out one by one in a circle of members."""

from collections.abc import Mapping, Sequence

from barnabas.clients.assignors.port import Assignment, MemberSubscription, in_order
from barnabas.model.ids import TopicPartition


class RoundRobinAssignor:
    """See the module. A member that does not want a topic is passed over."""

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
