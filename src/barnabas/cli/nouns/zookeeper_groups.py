"""Groups of the ZooKeeper high-level consumer: the verbs that take `--zookeeper`, and `migrate`.

Members, owners and offsets are read from ZooKeeper, log end offsets from the brokers that are
registered there. The rows have the same keys as those of other groups, and `owner`: the stream of
the member that reads the partition.

`groups migrate` copies the offsets of a group from ZooKeeper to Kafka or back. It prints the plan;
`--execute` writes the offsets. The source is not changed. An offset that is higher at the target is
kept, unless `--allow-rewind` is given: the group would read records again.
"""

import argparse
import contextlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from barnabas.cli.framework.connection import BOOTSTRAP, ZOOKEEPER_CONNECT_SECONDS, Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, show
from barnabas.cli.nouns.group_lag import COLUMNS, GroupPartitionLag, with_lag_seconds
from barnabas.cli.nouns.group_reset import ActiveGroupError, require_inactive
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError
from barnabas.runtime.clock import SystemClock

if TYPE_CHECKING:
    from barnabas.clients.connector import GroupReport, GroupReports, MigrationPlan


LAG_COLUMNS = (*COLUMNS[:6], "owner", "lag_seconds")
KIND = "ZooKeeper"
ACTIVE, EMPTY = "Stable", "Empty"
MIGRATION_COLUMNS = (
    "group",
    "topic",
    "partition",
    "source_offset",
    "target_offset",
    "step",
    "status",
    "message",
)
PLANNED, DONE_STATUS, SKIPPED = "PLANNED", "OK", "SKIPPED"


def add_zookeeper_option(parser: argparse.ArgumentParser, **options: Any) -> None:
    parser.add_argument(
        "-z",
        "--zookeeper",
        metavar="HOST:PORT",
        help="groups of the ZooKeeper high-level consumer, in this ensemble",
        **options,
    )


def connector_config(connection: Connection, zookeeper: str) -> dict[str, object]:
    """Returns the connection settings of the command line for the ZooKeeper consumer's tools."""
    return {
        "zookeeper.connection.timeout.ms": int(ZOOKEEPER_CONNECT_SECONDS * 1000),
        **connection.supported_settings(CONNECTOR_KEYS),
        "zookeeper.connect": zookeeper,
    }


def open_reports(connection: Connection, zookeeper: str) -> "GroupReports":
    from barnabas.clients.connector import GroupReports  # start-up time of the other verbs

    return GroupReports(connector_config(connection, zookeeper))


def cluster_of(arguments: argparse.Namespace) -> Connection:
    """Returns the connection to the brokers in `--zookeeper`, or to --bootstrap-server if given."""
    connection = Connection.of(arguments)
    if arguments.bootstrap_server:
        return connection
    # Start-up time: few command lines use --zookeeper.
    from barnabas.cli.framework.zookeeper_brokers import find_brokers

    found = find_brokers(arguments.zookeeper, connection.settings)
    return Connection({**connection.settings, BOOTSTRAP: found})


def list_rows(arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Returns a row for each group in ZooKeeper that matches --state and --type."""
    with open_reports(Connection.of(arguments), arguments.zookeeper) as reports:
        states = {name: ACTIVE if reports.members(name) else EMPTY for name in reports.groups()}
    return [
        {"group": name, "state": state, "type": KIND, "protocol": None}
        for name, state in states.items()
        if _wanted(state, arguments.state) and _wanted(KIND, arguments.type)
    ]


def described(arguments: argparse.Namespace) -> list["GroupReport"]:
    """Returns the reports of the named groups, or of all groups."""
    with open_reports(Connection.of(arguments), arguments.zookeeper) as reports:
        return describe_named(reports, arguments.groups)


def describe_named(reports: "GroupReports", names: Iterable[str]) -> list["GroupReport"]:
    there = reports.groups()
    wanted = list(names) or there
    for name in wanted:
        if name not in there:
            raise BrokerError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"ZooKeeper has no consumer group {name!r}"
            )
    return [reports.describe(name) for name in wanted]


def delete(arguments: argparse.Namespace) -> dict[str, BarnabasError]:
    """Deletes groups and returns the errors by group; --dry-run only checks them."""
    errors: dict[str, BarnabasError] = {}
    with open_reports(Connection.of(arguments), arguments.zookeeper) as reports:
        for name in arguments.groups:
            try:
                (report,) = describe_named(reports, [name])
                if report.members:
                    names = ", ".join(report.members)
                    raise BrokerError(ErrorCode.NON_EMPTY_GROUP, f"the group has members: {names}")
                if not arguments.dry_run:
                    reports.delete(name)
            except BarnabasError as error:
                errors[name] = error
    return errors


def lag_rows(
    arguments: argparse.Namespace, reports: Sequence["GroupReport"]
) -> list[dict[str, object]]:
    """Returns rows with offsets, lag in records and seconds, and owners."""
    owners = {(r.group, p.topic_partition): p.owner for r in reports for p in r.partitions}
    lags = [lag for report in reports for lag in lags_of_report(report)]
    with contextlib.suppress(UnavailableError):  # the offsets are shown without a lag
        lags = with_lag_seconds(cluster_of(arguments), lags, SystemClock().now_ms())
    return [_row(lag, owners[lag.group, lag.topic_partition]) for lag in lags]


def lags_of_report(report: "GroupReport") -> list[GroupPartitionLag]:
    return [
        GroupPartitionLag(
            report.group, item.topic_partition, item.offset, item.log_end_offset, None
        )
        for item in report.partitions
    ]


def member_rows(report: "GroupReport") -> list[dict[str, object]]:
    """Returns the members with the partitions that their streams own."""
    return [
        {
            "group": report.group,
            "consumer_id": member,
            "instance_id": None,
            "host": None,
            "client_id": None,
            "partitions": [
                str(item.topic_partition)
                for item in report.partitions
                if item.owner and consumer_of(item.owner) == member
            ],
        }
        for member in report.members
    ]


def consumer_of(owner: str) -> str:
    """Returns the member that a stream belongs to.

    >>> consumer_of("billing_host-1700000000000-1a2b3c4d-0")
    'billing_host-1700000000000-1a2b3c4d'
    """
    return owner.rpartition("-")[0]


def _row(lag: GroupPartitionLag, owner: str | None) -> dict[str, Any]:
    consumer = consumer_of(owner) if owner else None
    return {**lag.row(), "consumer_id": consumer, "owner": owner}


def _wanted(value: str, allowed: Iterable[str]) -> bool:
    names = [name.lower() for name in allowed]
    return not names or value.lower() in names


# -- migrate -----------------------------------------------------------------------------------


def add_migrate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument(
        "--to", choices=("kafka", "zookeeper"), default="kafka", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--execute", action="store_true", help="write the offsets (default: only print the plan)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print the plan (the default)")
    parser.add_argument(
        "--allow-rewind",
        action="store_true",
        help="also write offsets that are higher at the target",
    )
    add_zookeeper_option(parser, required=True)
    add_common_options(parser)


def run_migrate(arguments: argparse.Namespace) -> int:
    # Start-up time of the other verbs.
    from barnabas.clients.connector import Direction, OffsetMigration

    config = connector_config(Connection.of(arguments), arguments.zookeeper)
    execute = arguments.execute and not arguments.dry_run
    with OffsetMigration({**config, "group.id": arguments.group}) as migration:
        plan = migration.plan(Direction(arguments.to))
        if not plan.moves:
            raise LocalError(f"group {plan.group!r} has no offsets to copy to {arguments.to}")
        if execute:
            _require_inactive(arguments, plan)
            migration.apply(plan, allow_rewind=arguments.allow_rewind)
    _show_plan(arguments, plan, execute)
    return DONE


def _require_inactive(arguments: argparse.Namespace, plan: "MigrationPlan") -> None:
    """Raises ActiveGroupError when the group has members; they would overwrite the offsets."""
    if plan.members:
        raise ActiveGroupError(
            f"group {plan.group!r} is active in ZooKeeper: stop its members first: "
            f"{', '.join(plan.members)}"
        )
    with cluster_of(arguments).admin() as admin:
        require_inactive(admin, plan.group)


def _show_plan(arguments: argparse.Namespace, plan: "MigrationPlan", executed: bool) -> None:
    written = plan.changes(allow_rewind=arguments.allow_rewind)
    rows = [
        {
            "group": plan.group,
            "topic": move.topic_partition.topic,
            "partition": move.topic_partition.partition,
            "source_offset": move.source,
            "target_offset": move.target,
            "step": move.step.name.lower(),
            "status": _status(move.topic_partition in written, executed),
            "message": move.step.value,
        }
        for move in plan.moves
    ]
    show(arguments, rows, MIGRATION_COLUMNS)


def _status(written: bool, executed: bool) -> str:
    if not written:
        return SKIPPED
    return DONE_STATUS if executed else PLANNED
