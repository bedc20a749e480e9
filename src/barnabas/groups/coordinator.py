"""One shard of the group coordinator: all groups of one `__consumer_offsets` partition.

The driver makes a shard when it becomes leader of the partition, feeds the log to `replay`, calls
`loaded`, and from then on runs requests as described in `barnabas.groups.outcome`. It drops the
shard on losing leadership, after answering what `unload` completes.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from barnabas.groups import admin, membership
from barnabas.groups.config import GroupConfig
from barnabas.groups.consumer import heartbeat as consumer_heartbeat
from barnabas.groups.offsets import commit, expiry, fetch
from barnabas.groups.offsets.store import OffsetStore
from barnabas.groups.outcome import CoordinatorRecord, Outcome, TimerKey
from barnabas.groups.registry import GroupRegistry
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
from barnabas.groups.step import GroupSettingsOf, Step, Surroundings, no_group_settings
from barnabas.groups.topics_image import TopicsImage
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError

NewId = Callable[[], str]
"""Makes the random part of a member id: a uuid in its usual text form."""


class GroupCoordinatorShard:
    """Owned by one loop. `now_ms` is wall time (it is stored in records); delays are relative.

    Every operation follows "decide, append, apply": see `barnabas.groups.outcome` for what the
    driver does with an outcome. Between an operation whose outcome has records and its
    `appended` or `append_failed`, no other operation may run.
    """

    def __init__(
        self,
        config: GroupConfig,
        topics: TopicsImage,
        new_id: NewId,
        group_settings: GroupSettingsOf = no_group_settings,
    ) -> None:
        self._around = Surroundings(config, topics, new_id, group_settings=group_settings)
        self._groups = GroupRegistry()
        self._offsets = OffsetStore()

    # Loading

    def replay(self, record: CoordinatorRecord, producer_id: int = -1) -> None:
        """Apply one record read from the log; `producer_id` is set for transactional batches."""
        replay(self._groups, self._offsets, record, producer_id)

    def loaded(self, now_ms: int) -> Outcome:
        """Everything is replayed: start the members' timers."""
        step = self._step(now_ms)
        membership.start_timers(step, self._groups)
        return step.outcome

    def unload(self) -> Outcome:
        """Answer every parked request with NOT_COORDINATOR; the driver drops the timers."""
        step = self._step(0)
        membership.dismiss_all(step, self._groups)
        return step.outcome

    def reconfigure(self, config: GroupConfig) -> None:
        """Settings for what comes; timers that run keep their time."""
        self._around.config = config

    # Settling

    def appended(self, outcome: Outcome, now_ms: int) -> Outcome:
        """The records of `outcome` are in the local log: apply them, give replies and timers."""
        return self._settle(outcome, ErrorCode.NONE, now_ms)

    def append_failed(self, outcome: Outcome, error_code: ErrorCode, now_ms: int) -> Outcome:
        """The records of `outcome` could not be appended: undo, answer with the mapped error."""
        return self._settle(outcome, error_code, now_ms)

    # Membership

    def join_group(self, request: JoinGroupRequest, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        try:
            membership.join(step, self._groups, request)
        except BrokerError as error:
            return Outcome(reply=JoinGroupReply(error.code, request.member_id))
        return _finish(step.outcome)

    def sync_group(self, request: SyncGroupRequest, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        try:
            membership.sync(step, self._groups, request)
        except BrokerError as error:
            return Outcome(reply=SyncGroupReply(error.code))
        return _finish(step.outcome)

    def heartbeat(self, request: HeartbeatRequest, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        try:
            membership.heartbeat(step, self._groups, request)
        except BrokerError as error:
            return Outcome(reply=HeartbeatReply(error.code))
        return step.outcome

    def leave_group(self, request: LeaveGroupRequest, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        try:
            membership.leave(step, self._groups, request)
        except BrokerError as error:
            return Outcome(reply=LeaveGroupReply(error.code))
        return step.outcome

    def consumer_group_heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, now_ms: int
    ) -> Outcome:
        step = self._step(now_ms)
        try:
            consumer_heartbeat.heartbeat(step, self._groups, request)
        except BrokerError as error:
            return Outcome(reply=ConsumerGroupHeartbeatReply(error.code, error.message))
        return step.outcome

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        """A timer set by an earlier outcome has fired. The outcome has no reply."""
        step = self._step(now_ms)
        membership.on_timer(step, self._groups, key)
        return step.outcome

    # Offsets

    def commit_offsets(self, request: OffsetCommitRequest, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        try:
            commit.commit(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return Outcome(reply=commit.all_failed(request.offsets, error.code))
        return step.outcome

    def commit_txn_offsets(self, request: TxnOffsetCommitRequest, now_ms: int) -> Outcome:
        """Records go into a transactional batch of `outcome.producer`."""
        step = self._step(now_ms)
        try:
            commit.commit_txn(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return Outcome(reply=commit.all_failed(request.offsets, error.code))
        return step.outcome

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """A marker is in this partition, just appended or replayed: publish or drop what the
        producer has pending."""
        self._offsets.end_transaction(producer_id, commit=commit)

    def fetch_offsets(self, request: OffsetFetchRequest) -> OffsetFetchReply:
        return fetch.fetch(self._groups, self._offsets, request)

    def delete_offsets(self, request: OffsetDeleteRequest, now_ms: int) -> Outcome:
        step = self._step(now_ms)
        try:
            expiry.delete(step, self._groups, self._offsets, request)
        except BrokerError as error:
            return Outcome(reply=OffsetDeleteReply(error.code))
        return step.outcome

    def expire(self, now_ms: int) -> Outcome:
        """Tombstones for expired offsets and for groups with nothing left; run periodically
        (`offsets.retention.check.interval.ms`), and again at once while there are records: one
        step removes a bounded number. The outcome has no reply."""
        step = self._step(now_ms)
        return self._remove(step, expiry.expired(step, self._groups, self._offsets))

    def topics_deleted(self, topics: Iterable[str], now_ms: int) -> Outcome:
        """Tombstones for committed offsets of these topics; run again while there are records,
        as with `expire`. No reply."""
        removal = expiry.Removal.nothing()
        found = self._offsets.partitions_of_topic(frozenset(topics))
        removal.offsets += islice(found, expiry.MAX_TOMBSTONES)
        return self._remove(self._step(now_ms), removal)

    # Admin

    def delete_groups(self, group_ids: Sequence[str], now_ms: int) -> Outcome:
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

    def _step(self, now_ms: int) -> Step:
        return Step(self._around, now_ms)

    def _settle(self, outcome: Outcome, code: ErrorCode, now_ms: int) -> Outcome:
        if outcome.settle is None or outcome.settled:
            raise AssertionError("only an outcome with records is settled, and only once")
        return _finish(outcome.settle(code, now_ms))

    def _remove(self, step: Step, removal: expiry.Removal) -> Outcome:
        def settled(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                removal.apply(self._groups, self._offsets)

        expiry.write_removal(step, removal, settled)
        return step.outcome


def _finish(outcome: Outcome) -> Outcome:
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
