"""Requests to the group coordinator, independent of wire versions.

Handlers translate wire messages into these. Where a wire version changes behaviour, the request
carries a named flag instead of the version number.
"""

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.model.ids import TopicPartition, Uuid

UNKNOWN_MEMBER_ID = ""
NO_GENERATION = -1
NO_LEADER_EPOCH = -1


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
    """Give (leader) and receive the assignment of a generation."""

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
    """The one request of the KIP-848 protocol. None means "as in the last heartbeat"."""

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
    member_epochs_supported: bool = True  # v9+: the client understands STALE_MEMBER_EPOCH


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
