"""Replies of the group coordinator, independent of wire versions; handlers encode them."""

from typing import NamedTuple

from barnabas.groups.requests import NO_GENERATION, NO_LEADER_EPOCH, OwnedPartitions
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition


class JoinedMember(NamedTuple):
    """A member as the leader of a generation sees it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinGroupReply(NamedTuple):
    """`protocol_name` None is sent as "" before v7."""

    error_code: ErrorCode
    member_id: str
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncGroupReply(NamedTuple):
    """`assignment` is opaque bytes of the leader; empty when it gave none."""

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
    """`assignment` None means "unchanged"; an empty tuple means "own nothing"."""

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
    """The offsets of one group; `error_code` other than NONE comes without any."""

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
    """`state` and `group_type` in the words ListGroups uses: "Stable", "classic"."""

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
    """Partitions of one topic with both its names."""

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
