"""Resetting a group's offsets: a rule, a plan, and only with --execute the change.

The group must be without members: whoever reads would overwrite the new offsets, so an active
group is refused and its members are named.
"""

import csv
import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.cli.group_verbs.lag import member_names
from barnabas.cli.reading.spans import Edges, edges_of, offsets_at
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin
    from barnabas.model.group_metadata import OffsetAndMetadata


class ResetRule(enum.Enum):
    """Where offsets go; the ones with a value say of what kind."""

    EARLIEST = "to-earliest"
    LATEST = "to-latest"
    CURRENT = "to-current"
    OFFSET = "to-offset"
    TIME = "to-datetime"
    SHIFT = "shift-by"
    LISTED = "from-file"


@dataclass(frozen=True, slots=True)
class Reset:
    """A rule with its offset, time in milliseconds, shift, or list."""

    rule: ResetRule
    value: int = 0
    listed: Mapping[TopicPartition, int] | None = None


@dataclass(frozen=True, slots=True)
class PlannedOffset:
    """One line of the plan."""

    place: TopicPartition
    current: int | None
    new: int
    edges: Edges


class ActiveGroupError(LocalError):
    """The group has members."""


def plan_reset(
    admin: "Admin", group: str, places: Iterable[TopicPartition], reset: Reset
) -> list[PlannedOffset]:
    """The new offset of each partition, within what the partition holds."""
    places = sorted(reset.listed or places)
    edges = edges_of(admin, places)
    current = {place: at.offset for place, at in committed_of(admin, group).items()}
    wanted = _wanted(admin, edges, current, reset)
    return [
        PlannedOffset(
            place, current.get(place), _clamped(wanted[place], edges[place]), edges[place]
        )
        for place in places
        if place in wanted
    ]


def committed_of(admin: "Admin", group: str) -> dict[TopicPartition, "OffsetAndMetadata"]:
    """What a group has committed; nothing for a group that is not known."""
    try:
        offsets = admin.list_group_offsets([group])[group]
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        return {}
    return dict(offsets)


def refuse_active(admin: "Admin", group: str) -> None:
    """ActiveGroupError naming the members, if there are any."""
    found = admin.describe_groups([group])
    error = found.errors.get(group)
    if error is not None:
        if isinstance(error, BrokerError) and error.code is ErrorCode.GROUP_ID_NOT_FOUND:
            return
        raise error
    description = found[group]
    if description.members:
        raise ActiveGroupError(
            f"group {group!r} is active ({description.state}): stop its members first: "
            f"{member_names(description.members)}"
        )


def _wanted(
    admin: "Admin",
    edges: Mapping[TopicPartition, Edges],
    current: Mapping[TopicPartition, int],
    reset: Reset,
) -> Mapping[TopicPartition, int]:
    match reset.rule:
        case ResetRule.EARLIEST:
            return {place: edge.first for place, edge in edges.items()}
        case ResetRule.LATEST:
            return {place: edge.end for place, edge in edges.items()}
        case ResetRule.OFFSET:
            return dict.fromkeys(edges, reset.value)
        case ResetRule.TIME:
            return offsets_at(admin, edges, reset.value)
        case ResetRule.LISTED:
            return reset.listed or {}
        case ResetRule.CURRENT:
            # A partition without a committed offset begins at the end, as Apache's tool has it.
            return {place: current.get(place, edge.end) for place, edge in edges.items()}
        case ResetRule.SHIFT:
            return _shifted(edges, current, reset.value)


def _shifted(
    edges: Iterable[TopicPartition], current: Mapping[TopicPartition, int], by: int
) -> dict[TopicPartition, int]:
    missing = [str(place) for place in edges if place not in current]
    if missing:
        raise ConfigError(f"cannot shift: nothing is committed for {', '.join(missing)}")
    return {place: current[place] + by for place in edges}


def _clamped(offset: int, edges: Edges) -> int:
    return min(max(offset, edges.first), edges.end)


def parse_offsets_file(text: str, group: str | None = None) -> dict[TopicPartition, int]:
    """Offsets from `topic,partition,offset` lines, `group,topic,partition,offset` lines, or JSON.

    >>> parse_offsets_file("orders,0,5")
    {TopicPartition(topic='orders', partition=0): 5}
    """
    if text.lstrip().startswith(("[", "{")):
        return _parse_json(text)
    found = {}
    for fields in csv.reader(line for line in text.splitlines() if line.strip()):
        named = fields[1:] if len(fields) == 4 else fields
        if len(fields) == 4 and group is not None and fields[0].strip('"') != group:
            continue
        try:
            topic, partition, offset = named
            found[TopicPartition(topic, int(partition))] = int(offset)
        except ValueError:
            raise ConfigError(f"not topic,partition,offset: {','.join(fields)!r}") from None
    return found


def _parse_json(text: str) -> dict[TopicPartition, int]:
    try:
        document = json.loads(text)
        items = document["partitions"] if isinstance(document, dict) else document
        return {
            TopicPartition(str(i["topic"]), int(i["partition"])): int(
                i["new_offset"] if "new_offset" in i else i["offset"]
            )
            for i in items
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a list of offsets: {error}") from error
