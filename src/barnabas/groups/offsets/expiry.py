"""Deletes offsets on request and expires them by age (KIP-211).

The retention time counts
- for an empty group: from when it became empty, or from the commit when that is not known;
- for a stable group of consumers: from the commit, and only for topics without a subscription;
- for a simple group (no membership): from the commit.
Offsets of a group that rebalances, or whose subscriptions are unknown, do not expire (KAFKA-4682,
KAFKA-7403).
"""

from collections.abc import Callable
from dataclasses import dataclass

from barnabas.coordination.outcome import CoordinatorRecord, offset_commit_error
from barnabas.groups import records
from barnabas.groups.classic.group import ClassicGroup, ClassicState
from barnabas.groups.offsets.store import CommittedOffset, OffsetStore
from barnabas.groups.requests import OffsetDeleteReply, OffsetDeleteRequest
from barnabas.groups.step import Group, GroupStep, GroupTable
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

MAX_TOMBSTONES = 1_000
"""Maximum of offsets removed in one step, so that the batch stays far below its size limit."""

_BaseTime = Callable[[CommittedOffset], int]


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
    if group.protocol_type is None:
        return _commit_time
    if group.is_empty:
        since = group.state_timestamp_ms
        return _commit_time if since is None else lambda _committed: since
    knows_topics = group.uses_consumer_protocol and group.subscribed_topics is not None
    if knows_topics and group.state is ClassicState.STABLE:
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
    if isinstance(group, ClassicGroup) and not (group.is_empty or group.uses_consumer_protocol):
        raise BrokerError(ErrorCode.NON_EMPTY_GROUP)
    removal = OffsetRemoval.nothing()
    results: list[tuple[TopicPartition, ErrorCode]] = []
    for partition in request.partitions:
        if group.is_subscribed_to(partition.topic):
            results.append((partition, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC))
            continue
        results.append((partition, ErrorCode.NONE))
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
