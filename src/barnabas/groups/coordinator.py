"""One shard of the group coordinator: all groups of one `__consumer_offsets` partition.

The driver creates a shard when the broker becomes leader of the partition, passes every record of
the log to `replay`, calls `loaded`, and then runs operations as `barnabas.coordination.outcome`
describes. When the broker loses the leadership, the driver executes the outcome of `unload` and
drops the shard.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from barnabas.coordination.outcome import CoordinatorRecord
from barnabas.groups import admin, routing
from barnabas.groups.consumer import heartbeat as consumer_heartbeat
from barnabas.groups.offsets import commit, expiry
from barnabas.groups.offsets.store import CommittedOffset, OffsetStore
from barnabas.groups.registry import GroupTable
from barnabas.groups.replay import replay
from barnabas.groups.requests import (
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
    TimerKey,
    TopicsImage,
    no_group_settings,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

NewId = Callable[[], str]
"""Returns the random part of a member id: a UUID as text."""


class GroupCoordinatorShard:
    """Owned by one loop. `now_ms` is wall-clock time (records store it); delays are relative.

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
        routing.start_timers(step, self._groups)
        return step.outcome

    def unload(self) -> GroupOutcome:
        """Completes every parked request with NOT_COORDINATOR; the driver drops the timers."""
        step = self._step(0)
        routing.dismiss_all(step, self._groups)
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
            routing.join(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=JoinGroupReply(error.code, request.member_id))
        return _finish(step.outcome)

    def sync_group(self, request: SyncGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            routing.sync(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=SyncGroupReply(error.code))
        return _finish(step.outcome)

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            routing.heartbeat(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=HeartbeatReply(error.code))
        return step.outcome

    def leave_group(self, request: LeaveGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            routing.leave(step, self._groups, request)
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
        routing.on_timer(step, self._groups, key)
        return step.outcome

    # Offsets

    def commit_offsets(self, request: OffsetCommitRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            commit.commit(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=commit.all_failed(request.offsets, error.code))
        return step.outcome

    def commit_txn_offsets(self, request: TxnOffsetCommitRequest, now_ms: int) -> GroupOutcome:
        """Stores offsets of a transaction; the batch belongs to `outcome.producer`."""
        step = self._step(now_ms)
        try:
            commit.commit_txn(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=commit.all_failed(request.offsets, error.code))
        return step.outcome

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """Publishes or drops the pending offsets of a producer, after its marker was appended or
        replayed."""
        self._offsets.end_transaction(producer_id, commit=commit)

    def fetch_offsets(self, request: OffsetFetchRequest) -> OffsetFetchReply:
        return commit.fetch(self._groups, self._offsets, request)

    def committed_offsets(self) -> Iterator[tuple[str, TopicPartition, CommittedOffset]]:
        """Yields group, partition and offset of every committed offset."""
        for group_id in list(self._offsets.group_ids()):
            for topic_partition, committed in self._offsets.of_group(group_id).items():
                yield group_id, topic_partition, committed

    def delete_offsets(self, request: OffsetDeleteRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            expiry.delete(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=OffsetDeleteReply(error.code))
        return step.outcome

    def expire(self, now_ms: int) -> GroupOutcome:
        """Removes expired offsets, and empty groups without offsets.

        Called periodically (`offsets.retention.check.interval.ms`), and again at once while the
        outcome has records: one step removes a limited number. The outcome has no reply.
        """
        step = self._step(now_ms)
        removal = expiry.expired(step, self._groups, self._offsets)
        step.stats.expired_offsets += len(removal.offsets)
        return self._remove(step, removal)

    def topics_deleted(self, topics: Iterable[str], now_ms: int) -> GroupOutcome:
        """Removes the committed offsets of these topics; called again while the outcome has
        records, as `expire`. The outcome has no reply."""
        removal = expiry.OffsetRemoval.nothing()
        found = self._offsets.partitions_of_topic(frozenset(topics))
        removal.offsets += islice(found, expiry.MAX_TOMBSTONES)
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

    def _remove(self, step: GroupStep, removal: expiry.OffsetRemoval) -> GroupOutcome:
        def settled(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                removal.apply(self._groups, self._offsets)

        expiry.write_removal(step, removal, settled)
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
