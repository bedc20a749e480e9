"""A classic group: its states, members, generation, leader and protocol.

Contains the state and the rules that depend only on it. `rebalance` changes generations; `join`
and `membership` serve the requests.

The consumer protocol embedded in the classic one has subscriptions and assignments. The coordinator
of a classic group does not interpret these bytes, except that it reads the subscribed topics to
decide which offsets may expire. KIP-848 groups read and write them for classic members. Both begin
with an int16 version. A newer version is decoded as the newest supported one, which it extends by
definition.
"""

import enum
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.coordination import Token
from barnabas.groups.requests import JoinedMember, Protocol, protocols_bytes
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.wire.coordinator_records import decode_versioned, encode_versioned, version_of
from barnabas.wire.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
)
from barnabas.wire.messages.consumer_protocol_assignment import (
    TopicPartition as AssignedTopic,
)
from barnabas.wire.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

CONSUMER_PROTOCOL_TYPE = "consumer"

TopicPartitions = Mapping[str, frozenset[int]]
_UNKNOWN_MEMBER = ErrorCode.UNKNOWN_MEMBER_ID


def embedded_version(data: bytes) -> int:
    """Returns the version of a subscription or assignment."""
    version = version_of(data)
    if version < 0:
        raise ProtocolError(f"version {version} of the embedded consumer protocol")
    return min(version, ConsumerProtocolAssignment.MAX_VERSION)


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    return decode_versioned(ConsumerProtocolSubscription, data)


def subscribed_topics(data: bytes) -> frozenset[str]:
    """Returns the topics of a subscription; version 0 is a prefix of all others."""
    embedded_version(data)
    return frozenset(ConsumerProtocolSubscription.decode(memoryview(data), 0, 2).topics)


def decode_assignment(data: bytes) -> dict[str, frozenset[int]]:
    """Returns the assignment; empty bytes mean that the member has none."""
    if not data:
        return {}
    message = decode_versioned(ConsumerProtocolAssignment, data)
    return {topic.topic: frozenset(topic.partitions) for topic in message.assigned_partitions}


def encode_assignment(assignment: TopicPartitions, version: int) -> bytes:
    topics = [
        AssignedTopic(topic, sorted(partitions)) for topic, partitions in sorted(assignment.items())
    ]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=topics), version)


class ClassicState(enum.Enum):
    """States of a classic group; the values are the names in ListGroups and DescribeGroups.

    EMPTY: no members; offsets may remain.
        JoinGroup starts a rebalance; Heartbeat, SyncGroup, LeaveGroup get UNKNOWN_MEMBER_ID;
        commits without generation are stored. -> PREPARING (first join), DEAD (removed).
    PREPARING_REBALANCE: waiting for the members to (re)join.
        JoinGroup is parked; Heartbeat and SyncGroup get REBALANCE_IN_PROGRESS; commits of the
        last generation are stored. Ends when all have joined, or with the JOIN timer.
        -> COMPLETING (some joined), EMPTY (all gone), DEAD.
    COMPLETING_REBALANCE: waiting for the leader's assignment.
        SyncGroup is parked, the leader's completes the phase; Heartbeat succeeds; commits get
        REBALANCE_IN_PROGRESS; JoinGroup with unchanged metadata gets the same response again,
        any other starts a new rebalance. Ends with the SYNC timer at the latest (KAFKA-12890).
        -> STABLE (assignment stored), PREPARING (join, leave, failure, time-out), DEAD.
    STABLE: members own their assignments.
        Heartbeat and SyncGroup succeed; JoinGroup of the leader, or with changed metadata,
        rebalances. Members leave by LeaveGroup or the SESSION timer. -> PREPARING, DEAD.
    DEAD: removed or unloaded; all requests get COORDINATOR_NOT_AVAILABLE. Final.
    """

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


_S = ClassicState

PREVIOUS_STATES: dict[ClassicState, frozenset[ClassicState]] = {
    _S.EMPTY: frozenset({_S.PREPARING_REBALANCE}),
    _S.PREPARING_REBALANCE: frozenset({_S.STABLE, _S.COMPLETING_REBALANCE, _S.EMPTY}),
    _S.COMPLETING_REBALANCE: frozenset({_S.PREPARING_REBALANCE}),
    _S.STABLE: frozenset({_S.COMPLETING_REBALANCE}),
    _S.DEAD: frozenset(_S),
}
"""For each state, the possible previous states."""


@dataclass(slots=True)
class ClassicGroupMember:
    """A member; only its group changes it (`ClassicGroup` counts protocols and parked joins).

    `is_new` is true until the first generation of the member. A new member has not received its id
    yet and cannot send heartbeats, so its session timer may end its parked join.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[Protocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    join_token: Token | None = None
    sync_token: Token | None = None

    @property
    def is_static(self) -> bool:
        return self.group_instance_id is not None

    @property
    def is_waiting(self) -> bool:
        """Whether the member has a parked request, so its session must not expire."""
        return not self.is_new and (self.join_token is not None or self.sync_token is not None)

    def metadata(self, protocol_name: str | None) -> bytes:
        """Returns the subscription for this protocol, empty when the member does not support it."""
        for name, metadata in self.protocols:
            if name == protocol_name:
                return metadata
        return b""

    def vote(self, candidates: frozenset[str]) -> str | None:
        """Returns the most preferred protocol among the candidates."""
        return next((name for name, _ in self.protocols if name in candidates), None)


@dataclass(slots=True)
class ClassicGroup:
    """State of a classic group: members, generation and protocol. Owned by its shard.

    Invariants: `leader_id` is a member, or None when there are none; `static_members` maps every
    instance id to exactly one member; a member is never pending at the same time.
    A group without protocol type is a simple group: it has offsets and never any members.
    """

    group_id: str
    state: ClassicState = ClassicState.EMPTY
    previous_state: ClassicState | None = None
    state_timestamp_ms: int | None = None
    generation_id: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str | None = None
    members: dict[str, ClassicGroupMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    pending_members: set[str] = field(default_factory=set)
    pending_sync: set[str] = field(default_factory=set)
    subscribed_topics: frozenset[str] | None = None
    new_member_added: bool = False
    rebalance_reason: str = ""
    rebalance_start_ms: int | None = None
    initial_delay_ms: int = 0
    initial_remaining_ms: int = 0
    awaiting_join: int = 0
    kept_bytes: int = 0  # of the members' protocols
    _protocol_counts: Counter[str] = field(default_factory=Counter)

    # Members

    def add(self, member: ClassicGroupMember, join_token: Token | None = None) -> None:
        """Adds a member; the first member sets the protocol type and becomes the leader."""
        if not self.members:
            self.protocol_type = member.protocol_type
        if member.group_instance_id is not None:
            self.static_members[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._count_protocols(member, 1)
        self.pending_members.discard(member.member_id)
        self.park_join(member, join_token)

    def remove(self, member_id: str) -> ClassicGroupMember | None:
        """Removes a member or pending member; the caller completes its parked requests."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count_protocols(member, -1)
            self.awaiting_join -= member.join_token is not None
            if member.group_instance_id is not None:
                self.static_members.pop(member.group_instance_id, None)
        if member_id == self.leader_id:
            self.leader_id = next(iter(self.members), None)
        self.pending_members.discard(member_id)
        self.pending_sync.discard(member_id)
        return member

    def replace_static(self, old_id: str, new_id: str) -> ClassicGroupMember:
        """Gives a static member a new id; it keeps its assignment and leadership."""
        member = self.members.pop(old_id)
        assert member.group_instance_id is not None
        member.member_id = new_id
        self.members[new_id] = member
        self.static_members[member.group_instance_id] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        return member

    def update(
        self,
        member: ClassicGroupMember,
        protocols: tuple[Protocol, ...],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        self._count_protocols(member, -1)
        member.protocols = protocols
        self._count_protocols(member, 1)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def park_join(self, member: ClassicGroupMember, token: Token | None) -> Token | None:
        """Sets or clears the member's parked JoinGroup; returns the previous token."""
        previous = member.join_token
        self.awaiting_join += (token is not None) - (previous is not None)
        member.join_token = token
        return previous

    def validate_member(self, member_id: str, group_instance_id: str | None) -> None:
        """Raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID for an instance id of another member."""
        if group_instance_id is not None:
            owner = self.static_members.get(group_instance_id)
            if owner is None:
                raise BrokerError(_UNKNOWN_MEMBER)
            if owner != member_id:
                raise BrokerError(ErrorCode.FENCED_INSTANCE_ID)
        if member_id not in self.members:
            raise BrokerError(_UNKNOWN_MEMBER)

    # Rules

    @property
    def all_joined(self) -> bool:
        return self.awaiting_join == len(self.members) and not self.pending_members

    @property
    def can_rebalance(self) -> bool:
        return self.state in PREVIOUS_STATES[ClassicState.PREPARING_REBALANCE]

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    @property
    def uses_consumer_protocol(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def transition_to(self, state: ClassicState, now_ms: int) -> None:
        if self.state not in PREVIOUS_STATES[state]:
            raise AssertionError(f"group {self.group_id}: {self.state.name} -> {state.name}")
        self.previous_state = self.state
        self.state = state
        self.state_timestamp_ms = now_ms

    def supports(self, protocol_type: str, protocols: tuple[Protocol, ...]) -> bool:
        """Returns whether a member with these protocols can join."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        if protocol_type != self.protocol_type:
            return False
        member_count = len(self.members)
        return any(self._protocol_counts[protocol.name] == member_count for protocol in protocols)

    def select_protocol(self) -> str:
        """Returns the protocol with the most votes; members vote among those that all support.

        Of equals, the protocol with the first vote wins, so that the result depends only on the
        order of members.
        """
        member_count = len(self.members)
        common = (name for name, count in self._protocol_counts.items() if count == member_count)
        candidates = frozenset(common)
        votes = Counter(member.vote(candidates) for member in self.members.values())
        winner, _ = max(votes.items(), key=lambda item: item[1])
        assert winner is not None
        return winner

    def elect_joined_leader(self) -> bool:
        """Elects a leader among the members that joined; False when none has joined."""
        if self.leader_id is None:
            return False
        if self.members[self.leader_id].join_token is not None:
            return True
        joined = (m.member_id for m in self.members.values() if m.join_token is not None)
        found = next(joined, None)
        if found is not None:
            self.leader_id = found
        return found is not None

    def next_generation(self, now_ms: int) -> None:
        """Enters COMPLETING_REBALANCE with a protocol, or EMPTY without members."""
        self.generation_id += 1
        self.pending_sync.clear()
        self.protocol_name = self.select_protocol() if self.members else None
        self.refresh_subscribed_topics()
        state = ClassicState.COMPLETING_REBALANCE if self.members else ClassicState.EMPTY
        self.transition_to(state, now_ms)

    def refresh_subscribed_topics(self) -> None:
        """Sets None when the topics are unknown: another protocol type, or invalid metadata."""
        self.subscribed_topics = None
        if not self.uses_consumer_protocol:
            return
        try:
            topics = [subscribed_topics(m.metadata(self.protocol_name)) for m in self.all_members]
        except ProtocolError:
            return
        self.subscribed_topics = frozenset().union(*topics)

    def is_subscribed_to(self, topic: str) -> bool:
        """For consumers, an unknown subscription counts as a subscription to every topic."""
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol
        return topic in self.subscribed_topics

    # Views

    @property
    def all_members(self) -> list[ClassicGroupMember]:
        return list(self.members.values())

    def members_for_leader(self) -> tuple[JoinedMember, ...]:
        return tuple(
            JoinedMember(m.member_id, m.group_instance_id, m.metadata(self.protocol_name))
            for m in self.members.values()
        )

    def assignments(self) -> dict[str, bytes]:
        return {member.member_id: member.assignment for member in self.members.values()}

    def _count_protocols(self, member: ClassicGroupMember, change: int) -> None:
        for name in {protocol.name for protocol in member.protocols}:  # a member may repeat one
            self._protocol_counts[name] += change
        self.kept_bytes += change * protocols_bytes(member.protocols)
