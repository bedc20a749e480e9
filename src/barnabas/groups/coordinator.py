"""One shard of the group coordinator: all groups of one `__consumer_offsets` partition.

The driver creates a shard when the broker becomes leader of the partition, passes every record of
the log to `replay`, calls `loaded`, and then runs operations as `barnabas.coordination`
describes. When the broker loses the leadership, the driver executes the outcome of `unload` and
drops the shard.

The functions below the class route classic requests by the type of the group, and timers by their
kind. `classic`, `consumer` and `offsets` implement the requests.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from barnabas.coordination import CoordinatorRecord, coordinator_error
from barnabas.groups import admin, offsets, records
from barnabas.groups.classic import join as classic_join
from barnabas.groups.classic import membership as classic_membership
from barnabas.groups.classic import rebalance
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.consumer import classic_protocol
from barnabas.groups.consumer import heartbeat as consumer_heartbeat
from barnabas.groups.consumer import membership as consumer_membership
from barnabas.groups.consumer.group import ConsumerGroup, MemberState
from barnabas.groups.offset_store import CommittedOffset, OffsetStore
from barnabas.groups.replay import replay
from barnabas.groups.requests import (
    UNKNOWN_MEMBER_ID,
    ConsumerGroupHeartbeatReply,
    ConsumerGroupHeartbeatRequest,
    DescribedConsumerGroup,
    DescribedGroup,
    HeartbeatReply,
    HeartbeatRequest,
    JoinGroupReply,
    JoinGroupRequest,
    LeaveGroupReply,
    LeaveGroupRequest,
    LeftMember,
    ListedGroup,
    OffsetCommitRequest,
    OffsetDeleteReply,
    OffsetDeleteRequest,
    OffsetFetchReply,
    OffsetFetchRequest,
    SyncGroupReply,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from barnabas.groups.step import (
    GroupAppend,
    GroupConfig,
    GroupContext,
    GroupOutcome,
    GroupSettingsOf,
    GroupStats,
    GroupStep,
    GroupTable,
    RebalanceCause,
    TimerKey,
    TimerKind,
    TopicsImage,
    no_group_settings,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

NewId = Callable[[], str]
"""Returns the random part of a member id: a UUID as text."""


class GroupCoordinatorShard:
    """All groups of one `__consumer_offsets` partition.

    Owned by one loop. `now_ms` is wall-clock time (records store it); delays are relative.

    Every operation decides, appends its records and then applies them. Between an operation whose
    outcome has an append and its `settle`, no other operation may run.
    """

    def __init__(
        self,
        config: GroupConfig,
        topics: TopicsImage,
        new_id: NewId,
        group_settings: GroupSettingsOf = no_group_settings,
        stats: GroupStats | None = None,
    ) -> None:
        self._around = GroupContext(
            config, topics, new_id, group_settings=group_settings, stats=stats or GroupStats()
        )
        self._groups = GroupTable()
        self._offsets = OffsetStore()

    # Loading

    def replay(self, record: CoordinatorRecord, producer_id: int = -1) -> None:
        """Applies one record of the log; `producer_id` is set for transactional batches."""
        replay(self._groups, self._offsets, record, producer_id)

    def loaded(self, now_ms: int) -> GroupOutcome:
        """Starts the timers of the members, after all records are replayed."""
        step = self._step(now_ms)
        _start_timers(step, self._groups)
        return step.outcome

    def unload(self) -> GroupOutcome:
        """Completes every parked request with NOT_COORDINATOR; the driver drops the timers."""
        step = self._step(0)
        _fail_all_parked_requests(step, self._groups)
        return step.outcome

    def reconfigure(self, config: GroupConfig) -> None:
        """Applies new settings; running timers keep their time."""
        self._around.config = config

    # Settling

    def settle(self, append: GroupAppend, code: ErrorCode, now_ms: int) -> GroupOutcome:
        """Completes a step whose append ended with `code`.

        NONE means that the records are in the local log: the shard applies them. After any other
        code it reverts the change and replies with the mapped error.
        """
        return _finish(append.settle(code, now_ms))

    # Membership

    def join_group(self, request: JoinGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            _join(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=JoinGroupReply(error.code, request.member_id))
        return _finish(step.outcome)

    def sync_group(self, request: SyncGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            _sync(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=SyncGroupReply(error.code))
        return _finish(step.outcome)

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            _heartbeat(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=HeartbeatReply(error.code))
        return step.outcome

    def leave_group(self, request: LeaveGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            _leave(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=LeaveGroupReply(error.code))
        return step.outcome

    def consumer_group_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, now_ms: int
    ) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            consumer_heartbeat.heartbeat(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=ConsumerGroupHeartbeatReply(error.code, error.message))
        return step.outcome

    def on_timer(self, key: TimerKey, now_ms: int) -> GroupOutcome:
        """Handles a timer of an earlier outcome. The outcome has no reply."""
        step = self._step(now_ms)
        _on_timer(step, self._groups, key)
        return step.outcome

    # Offsets

    def commit_offsets(self, request: OffsetCommitRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            offsets.commit(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=offsets.all_failed(request.offsets, error.code))
        return step.outcome

    def commit_txn_offsets(self, request: TxnOffsetCommitRequest, now_ms: int) -> GroupOutcome:
        """Stores offsets of a transaction; the batch belongs to `outcome.producer`."""
        step = self._step(now_ms)
        try:
            offsets.commit_txn(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=offsets.all_failed(request.offsets, error.code))
        return step.outcome

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Publishes or drops the pending offsets of a producer, after its marker was appended or
        replayed."""
        self._offsets.end_transaction(producer_id, commit=commit)

    def fetch_offsets(self, request: OffsetFetchRequest) -> OffsetFetchReply:
        return offsets.fetch(self._groups, self._offsets, request)

    def committed_offsets(self) -> Iterator[tuple[str, TopicPartition, CommittedOffset]]:
        """Yields group, partition and offset of every committed offset."""
        for group_id in list(self._offsets.group_ids()):
            for topic_partition, committed in self._offsets.of_group(group_id).items():
                yield group_id, topic_partition, committed

    def delete_offsets(self, request: OffsetDeleteRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            offsets.delete(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=OffsetDeleteReply(error.code))
        return step.outcome

    def expire(self, now_ms: int) -> GroupOutcome:
        """Removes expired offsets, and empty groups without offsets.

        Called periodically (`offsets.retention.check.interval.ms`), and again at once while the
        outcome has records: one step removes a limited number. The outcome has no reply.
        """
        step = self._step(now_ms)
        removal = offsets.expired(step, self._groups, self._offsets)
        step.stats.expired_offsets += len(removal.offsets)
        return self._remove(step, removal)

    def topics_deleted(self, topics: Iterable[str], now_ms: int) -> GroupOutcome:
        """Removes the committed offsets of these topics; called again while the outcome has
        records, as `expire`. The outcome has no reply."""
        removal = offsets.OffsetRemoval.nothing()
        found = self._offsets.partitions_of_topic(frozenset(topics))
        removal.offsets += islice(found, offsets.MAX_TOMBSTONES)
        return self._remove(self._step(now_ms), removal)

    # Admin

    def delete_groups(self, group_ids: Sequence[str], now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        admin.delete_groups(step, self._groups, self._offsets, group_ids)
        return step.outcome

    def list_groups(
        self, states: Iterable[str] = (), types: Iterable[str] = ()
    ) -> list[ListedGroup]:
        """Returns the groups in these states and types (case-insensitive); empty means all."""
        return admin.list_groups(self._groups, states, types)

    def describe_group(self, group_id: str) -> DescribedGroup:
        """Describes a classic group."""
        return admin.describe_group(self._groups, group_id)

    def describe_consumer_group(self, group_id: str) -> DescribedConsumerGroup:
        """Describes a KIP-848 group."""
        return admin.describe_consumer_group(self._groups, self._around, group_id)

    def _step(self, now_ms: int) -> GroupStep:
        return GroupStep(self._around, now_ms)

    def _remove(self, step: GroupStep, removal: offsets.OffsetRemoval) -> GroupOutcome:
        def settled(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                removal.apply(self._groups, self._offsets)

        offsets.write_removal(step, removal, settled)
        return step.outcome


def _finish(outcome: GroupOutcome) -> GroupOutcome:
    """Turns the completion of a request that was parked in the same step into its reply."""
    if outcome.parked is None or not outcome.settled:
        return outcome
    for completion in outcome.completions:
        if completion.token == outcome.parked:
            outcome.reply = completion.reply
            outcome.completions.remove(completion)
            outcome.parked = None
            break
    return outcome


# --- Routing by the type of the group -------------------------------------------------------------


def _join(step: GroupStep, groups: GroupTable, request: JoinGroupRequest) -> None:
    """Serves JoinGroup; raises BrokerError when the request is rejected."""
    _validate_join(step, request)
    group = groups.get(request.group_id)
    if isinstance(group, ConsumerGroup) and not group.is_empty:
        classic_protocol.join(step, groups, group, request)
    elif group is None and request.member_id != UNKNOWN_MEMBER_ID:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)
    elif isinstance(group, ConsumerGroup):
        _join_instead_of(step, groups, group, request)
    else:
        _join_classic(step, groups, group or ClassicGroup(request.group_id), request)


def _validate_join(step: GroupStep, request: JoinGroupRequest) -> None:
    if not request.group_id:
        raise BrokerError(ErrorCode.INVALID_GROUP_ID)
    config = step.config
    allowed = range(config.min_session_timeout_ms, config.max_session_timeout_ms + 1)
    if request.session_timeout_ms not in allowed:
        raise BrokerError(ErrorCode.INVALID_SESSION_TIMEOUT)


def _join_classic(
    step: GroupStep, groups: GroupTable, group: ClassicGroup, request: JoinGroupRequest
) -> None:
    classic_join.join(step, group, request)
    if group.members or group.pending_members:
        # A rejected first member must not create an empty group.
        groups.put(group)


def _join_instead_of(
    step: GroupStep, groups: GroupTable, empty: ConsumerGroup, request: JoinGroupRequest
) -> None:
    """Replaces an empty KIP-848 group by a classic group when a classic member joins."""
    group = ClassicGroup(request.group_id)
    tombstones = records.consumer_group_tombstones(
        empty.group_id, list(empty.members), sorted(empty.regexes)
    )

    def settled(code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            step.outcome.reply = JoinGroupReply(coordinator_error(code), request.member_id)
            return
        groups.put(group)
        classic_join.join(step, group, request)

    step.write([*tombstones, records.group_metadata(group, {}, step.now_ms)], settled)


def _sync(step: GroupStep, groups: GroupTable, request: SyncGroupRequest) -> None:
    group = _member_group(groups, request.group_id)
    if isinstance(group, ClassicGroup):
        classic_membership.sync(step, group, request)
    else:
        classic_protocol.sync(step, group, request)


def _heartbeat(step: GroupStep, groups: GroupTable, request: HeartbeatRequest) -> None:
    group = _member_group(groups, request.group_id)
    if isinstance(group, ClassicGroup):
        classic_membership.heartbeat(step, group, request)
    else:
        classic_protocol.heartbeat(step, group, request)


def _leave(step: GroupStep, groups: GroupTable, request: LeaveGroupRequest) -> None:
    if request.group_id and groups.get(request.group_id) is None:
        unknown = ErrorCode.UNKNOWN_MEMBER_ID
        left = (LeftMember(m.member_id, m.group_instance_id, unknown) for m in request.members)
        step.outcome.reply = LeaveGroupReply(ErrorCode.NONE, tuple(left))
        return
    group = _member_group(groups, request.group_id)
    if isinstance(group, ClassicGroup):
        classic_membership.leave(step, group, request)
    else:
        classic_protocol.leave(step, groups, group, request)


def _member_group(groups: GroupTable, group_id: str) -> ClassicGroup | ConsumerGroup:
    if not group_id:
        raise BrokerError(ErrorCode.INVALID_GROUP_ID)
    group = groups.get(group_id)
    if group is None:
        raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
    return group


def _on_timer(step: GroupStep, groups: GroupTable, key: TimerKey) -> None:
    """Handles a timer; ignores timers of removed groups and of another group type."""
    group = groups.get(key.group_id)
    if isinstance(group, ConsumerGroup):
        consumer_membership.on_timer(step, groups, group, key)
        return
    if group is None:
        return
    match key.kind:
        case TimerKind.JOIN:
            rebalance.on_join_timer(step, group)
        case TimerKind.SYNC:
            rebalance.on_sync_timer(step, group)
        case TimerKind.SESSION:
            rebalance.on_session_timer(step, group, key.member_id)
        case TimerKind.PENDING_MEMBER:
            rebalance.on_pending_member_timer(step, group, key.member_id)
        case _:
            return


def _start_timers(step: GroupStep, groups: GroupTable) -> None:
    """Starts a full session timeout for every member after a load."""
    for group in groups.groups.values():
        if isinstance(group, ConsumerGroup):
            _start_consumer_timers(step, group)
            continue
        for member in group.all_members:
            rebalance.set_session(step, group, member)
        if len(group.members) > step.config.max_size:
            # group.max.size was lowered; the rebalance removes the last members (KIP-389).
            reason = "loaded with more members than allowed"
            rebalance.prepare_rebalance(step, group, RebalanceCause.OTHER, reason)


def _start_consumer_timers(step: GroupStep, group: ConsumerGroup) -> None:
    for member in group.members.values():
        timeout_ms = step.session_timeout_ms(group.group_id)
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        session = TimerKey(TimerKind.SESSION, group.group_id, member.member_id)
        step.outcome.set_timer(session, timeout_ms)
        if member.classic is None and member.state is MemberState.UNREVOKED_PARTITIONS:
            key = TimerKey(TimerKind.REVOCATION, group.group_id, member.member_id)
            step.outcome.set_timer(key, member.rebalance_timeout_ms)


def _fail_all_parked_requests(step: GroupStep, groups: GroupTable) -> None:
    """Fails every parked request: this broker is no longer the coordinator."""
    for group in groups.groups.values():
        if isinstance(group, ClassicGroup):
            rebalance.fail_parked_requests(step, group, ErrorCode.NOT_COORDINATOR)
