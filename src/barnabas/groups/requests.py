"""Requests and replies of the group coordinator, independent of wire versions.

Handlers translate wire messages into requests, and replies into wire messages. Where a wire version
changes behaviour, the request carries a named flag instead of the version number.
"""

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition, Uuid

UNKNOWN_MEMBER_ID = ""
NO_GENERATION = -1
NO_LEADER_EPOCH = -1


# --- Requests -------------------------------------------------------------------------------------


class Protocol(NamedTuple):
    """An assignment protocol a classic member supports, with its opaque subscription."""

    name: str
    metadata: bytes


_OVERHEAD_BYTES = 128
"""Approximate memory of a stored string beside its content."""


def kept_bytes(texts: Iterable[str | bytes]) -> int:
    """Returns the memory that these strings need."""
    return sum(len(text) + _OVERHEAD_BYTES for text in texts)


def protocols_bytes(protocols: tuple[Protocol, ...]) -> int:
    """Returns the memory of a member's protocols."""
    return kept_bytes(part for protocol in protocols for part in protocol)


class JoinGroupRequest(NamedTuple):
    """Join or rejoin a classic group."""

    group_id: str
    member_id: str
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int  # v0 has none: handlers pass the session timeout
    protocol_type: str
    protocols: tuple[Protocol, ...]
    group_instance_id: str | None = None
    reason: str | None = None
    requires_known_member_id: bool = False  # v4+ (KIP-394)
    can_skip_assignment: bool = False  # v9+ (KIP-814)


class SyncGroupRequest(NamedTuple):
    """Requests the assignment of a generation; the leader's request contains it."""

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None
    protocol_type: str | None = None  # v5+ (KIP-559)
    protocol_name: str | None = None
    assignments: tuple[tuple[str, bytes], ...] = ()


class HeartbeatRequest(NamedTuple):
    """Keeps the session of a classic member alive."""

    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None = None


class LeavingMember(NamedTuple):
    """One member of a LeaveGroup; admin tools remove static members by instance id alone."""

    member_id: str
    group_instance_id: str | None = None
    reason: str | None = None


class LeaveGroupRequest(NamedTuple):
    """One member (before v3) or several leave."""

    group_id: str
    members: tuple[LeavingMember, ...]


JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2


class OwnedPartitions(NamedTuple):
    """Partitions of one topic that a KIP-848 member says it owns."""

    topic_id: Uuid
    partitions: tuple[int, ...]


class ConsumerGroupHeartbeatRequest(NamedTuple):
    """The only request of the KIP-848 protocol. None means "as in the last heartbeat"."""

    group_id: str
    member_id: str
    member_epoch: int
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: tuple[OwnedPartitions, ...] | None = None
    generates_member_id: bool = False  # v1+ (KIP-1082): the client must send its own member id


class OffsetToCommit(NamedTuple):
    """One partition of a commit. `metadata` None is stored as the empty string."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str | None = ""


class OffsetCommitRequest(NamedTuple):
    """Store offsets. `generation_id` is the member epoch in a KIP-848 group."""

    group_id: str
    offsets: tuple[OffsetToCommit, ...]
    generation_id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None
    retention_time_ms: int = -1  # v2-v4
    member_epochs_supported: bool = (
        True  # v9+: the client supports_member_epochs STALE_MEMBER_EPOCH
    )


class TxnOffsetCommitRequest(NamedTuple):
    """Store offsets that become visible when the transaction commits."""

    group_id: str
    transactional_id: str
    producer_id: int
    producer_epoch: int
    offsets: tuple[OffsetToCommit, ...]
    generation_id: int = NO_GENERATION
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None


class OffsetFetchRequest(NamedTuple):
    """Read the offsets of one group; `partitions` None means all of them."""

    group_id: str
    partitions: tuple[TopicPartition, ...] | None = None
    require_stable: bool = False
    member_id: str | None = None  # v9+, KIP-848 members only
    member_epoch: int = -1


class OffsetDeleteRequest(NamedTuple):
    """Delete offsets of topics to which the group is not subscribed."""

    group_id: str
    partitions: tuple[TopicPartition, ...]


# --- Replies --------------------------------------------------------------------------------------


class JoinedMember(NamedTuple):
    """A member as the leader of a generation sees it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinGroupReply(NamedTuple):
    """The reply to JoinGroup. `protocol_name` None is sent as "" before v7."""

    error_code: ErrorCode
    member_id: str
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncGroupReply(NamedTuple):
    """The reply to SyncGroup.

    `assignment` is the opaque bytes of the leader; empty if it sent none.
    """

    error_code: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class HeartbeatReply(NamedTuple):
    """REBALANCE_IN_PROGRESS makes the member rejoin."""

    error_code: ErrorCode


class LeftMember(NamedTuple):
    """The result for one member of a LeaveGroup."""

    member_id: str
    group_instance_id: str | None
    error_code: ErrorCode


class LeaveGroupReply(NamedTuple):
    """Before v3 the handler sends the one member's code as the top-level one."""

    error_code: ErrorCode
    members: tuple[LeftMember, ...] = ()


class ConsumerGroupHeartbeatReply(NamedTuple):
    """The reply to ConsumerGroupHeartbeat.

    `assignment` None means "unchanged"; an empty tuple means "own nothing".
    """

    error_code: ErrorCode
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: tuple[OwnedPartitions, ...] | None = None


class OffsetCommitReply(NamedTuple):
    """One code per partition, for OffsetCommit, TxnOffsetCommit; in the request's order."""

    partitions: tuple[tuple[TopicPartition, ErrorCode], ...]


class FetchedOffset(NamedTuple):
    """A committed offset, or -1 when there is none (which is not an error)."""

    topic_partition: TopicPartition
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    error_code: ErrorCode = ErrorCode.NONE


class OffsetFetchReply(NamedTuple):
    """The offsets of one group; empty if `error_code` is not NONE."""

    group_id: str
    error_code: ErrorCode
    offsets: tuple[FetchedOffset, ...] = ()


class OffsetDeleteReply(NamedTuple):
    """One code per partition, unless the whole request was rejected."""

    error_code: ErrorCode
    partitions: tuple[tuple[TopicPartition, ErrorCode], ...] = ()


class DeleteGroupsReply(NamedTuple):
    """One code per group, in the request's order."""

    results: tuple[tuple[str, ErrorCode], ...]


class ListedGroup(NamedTuple):
    """One group of ListGroups; `state` is for example "Stable", `group_type` "classic"."""

    group_id: str
    protocol_type: str
    state: str
    group_type: str


class DescribedMember(NamedTuple):
    """A member of a classic group; subscription and assignment are opaque bytes."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes = b""
    assignment: bytes = b""


class DescribedGroup(NamedTuple):
    """A classic group for DescribeGroups; an unknown group is "Dead" with GROUP_ID_NOT_FOUND."""

    group_id: str
    error_code: ErrorCode
    error_message: str | None = None
    state: str = ""
    protocol_type: str = ""
    protocol_name: str = ""
    members: tuple[DescribedMember, ...] = ()


class NamedPartitions(NamedTuple):
    """Partitions of one topic with its name and id."""

    topic: str
    owned: OwnedPartitions


class DescribedConsumerMember(NamedTuple):
    """A member of a KIP-848 group with its current and its target assignment."""

    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str
    assignment: tuple[NamedPartitions, ...]
    target_assignment: tuple[NamedPartitions, ...]
    member_type: int = 1  # 0: classic protocol, 1: consumer protocol


class DescribedConsumerGroup(NamedTuple):
    """A KIP-848 group for ConsumerGroupDescribe."""

    group_id: str
    error_code: ErrorCode
    error_message: str | None = None
    state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: tuple[DescribedConsumerMember, ...] = ()


Reply = (
    JoinGroupReply
    | SyncGroupReply
    | HeartbeatReply
    | LeaveGroupReply
    | ConsumerGroupHeartbeatReply
    | OffsetCommitReply
    | OffsetDeleteReply
    | DeleteGroupsReply
)
