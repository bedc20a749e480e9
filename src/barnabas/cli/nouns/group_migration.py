"""`groups migrate`: copies the offsets of a group from ZooKeeper to Kafka or back.

Prints the plan; `--execute` writes the offsets. The source is not changed. An offset that is
higher at the target is kept, unless `--allow-rewind` is given: the group would read records again.
"""

import argparse

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.output import DONE, show
from barnabas.cli.nouns.group_reset import ActiveGroupError, require_inactive
from barnabas.cli.nouns.zookeeper_groups import (
    add_zookeeper_option,
    cluster_of,
    connector_config,
)
from barnabas.clients.connector import Direction, MigrationPlan, OffsetMigration
from barnabas.model.errors import LocalError

COLUMNS = ("group", "topic", "partition", "source_offset", "target_offset", "step", "status")
PLANNED, DONE_STATUS, SKIPPED = "PLANNED", "OK", "SKIPPED"


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace) -> int:
    config = connector_config(Connection.of(arguments), arguments.zookeeper)
    execute = arguments.execute and not arguments.dry_run
    with OffsetMigration({**config, "group.id": arguments.group}) as migration:
        plan = migration.plan(Direction(arguments.to))
        if not plan.moves:
            raise LocalError(f"group {plan.group!r} has no offsets to copy to {arguments.to}")
        if execute:
            _require_inactive(arguments, plan)
            migration.apply(plan, allow_rewind=arguments.allow_rewind)
    _show(arguments, plan, execute)
    return DONE


def _require_inactive(arguments: argparse.Namespace, plan: MigrationPlan) -> None:
    """Raises ActiveGroupError when the group has members; they would overwrite the offsets."""
    if plan.members:
        raise ActiveGroupError(
            f"group {plan.group!r} is active in ZooKeeper: stop its members first: "
            f"{', '.join(plan.members)}"
        )
    with cluster_of(arguments).admin() as admin:
        require_inactive(admin, plan.group)


def _show(arguments: argparse.Namespace, plan: MigrationPlan, executed: bool) -> None:
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
    show(arguments, rows, (*COLUMNS, "message"))


def _status(written: bool, executed: bool) -> str:
    if not written:
        return SKIPPED
    return DONE_STATUS if executed else PLANNED
