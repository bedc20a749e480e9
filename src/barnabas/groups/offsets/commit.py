"""OffsetCommit, TxnOffsetCommit and OffsetFetch.

The whole commit is rejected when the member may not commit. A partition whose metadata string is
too long is rejected alone and leaves no state (KAFKA-16371).
"""

from collections.abc import Callable, Sequence

from barnabas.coordination.outcome import CoordinatorRecord, ProducerSession, offset_commit_error
from barnabas.groups import records
from barnabas.groups.classic import membership, rebalance
from barnabas.groups.classic.group import ClassicGroup, ClassicState
from barnabas.groups.consumer import membership as consumer
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.offsets.store import CommittedOffset, OffsetStore
from barnabas.groups.requests import (
    FetchedOffset,
    OffsetCommitReply,
    OffsetCommitRequest,
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
        membership.validate_commit(
            group,
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            transactional=False,
        )
    else:
        consumer.validate_commit(
            group,
            request.member_id,
            request.generation_id,
            transactional=False,
            understands=request.member_epochs_supported,
        )


def _check_txn_member(group: Group, request: TxnOffsetCommitRequest) -> None:
    if isinstance(group, ClassicGroup):
        membership.validate_commit(
            group,
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            transactional=True,
        )
        return
    if request.generation_id < 0 and not request.member_id:
        return
    try:
        consumer.validate_commit(
            group, request.member_id, request.generation_id, transactional=True, understands=True
        )
    except BrokerError as error:
        if error.code is ErrorCode.STALE_MEMBER_EPOCH:
            # TxnOffsetCommit clients do not support that code.
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION) from error
        raise


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
