"""The part of kafka-consumer-groups that changes offsets: reset and delete."""

import argparse
import sys
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.cli.apache.groups import tables
from barnabas.cli.framework.exit_codes import DONE, FAILED
from barnabas.cli.framework.files import read_input
from barnabas.cli.framework.places import expand, parse_place
from barnabas.cli.framework.times import parse_datetime, parse_duration
from barnabas.cli.group_verbs.reset import simple_reset
from barnabas.cli.group_verbs.reset_plan import (
    PlannedOffset,
    Reset,
    ResetRule,
    committed_of,
    parse_offsets_file,
    plan_reset,
    refuse_active,
)
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin

_RULES = (
    "to_offset",
    "to_datetime",
    "by_duration",
    "to_earliest",
    "to_latest",
    "to_current",
    "shift_by",
    "from_file",
)


def reset_offsets(admin: "Admin", arguments: argparse.Namespace) -> int:
    """Print the new offsets; with --execute commit them, with --export print CSV."""
    if arguments.execute and arguments.dry_run:
        raise ConfigError("--execute and --dry-run exclude each other")
    if not arguments.execute and not arguments.dry_run and not arguments.export:
        sys.stderr.write(
            "WARN: No action will be performed as the --execute option is missing. In a future "
            "major release, the default behavior of this command will be to prompt the user "
            "before executing the reset rather than doing a dry run. You should add the "
            "--dry-run option explicitly if you are scripting this command and want to keep the "
            "current default behavior without prompting.\n"
        )
    plans: list[tuple[str, list[PlannedOffset]]] = []
    for group in _groups(admin, arguments):
        refuse_active(admin, group)
        reset = _reset(arguments, group)
        plans.append((group, plan_reset(admin, group, _places(admin, arguments, group), reset)))
    failed = False
    for group, plan in plans:
        if arguments.execute and plan:
            results = admin.alter_group_offsets(group, {item.place: item.new for item in plan})
            failed = failed or bool(results.errors)
            _complain(group, dict(results.errors))
    if arguments.export:
        _export(plans)
    else:
        rows = [(group, item.place, item.new) for group, plan in plans for item in plan]
        tables.print_reset(rows)
    return FAILED if failed else DONE


def delete_offsets(admin: "Admin", arguments: argparse.Namespace) -> int:
    if not arguments.topic:
        raise ConfigError("--delete-offsets needs --topic")
    group = arguments.group[0]
    places = expand(admin, [parse_place(text) for text in arguments.topic])
    errors = admin.delete_group_offsets(group, places).errors
    if errors:
        say("\nError: Encountered some partition-level error, see the follow-up details.\n")
    else:
        say(f"Request succeeded for deleting offsets from group {group}.\n")
    say(f"{'TOPIC':<15} {'PARTITION':<10} {'STATUS':<15}")
    for place in places:
        error = errors.get(place)
        status = "Successful" if error is None else f"Error: {error}"
        say(f"{place.topic:<15} {place.partition:<10} {status:<15}")
    return FAILED if errors else DONE


def _groups(admin: "Admin", arguments: argparse.Namespace) -> list[str]:
    if arguments.all_groups:
        return [group.group_id for group in admin.list_groups()]
    return list(arguments.group)


def _places(admin: "Admin", arguments: argparse.Namespace, group: str) -> list[TopicPartition]:
    if arguments.topic:
        return expand(admin, [parse_place(text) for text in arguments.topic])
    if arguments.all_topics:
        return sorted(committed_of(admin, group))
    if arguments.from_file is not None:
        return []
    raise ConfigError("--reset-offsets needs --topic, --all-topics or --from-file")


def _reset(arguments: argparse.Namespace, group: str) -> Reset:
    if not any(_given(arguments, rule) for rule in _RULES):
        if arguments.export:
            return Reset(ResetRule.CURRENT)
        flags = ", ".join(f"--{rule.replace('_', '-')}" for rule in _RULES)
        raise ConfigError(f"--reset-offsets needs one of {flags}")
    if arguments.from_file is not None:
        offsets = parse_offsets_file(read_input(arguments.from_file), group)
        return Reset(ResetRule.LISTED, listed=offsets)
    if arguments.to_datetime is not None:
        return Reset(ResetRule.TIME, parse_datetime(arguments.to_datetime))
    if arguments.by_duration is not None:
        ago_ms = int(parse_duration(arguments.by_duration) * 1000)
        return Reset(ResetRule.TIME, SystemClock().now_ms() - ago_ms)
    return simple_reset(arguments)


def _export(plans: list[tuple[str, list[PlannedOffset]]]) -> None:
    """CSV that --from-file reads; the group is a column only when there are several."""
    several = len(plans) > 1
    for group, plan in plans:
        for item in plan:
            line = f"{item.place.topic},{item.place.partition},{item.new}"
            say(f'"{group}",{line}' if several else line)
    say("")


def _complain(group: str, errors: dict[TopicPartition, BarnabasError]) -> None:
    for place, error in errors.items():
        name = error.name if isinstance(error, BrokerError) else str(error)
        sys.stderr.write(f"Error: offsets of group {group} for {place} not reset: {name}\n")


def _given(arguments: argparse.Namespace, rule: str) -> bool:
    """Whether a rule was chosen; an offset of 0 is a choice."""
    value = getattr(arguments, rule)
    return value is not None and value is not False
