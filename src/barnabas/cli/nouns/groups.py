"""Consumer groups: list, describe with lag, watch live, reset, copy, delete, remove members."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from barnabas.admin.group_types import GroupMember
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options, add_confirmation_options, confirmed
from barnabas.cli.framework.output import CHECK_FAILED, DONE, FAILED, exit_code, show, status_of
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.cli.nouns import group_lag, group_reset, zookeeper_groups
from barnabas.cli.nouns.group_lag import (
    COLUMNS,
    check_group_filters,
    lags_of,
    with_lag_seconds,
)
from barnabas.cli.nouns.group_reset import committed_of, require_inactive
from barnabas.cli.record_io.selection import named_partitions
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.admin import GroupDescription

RESET_EXAMPLE = """
barnabas groups reset billing --topic orders --to-datetime 2024-05-01T00:00:00Z
barnabas groups reset billing --topic orders:0,1 --shift-by -100 --execute
"""
DESCRIBE_EXAMPLE = """
barnabas groups describe billing --max-lag 10000
barnabas groups describe billing --zookeeper localhost:2181
"""
MIGRATE_EXAMPLE = """
barnabas groups migrate billing --zookeeper localhost:2181
barnabas groups migrate billing --zookeeper localhost:2181 --to kafka --execute
"""
WATCH_EXAMPLE = "barnabas groups watch billing --interval 2"
LIST_COLUMNS = ("group", "state", "type", "protocol")
MEMBER_COLUMNS = ("group", "consumer_id", "instance_id", "host", "client_id", "partitions")
OFFSET_COLUMNS = ("group", "topic", "partition", "status", "message")
STATUS_COLUMNS = ("group", "status", "message")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


# -- list --------------------------------------------------------------------------------------


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state", action="append", default=[], help="only groups in this state, repeatable"
    )
    parser.add_argument("--type", action="append", default=[], help="Classic, Consumer, Share…")
    zookeeper_groups.add_zookeeper_option(parser)
    add_common_options(parser)


def _list(arguments: argparse.Namespace) -> int:
    if arguments.zookeeper:
        show(arguments, zookeeper_groups.list_rows(arguments), LIST_COLUMNS)
        return DONE
    check_group_filters(arguments.state, arguments.type)
    with Connection.of(arguments).admin() as admin:
        listed = admin.list_groups(states=arguments.state, types=arguments.type)
    rows = [
        {
            "group": item.group_id,
            "state": str(item.state),
            "type": str(item.type),
            "protocol": item.protocol_type,
        }
        for item in listed
    ]
    show(arguments, sorted(rows, key=lambda row: row["group"]), LIST_COLUMNS)
    return DONE


# -- describe ----------------------------------------------------------------------------------


def _describe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "groups", nargs="*", default=[], metavar="GROUP", help="(default: all groups)"
    )
    parser.add_argument(
        "--members", action="store_true", help="show the members instead of the lag"
    )
    parser.add_argument(
        "--max-lag", type=int, metavar="N", help="exit with code 3 when the total lag is higher"
    )
    zookeeper_groups.add_zookeeper_option(parser)
    add_common_options(parser)


def _describe(arguments: argparse.Namespace) -> int:
    if arguments.zookeeper:
        return _describe_in_zookeeper(arguments)
    connection = Connection.of(arguments)
    with connection.admin() as admin:
        names = arguments.groups or [item.group_id for item in admin.list_groups()]
        described = admin.describe_groups(names).check()
        if arguments.members:
            rows = [row for group in described.values() for row in _members(group)]
            show(arguments, rows, MEMBER_COLUMNS)
            return DONE
        lags = [lag for group in described.values() for lag in lags_of(admin, group)]
    lags = with_lag_seconds(connection, lags, SystemClock().now_ms())
    rows = [lag.row() for lag in lags]
    show(arguments, rows, (*COLUMNS, "lag_seconds"))
    return _checked(arguments, rows)


def _describe_in_zookeeper(arguments: argparse.Namespace) -> int:
    reports = zookeeper_groups.described(arguments)
    if arguments.members:
        rows = [row for report in reports for row in zookeeper_groups.member_rows(report)]
        show(arguments, rows, MEMBER_COLUMNS)
        return DONE
    rows = zookeeper_groups.lag_rows(arguments, reports)
    show(arguments, rows, zookeeper_groups.LAG_COLUMNS)
    return _checked(arguments, rows)


def _checked(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    lag = sum(row["lag"] or 0 for row in rows)
    above = arguments.max_lag is not None and lag > arguments.max_lag
    return CHECK_FAILED if above else DONE


def _members(group: "GroupDescription") -> list[dict[str, object]]:
    return [
        {
            "group": group.group_id,
            "consumer_id": member.member_id,
            "instance_id": member.instance_id,
            "host": member.host,
            "client_id": member.client_id,
            "partitions": [str(topic_partition) for topic_partition in member.assignment],
        }
        for member in group.members
    ]


# -- delete, delete-offsets --------------------------------------------------------------------


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("groups", nargs="+", metavar="GROUP")
    zookeeper_groups.add_zookeeper_option(parser)
    add_confirmation_options(parser)
    add_common_options(parser)


def _delete(arguments: argparse.Namespace) -> int:
    names: list[str] = arguments.groups
    if arguments.zookeeper:
        return _delete_in_zookeeper(arguments)
    with Connection.of(arguments).admin() as admin:
        for name in names:
            require_inactive(admin, name)
        if arguments.dry_run:
            errors = dict(admin.describe_groups(names).errors)
        elif not confirmed(arguments, f"delete {', '.join(names)} with their offsets"):
            return FAILED
        else:
            errors = dict(admin.delete_groups(names).errors)
    return _show_deleted(arguments, errors)


def _delete_in_zookeeper(arguments: argparse.Namespace) -> int:
    names: list[str] = arguments.groups
    question = f"delete {', '.join(names)} with their offsets from ZooKeeper"
    if not arguments.dry_run and not confirmed(arguments, question):
        return FAILED
    return _show_deleted(arguments, zookeeper_groups.delete(arguments))


def _show_deleted(arguments: argparse.Namespace, errors: Mapping[str, BarnabasError]) -> int:
    rows = [{"group": name, **status_of(errors.get(name))} for name in arguments.groups]
    show(arguments, rows, STATUS_COLUMNS)
    return exit_code(errors)


def _delete_offsets_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("topics", nargs="+", metavar="TOPIC[:PARTITIONS]")
    add_confirmation_options(parser)
    add_common_options(parser)


def _delete_offsets(arguments: argparse.Namespace) -> int:
    group = arguments.group
    with Connection.of(arguments).admin() as admin:
        topic_partitions = named_partitions(admin, arguments.topics)
        errors: dict[TopicPartition, Exception] = {}
        if not arguments.dry_run:
            if not confirmed(arguments, f"delete the offsets of {group} for these topics"):
                return FAILED
            errors = dict(admin.delete_group_offsets(group, topic_partitions).errors)
    rows = [
        {"group": group, "topic": p.topic, "partition": p.partition, **status_of(errors.get(p))}
        for p in topic_partitions
    ]
    show(arguments, rows, OFFSET_COLUMNS)
    return exit_code(errors)


def _remove_members_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--member-id", action="append", default=[], help="repeatable")
    parser.add_argument(
        "--instance-id", action="append", default=[], help="a static member, repeatable"
    )
    parser.add_argument("--all", action="store_true", help="all members")
    parser.add_argument("--reason", default="removed by an admin", help="for the broker's log")
    add_confirmation_options(parser)
    add_common_options(parser)


def _remove_members(arguments: argparse.Namespace) -> int:
    group = arguments.group
    chosen = [GroupMember(member_id=text) for text in arguments.member_id]
    chosen += [GroupMember(instance_id=text) for text in arguments.instance_id]
    if bool(chosen) is arguments.all:
        raise ConfigError("give --member-id or --instance-id, or --all for every member")
    with Connection.of(arguments).admin() as admin:
        described = admin.describe_group(group)
        if arguments.all:
            chosen = [
                GroupMember(instance_id=member.instance_id)
                if member.instance_id
                else GroupMember(member.member_id)
                for member in described.members
            ]
        errors: dict[GroupMember, Exception] = {}
        if chosen and not arguments.dry_run:
            if not confirmed(arguments, f"remove {len(chosen)} members from {group}"):
                return FAILED
            found = admin.remove_group_members(group, chosen, reason=arguments.reason)
            errors = dict(found.errors)
    rows = [
        {
            "group": group,
            "member": member.instance_id or member.member_id,
            **status_of(errors.get(member)),
        }
        for member in chosen
    ]
    show(arguments, rows, ("group", "member", "status", "message"))
    return exit_code(errors)


# -- copy --------------------------------------------------------------------------------------


def _copy_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("target", metavar="TARGET")
    add_confirmation_options(parser)
    add_common_options(parser)


def _copy(arguments: argparse.Namespace) -> int:
    group = arguments.target
    with Connection.of(arguments).admin() as admin:
        require_inactive(admin, group)
        offsets = committed_of(admin, arguments.source)
        errors: dict[TopicPartition, Exception] = {}
        if offsets and not arguments.dry_run:
            if committed_of(admin, group) and not confirmed(arguments, f"overwrite {group}"):
                return FAILED
            errors = dict(admin.alter_group_offsets(group, offsets).errors)
    rows = [
        {
            "group": group,
            "topic": topic_partition.topic,
            "partition": topic_partition.partition,
            "offset": at.offset,
            **status_of(errors.get(topic_partition)),
        }
        for topic_partition, at in sorted(offsets.items())
    ]
    show(arguments, rows, ("group", "topic", "partition", "offset", "status", "message"))
    return exit_code(errors)


VERBS = (
    Verb(
        "list",
        "list groups with state and type",
        "barnabas groups list --state Stable",
        _list_arguments,
        _list,
        ("ls",),
    ),
    Verb(
        "describe",
        "offsets, members and lag, in records and in seconds",
        DESCRIBE_EXAMPLE,
        _describe_arguments,
        _describe,
    ),
    Verb(
        "watch",
        "show lag, rates and time to catch up, repeatedly",
        WATCH_EXAMPLE,
        group_lag.add_watch_arguments,
        group_lag.run_watch,
    ),
    Verb(
        "reset",
        "plan new offsets; --execute commits them",
        RESET_EXAMPLE,
        group_reset.add_arguments,
        group_reset.run,
        ("seek",),
    ),
    Verb(
        "copy",
        "copy the committed offsets of a group to another group",
        "barnabas groups copy billing billing-test",
        _copy_arguments,
        _copy,
    ),
    Verb(
        "migrate",
        "plan the copy of offsets from ZooKeeper to Kafka or back; --execute writes them",
        MIGRATE_EXAMPLE,
        zookeeper_groups.add_migrate_arguments,
        zookeeper_groups.run_migrate,
    ),
    Verb(
        "delete",
        "delete groups without members",
        "barnabas groups delete billing-test --yes",
        _delete_arguments,
        _delete,
        ("rm",),
    ),
    Verb(
        "delete-offsets",
        "delete the committed offsets of a group for topics",
        "barnabas groups delete-offsets billing orders --yes",
        _delete_offsets_arguments,
        _delete_offsets,
    ),
    Verb(
        "remove-members",
        "remove members from a group; running clients join again",
        "barnabas groups remove-members billing --all --yes",
        _remove_members_arguments,
        _remove_members,
    ),
)
