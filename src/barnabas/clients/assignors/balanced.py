"""The balanced assignment of both sticky assignors: as even as possible, with few moves.

If all members subscribe to the same topics, each one gets a quota of n or n+1 partitions: it keeps
partitions that it owned, the rest is assigned in round-robin order. Otherwise the partitions with
the fewest subscribers are assigned first, each to the member with the fewest partitions, and then
moved while a move improves the balance. As in Kafka, members are ordered by member id here, static
or not, and a member keeps the lowest partition numbers of those it owned.
"""

from collections import deque
from collections.abc import Mapping, Sequence

from barnabas.clients.assignors.port import Assignment, MemberSubscription, subscribers
from barnabas.model.ids import TopicPartition

Claims = Mapping[str, tuple[Sequence[TopicPartition], int]]
"""What each member says it had, and in which generation."""


def balanced_assignment(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], claims: Claims
) -> Assignment:
    """Divide `partitions` among `members`, keeping what the claims say where balance allows."""
    ordered = sorted(members, key=lambda member: member.member_id)
    wanted = {topic for member in ordered for topic in member.topics}
    known = {topic: count for topic, count in sorted(partitions.items()) if topic in wanted}
    kept = _valid_claims(known, ordered, claims)
    topics = {frozenset(member.topics & known.keys()) for member in ordered}
    if len(topics) <= 1:
        return _equal_quotas(known, ordered, kept)
    return _by_potential(known, ordered, kept)


def _valid_claims(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], claims: Claims
) -> Assignment:
    """Partitions that still exist and are wanted, each with its latest owner, if that is one."""
    owners: dict[TopicPartition, tuple[int, str | None]] = {}
    for member in members:
        owned, generation = claims.get(member.member_id, ((), -1))
        for topic_partition in owned:
            best, _ = owners.get(topic_partition, (-2, None))
            if generation > best:
                owners[topic_partition] = (generation, member.member_id)
            elif generation == best:
                # Two members claim it in the same generation: neither claim is valid.
                owners[topic_partition] = (generation, None)
    kept: Assignment = {member.member_id: [] for member in members}
    for member in members:
        for topic_partition in claims.get(member.member_id, ((), -1))[0]:
            exists = topic_partition.partition < partitions.get(topic_partition.topic, 0)
            wanted = exists and topic_partition.topic in member.topics
            if wanted and owners[topic_partition][1] == member.member_id:
                kept[member.member_id].append(topic_partition)
    for topic_partitions in kept.values():
        topic_partitions.sort(key=lambda tp: (tp.partition, tp.topic))
    return kept


def _every(partitions: Mapping[str, int]) -> list[TopicPartition]:
    return [
        TopicPartition(topic, number)
        for topic, count in partitions.items()
        for number in range(count)
    ]


def _equal_quotas(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], kept: Assignment
) -> Assignment:
    total = sum(partitions.values())
    low, with_more = divmod(total, len(members))
    assignment: Assignment = {}
    fuller = 0
    for member in members:
        had = kept[member.member_id]
        quota = low
        if len(had) > low and fuller < with_more:
            quota, fuller = low + 1, fuller + 1
        assignment[member.member_id] = had[:quota]
    taken = {
        topic_partition
        for topic_partitions in assignment.values()
        for topic_partition in topic_partitions
    }
    free = deque(
        topic_partition for topic_partition in _every(partitions) if topic_partition not in taken
    )
    at_quota = [
        topic_partitions for topic_partitions in assignment.values() if len(topic_partitions) == low
    ]
    hungry = [
        topic_partitions for topic_partitions in assignment.values() if len(topic_partitions) < low
    ]
    at_quota += _deal(free, hungry, low)
    _deal(free, at_quota, low + 1)
    return assignment


def _deal(
    free: "deque[TopicPartition]", hungry: list[list[TopicPartition]], quota: int
) -> list[list[TopicPartition]]:
    """One partition to each, round after round, until all have `quota`; in the order filled."""
    filled: list[list[TopicPartition]] = []
    while free and hungry:
        for topic_partitions in hungry:
            if free:
                topic_partitions.append(free.popleft())
        filled += [
            topic_partitions for topic_partitions in hungry if len(topic_partitions) >= quota
        ]
        hungry = [topic_partitions for topic_partitions in hungry if len(topic_partitions) < quota]
    return filled


def _by_potential(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], kept: Assignment
) -> Assignment:
    assignment = {member_id: list(topic_partitions) for member_id, topic_partitions in kept.items()}
    takers = {
        topic: [member.member_id for member in subscribers(topic, members)] for topic in partitions
    }
    taken = {
        topic_partition
        for topic_partitions in assignment.values()
        for topic_partition in topic_partitions
    }
    free = [
        topic_partition
        for topic_partition in _every(partitions)
        if topic_partition not in taken and takers[topic_partition.topic]
    ]
    for topic_partition in sorted(free, key=lambda tp: (len(takers[tp.topic]), tp)):
        assignment[_least(takers[topic_partition.topic], assignment)].append(topic_partition)
    while _even_out(assignment, takers):
        pass
    return assignment


def _even_out(assignment: Assignment, takers: Mapping[str, list[str]]) -> bool:
    """Move partitions from fuller members to emptier ones; False when none can be moved.

    Each move brings two loads closer, so this comes to an end.
    """
    moved = False
    for topic_partitions in assignment.values():
        for topic_partition in list(topic_partitions):
            least = _least(takers[topic_partition.topic], assignment)
            if len(assignment[least]) + 1 < len(topic_partitions):
                topic_partitions.remove(topic_partition)
                assignment[least].append(topic_partition)
                moved = True
    return moved


def _least(takers: Sequence[str], assignment: Assignment) -> str:
    return min(takers, key=lambda member_id: len(assignment[member_id]))
