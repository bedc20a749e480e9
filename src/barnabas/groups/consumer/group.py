"""A KIP-848 group and its members: epochs, subscriptions, target assignment.

The setters are called by `ConsumerDraft` (live) and by replay (load). Both use the same code, so a
restart loads the state that was served before it. A member is an immutable value: a change creates
a new member.
"""

import copy
import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.groups.classic.group import CONSUMER_PROTOCOL_TYPE
from barnabas.groups.requests import OwnedPartitions, Protocol, kept_bytes, protocols_bytes
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid

Partitions = Mapping[Uuid, frozenset[int]]
"""Topic id -> partitions; never an empty set."""
NO_PARTITIONS: Partitions = {}
NO_EPOCH = -1


class MemberState(enum.IntEnum):
    """States of a member, with the numbers of the record.

    STABLE: owns its target, or gets it with the next heartbeat.
    UNREVOKED_PARTITIONS: must revoke partitions and still owns some of them.
    UNRELEASED_PARTITIONS: waits for partitions that other members have not revoked.
    UNKNOWN: written by a newer coordinator; the member must rejoin.
    """

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127

    @classmethod
    def of(cls, number: int) -> "MemberState":
        return cls(number) if number in (0, 1, 2) else cls.UNKNOWN


class ClassicMetadata(NamedTuple):
    """The JoinGroup data of a member that uses the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[Protocol, ...]


class ConsumerGroupMember(NamedTuple):
    """A member. `assigned` are the partitions that it owns or was offered; it must revoke
    `pending_revocation` first. No partition belongs to two members."""

    member_id: str
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str = ""
    server_assignor: str | None = None
    classic: ClassicMetadata | None = None
    assigned: Partitions = NO_PARTITIONS
    pending_revocation: Partitions = NO_PARTITIONS

    @property
    def uses_classic_protocol(self) -> bool:
        return self.classic is not None

    @property
    def kept_bytes(self) -> int:
        """Returns the memory of its subscription."""
        protocols = () if self.classic is None else self.classic.protocols
        texts = (self.subscribed_topic_regex, *self.subscribed_topic_names)
        return kept_bytes(texts) + protocols_bytes(protocols)

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.member_epoch == epoch

    def holds(self) -> Iterable[tuple[Uuid, int]]:
        """Yields every partition that other members must not get."""
        for partitions in (self.assigned, self.pending_revocation):
            for topic_id, numbers in partitions.items():
                for number in numbers:
                    yield topic_id, number


def to_partitions(owned: Iterable[OwnedPartitions]) -> dict[Uuid, frozenset[int]]:
    return {topic_id: frozenset(numbers) for topic_id, numbers in owned if numbers}


def to_owned(partitions: Partitions) -> tuple[OwnedPartitions, ...]:
    """Returns partitions in a fixed order, so that equal assignments compare equal."""
    return tuple(
        OwnedPartitions(topic_id, tuple(sorted(numbers)))
        for topic_id, numbers in sorted(partitions.items())
        if numbers
    )


class ConsumerGroupState(enum.Enum):
    """EMPTY: no members. ASSIGNING: the target is older than the group. RECONCILING: members
    move towards the target. STABLE: all have reached it. DEAD: removed."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class TopicMetadata(NamedTuple):
    """A subscribed topic as the last target assignment saw it."""

    topic_id: Uuid
    partition_count: int


class ResolvedRegex(NamedTuple):
    topics: frozenset[str]
    image_version: int
    timestamp_ms: int


@dataclass(slots=True)
class ConsumerGroup:
    """A KIP-848 group: epochs, members and target assignment.

    Owned by its shard; members are values and shared between copies.

    Invariant: every partition has at most one owner (`owners`), which is the member whose
    `assigned` or `pending_revocation` holds it.
    """

    group_id: str
    group_epoch: int = 0
    target_epoch: int = 0
    members: dict[str, ConsumerGroupMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    subscription_metadata: dict[str, TopicMetadata] = field(default_factory=dict)
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    owners: dict[tuple[Uuid, int], str] = field(default_factory=dict)
    seen_image_version: int = -1  # not stored: after a load the metadata is checked again
    kept_bytes: int = 0  # not stored: of the members' subscriptions
    rejoin_timers: set[str] = field(default_factory=set)  # not stored: members with CLASSIC_JOIN

    def copy(self) -> "ConsumerGroup":
        """Returns a copy; `rejoin_timers` describes running timers and stays shared."""
        clone = copy.copy(self)
        clone.members = dict(self.members)
        clone.static_members = dict(self.static_members)
        clone.target = dict(self.target)
        clone.subscription_metadata = dict(self.subscription_metadata)
        clone.regexes = dict(self.regexes)
        clone.owners = dict(self.owners)
        return clone

    # Setters

    def put_member(self, member: ConsumerGroupMember) -> None:
        self._forget(self.members.get(member.member_id))
        self.members[member.member_id] = member
        self.kept_bytes += member.kept_bytes
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        for partition in member.holds():
            self.owners[partition] = member.member_id

    def remove_member(self, member_id: str) -> None:
        self._forget(self.members.pop(member_id, None))

    def _forget(self, member: ConsumerGroupMember | None) -> None:
        if member is None:
            return
        self.kept_bytes -= member.kept_bytes
        for partition in member.holds():
            if self.owners.get(partition) == member.member_id:
                del self.owners[partition]
        instance_id = member.instance_id
        if instance_id is not None and self.static_members.get(instance_id) == member.member_id:
            del self.static_members[instance_id]

    # Views

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state(self) -> ConsumerGroupState:
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.group_epoch > self.target_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.target_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    def member(self, member_id: str) -> ConsumerGroupMember:
        found = self.members.get(member_id)
        if found is None:
            raise BrokerError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"Member {member_id} is not a member of group {self.group_id}.",
            )
        return found

    def static_member(self, instance_id: str | None) -> ConsumerGroupMember | None:
        member_id = self.static_members.get(instance_id) if instance_id is not None else None
        return self.members.get(member_id) if member_id is not None else None

    def target_of(self, member_id: str) -> Partitions:
        return self.target.get(member_id, NO_PARTITIONS)

    def is_subscribed_to(self, topic: str) -> bool:
        return any(topic in self.topics_of(member) for member in self.members.values())

    def topics_of(self, member: ConsumerGroupMember) -> frozenset[str]:
        """Returns the topics of a member, with those that match its expression."""
        regex = self.regexes.get(member.subscribed_topic_regex)
        if regex is None:
            return member.subscribed_topic_names
        return member.subscribed_topic_names | regex.topics

    def preferred_assignor(self) -> str | None:
        """Returns the assignor that most members request; of equals, the first one."""
        preferences = Counter(
            member.server_assignor
            for member in self.members.values()
            if member.server_assignor is not None
        )
        return max(preferences, key=preferences.__getitem__) if preferences else None

    def classic_members(self) -> list[ConsumerGroupMember]:
        return [member for member in self.members.values() if member.uses_classic_protocol]

    def supports_classic(self, protocol_type: str, protocols: Iterable[Protocol]) -> bool:
        """Whether a classic member with these protocols has one in common with the others."""
        names = {protocol.name for protocol in protocols}
        if protocol_type != CONSUMER_PROTOCOL_TYPE:
            return False
        for member in self.classic_members():
            assert member.classic is not None
            names &= {protocol.name for protocol in member.classic.protocols}
        return bool(names)

    def waits_for_others(self, member: ConsumerGroupMember) -> bool:
        """Returns whether another member still owns a partition of this member's target."""
        return any(
            self.owners.get((topic_id, number), member.member_id) != member.member_id
            for topic_id, numbers in self.target_of(member.member_id).items()
            for number in numbers
        )
