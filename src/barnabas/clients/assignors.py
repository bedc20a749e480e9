"""Assignors: strategies by which the leader of a group assigns partitions to its members. Pure.

`resolve_assignors` finds them by their configuration value: Kafka's short names, its class names,
or objects.

Every client computes the same assignment from the same input, so that a group of different clients
agrees, whichever member leads it. Members have Kafka's order: static members first by instance id,
then the others by member id. `range` and `roundrobin` do not consider earlier assignments, and no
assignor considers racks (KIP-881).

`sticky` (KIP-54) and `cooperative-sticky` (KIP-429) balance the partitions with few moves. If all
members subscribe to the same topics, each one gets a quota of n or n+1 partitions: it keeps
partitions that it owned, the rest is assigned in round-robin order. Otherwise the partitions with
the fewest subscribers are assigned first, each to the member with the fewest partitions, and then
moved while a move improves the balance. As in Kafka, both order members by member id, static or
not, and a member keeps the lowest partition numbers of those it owned.

`sticky` is eager: members revoke all partitions before the rebalance, so each one stores its last
assignment and sends it to the leader as user data. Big-endian: array of (topic: string, partitions:
array of int32), then, in its version 1, generation: int32.

With `cooperative-sticky` members keep reading during the rebalance. The first rebalance leaves out
a partition that moves, so that its owner revokes it; the second one assigns it to the new owner.
User data, big-endian: generation: int32. Subscriptions from version 2 on also carry it as a field.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from struct import Struct, error
from typing import Protocol, runtime_checkable

from barnabas.model.errors import ConfigError
from barnabas.model.ids import TopicPartition

__all__ = [
    "Assignment",
    "Assignor",
    "CooperativeStickyAssignor",
    "MemberSubscription",
    "RangeAssignor",
    "RoundRobinAssignor",
    "StickyAssignor",
    "resolve_assignors",
]

Assignment = dict[str, list[TopicPartition]]
"""Partitions by member id; every member has an entry."""
Claims = Mapping[str, tuple[Sequence[TopicPartition], int]]
"""The partitions that each member reports as owned, with the generation of the report."""
_INT32 = Struct(">i")
_INT16 = Struct(">h")


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


class _StatelessAssignor:
    """Base of the eager assignors that do not consider earlier assignments."""

    cooperative = False

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return None


class RangeAssignor(_StatelessAssignor):
    """Assigns consecutive partitions of each topic."""

    name = "range"

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        ordered = in_order(members)
        assignment: Assignment = {member.member_id: [] for member in members}
        for topic, count in sorted(partitions.items()):
            candidates = subscribers(topic, ordered)
            if not candidates:
                continue
            each, more = divmod(count, len(candidates))
            start = 0
            for index, member in enumerate(candidates):
                end = start + each + (1 if index < more else 0)
                assignment[member.member_id].extend(
                    TopicPartition(topic, partition) for partition in range(start, end)
                )
                start = end
        return assignment


class RoundRobinAssignor(_StatelessAssignor):
    """Assigns partitions in turn; skips members that are not subscribed to the topic."""

    name = "roundrobin"

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        ring = in_order(members)
        wanted = {topic for member in members for topic in member.topics}
        assignment: Assignment = {member.member_id: [] for member in members}
        turn = 0
        for topic in sorted(wanted & partitions.keys()):
            for partition in range(partitions[topic]):
                while topic not in ring[turn % len(ring)].topics:
                    turn += 1
                member = ring[turn % len(ring)]
                assignment[member.member_id].append(TopicPartition(topic, partition))
                turn += 1
        return assignment


def balanced_assignment(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], claims: Claims
) -> Assignment:
    """Returns a balanced assignment that keeps claimed partitions where the balance allows it."""
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
    """Returns the latest owner of each claimed partition that exists and is still subscribed."""
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
        topic_partitions.sort(
            key=lambda topic_partition: (topic_partition.partition, topic_partition.topic)
        )
    return kept


def _every(partitions: Mapping[str, int]) -> list[TopicPartition]:
    return [
        TopicPartition(topic, partition)
        for topic, count in partitions.items()
        for partition in range(count)
    ]


def _equal_quotas(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], kept: Assignment
) -> Assignment:
    total = sum(partitions.values())
    low, with_more = divmod(total, len(members))
    assignment: Assignment = {}
    larger_quotas = 0
    for member in members:
        had = kept[member.member_id]
        quota = low
        if len(had) > low and larger_quotas < with_more:
            quota, larger_quotas = low + 1, larger_quotas + 1
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
    below_quota = [
        topic_partitions for topic_partitions in assignment.values() if len(topic_partitions) < low
    ]
    at_quota += _assign_in_turn(free, below_quota, low)
    _assign_in_turn(free, at_quota, low + 1)
    return assignment


def _assign_in_turn(
    free: "deque[TopicPartition]", below_quota: list[list[TopicPartition]], quota: int
) -> list[list[TopicPartition]]:
    """Assigns partitions in turn until every member has `quota`; returns the full members."""
    filled: list[list[TopicPartition]] = []
    while free and below_quota:
        for topic_partitions in below_quota:
            if free:
                topic_partitions.append(free.popleft())
        filled += [
            topic_partitions for topic_partitions in below_quota if len(topic_partitions) >= quota
        ]
        below_quota = [
            topic_partitions for topic_partitions in below_quota if len(topic_partitions) < quota
        ]
    return filled


def _by_potential(
    partitions: Mapping[str, int], members: Sequence[MemberSubscription], kept: Assignment
) -> Assignment:
    assignment = {member_id: list(topic_partitions) for member_id, topic_partitions in kept.items()}
    candidates = {
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
        if topic_partition not in taken and candidates[topic_partition.topic]
    ]
    for topic_partition in sorted(
        free, key=lambda topic_partition: (len(candidates[topic_partition.topic]), topic_partition)
    ):
        assignment[_least(candidates[topic_partition.topic], assignment)].append(topic_partition)
    while _even_out(assignment, candidates):
        pass
    return assignment


def _even_out(assignment: Assignment, candidates: Mapping[str, list[str]]) -> bool:
    """Moves partitions to members with fewer partitions; returns False if no move is possible.

    Each move reduces the difference between two members, so the loop terminates.
    """
    moved = False
    for topic_partitions in assignment.values():
        for topic_partition in list(topic_partitions):
            least = _least(candidates[topic_partition.topic], assignment)
            if len(assignment[least]) + 1 < len(topic_partitions):
                topic_partitions.remove(topic_partition)
                assignment[least].append(topic_partition)
                moved = True
    return moved


def _least(candidates: Sequence[str], assignment: Assignment) -> str:
    return min(candidates, key=lambda member_id: len(assignment[member_id]))


def encode_sticky_data(owned: Sequence[TopicPartition], generation: int) -> bytes:
    """Encodes version 1 of the user data."""
    by_topic = [(topic, list(items)) for topic, items in groupby(sorted(owned), lambda p: p.topic)]
    parts = [_INT32.pack(len(by_topic))]
    for topic, topic_partitions in by_topic:
        name = topic.encode()
        parts += [_INT16.pack(len(name)), name, _INT32.pack(len(topic_partitions))]
        parts += [_INT32.pack(topic_partition.partition) for topic_partition in topic_partitions]
    parts.append(_INT32.pack(generation))
    return b"".join(parts)


def decode_sticky_data(data: bytes | None) -> tuple[list[TopicPartition], int]:
    """Decodes both versions; returns no partitions for invalid data, as Kafka does."""
    try:
        return _decode(data) if data else ([], -1)
    except (error, UnicodeDecodeError):
        return [], -1


def _decode(data: bytes) -> tuple[list[TopicPartition], int]:
    owned: list[TopicPartition] = []
    (topics,), position = _INT32.unpack_from(data, 0), 4
    for _ in range(topics):
        (size,) = _INT16.unpack_from(data, position)
        topic = data[position + 2 : position + 2 + size].decode()
        position += 2 + size
        (count,) = _INT32.unpack_from(data, position)
        position += 4
        for _ in range(count):
            owned.append(TopicPartition(topic, _INT32.unpack_from(data, position)[0]))
            position += 4
    generation = _INT32.unpack_from(data, position)[0] if len(data) >= position + 4 else -1
    return owned, generation


class StickyAssignor:
    """Balanced assignment that keeps owned partitions. See the module."""

    name = "sticky"
    cooperative = False

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return encode_sticky_data(owned, generation) if owned else None

    def assign(
        self, partitions: Mapping[str, int], members: Sequence[MemberSubscription]
    ) -> Assignment:
        claims = {member.member_id: decode_sticky_data(member.user_data) for member in members}
        return balanced_assignment(partitions, members, claims)


class CooperativeStickyAssignor:
    """Sticky assignment with cooperative rebalances. See the module."""

    name = "cooperative-sticky"
    cooperative = True

    def user_data(self, owned: Sequence[TopicPartition], generation: int) -> bytes | None:
        return _INT32.pack(generation)

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
    return _INT32.unpack_from(data)[0] if data and len(data) >= 4 else -1


BUILT_IN: dict[str, type[Assignor]] = {
    "range": RangeAssignor,
    "roundrobin": RoundRobinAssignor,
    "sticky": StickyAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
_BY_CLASS_NAME = {kind.__name__: name for name, kind in BUILT_IN.items()}


def resolve_assignors(given: Iterable[object]) -> list[Assignor]:
    """Returns the assignors of `partition.assignment.strategy`, in order of preference.

    >>> [found.name for found in resolve_assignors(["range", "CooperativeStickyAssignor"])]
    ['range', 'cooperative-sticky']
    """
    assignors = [_resolve(item) for item in given]
    if not assignors:
        raise ConfigError("partition.assignment.strategy: at least one assignor is needed")
    names = [assignor.name for assignor in assignors]
    if len(set(names)) < len(names):
        raise ConfigError(f"partition.assignment.strategy: {names} names one assignor twice")
    return assignors


def _resolve(item: object) -> Assignor:
    if isinstance(item, str):
        name = item.rpartition(".")[2]
        found = BUILT_IN.get(item) or BUILT_IN.get(_BY_CLASS_NAME.get(name, ""))
        if found is None:
            raise ConfigError(
                f"partition.assignment.strategy: {item!r} is not one of {', '.join(BUILT_IN)}"
            )
        return found()
    instance = item() if isinstance(item, type) else item
    if isinstance(instance, Assignor):
        return instance
    raise ConfigError(f"partition.assignment.strategy: {item!r} is not an assignor")
