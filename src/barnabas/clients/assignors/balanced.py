"""The division behind both sticky assignors: as even as it can be, moving as little as it must.

Where all members want the same topics there is a direct way: quotas of n or n+1, kept from what
each member had, the rest dealt out in a circle. Otherwise partitions with the fewest takers are
placed first, each with the least loaded, and then moved as long as a move evens things out.
As in Kafka members go by member id here, static or not, and of what a member had it keeps the
lowest partition numbers.
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
        for place in owned:
            best, _ = owners.get(place, (-2, None))
            if generation > best:
                owners[place] = (generation, member.member_id)
            elif generation == best:
                # Two say they had it at once: neither can be believed.
                owners[place] = (generation, None)
    kept: Assignment = {member.member_id: [] for member in members}
    for member in members:
        for place in claims.get(member.member_id, ((), -1))[0]:
            exists = place.partition < partitions.get(place.topic, 0)
            wanted = exists and place.topic in member.topics
            if wanted and owners[place][1] == member.member_id:
                kept[member.member_id].append(place)
    for places in kept.values():
        places.sort(key=lambda place: (place.partition, place.topic))
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
    taken = {place for places in assignment.values() for place in places}
    free = deque(place for place in _every(partitions) if place not in taken)
    at_quota = [places for places in assignment.values() if len(places) == low]
    hungry = [places for places in assignment.values() if len(places) < low]
    at_quota += _deal(free, hungry, low)
    _deal(free, at_quota, low + 1)
    return assignment


def _deal(
    free: "deque[TopicPartition]", hungry: list[list[TopicPartition]], quota: int
) -> list[list[TopicPartition]]:
    """One partition to each, round after round, until all have `quota`; in the order filled."""
    filled: list[list[TopicPartition]] = []
    while free and hungry:
        for places in hungry:
            if free:
                places.append(free.popleft())
        filled += [places for places in hungry if len(places) >= quota]
        hungry = [places for places in hungry if len(places) < quota]
    return filled


def _by_potential(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], kept: Assignment
) -> Assignment:
    assignment = {member_id: list(places) for member_id, places in kept.items()}
    takers = {
        topic: [member.member_id for member in subscribers(topic, members)] for topic in partitions
    }
    taken = {place for places in assignment.values() for place in places}
    free = [place for place in _every(partitions) if place not in taken and takers[place.topic]]
    for place in sorted(free, key=lambda place: (len(takers[place.topic]), place)):
        assignment[_least(takers[place.topic], assignment)].append(place)
    while _even_out(assignment, takers):
        pass
    return assignment


def _even_out(assignment: Assignment, takers: Mapping[str, list[str]]) -> bool:
    """Move partitions from fuller members to emptier ones; False when none can be moved.

    Each move brings two loads closer, so this comes to an end.
    """
    moved = False
    for places in assignment.values():
        for place in list(places):
            least = _least(takers[place.topic], assignment)
            if len(assignment[least]) + 1 < len(places):
                places.remove(place)
                assignment[least].append(place)
                moved = True
    return moved


def _least(takers: Sequence[str], assignment: Assignment) -> str:
    return min(takers, key=lambda member_id: len(assignment[member_id]))
