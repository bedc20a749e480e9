"""One shard of the group coordinator: all groups of one `__consumer_offsets` partition.

The driver creates a shard when the broker becomes leader of the partition, passes every record of
the log to `replay`, calls `loaded`, and then runs operations as `barnabas.coordination.outcome`
describes. When the broker loses the leadership, the driver executes the outcome of `unload` and
drops the shard.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from barnabas.coordination.outcome import CoordinatorRecord
from barnabas.groups import admin, membership
from barnabas.groups.config import GroupConfig
from barnabas.groups.consumer import heartbeat as consumer_heartbeat
from barnabas.groups.offsets import commit, expiry, fetch
from barnabas.groups.offsets.store import OffsetStore
from barnabas.groups.registry import GroupTable
from barnabas.groups.replay import replay
from barnabas.groups.replies import (
    ConsumerGroupHeartbeatReply,
    DescribedConsumerGroup,
    DescribedGroup,
    HeartbeatReply,
    JoinGroupReply,
    LeaveGroupReply,
    ListedGroup,
    OffsetDeleteReply,
    OffsetFetchReply,
    SyncGroupReply,
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
from barnabas.groups.step import (
    GroupAppend,
    GroupContext,
    GroupOutcome,
    GroupSettingsOf,
    GroupStep,
    no_group_settings,
)
from barnabas.groups.timers import TimerKey
from barnabas.groups.topics_image import TopicsImage
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

NewId = Callable[[], str]
"""Makes the random part of a member id: a uuid in its usual text form."""


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
    ) -> None:
        self._around = GroupContext(config, topics, new_id, group_settings=group_settings)
        self._groups = GroupTable()
        self._offsets = OffsetStore()

    # Loading

    def replay(self, record: CoordinatorRecord, producer_id: int = -1) -> None:
        """Apply one record read from the log; `producer_id` is set for transactional batches."""
        replay(self._groups, self._offsets, record, producer_id)

    def loaded(self, now_ms: int) -> GroupOutcome:
        """Everything is replayed: start the members' timers."""
        step = self._step(now_ms)
        membership.start_timers(step, self._groups)
        return step.outcome

    def unload(self) -> GroupOutcome:
        """Answer every parked request with NOT_COORDINATOR; the driver drops the timers."""
        step = self._step(0)
        membership.dismiss_all(step, self._groups)
        return step.outcome

    def reconfigure(self, config: GroupConfig) -> None:
        """Settings for what comes; timers that run keep their time."""
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
            membership.join(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=JoinGroupReply(error.code, request.member_id))
        return _finish(step.outcome)

    def sync_group(self, request: SyncGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            membership.sync(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=SyncGroupReply(error.code))
        return _finish(step.outcome)

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            membership.heartbeat(step, self._groups, request)
        except BrokerError as error:
            return GroupOutcome(reply=HeartbeatReply(error.code))
        return step.outcome

    def leave_group(self, request: LeaveGroupRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            membership.leave(step, self._groups, request)
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
        """A timer set by an earlier outcome has fired. The outcome has no reply."""
        step = self._step(now_ms)
        membership.on_timer(step, self._groups, key)
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
        """Records go into a transactional batch of `outcome.producer`."""
        step = self._step(now_ms)
        try:
            commit.commit_txn(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=commit.all_failed(request.offsets, error.code))
        return step.outcome

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """A marker is in this partition, just appended or replayed: publish or drop what the
        producer has pending."""
        self._offsets.end_transaction(producer_id, commit=commit)

    def fetch_offsets(self, request: OffsetFetchRequest) -> OffsetFetchReply:
        return fetch.fetch(self._groups, self._offsets, request)

    def delete_offsets(self, request: OffsetDeleteRequest, now_ms: int) -> GroupOutcome:
        step = self._step(now_ms)
        try:
            expiry.delete(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return GroupOutcome(reply=OffsetDeleteReply(error.code))
        return step.outcome

    def expire(self, now_ms: int) -> GroupOutcome:
        """Tombstones for expired offsets and for groups with nothing left; run periodically
        (`offsets.retention.check.interval.ms`), and again at once while there are records: one
        step removes a bounded number. The outcome has no reply."""
        step = self._step(now_ms)
        return self._remove(step, expiry.expired(step, self._groups, self._offsets))

    def topics_deleted(self, topics: Iterable[str], now_ms: int) -> GroupOutcome:
        """Tombstones for committed offsets of these topics; run again while there are records,
        as with `expire`. No reply."""
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
        """Groups in any of these states and types (both case-insensitive); empty means all."""
        return admin.list_groups(self._groups, states, types)

    def describe_group(self, group_id: str) -> DescribedGroup:
        """For DescribeGroups (classic)."""
        return admin.describe_group(self._groups, group_id)

    def describe_consumer_group(self, group_id: str) -> DescribedConsumerGroup:
        """For ConsumerGroupDescribe (KIP-848)."""
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
    """A request parked and completed within one step is simply answered."""
    if outcome.parked is None or not outcome.settled:
        return outcome
    for completion in outcome.completions:
        if completion.token == outcome.parked:
            outcome.reply = completion.reply
            outcome.completions.remove(completion)
            outcome.parked = None
            break
    return outcome
