"""Groups: list and describe with lag, remove members, delete.

The offsets of all groups are read together and kept for a short time, so the pages of a list and
several users share one read. The age of uncommitted records needs a fetch per partition; an offset
that has not moved is not fetched again.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from barnabas.admin import (
    LATEST,
    GroupDescription,
    GroupMember,
    MemberDescription,
)
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.common import ListPage, ListQuery, select_page
from barnabas.console.models.groups import (
    GroupDetail,
    GroupPartitionBody,
    GroupSummary,
    LagBody,
    MemberBody,
    MemberPartition,
    RemovedMembersBody,
    RemoveMembersBody,
)
from barnabas.console.services.group_listing import (
    SPARK,
    ZOOKEEPER,
    GroupWithOffsets,
    LagHistory,
    Offsets,
    PartitionLag,
    ZooKeeperGroups,
    list_broker_groups,
    listed_report,
    partition_lags,
    stores_topic_ids,
    total_lag,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.runtime.clock import Clock
from barnabas.spark.source.group_offsets import TOPIC_IDS_SUFFIX

MAX_AGE_S = 2.0
_SMALL_FETCH = 16 << 10
_MAX_SINGLE_FETCHES = 20
_MAX_KNOWN_TIMESTAMPS = 100_000
_NOT_DESCRIBED = ("Share", "Streams")
GroupSource = Literal["brokers", "zookeeper"]


@dataclass(frozen=True, slots=True)
class GroupsSnapshot:
    """All groups with their committed offsets at one time."""

    taken_s: float
    groups: tuple[GroupWithOffsets, ...]
    ends: Mapping[TopicPartition, int]


class GroupService:
    """Reads and changes groups of the cluster."""

    def __init__(
        self,
        link: ClusterLink,
        zookeeper: ZooKeeperGroups,
        clock: Clock,
        now: Callable[[], float],
    ) -> None:
        self._link = link
        self._zookeeper = zookeeper
        self._clock = clock
        self._now = now
        self._history = LagHistory()
        self._oldest: dict[tuple[TopicPartition, int], int] = {}
        self._newest: GroupsSnapshot | None = None
        self._lock = asyncio.Lock()

    async def list_groups(self, query: ListQuery) -> ListPage[GroupSummary]:
        """Returns a page of groups; the lag in seconds is added for the rows of the page."""
        snapshot = await self.snapshot()
        text = query.search.lower()
        rows = [
            self._summary(group, snapshot)
            for group in snapshot.groups
            if text in group.name.lower()
        ]
        page = select_page(rows, query, "name")
        return page.model_copy(update={"items": await self._with_seconds(page.items, snapshot)})

    async def describe(self, group: str, source: GroupSource = "brokers") -> GroupDetail:
        """Returns members, partitions and lag of one group."""
        if source == "zookeeper":
            return await self._describe_in_zookeeper(group)
        admin = self._link.admin
        store = group + TOPIC_IDS_SUFFIX
        try:
            description, offsets = await asyncio.gather(
                admin.describe_group(group), admin.list_group_offsets([group, store])
            )
        except BrokerError as error:
            if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
                raise
            return await self._describe_as_listed(group, error)
        committed = offsets[group]
        spark = stores_topic_ids(store, offsets.ok.get(store, {}))
        owners = {
            topic_partition: member.member_id
            for member in description.members
            for topic_partition in member.assignment
        }
        ends = await self._ends({*committed, *owners})
        lags = await self._lags(committed, owners, ends)
        detail = _detail(description, lags, owners, committed, self._lag_body(group, lags))
        return detail.model_copy(update={"type": SPARK}) if spark else detail

    async def _describe_in_zookeeper(self, group: str) -> GroupDetail:
        report = await self._zookeeper.describe(group)
        listed = listed_report(report)
        owned = {
            item.topic_partition: consumer_of(item.owner)
            for item in report.partitions
            if item.owner
        }
        ends = await self._ends({*listed.offsets, *owned})
        lags = await self._lags(listed.offsets, owned, ends)
        members = [
            MemberBody(
                member_id=name,
                instance_id=None,
                client_id=name,
                host="-",
                assigned=_assigned(item for item, owner in owned.items() if owner == name),
            )
            for name in report.members
        ]
        return _listed_detail(listed, members, lags, owned, self._lag_body(listed.key, lags))

    async def _describe_as_listed(self, group: str, error: BrokerError) -> GroupDetail:
        """Returns what the list of groups has, for types that no request describes here."""
        for listed in (await self.snapshot()).groups:
            if listed.name == group and listed.type in _NOT_DESCRIBED:
                detail = _listed_detail(listed, [], [], {}, LagBody(records=0))
                return detail.model_copy(update={"described": False})
        raise error

    async def delete(self, group: str, source: GroupSource = "brokers") -> None:
        """Deletes a group without members, with its committed offsets."""
        if source == "zookeeper":
            await self._zookeeper.delete(group)
        else:
            (await self._link.admin.delete_groups([group])).check()
        self._newest = None

    async def delete_offsets(self, group: str, topic: str) -> int:
        """Deletes the committed offsets of one topic and returns their number."""
        found = (await self._link.admin.list_group_offsets([group]))[group]
        chosen = [item for item in found if item.topic == topic]
        if not chosen:
            raise BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"group {group!r} has no committed offset in topic {topic!r}",
            )
        (await self._link.admin.delete_group_offsets(group, chosen)).check()
        self._newest = None
        return len(chosen)

    async def remove_members(self, group: str, body: RemoveMembersBody) -> RemovedMembersBody:
        """Removes members; clients that are still running join again."""
        described = await self._link.admin.describe_group(group)
        chosen = _chosen_members(described.members, body.members, group)
        results = await self._link.admin.remove_group_members(group, chosen, reason=body.reason)
        errors = {
            member.instance_id or member.member_id: str(error)
            for member, error in results.errors.items()
        }
        return RemovedMembersBody(removed=len(results.ok), errors=errors)

    async def snapshot(self) -> GroupsSnapshot:
        """Returns all groups with committed offsets and log ends, at most MAX_AGE_S old."""
        async with self._lock:
            newest = self._newest
            if newest is None or self._now() - newest.taken_s > MAX_AGE_S:
                newest = self._newest = await self._read()
        return newest

    # -- private ------------------------------------------------------------------------------

    async def _read(self) -> GroupsSnapshot:
        taken = self._now()
        groups = [
            *await list_broker_groups(self._link),
            *await self._zookeeper.list_groups(),
        ]
        ends = await self._ends({item for group in groups for item in group.offsets})
        self._history.keep(group.key for group in groups)
        return GroupsSnapshot(taken, tuple(groups), ends)

    async def _ends(self, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Returns log end offsets; partitions of deleted topics and without leader are left out."""
        wanted = list(topic_partitions)
        if not wanted:
            return {}
        topics = {item.topic for item in wanted}
        there = (await self._link.admin.describe_topics(topics)).ok
        known = {item: LATEST for item in wanted if item.topic in there}
        listed = (await self._link.admin.list_offsets(known)).ok if known else {}
        return {item: found.offset for item, found in listed.items() if found.offset is not None}

    def _summary(self, group: GroupWithOffsets, snapshot: GroupsSnapshot) -> GroupSummary:
        committed = group.offsets
        lags = partition_lags(_numbers(committed), (), snapshot.ends, {}, 0)
        total = total_lag(lags)
        trend = self._history.add(group.key, total.records, snapshot.taken_s)
        return GroupSummary(
            name=group.name,
            type=group.type,
            state=group.state,
            protocol=group.protocol,
            members=group.members,
            topics=len({item.topic for item in committed}),
            lag=total.records if committed else None,
            change_per_second=trend.change_per_second,
            catch_up_seconds=trend.catch_up_seconds if committed else None,
        )

    async def _with_seconds(
        self, rows: list[GroupSummary], snapshot: GroupsSnapshot
    ) -> list[GroupSummary]:
        names = [row.name for row in rows if row.type != ZOOKEEPER]
        described = (await self._link.admin.describe_groups(names)).ok if names else {}
        offsets = {(group.type, group.name): group.offsets for group in snapshot.groups}
        found = []
        for row in rows:
            committed = offsets[row.type, row.name]
            total = total_lag(await self._lags(committed, (), snapshot.ends))
            members = row.members
            if row.type != ZOOKEEPER and row.name in described:
                members = len(described[row.name].members)
            seconds = total.seconds if committed else None
            found.append(row.model_copy(update={"lag_seconds": seconds, "members": members}))
        return found

    async def _lags(
        self,
        committed: Offsets,
        assigned: Iterable[TopicPartition],
        ends: Mapping[TopicPartition, int],
    ) -> list[PartitionLag]:
        numbers = _numbers(committed)
        behind = {
            item: offset for item, offset in numbers.items() if offset < ends.get(item, offset)
        }
        oldest = await self._timestamps(behind)
        return partition_lags(numbers, assigned, ends, oldest, self._clock.now_ms())

    async def _timestamps(self, offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Returns timestamps of the records at these offsets, where they can be read."""
        missing = {item: at for item, at in offsets.items() if (item, at) not in self._oldest}
        if missing:
            if len(self._oldest) > _MAX_KNOWN_TIMESTAMPS:
                self._oldest.clear()
            for item, timestamp in (await self._fetch_timestamps(missing)).items():
                self._oldest[item, missing[item]] = timestamp
        return {
            item: self._oldest[item, at]
            for item, at in offsets.items()
            if (item, at) in self._oldest
        }

    async def _fetch_timestamps(
        self, offsets: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Reads the first record of each partition.

        A broker returns a batch that is larger than the fetch size only for the first partition of
        a request, so partitions without a result are fetched again, one by one.
        """
        found = await self._fetch_first(offsets, _SMALL_FETCH)
        missing = [item for item in offsets if item not in found]
        for item in missing[:_MAX_SINGLE_FETCHES]:
            found.update(await self._fetch_first({item: offsets[item]}, _SMALL_FETCH))
        return found

    async def _fetch_first(
        self, offsets: Mapping[TopicPartition, int], fetch_size: int
    ) -> dict[TopicPartition, int]:
        try:
            fetched = await self._link.simple_consumer.fetch_many(offsets, fetch_size)
        except BarnabasError:
            return {}  # the lag in seconds is shown as unknown
        found = {}
        for item, batches in fetched.items():
            if isinstance(batches, BrokerError):
                continue
            records, _ = batches.decode()
            record = next((one for one in records if one.offset >= offsets[item]), None)
            if record is not None and record.timestamp >= 0:
                found[item] = record.timestamp
        return found

    def _lag_body(self, group: str, lags: list[PartitionLag]) -> LagBody:
        total = total_lag(lags)
        trend = self._history.add(group, total.records, self._now())
        return LagBody(
            records=total.records,
            seconds=total.seconds,
            change_per_second=trend.change_per_second,
            catch_up_seconds=trend.catch_up_seconds,
        )


def consumer_of(owner: str) -> str:
    """Returns the member that a stream of the ZooKeeper consumer belongs to.

    >>> consumer_of("billing_host-1700000000000-1a2b3c4d-0")
    'billing_host-1700000000000-1a2b3c4d'
    """
    return owner.rpartition("-")[0]


def _numbers(committed: Offsets) -> dict[TopicPartition, int]:
    return {item: at.offset for item, at in committed.items()}


def _chosen_members(
    members: Iterable[MemberDescription], wanted: list[str] | None, group: str
) -> list[GroupMember]:
    known = {member.member_id: member for member in members}
    known.update({member.instance_id: member for member in members if member.instance_id})
    names = list(dict.fromkeys(known)) if wanted is None else wanted
    missing = [name for name in names if name not in known]
    if missing:
        raise BrokerError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"group {group!r} has no member {', '.join(missing)}"
        )
    # A static member is identified by its instance id: its member id changes (KIP-345).
    return list(
        dict.fromkeys(
            GroupMember(instance_id=known[name].instance_id)
            if known[name].instance_id
            else GroupMember(known[name].member_id)
            for name in names
        )
    )


def _detail(
    description: GroupDescription,
    lags: Iterable[PartitionLag],
    owners: Mapping[TopicPartition, str],
    committed: Offsets,
    lag: LagBody,
) -> GroupDetail:
    coordinator = description.coordinator
    return GroupDetail(
        name=description.group_id,
        type=str(description.type),
        state=str(description.state),
        protocol=description.protocol_type,
        assignor=description.assignor,
        coordinator=None if coordinator is None else coordinator.id,
        epoch=description.group_epoch,
        members=[_member(member) for member in description.members],
        partitions=_partitions(lags, owners, committed),
        lag=lag,
    )


def _listed_detail(
    listed: GroupWithOffsets,
    members: list[MemberBody],
    lags: Iterable[PartitionLag],
    owners: Mapping[TopicPartition, str],
    lag: LagBody,
) -> GroupDetail:
    return GroupDetail(
        name=listed.name,
        type=listed.type,
        state=listed.state,
        protocol=listed.protocol,
        assignor="",
        coordinator=None,
        members=members,
        partitions=_partitions(lags, owners, listed.offsets),
        lag=lag,
    )


def _partitions(
    lags: Iterable[PartitionLag], owners: Mapping[TopicPartition, str], committed: Offsets
) -> list[GroupPartitionBody]:
    return [
        GroupPartitionBody(
            topic=item.topic_partition.topic,
            partition=item.topic_partition.partition,
            committed=item.committed,
            log_end=item.log_end,
            lag=item.records,
            lag_seconds=item.seconds,
            member=owners.get(item.topic_partition),
            metadata=_metadata(committed.get(item.topic_partition)),
        )
        for item in lags
    ]


def _metadata(committed: OffsetAndMetadata | None) -> str:
    return "" if committed is None else committed.metadata or ""


def _member(member: MemberDescription) -> MemberBody:
    target = member.target_assignment
    return MemberBody(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.host.lstrip("/"),
        epoch=member.member_epoch,
        assigned=_assigned(member.assignment),
        target=None if target is None else _assigned(target),
    )


def _assigned(partitions: Iterable[TopicPartition]) -> list[MemberPartition]:
    return [MemberPartition(topic=topic, partition=number) for topic, number in sorted(partitions)]
