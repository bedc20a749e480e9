"""`groups reset`: options to a rule, the plan printed, the plan executed."""

import argparse
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.files import read_input
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.outcomes import exit_code, status_of
from barnabas.cli.framework.places import expand, parse_place
from barnabas.cli.framework.render import show
from barnabas.cli.framework.times import parse_duration, parse_time
from barnabas.cli.group_verbs.reset_plan import (
    PlannedOffset,
    Reset,
    ResetRule,
    committed_of,
    parse_offsets_file,
    plan_reset,
    refuse_active,
)
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin

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
    parser.add_argument("--all-topics", action="store_true", help="all it has committed for")
    rule = parser.add_mutually_exclusive_group(required=True)
    rule.add_argument("--to-earliest", action="store_true")
    rule.add_argument("--to-latest", action="store_true")
    rule.add_argument("--to-current", action="store_true")
    rule.add_argument("--to-offset", type=int, metavar="N")
    rule.add_argument("--to-datetime", metavar="TIME")
    rule.add_argument("--by-duration", metavar="DURATION", help="so long ago: 1h30m, PT1H")
    rule.add_argument("--shift-by", type=int, metavar="N", help="may be negative")
    rule.add_argument("--from-file", metavar="FILE", help="topic,partition,offset lines, or JSON")
    rule.add_argument("--from-group", metavar="GROUP", help="where another group stands")
    parser.add_argument("--execute", action="store_true", help="do it; else only the plan")
    parser.add_argument("--dry-run", action="store_true", help="only the plan (the default)")
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    group = arguments.group
    with Connection.of(arguments).admin() as admin:
        if arguments.execute:
            refuse_active(admin, group)
        reset = _reset(admin, arguments)
        plan = plan_reset(admin, group, _places(admin, arguments, reset), reset)
        errors: dict[TopicPartition, BarnabasError] | None = None
        if arguments.execute and not arguments.dry_run and plan:
            wanted = {item.place: item.new for item in plan}
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
            "topic": item.place.topic,
            "partition": item.place.partition,
            "current_offset": item.current,
            "new_offset": item.new,
            "change": None if item.current is None else item.new - item.current,
            "start_offset": item.edges.first,
            "end_offset": item.edges.end,
        }
        planned = {"status": "PLANNED", "message": None}
        rows.append({**row, **(planned if errors is None else status_of(errors.get(item.place)))})
    show(arguments, rows, (*COLUMNS, "status"))


def _places(admin: "Admin", arguments: argparse.Namespace, reset: Reset) -> list[TopicPartition]:
    if arguments.topic:
        return expand(admin, [parse_place(text) for text in arguments.topic])
    if reset.listed is not None:
        return list(reset.listed)
    if arguments.all_topics:
        return sorted(committed_of(admin, arguments.group))
    raise ConfigError("which topics? give --topic, or --all-topics")


def _reset(admin: "Admin", arguments: argparse.Namespace) -> Reset:
    now_ms = SystemClock().now_ms()
    if arguments.from_group is not None:
        theirs = committed_of(admin, arguments.from_group)
        if not theirs:
            raise ConfigError(f"group {arguments.from_group!r} has committed nothing")
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
    """The rules that need nothing but their number."""
    if arguments.to_offset is not None:
        return Reset(ResetRule.OFFSET, arguments.to_offset)
    if arguments.shift_by is not None:
        return Reset(ResetRule.SHIFT, arguments.shift_by)
    if arguments.to_earliest:
        return Reset(ResetRule.EARLIEST)
    return Reset(ResetRule.LATEST if arguments.to_latest else ResetRule.CURRENT)
