"""Commits, reads, deletes and expires the offsets of groups.

OffsetCommit, TxnOffsetCommit and OffsetFetch: the whole commit is rejected when the member may not
commit. A partition whose metadata string is too long is rejected alone and leaves no state
(KAFKA-16371).

OffsetDelete, and expiry by age (KIP-211). The retention time counts
- for an empty group: from when it became empty, or from the commit when that is not known;
- for a stable group of consumers: from the commit, and only for topics without a subscription;
- for a simple group (no membership): from the commit.
Offsets of a group that rebalances, or whose subscriptions are unknown, do not expire (KAFKA-4682,
KAFKA-7403).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from barnabas.coordination import CoordinatorRecord, ProducerSession, offset_commit_error
from barnabas.groups import records
from barnabas.groups.classic import membership, rebalance
from barnabas.groups.classic.group import ClassicGroup, ClassicState
from barnabas.groups.consumer import membership as consumer
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.offset_store import CommittedOffset, OffsetStore
from barnabas.groups.requests import (
    FetchedOffset,
    OffsetCommitReply,
    OffsetCommitRequest,
    OffsetDeleteReply,
    OffsetDeleteRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    OffsetToCommit,
    TxnOffsetCommitRequest,
)
from barnabas.groups.step import Group, GroupStep, GroupTable
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

_NO_RETENTION = -1
_MAX_INT64 = 2**63 - 1
_HOLDS_SESSION = (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE)
NO_OFFSET = -1
MAX_TOMBSTONES = 500
"""Maximum of offsets removed in one step, so that it takes about 2 ms and the batch stays far below
its size limit."""

_BaseTime = Callable[[CommittedOffset], int]


def commit(
    step: GroupStep, groups: GroupTable, store: OffsetStore, request: OffsetCommitRequest
) -> None:
    """Sets the step's reply; raises BrokerError when the whole commit is rejected."""
    group = groups.get(request.group_id)
    if group is None:
        _check_groupless(request)
    else:
        _check_member(group, request)
        _hold_session(step, group, request.member_id)
    expires = None
    if request.retention_time_ms != _NO_RETENTION:
        expires = min(step.now_ms + request.retention_time_ms, _MAX_INT64)
    accepted = _accepted(step, request.offsets, expires)

    def store_all(_producer_id: int) -> None:
        step.stats.commits += len(accepted)
        for partition, committed in accepted.items():
            store.put(request.group_id, partition, committed)

    _write(step, groups, request, accepted, store_all)


def commit_txn(
    step: GroupStep, groups: GroupTable, store: OffsetStore, request: TxnOffsetCommitRequest
) -> None:
    """Stores pending offsets; the marker of the transaction publishes or drops them."""
    group = groups.get(request.group_id)
    if group is not None:
        _check_txn_member(group, request)
    elif request.generation_id >= 0:
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
    accepted = _accepted(step, request.offsets, None)

    def store_all(producer_id: int) -> None:
        step.stats.commits += len(accepted)
        for partition, committed in accepted.items():
            store.put_pending(producer_id, request.group_id, partition, committed)

    _write(step, groups, request, accepted, store_all)


def all_failed(offsets: Sequence[OffsetToCommit], error_code: ErrorCode) -> OffsetCommitReply:
    return OffsetCommitReply(
        tuple((TopicPartition(one.topic, one.partition), error_code) for one in offsets)
    )


def _check_groupless(request: OffsetCommitRequest) -> None:
    """Checks a commit to an unknown group; without a generation it creates a simple group."""
    if request.generation_id < 0:
        return
    if request.member_epochs_supported:
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND)
    raise BrokerError(ErrorCode.ILLEGAL_GENERATION)


def _check_member(group: Group, request: OffsetCommitRequest) -> None:
    if isinstance(group, ClassicGroup):
        _check_classic_member(group, request, transactional=False)
        return
    consumer.validate_commit(
        group,
        request.member_id,
        request.generation_id,
        transactional=False,
        supports_member_epochs=request.member_epochs_supported,
    )


def _check_txn_member(group: Group, request: TxnOffsetCommitRequest) -> None:
    if isinstance(group, ClassicGroup):
        _check_classic_member(group, request, transactional=True)
        return
    # Producers before KIP-447, and those that pass only a group id, send no member and generation.
    if request.generation_id < 0 and not request.member_id:
        return
    try:
        consumer.validate_commit(
            group,
            request.member_id,
            request.generation_id,
            transactional=True,
            supports_member_epochs=True,
        )
    except BrokerError as error:
        if error.code is ErrorCode.STALE_MEMBER_EPOCH:
            # TxnOffsetCommit clients do not support that code.
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION) from error
        raise


def _check_classic_member(
    group: ClassicGroup, request: OffsetCommitRequest | TxnOffsetCommitRequest, transactional: bool
) -> None:
    membership.validate_commit(
        group,
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        transactional=transactional,
    )


def _hold_session(step: GroupStep, group: Group, member_id: str) -> None:
    """Extends the session: in classic groups a commit counts as a heartbeat."""
    if isinstance(group, ClassicGroup) and group.state in _HOLDS_SESSION:
        member = group.members.get(member_id)
        if member is not None:
            rebalance.set_session(step, group, member)


def _accepted(
    step: GroupStep, offsets: Sequence[OffsetToCommit], expire_timestamp_ms: int | None
) -> dict[TopicPartition, CommittedOffset]:
    limit = step.config.offset_metadata_max_bytes
    return {
        TopicPartition(one.topic, one.partition): CommittedOffset(
            offset=one.offset,
            leader_epoch=one.leader_epoch,
            metadata=one.metadata or "",
            commit_timestamp_ms=step.now_ms,
            expire_timestamp_ms=expire_timestamp_ms,
        )
        for one in offsets
        if len(one.metadata or "") <= limit
    }


def _write(
    step: GroupStep,
    groups: GroupTable,
    request: OffsetCommitRequest | TxnOffsetCommitRequest,
    accepted: dict[TopicPartition, CommittedOffset],
    store_all: Callable[[int], None],
) -> None:
    producer_id, producer = -1, None
    if isinstance(request, TxnOffsetCommitRequest):
        producer_id = request.producer_id
        producer = ProducerSession(producer_id, request.producer_epoch)

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = all_failed(request.offsets, offset_commit_error(code))
            return
        if groups.get(request.group_id) is None:
            # A group that only stores offsets, of a consumer that assigns itself partitions. It has
            # no members and expires with its offsets.
            groups.put(ClassicGroup(request.group_id))
        # Pending offsets of a transaction are stored under the producer id, because the marker
        # names only that.
        store_all(producer_id)
        step.outcome.reply = _reply(request.offsets, accepted)

    if accepted:
        step.write(_records(request.group_id, accepted), settled, producer)
    else:
        step.outcome.reply = _reply(request.offsets, accepted)


def _records(
    group_id: str, accepted: dict[TopicPartition, CommittedOffset]
) -> list[CoordinatorRecord]:
    return [
        records.offset_commit(group_id, partition.topic, partition.partition, committed)
        for partition, committed in accepted.items()
    ]


def _reply(
    offsets: Sequence[OffsetToCommit], accepted: dict[TopicPartition, CommittedOffset]
) -> OffsetCommitReply:
    partitions = (TopicPartition(one.topic, one.partition) for one in offsets)
    return OffsetCommitReply(
        tuple(
            (
                topic_partition,
                ErrorCode.NONE
                if topic_partition in accepted
                else ErrorCode.OFFSET_METADATA_TOO_LARGE,
            )
            for topic_partition in partitions
        )
    )


# --- OffsetFetch ----------------------------------------------------------------------------------


def fetch(groups: GroupTable, store: OffsetStore, request: OffsetFetchRequest) -> OffsetFetchReply:
    """Returns the offsets; an unknown group or partition has offset -1 and no error."""
    group = groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        try:
            consumer.validate_fetch(group, request.member_id, request.member_epoch)
        except BrokerError as error:
            return OffsetFetchReply(request.group_id, error.code)
    if request.partitions is None:
        partitions = sorted(store.of_group(request.group_id))
    else:
        partitions = list(request.partitions)
    offsets = tuple(_fetch_one(store, request, partition) for partition in partitions)
    return OffsetFetchReply(request.group_id, ErrorCode.NONE, offsets)


def _fetch_one(
    store: OffsetStore, request: OffsetFetchRequest, topic_partition: TopicPartition
) -> FetchedOffset:
    if request.require_stable and store.is_pending(request.group_id, topic_partition):
        # A transaction may be about to move this offset (KIP-447).
        code = ErrorCode.UNSTABLE_OFFSET_COMMIT
        return FetchedOffset(topic_partition, NO_OFFSET, error_code=code)
    committed = store.get(request.group_id, topic_partition)
    if committed is None:
        return FetchedOffset(topic_partition, NO_OFFSET)
    return FetchedOffset(
        topic_partition, committed.offset, committed.leader_epoch, committed.metadata
    )


@dataclass(slots=True)
class OffsetRemoval:
    """Offsets and groups to be removed, with their tombstones."""

    offsets: list[tuple[str, TopicPartition]]
    group_ids: list[str]
    group_records: list[CoordinatorRecord]

    @classmethod
    def nothing(cls) -> "OffsetRemoval":
        return cls([], [], [])

    def records(self) -> list[CoordinatorRecord]:
        tombstones = [
            records.offset_tombstone(group_id, topic_partition.topic, topic_partition.partition)
            for group_id, topic_partition in self.offsets
        ]
        return tombstones + self.group_records

    def apply(self, groups: GroupTable, store: OffsetStore) -> None:
        for group_id, partition in self.offsets:
            store.remove(group_id, partition)
        for group_id in self.group_ids:
            groups.remove(group_id)

    def add_group(self, group: Group) -> None:
        self.group_ids.append(group.group_id)
        self.group_records += tombstones_of(group)


def tombstones_of(group: Group) -> list[CoordinatorRecord]:
    if isinstance(group, ClassicGroup):
        return [records.group_tombstone(group.group_id)]
    return records.consumer_group_tombstones(
        group.group_id, list(group.members), sorted(group.regexes)
    )


def expired(step: GroupStep, groups: GroupTable, store: OffsetStore) -> OffsetRemoval:
    """Returns expired offsets and empty groups without offsets; at most `MAX_TOMBSTONES`."""
    removal = OffsetRemoval.nothing()
    for group in list(groups.groups.values()):
        room = MAX_TOMBSTONES - len(removal.offsets) - len(removal.group_ids)
        if room <= 0:
            break
        offsets = store.of_group(group.group_id)
        gone = _expired_of_group(step, group, store, offsets)[:room]
        removal.offsets += [(group.group_id, partition) for partition in gone]
        in_use = len(gone) < len(offsets) or store.has_open_transactions(group.group_id)
        if not in_use and _is_abandoned(group):
            removal.add_group(group)
    return removal


def _is_abandoned(group: Group) -> bool:
    """Returns whether the group is empty and no pending member can join."""
    pending = isinstance(group, ClassicGroup) and bool(group.pending_members)
    return group.is_empty and not pending


def _expired_of_group(
    step: GroupStep,
    group: Group,
    store: OffsetStore,
    offsets: dict[TopicPartition, CommittedOffset],
) -> list[TopicPartition]:
    base_time = _base_time(group)
    if base_time is None:
        return []
    retention = step.config.offsets_retention_ms
    return [
        partition
        for partition, committed in sorted(offsets.items())
        if _is_expired(committed, base_time, step.now_ms, retention)
        and not group.is_subscribed_to(partition.topic)
        and not store.is_pending(group.group_id, partition)
    ]


def _base_time(group: Group) -> _BaseTime | None:
    """Returns the start of the retention time; None while offsets of the group do not expire."""
    if not isinstance(group, ClassicGroup):
        return _commit_time
    # KIP-211. No protocol type: the group is only a storage of offsets, each one expires by itself.
    if group.protocol_type is None:
        return _commit_time
    if group.is_empty:
        # Offsets expire together, after the last member left. A record written before KIP-211 has
        # no such time.
        since = group.state_timestamp_ms
        return _commit_time if since is None else lambda _committed: since
    # With members, only offsets of topics that none of them reads may expire. This needs readable
    # subscriptions, and no rebalance that could change them now.
    has_subscription = group.uses_consumer_protocol and group.subscribed_topics is not None
    if has_subscription and group.state is ClassicState.STABLE:
        return _commit_time
    return None


def _commit_time(committed: CommittedOffset) -> int:
    return committed.commit_timestamp_ms


def _is_expired(
    committed: CommittedOffset, base_time: _BaseTime, now_ms: int, retention_ms: int
) -> bool:
    if committed.expire_timestamp_ms is not None:
        return now_ms >= committed.expire_timestamp_ms
    return now_ms - base_time(committed) >= retention_ms


def delete(
    step: GroupStep, groups: GroupTable, store: OffsetStore, request: OffsetDeleteRequest
) -> None:
    """Serves OffsetDelete; raises BrokerError when the whole request is rejected."""
    group = groups.existing(request.group_id)
    # KIP-496. The subscriptions of other protocols cannot be read, so any topic may be in use.
    if isinstance(group, ClassicGroup) and not (group.is_empty or group.uses_consumer_protocol):
        raise BrokerError(ErrorCode.NON_EMPTY_GROUP)
    removal = OffsetRemoval.nothing()
    results: list[tuple[TopicPartition, ErrorCode]] = []
    for partition in request.partitions:
        if group.is_subscribed_to(partition.topic):
            results.append((partition, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC))
            continue
        results.append((partition, ErrorCode.NONE))
        # An offset of an open transaction needs a tombstone, too: otherwise the commit of the
        # transaction would bring it back.
        stored = store.get(request.group_id, partition) is not None
        if stored or store.is_pending(request.group_id, partition):
            removal.offsets.append((request.group_id, partition))

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = OffsetDeleteReply(offset_commit_error(code))
            return
        removal.apply(groups, store)
        step.stats.deleted_offsets += len(removal.offsets)
        step.outcome.reply = OffsetDeleteReply(ErrorCode.NONE, tuple(results))

    write_removal(step, removal, settled)


def write_removal(
    step: GroupStep, removal: OffsetRemoval, settled: Callable[[ErrorCode], None]
) -> None:
    tombstones = removal.records()
    if tombstones:
        step.write(tombstones, settled)
    else:
        settled(ErrorCode.NONE)
