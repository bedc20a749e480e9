"""One shard of the group coordinator: all groups of one `__consumer_offsets` partition.

The driver makes a shard when it becomes leader of the partition, feeds the log to `replay`, calls
`loaded`, and from then on runs requests as described in `barnabas.groups.outcome`. It drops the
shard on losing leadership, after answering what `unload` completes.
"""

from collections.abc import Callable, Iterable, Sequence

from barnabas.groups.config import GroupConfig
from barnabas.groups.outcome import CoordinatorRecord, Outcome, TimerKey
from barnabas.groups.replies import (
    DescribedConsumerGroup,
    DescribedGroup,
    ListedGroup,
    OffsetFetchReply,
)
from barnabas.groups.requests import (
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from barnabas.groups.topics_image import TopicsImage
from barnabas.model.error_codes import ErrorCode

NewId = Callable[[], str]
"""Makes the random part of a member id: a uuid in its usual text form."""


class GroupCoordinatorShard:
    """Owned by one loop. `now_ms` is wall time (it is stored in records); delays are relative."""

    def __init__(self, config: GroupConfig, topics: TopicsImage, new_id: NewId) -> None: ...

    # Loading

    def replay(self, record: CoordinatorRecord, producer_id: int = -1) -> None:
        """Apply one record read from the log; `producer_id` is set for transactional batches."""

    def replay_end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Apply a transaction marker read from the log."""

    def loaded(self, now_ms: int) -> Outcome:
        """Everything is replayed: start the members' timers. May have records to append."""
        raise NotImplementedError

    def unload(self) -> Outcome:
        """Answer every parked request with NOT_COORDINATOR and cancel all timers."""
        raise NotImplementedError

    # Settling

    def appended(self, outcome: Outcome, now_ms: int) -> Outcome:
        """The records of `outcome` are in the local log: apply them, give replies and timers."""
        raise NotImplementedError

    def append_failed(self, outcome: Outcome, error_code: ErrorCode, now_ms: int) -> Outcome:
        """The records of `outcome` could not be appended: undo, answer with the mapped error."""
        raise NotImplementedError

    # Membership

    def join_group(self, request: JoinGroupRequest, now_ms: int) -> Outcome:
        raise NotImplementedError

    def sync_group(self, request: SyncGroupRequest, now_ms: int) -> Outcome:
        raise NotImplementedError

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> Outcome:
        raise NotImplementedError

    def leave_group(self, request: LeaveGroupRequest, now_ms: int) -> Outcome:
        raise NotImplementedError

    def consumer_group_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, now_ms: int
    ) -> Outcome:
        raise NotImplementedError

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        """A timer set by an earlier outcome has fired."""
        raise NotImplementedError

    # Offsets

    def commit_offsets(self, request: OffsetCommitRequest, now_ms: int) -> Outcome:
        raise NotImplementedError

    def commit_txn_offsets(self, request: TxnOffsetCommitRequest, now_ms: int) -> Outcome:
        """Records go into a transactional batch of `outcome.producer`."""
        raise NotImplementedError

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """A marker for this partition was appended: publish or drop the pending offsets."""

    def fetch_offsets(self, request: OffsetFetchRequest) -> OffsetFetchReply:
        raise NotImplementedError

    def delete_offsets(self, request: OffsetDeleteRequest, now_ms: int) -> Outcome:
        raise NotImplementedError

    def expire(self, now_ms: int) -> Outcome:
        """Tombstones for expired offsets and for groups with nothing left; run periodically
        (`offsets.retention.check.interval.ms`). The outcome has no reply."""
        raise NotImplementedError

    def topics_deleted(self, topics: Iterable[str], now_ms: int) -> Outcome:
        """Tombstones for every committed offset of these topics. No reply."""
        raise NotImplementedError

    # Admin

    def delete_groups(self, group_ids: Sequence[str], now_ms: int) -> Outcome:
        raise NotImplementedError

    def list_groups(
        self, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> list[ListedGroup]:
        """Groups in any of these states and types (both case-insensitive); empty means all."""
        raise NotImplementedError

    def describe_group(self, group_id: str) -> DescribedGroup:
        """For DescribeGroups (classic)."""
        raise NotImplementedError

    def describe_consumer_group(self, group_id: str) -> DescribedConsumerGroup:
        """For ConsumerGroupDescribe (KIP-848)."""
        raise NotImplementedError
