"""Resets of committed offsets: a plan with its effect, and its application.

A plan says for each partition how many records would be read again and how many would be skipped.
A group with members cannot be reset: the members would overwrite the offsets.
"""

from collections.abc import Iterable, Mapping

from barnabas.admin import EARLIEST, LATEST, OffsetSpec
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.common import counted
from barnabas.console.models.groups import PlannedOffsetBody, ResetBody, ResetPlanBody
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError
from barnabas.model.ids import TopicPartition


class GroupResetService:
    """Plans and applies resets."""

    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def plan(self, group: str, body: ResetBody) -> ResetPlanBody:
        """Returns the effect of a reset without applying it."""
        current = await self._committed(group)
        chosen = await self._partitions(body, current)
        starts = await self._listed(chosen, EARLIEST)
        ends = await self._listed(chosen, LATEST)
        wanted = await self._wanted(body, current, starts, ends)
        planned = [
            planned_offset(item, current.get(item), wanted[item], starts[item], ends[item])
            for item in sorted(chosen)
            if item in wanted and item in starts and item in ends
        ]
        return ResetPlanBody(
            group=group,
            partitions=planned,
            again=sum(item.again for item in planned),
            skipped=sum(item.skipped for item in planned),
            blocked=await self._blocked(group),
        )

    async def apply(self, group: str, body: ResetBody) -> ResetPlanBody:
        """Commits the planned offsets; an active group is an error."""
        plan = await self.plan(group, body)
        if plan.blocked is not None:
            raise BrokerError(ErrorCode.NON_EMPTY_GROUP, plan.blocked)
        offsets = {TopicPartition(item.topic, item.partition): item.new for item in plan.partitions}
        if offsets:
            (await self._link.admin.alter_group_offsets(group, offsets)).check()
        return plan

    async def _committed(self, group: str) -> dict[TopicPartition, int]:
        try:
            found = (await self._link.admin.list_group_offsets([group]))[group]
        except BrokerError as error:
            if error.code is ErrorCode.GROUP_ID_NOT_FOUND:
                return {}
            raise
        return {item: at.offset for item, at in found.items()}

    async def _partitions(
        self, body: ResetBody, current: Mapping[TopicPartition, int]
    ) -> list[TopicPartition]:
        if body.topic is None:
            if not current:
                raise LocalError("the group has no committed offsets: choose a topic")
            return sorted(current)
        described = (await self._link.admin.describe_topics([body.topic]))[body.topic]
        there = [item.partition for item in described.partitions]
        partitions = there if body.partitions is None else body.partitions
        missing = sorted(set(partitions) - set(there))
        if missing:
            raise BrokerError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {body.topic!r} has no partition {', '.join(map(str, missing))}",
            )
        return [TopicPartition(body.topic, partition) for partition in sorted(set(partitions))]

    async def _listed(
        self, partitions: Iterable[TopicPartition], spec: OffsetSpec
    ) -> dict[TopicPartition, int]:
        listed = (await self._link.admin.list_offsets(dict.fromkeys(partitions, spec))).ok
        return {item: found.offset for item, found in listed.items() if found.offset is not None}

    async def _wanted(
        self,
        body: ResetBody,
        current: Mapping[TopicPartition, int],
        starts: Mapping[TopicPartition, int],
        ends: Mapping[TopicPartition, int],
    ) -> dict[TopicPartition, int]:
        value = body.value or 0
        match body.rule:
            case "earliest":
                return dict(starts)
            case "latest":
                return dict(ends)
            case "offset":
                return dict.fromkeys(ends, value)
            case "shift":
                return {item: current[item] + value for item in ends if item in current}
            case "time":
                assert body.time is not None
                spec = OffsetSpec.at(int(body.time.timestamp() * 1000))
                return {**ends, **await self._listed(ends, spec)}

    async def _blocked(self, group: str) -> str | None:
        found = await self._link.admin.describe_groups([group])
        description = found.ok.get(group)
        if description is None or not description.members:
            return None
        names = ", ".join(
            f"{member.client_id}@{member.host.lstrip('/')}" for member in description.members[:10]
        )
        members = counted(len(description.members), "member")
        return f"group {group!r} has {members}; stop them first: {names}"


def planned_offset(
    topic_partition: TopicPartition, current: int | None, wanted: int, start: int, end: int
) -> PlannedOffsetBody:
    """Limits a wanted offset to the existing ones and counts the records that it affects.

    A group without a committed offset has not read any record, so it reads no record again.
    """
    new = min(max(wanted, start), end)
    position = new if current is None else min(max(current, start), end)
    return PlannedOffsetBody(
        topic=topic_partition.topic,
        partition=topic_partition.partition,
        current=current,
        new=new,
        log_start=start,
        log_end=end,
        again=max(position - new, 0),
        skipped=max(new - position, 0),
    )
