"""The rebalances of a group, from the records that its coordinator stored.

A coordinator writes each generation of a classic group as one record of `__consumer_offsets`, with
the members and their assignments; a group of KIP-848 is stored as one record per member and epoch.
Consecutive states are compared: members that joined or left, and partitions with another owner.
Apache Kafka writes the same records. Compaction removes old generations, so the result covers the
time since then.

`RebalanceReader` reads records in order of their offsets and has no IO; `RebalanceService` fetches
them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.groups import MovedPartition, RebalanceBody, RebalancesBody
from barnabas.console.services.snapshots import ClusterSnapshots
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.ids import OFFSETS_TOPIC, TopicPartition
from barnabas.model.java_hash import coordinator_partition
from barnabas.wire.coordinator_records import (
    REBALANCE_REASON,
    REBALANCE_START_MS,
    decode_versioned,
    maybe_decode_offsets_record,
)
from barnabas.wire.message import Message
from barnabas.wire.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from barnabas.wire.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
)
from barnabas.wire.messages.consumer_group_member_metadata_key import (
    ConsumerGroupMemberMetadataKey,
)
from barnabas.wire.messages.consumer_group_member_metadata_value import (
    ConsumerGroupMemberMetadataValue,
)
from barnabas.wire.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from barnabas.wire.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from barnabas.wire.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata

_KEEP = 500
_TIMELINE_BYTES = 64 << 20
_FETCH_BYTES = 4 << 20


@dataclass(slots=True)
class Generation:
    """Members with their partitions in one generation (classic) or epoch (KIP-848)."""

    number: int
    timestamp_ms: int
    assignor: str = ""
    reason: str | None = None
    started_ms: int | None = None
    members: dict[str, str] = field(default_factory=dict)
    """Names by member id: client id and host."""
    owners: dict[TopicPartition, str] = field(default_factory=dict)
    """Member ids by partition."""


class RebalanceReader:
    """Collects the generations of one group."""

    def __init__(self, group: str, topic_names: Mapping[bytes, str]) -> None:
        self._group = group
        self._topic_names = topic_names
        self._generations: list[Generation] = []
        self._members: dict[str, str] = {}
        self._assigned: dict[str, frozenset[TopicPartition]] = {}
        self.left_out = False

    def read(
        self,
        key: bytes | None,
        value: bytes | None,
        timestamp_ms: int,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None:
        """Takes one record; records of other groups and unknown kinds are ignored."""
        if key is None:
            return
        try:
            found = maybe_decode_offsets_record(key, value)
        except ProtocolError:
            self.left_out = True
            return
        if found is None or getattr(found[0], "group", getattr(found[0], "group_id", None)) != (
            self._group
        ):
            return
        texts = {name: text.decode("utf-8", "replace") for name, text in headers if text}
        self._apply(found[0], found[1], timestamp_ms, texts)

    def _apply(
        self, key: Message, value: Message | None, timestamp_ms: int, texts: Mapping[str, str]
    ) -> None:
        match key, value:
            case GroupMetadataKey(), GroupMetadataValue():
                self._classic(value, timestamp_ms, texts)
            case ConsumerGroupMetadataKey(), ConsumerGroupMetadataValue():
                self._epoch(value.epoch, timestamp_ms, texts.get(REBALANCE_REASON))
            case ConsumerGroupMemberMetadataKey(), _:
                self._member(key.member_id, value)
            case ConsumerGroupCurrentMemberAssignmentKey(), _:
                self._current_assignment(key.member_id, value, timestamp_ms)
            case _:
                pass

    # -- classic groups ------------------------------------------------------------------------

    def _classic(
        self, value: GroupMetadataValue, timestamp_ms: int, texts: Mapping[str, str]
    ) -> None:
        generation = Generation(
            value.generation,
            timestamp_ms,
            value.protocol or "",
            texts.get(REBALANCE_REASON),
            start_of(value, timestamp_ms, texts),
        )
        for member in value.members:
            generation.members[member.member_id] = _name(member.client_id, member.client_host)
            for topic_partition in assigned_partitions(member):
                generation.owners[topic_partition] = member.member_id
        self._append(generation)

    # -- groups of KIP-848 ---------------------------------------------------------------------

    def _member(self, member_id: str, value: Message | None) -> None:
        if isinstance(value, ConsumerGroupMemberMetadataValue):
            self._members[member_id] = _name(value.client_id, value.client_host)
        else:
            self._members.pop(member_id, None)
            self._assigned.pop(member_id, None)

    def _epoch(self, epoch: int, timestamp_ms: int, reason: str | None) -> None:
        generation = Generation(epoch, timestamp_ms, reason=reason, started_ms=timestamp_ms)
        self._append(generation)
        self._refresh(generation)

    def _current_assignment(self, member_id: str, value: Message | None, timestamp_ms: int) -> None:
        if not isinstance(value, ConsumerGroupCurrentMemberAssignmentValue):
            # The member left. The next epoch, which follows in the log, shows it.
            self._assigned.pop(member_id, None)
            return
        self._assigned[member_id] = frozenset(
            TopicPartition(self._topic_names.get(bytes(item.topic_id), "(deleted)"), number)
            for item in value.assigned_partitions
            for number in item.partitions
        )
        if self._generations:
            newest = self._generations[-1]
            newest.timestamp_ms = max(newest.timestamp_ms, timestamp_ms)
            self._refresh(newest)

    def _refresh(self, generation: Generation) -> None:
        generation.members = dict(self._members)
        generation.owners = {
            topic_partition: member_id
            for member_id, assigned in self._assigned.items()
            for topic_partition in assigned
        }

    # -- result --------------------------------------------------------------------------------

    def _append(self, generation: Generation) -> None:
        if self._generations and self._generations[-1].number == generation.number:
            # A coordinator writes a generation again, for example when a static member returns.
            generation.reason = generation.reason or self._generations[-1].reason
            self._generations[-1] = generation
            return
        self._generations.append(generation)
        if len(self._generations) > _KEEP:
            self._generations.pop(0)
            self.left_out = True

    def rebalances(self) -> list[RebalanceBody]:
        """Returns the changes between consecutive generations, the newest first."""
        before = Generation(0, 0)
        found = []
        for generation in self._generations:
            found.append(_difference(before, generation))
            before = generation
        return found[::-1]

    @property
    def first_generation(self) -> int | None:
        """The number of the oldest generation that was found."""
        return self._generations[0].number if self._generations else None


def start_of(value: GroupMetadataValue, timestamp_ms: int, texts: Mapping[str, str]) -> int | None:
    """Returns when the rebalance started.

    Our brokers store it as a header. Otherwise the time of the group's last state is taken: all
    members had joined then, so the result is a part of the whole time.
    """
    given = texts.get(REBALANCE_START_MS, "")
    started = int(given) if given.isdecimal() else value.current_state_timestamp
    return started if 0 <= started <= timestamp_ms else None


def assigned_partitions(member: MemberMetadata) -> list[TopicPartition]:
    """Returns the partitions of a classic member; none if the bytes have another format."""
    if len(member.assignment) < 2:
        return []
    try:
        decoded = decode_versioned(ConsumerProtocolAssignment, member.assignment)
    except ProtocolError:
        return []
    return [
        TopicPartition(topic.topic, partition)
        for topic in decoded.assigned_partitions
        for partition in topic.partitions
    ]


def _difference(before: Generation, after: Generation) -> RebalanceBody:
    moved = []
    names = {**before.members, **after.members}
    for topic_partition in sorted(before.owners.keys() | after.owners.keys()):
        old, new = before.owners.get(topic_partition), after.owners.get(topic_partition)
        if old != new:
            moved.append(
                MovedPartition(
                    topic=topic_partition.topic,
                    partition=topic_partition.partition,
                    before=None if old is None else names.get(old, old),
                    after=None if new is None else names.get(new, new),
                )
            )
    started = after.started_ms
    return RebalanceBody(
        generation=after.number,
        finished=datetime.fromtimestamp(after.timestamp_ms / 1000, UTC),
        seconds=None if started is None else (after.timestamp_ms - started) / 1000,
        reason=after.reason,
        assignor=after.assignor,
        members=len(after.members),
        joined=[name for key, name in after.members.items() if key not in before.members],
        left=[name for key, name in before.members.items() if key not in after.members],
        moved=moved,
        unchanged=len(after.owners.keys() & before.owners.keys())
        - sum(item.before is not None and item.after is not None for item in moved),
    )


def _name(client_id: str, host: str) -> str:
    return f"{client_id}@{host.lstrip('/')}"


class RebalanceService:
    """Fetches the records of a group's coordinator."""

    def __init__(self, link: ClusterLink, snapshots: ClusterSnapshots) -> None:
        self._link = link
        self._snapshots = snapshots

    async def list_rebalances(self, group: str) -> RebalancesBody:
        """Returns the rebalances that the records of the coordinator show, the newest first."""
        topics = (await self._snapshots.current()).topics
        try:
            # The first group of a cluster creates the topic: an older snapshot does not have it.
            found = await self._snapshots.topic(OFFSETS_TOPIC)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            return RebalancesBody(group=group, items=[], complete=True)
        count = len(found.topics[OFFSETS_TOPIC].partitions)
        names = {bytes(item.topic_id): item.name for item in topics.values()}
        reader = RebalanceReader(group, names)
        whole = await self._scan(coordinator_partition(group, count), reader)
        first = reader.first_generation
        complete = whole and not reader.left_out and first is not None and first <= 1
        return RebalancesBody(group=group, items=reader.rebalances(), complete=complete)

    async def _scan(self, partition: int, reader: RebalanceReader) -> bool:
        """Reads the newest part of a partition; returns whether that was all of it."""
        consumer = self._link.simple_consumer
        position = start = await consumer.earliest_offset(OFFSETS_TOPIC, partition)
        end = await consumer.latest_offset(OFFSETS_TOPIC, partition)
        bytes_left = _TIMELINE_BYTES
        while position < end and bytes_left > 0:
            batches = await consumer.fetch(OFFSETS_TOPIC, partition, position, _FETCH_BYTES)
            records, following = batches.decode()
            for record in records:
                bytes_left -= len(record.key or b"") + len(record.value or b"")
                reader.read(record.key, record.value, record.timestamp, record.headers)
            if following <= position:
                break
            position = following
            await asyncio.sleep(0)
        return start == 0 and position >= end
