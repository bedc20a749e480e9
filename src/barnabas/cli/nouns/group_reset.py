"""`groups reset`: plans new offsets of a group; with --execute commits them.

The group must have no members, because they would overwrite the new offsets. The error for an
active group names its members.
"""

import argparse
import csv
import enum
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options, read_input
from barnabas.cli.framework.output import (
    DONE,
    exit_code,
    parse_duration,
    parse_time,
    show,
    status_of,
)
from barnabas.cli.nouns.group_lag import member_names
from barnabas.cli.record_io.selection import (
    LogOffsets,
    log_offsets_of,
    named_partitions,
    offsets_at,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin
    from barnabas.model.records import OffsetAndMetadata

COLUMNS = (
    "group",
    "topic",
    "partition",
    "current_offset",
    "new_offset",
    "change",
    "start_offset",
    "end_offset",
)


class ResetRule(enum.Enum):
    """The rule that determines the new offsets."""

    EARLIEST = "to-earliest"
    LATEST = "to-latest"
    CURRENT = "to-current"
    OFFSET = "to-offset"
    TIME = "to-datetime"
    SHIFT = "shift-by"
    LISTED = "from-file"


@dataclass(frozen=True, slots=True)
class Reset:
    """A rule with its value: an offset, a time in milliseconds, a shift, or a list of offsets."""

    rule: ResetRule
    value: int = 0
    listed: Mapping[TopicPartition, int] | None = None


@dataclass(frozen=True, slots=True)
class PlannedOffset:
    """The planned offset of one partition."""

    topic_partition: TopicPartition
    current: int | None
    requested: int
    """Offset of the rule before it is limited to the offsets of the log."""
    new: int
    log_offsets: LogOffsets


class ActiveGroupError(LocalError):
    """The group has members."""


def plan_reset(
    admin: "Admin", group: str, topic_partitions: Iterable[TopicPartition], reset: Reset
) -> list[PlannedOffset]:
    """Returns the new offset of each partition, limited to the existing offsets."""
    topic_partitions = sorted(reset.listed or topic_partitions)
    log_offsets = log_offsets_of(admin, topic_partitions)
    current = {
        topic_partition: at.offset for topic_partition, at in committed_of(admin, group).items()
    }
    wanted = _wanted(admin, log_offsets, current, reset)
    return [
        PlannedOffset(
            topic_partition,
            current.get(topic_partition),
            wanted[topic_partition],
            _clamped(wanted[topic_partition], log_offsets[topic_partition]),
            log_offsets[topic_partition],
        )
        for topic_partition in topic_partitions
        if topic_partition in wanted
    ]


def warn_limited(plan: Iterable[PlannedOffset]) -> None:
    """Prints a warning for each requested offset that the log does not have."""
    for item in plan:
        if item.requested != item.new:
            limit = "higher than latest" if item.requested > item.new else "lower than earliest"
            sys.stderr.write(
                f"WARN: New offset ({item.requested}) is {limit} offset for topic partition "
                f"{item.topic_partition}. Value will be set to {item.new}\n"
            )


def committed_of(admin: "Admin", group: str) -> dict[TopicPartition, "OffsetAndMetadata"]:
    """Returns the committed offsets of a group; empty for an unknown group."""
    try:
        offsets = admin.list_group_offsets([group])[group]
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        return {}
    return dict(offsets)


def require_inactive(admin: "Admin", group: str) -> None:
    """Raises ActiveGroupError with the names of the members when the group has any."""
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
    log_offsets: Mapping[TopicPartition, LogOffsets],
    current: Mapping[TopicPartition, int],
    reset: Reset,
) -> Mapping[TopicPartition, int]:
    match reset.rule:
        case ResetRule.EARLIEST:
            return {topic_partition: log.start for topic_partition, log in log_offsets.items()}
        case ResetRule.LATEST:
            return {topic_partition: log.end for topic_partition, log in log_offsets.items()}
        case ResetRule.OFFSET:
            return dict.fromkeys(log_offsets, reset.value)
        case ResetRule.TIME:
            return offsets_at(admin, log_offsets, reset.value)
        case ResetRule.LISTED:
            return reset.listed or {}
        case ResetRule.CURRENT:
            # As in Kafka's tool, a partition without a committed offset starts at the log end.
            return {
                topic_partition: current.get(topic_partition, log.end)
                for topic_partition, log in log_offsets.items()
            }
        case ResetRule.SHIFT:
            return _shifted(log_offsets, current, reset.value)


def _shifted(
    log_offsets: Iterable[TopicPartition], current: Mapping[TopicPartition, int], by: int
) -> dict[TopicPartition, int]:
    missing = [
        str(topic_partition) for topic_partition in log_offsets if topic_partition not in current
    ]
    if missing:
        raise ConfigError(f"--shift-by: the group has no committed offset for {', '.join(missing)}")
    return {topic_partition: current[topic_partition] + by for topic_partition in log_offsets}


def _clamped(offset: int, log_offsets: LogOffsets) -> int:
    return min(max(offset, log_offsets.start), log_offsets.end)


def parse_offsets_file(text: str, group: str | None = None) -> dict[TopicPartition, int]:
    """Parses lines `topic,partition,offset` or `group,topic,partition,offset`, or JSON.

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
            raise ConfigError(f"expected topic,partition,offset: {','.join(fields)!r}") from None
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument(
        "-t",
        "--topic",
        metavar="TOPIC[:PARTITIONS]",
        action="append",
        default=[],
        help="repeatable",
    )
    parser.add_argument(
        "--all-topics", action="store_true", help="all topics with committed offsets of the group"
    )
    rule = parser.add_mutually_exclusive_group(required=True)
    rule.add_argument("--to-earliest", action="store_true")
    rule.add_argument("--to-latest", action="store_true")
    rule.add_argument("--to-current", action="store_true")
    rule.add_argument("--to-offset", type=int, metavar="N")
    rule.add_argument("--to-datetime", metavar="TIME")
    rule.add_argument(
        "--by-duration", metavar="DURATION", help="the offset this long ago: 1h30m, PT1H"
    )
    rule.add_argument("--shift-by", type=int, metavar="N", help="may be negative")
    rule.add_argument("--from-file", metavar="FILE", help="topic,partition,offset lines, or JSON")
    rule.add_argument(
        "--from-group", metavar="GROUP", help="the committed offsets of another group"
    )
    parser.add_argument(
        "--execute", action="store_true", help="commit the offsets (default: only print the plan)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print the plan (the default)")
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    group = arguments.group
    with Connection.of(arguments).admin() as admin:
        if arguments.execute:
            require_inactive(admin, group)
        reset = _reset(admin, arguments)
        plan = plan_reset(admin, group, _topic_partitions(admin, arguments, reset), reset)
        warn_limited(plan)
        errors: dict[TopicPartition, BarnabasError] | None = None
        if arguments.execute and not arguments.dry_run and plan:
            wanted = {item.topic_partition: item.new for item in plan}
            errors = dict(admin.alter_group_offsets(group, wanted).errors)
    _show(arguments, plan, errors)
    return DONE if errors is None else exit_code(errors)


def _show(
    arguments: argparse.Namespace,
    plan: list[PlannedOffset],
    errors: dict[TopicPartition, BarnabasError] | None,
) -> None:
    rows = []
    for item in plan:
        row = {
            "group": arguments.group,
            "topic": item.topic_partition.topic,
            "partition": item.topic_partition.partition,
            "current_offset": item.current,
            "new_offset": item.new,
            "change": None if item.current is None else item.new - item.current,
            "start_offset": item.log_offsets.start,
            "end_offset": item.log_offsets.end,
        }
        planned = {"status": "PLANNED", "message": None}
        rows.append(
            {**row, **(planned if errors is None else status_of(errors.get(item.topic_partition)))}
        )
    show(arguments, rows, (*COLUMNS, "status"))


def _topic_partitions(
    admin: "Admin", arguments: argparse.Namespace, reset: Reset
) -> list[TopicPartition]:
    if arguments.topic:
        return named_partitions(admin, arguments.topic)
    if reset.listed is not None:
        return list(reset.listed)
    if arguments.all_topics:
        return sorted(committed_of(admin, arguments.group))
    raise ConfigError("--topic or --all-topics is missing")


def _reset(admin: "Admin", arguments: argparse.Namespace) -> Reset:
    now_ms = SystemClock().now_ms()
    if arguments.from_group is not None:
        theirs = committed_of(admin, arguments.from_group)
        if not theirs:
            raise ConfigError(f"group {arguments.from_group!r} has no committed offsets")
        return Reset(ResetRule.LISTED, listed={p: at.offset for p, at in theirs.items()})
    if arguments.from_file is not None:
        offsets = parse_offsets_file(read_input(arguments.from_file), arguments.group)
        return Reset(ResetRule.LISTED, listed=offsets)
    if arguments.to_datetime is not None:
        return Reset(ResetRule.TIME, parse_time(arguments.to_datetime, now_ms))
    if arguments.by_duration is not None:
        return Reset(ResetRule.TIME, now_ms - int(parse_duration(arguments.by_duration) * 1000))
    return simple_reset(arguments)


def simple_reset(arguments: argparse.Namespace) -> Reset:
    """Returns the reset of the rules that need no lookup."""
    if arguments.to_offset is not None:
        return Reset(ResetRule.OFFSET, arguments.to_offset)
    if arguments.shift_by is not None:
        return Reset(ResetRule.SHIFT, arguments.shift_by)
    if arguments.to_earliest:
        return Reset(ResetRule.EARLIEST)
    return Reset(ResetRule.LATEST if arguments.to_latest else ResetRule.CURRENT)
