"""kafka-consumer-groups: list, describe, delete groups; reset and delete their offsets."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import read_input
from barnabas.cli.framework.output import DONE, FAILED, parse_datetime, parse_duration
from barnabas.cli.nouns.group_lag import GroupPartitionLag, check_group_filters, lags_of
from barnabas.cli.nouns.group_reset import (
    PlannedOffset,
    Reset,
    ResetRule,
    committed_of,
    parse_offsets_file,
    plan_reset,
    require_inactive,
    simple_reset,
    warn_limited,
)
from barnabas.cli.record_io.selection import named_partitions
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import Admin, GroupDescription, MemberDescription


ERROR_PREFIX = "Error: Executing consumer group command failed due to "
EXAMPLE = """
barnabas kafka-consumer-groups --bootstrap-server localhost:9092 --describe --group billing
barnabas kafka-consumer-groups --bootstrap-server localhost:9092 --group billing \\
    --topic orders --reset-offsets --to-earliest --execute
"""
NARROW = 15
MISSING = "-"
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
_UNSET = "\0"


def width(values: Iterable[object], least: int = NARROW) -> int:
    """Returns the width of the longest value, but at least `least`."""
    return max([least, *(len(str(value)) for value in values)])


def print_offsets(lags: Sequence[GroupPartitionLag], *, verbose: bool = False) -> None:
    """Prints the table of offsets and lag, with the columns of Apache's tool."""
    rows = [_offset_cells(lag, verbose) for lag in lags]
    heads = [*("GROUP", "TOPIC", "PARTITION"), *(["LEADER-EPOCH"] if verbose else [])]
    heads += ["CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
    widths = [10 if head == "PARTITION" else NARROW for head in heads]
    for flexible in (0, 1, -3, -2):
        widths[flexible] = width(row[flexible] for row in rows)
    say("")
    for row in [heads, *rows]:
        *padded, last = row
        cells = [f"{cell:<{size}}" for cell, size in zip(padded, widths, strict=False)]
        say(" ".join([*cells, last]))


def _offset_cells(lag: GroupPartitionLag, verbose: bool) -> list[str]:
    member = lag.member
    values: list[object] = [lag.group, lag.topic_partition.topic, lag.topic_partition.partition]
    values += [lag.leader_epoch] if verbose else []
    values += [lag.current_offset, lag.log_end_offset, lag.lag]
    values += [member.member_id, member.host, member.client_id] if member else [None] * 3
    return [MISSING if value is None else str(value) for value in values]


def print_members(groups: Iterable["GroupDescription"], *, verbose: bool) -> None:
    for group in groups:
        members = group.members
        names = width([group.group_id])
        consumer = width(member.member_id for member in members)
        host = width(member.host for member in members)
        client = width(member.client_id for member in members)
        instance = width((member.instance_id or "" for member in members), 17)
        static = any(member.instance_id for member in members)
        line = f"{{:<{names}}} {{:<{consumer}}} "
        line += f"{{:<{instance}}} " if static else ""
        line += f"{{:<{host}}} {{:<{client}}} {{:<15}} "
        heads = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if static else [])]
        heads += ["HOST", "CLIENT-ID", "#PARTITIONS"]
        tail = "CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   "
        say("")
        say(line.format(*heads) + (tail if verbose else ""))
        for member in members:
            cells = [group.group_id, member.member_id]
            cells += [member.instance_id or ""] if static else []
            cells += [member.host, member.client_id, str(len(member.assignment))]
            say(line.format(*cells) + (_details(group, member) if verbose else ""))


def _details(group: "GroupDescription", member: "MemberDescription") -> str:
    epoch, target_epoch = _epoch(member.member_epoch), _epoch(group.assignment_epoch)
    target = member.target_assignment
    targets = MISSING if target is None else assigned(target)
    return f"{epoch:<15} {assigned(member.assignment):<20} {target_epoch:<15} {targets:<20}"


def assigned(topic_partitions: Iterable[TopicPartition]) -> str:
    """Returns an assignment as `orders:0,1;other:2`; `-` when it is empty."""
    topics: dict[str, list[str]] = {}
    for topic_partition in sorted(topic_partitions):
        topics.setdefault(topic_partition.topic, []).append(str(topic_partition.partition))
    return ";".join(f"{topic}:{','.join(n)}" for topic, n in topics.items()) or MISSING


def print_states(groups: Iterable["GroupDescription"], *, verbose: bool = False) -> None:
    for group in groups:
        node = group.coordinator
        where = MISSING if node is None else f"{node.host}:{node.port}  ({node.id})"
        line = f"{{:<{width([group.group_id])}}} {{:<{max(25, len(where))}}} {{:<20}} {{:<20}} "
        heads = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
        cells = [group.group_id, where, group.assignor or MISSING, str(group.state)]
        if verbose:
            line += "{:<15} {:<25} "
            heads += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
            cells += [_epoch(group.group_epoch), _epoch(group.assignment_epoch)]
        say("")
        say(line.format(*heads) + "#MEMBERS")
        say(line.format(*cells) + str(len(group.members)))


def _epoch(number: int | None) -> str:
    return MISSING if number is None else str(number)


def print_reset(rows: Sequence[tuple[str, TopicPartition, int]]) -> None:
    line = "{:<30} {:<30} {:<10} {:<15}"
    say("")
    say(line.format("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"))
    for group, topic_partition, offset in rows:
        say(line.format(group, topic_partition.topic, topic_partition.partition, offset))


def reset_offsets(admin: "Admin", arguments: argparse.Namespace) -> int:
    """Prints the new offsets; --execute commits them, --export prints CSV."""
    if arguments.execute and arguments.dry_run:
        raise ConfigError("--execute and --dry-run cannot be used together")
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
        require_inactive(admin, group)
        reset = _reset(arguments, group)
        plans.append(
            (group, plan_reset(admin, group, _topic_partitions(admin, arguments, group), reset))
        )
        warn_limited(plans[-1][1])
    failed = False
    for group, plan in plans:
        if arguments.execute and plan:
            results = admin.alter_group_offsets(
                group, {item.topic_partition: item.new for item in plan}
            )
            failed = failed or bool(results.errors)
            _print_errors(group, dict(results.errors))
    if arguments.export:
        _export(plans)
    else:
        rows = [(group, item.topic_partition, item.new) for group, plan in plans for item in plan]
        print_reset(rows)
    return FAILED if failed else DONE


def delete_offsets(admin: "Admin", arguments: argparse.Namespace) -> int:
    if not arguments.topic:
        raise ConfigError("--delete-offsets needs --topic")
    group = arguments.group[0]
    topic_partitions = named_partitions(admin, arguments.topic)
    errors = admin.delete_group_offsets(group, topic_partitions).errors
    if errors:
        say("\nError: Encountered some partition-level error, see the follow-up details.\n")
    else:
        say(f"Request succeeded for deleting offsets from group {group}.\n")
    say(f"{'TOPIC':<15} {'PARTITION':<10} {'STATUS':<15}")
    for topic_partition in topic_partitions:
        error = errors.get(topic_partition)
        status = "Successful" if error is None else f"Error: {error}"
        say(f"{topic_partition.topic:<15} {topic_partition.partition:<10} {status:<15}")
    return FAILED if errors else DONE


def _groups(admin: "Admin", arguments: argparse.Namespace) -> list[str]:
    if arguments.all_groups:
        return [group.group_id for group in admin.list_groups()]
    return list(arguments.group)


def _topic_partitions(
    admin: "Admin", arguments: argparse.Namespace, group: str
) -> list[TopicPartition]:
    if arguments.topic:
        return named_partitions(admin, arguments.topic)
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
    """Prints CSV for --from-file; the group is a column only when there are several groups."""
    several = len(plans) > 1
    for group, plan in plans:
        for item in plan:
            line = f"{item.topic_partition.topic},{item.topic_partition.partition},{item.new}"
            say(f'"{group}",{line}' if several else line)
    say("")


def _print_errors(group: str, errors: dict[TopicPartition, BarnabasError]) -> None:
    for topic_partition, error in errors.items():
        name = error.name if isinstance(error, BrokerError) else str(error)
        sys.stderr.write(
            f"Error: offsets of group {group} for {topic_partition} not reset: {name}\n"
        )


def _given(arguments: argparse.Namespace, rule: str) -> bool:
    """Returns whether a rule was given; 0 is a valid offset."""
    value = getattr(arguments, rule)
    return value is not None and value is not False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    action = parser.add_mutually_exclusive_group(required=True)
    for name in (
        "list",
        "describe",
        "delete",
        "reset-offsets",
        "delete-offsets",
        "validate-regex",
    ):
        if name == "validate-regex":
            action.add_argument("--validate-regex", metavar="REGEX")
        else:
            action.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--group", action="append", default=[])
    parser.add_argument("--all-groups", action="store_true")
    parser.add_argument("--topic", action="append", default=[], metavar="TOPIC[:P,P]")
    parser.add_argument("--all-topics", action="store_true")
    parser.add_argument("--members", action="store_true")
    parser.add_argument("--offsets", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--state", nargs="?", const="", default=_UNSET)
    parser.add_argument("--type", nargs="?", const="", default=_UNSET)
    parser.add_argument("--timeout", type=int, help="timeout in milliseconds (default: 30000)")
    _reset_arguments(parser)
    add_bootstrap_options(parser, zookeeper=True)


def _reset_arguments(parser: argparse.ArgumentParser) -> None:
    rule = parser.add_mutually_exclusive_group()
    rule.add_argument("--to-offset", type=int)
    rule.add_argument("--to-datetime")
    rule.add_argument("--by-duration")
    rule.add_argument("--to-earliest", action="store_true")
    rule.add_argument("--to-latest", action="store_true")
    rule.add_argument("--to-current", action="store_true")
    rule.add_argument("--shift-by", type=int)
    rule.add_argument("--from-file", metavar="CSV")
    parser.add_argument("--execute", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--export", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    if arguments.validate_regex is not None:
        return _validate_regex(arguments.validate_regex)
    if arguments.zookeeper and not arguments.bootstrap_server:
        # Start-up time: few command lines use --zookeeper.
        from barnabas.cli.apache.consumer_groups_zookeeper import run_on_zookeeper

        return run_on_zookeeper(arguments)
    actions: dict[str, Callable[[Admin, argparse.Namespace], int]] = {
        "list": _list,
        "describe": _describe,
        "delete": _delete,
        "reset_offsets": reset_offsets,
        "delete_offsets": delete_offsets,
    }
    chosen = next(name for name in actions if getattr(arguments, name))
    if chosen != "list" and not arguments.group and not arguments.all_groups:
        raise ConfigError(f"--{chosen.replace('_', '-')} needs --group or --all-groups")
    connection = connection_of(arguments)
    if arguments.timeout is not None:
        limit = {"default.api.timeout.ms": str(arguments.timeout)}
        connection = Connection({**connection.settings, **limit})
    with connection.admin() as admin:
        return actions[chosen](admin, arguments)


def _validate_regex(text: str) -> int:
    try:
        re.compile(text)
    except re.error as error:
        say(f"The regex `{text}` is invalid: {error}.")
        return FAILED
    say(f"The regex `{text}` is valid.")
    return DONE


def _list(admin: "Admin", arguments: argparse.Namespace) -> int:
    states = _comma_separated(arguments.state)
    kinds = _comma_separated(arguments.type)
    check_group_filters(states, kinds)
    groups = sorted(admin.list_groups(states=states, types=kinds), key=lambda g: g.group_id)
    if arguments.state == _UNSET and arguments.type == _UNSET:
        for group in groups:
            say(group.group_id)
        return DONE
    column = width(group.group_id for group in groups) + 10
    heads, cells = ["GROUP"], [[group.group_id] for group in groups]
    if arguments.type != _UNSET:
        heads.append("TYPE")
        cells = [[*row, str(group.type)] for row, group in zip(cells, groups, strict=True)]
    if arguments.state != _UNSET:
        heads.append("STATE")
        cells = [[*row, str(group.state)] for row, group in zip(cells, groups, strict=True)]
    for row in [heads, *cells]:
        say(f"{row[0]:<{column}} " + " ".join(f"{cell:<20}" for cell in row[1:]))
    return DONE


def _comma_separated(text: str) -> list[str]:
    return [] if text == _UNSET else [word.strip() for word in text.split(",") if word.strip()]


def _describe(admin: "Admin", arguments: argparse.Namespace) -> int:
    names = arguments.group
    if arguments.all_groups:
        names = [group.group_id for group in admin.list_groups()]
    groups = list(admin.describe_groups(names).check().values())
    for group in groups:
        _warn_about_state(group)
    if arguments.members:
        print_members(groups, verbose=arguments.verbose)
    elif arguments.state != _UNSET:
        print_states(groups, verbose=arguments.verbose)
    else:
        for group in groups:
            lags = lags_of(admin, group)
            if lags:
                print_offsets(lags, verbose=arguments.verbose)
    return DONE


def _warn_about_state(group: "GroupDescription") -> None:
    text = {
        "Empty": f"Consumer group '{group.group_id}' has no active members.",
        "Dead": f"Consumer group '{group.group_id}' does not exist.",
        "PreparingRebalance": f"Warning: Consumer group '{group.group_id}' is rebalancing.",
        "CompletingRebalance": f"Warning: Consumer group '{group.group_id}' is rebalancing.",
    }.get(str(group.state))
    if text is not None:
        sys.stdout.flush()
        sys.stderr.write(f"\n{text}\n")
        sys.stderr.flush()


def _delete(admin: "Admin", arguments: argparse.Namespace) -> int:
    names = arguments.group
    if arguments.all_groups:
        names = [group.group_id for group in admin.list_groups()]
    results = admin.delete_groups(names)
    quoted = ", ".join(f"'{name}'" for name in results.ok)
    if not results.errors:
        say(f"Deletion of requested consumer groups ({quoted}) was successful.")
        return DONE
    sys.stderr.write("\nError: Deletion of some consumer groups failed:\n")
    for name, error in results.errors.items():
        sys.stderr.write(f"* Group '{name}' could not be deleted due to: {error}\n")
    if results.ok:
        say(f"\nThese consumer groups were deleted successfully: {quoted}")
    return FAILED
