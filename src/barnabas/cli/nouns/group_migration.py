"""`groups migrate`: a group's offsets from ZooKeeper to Kafka or back; the plan first.

Nothing is removed where they come from. An offset that is ahead at the target is left alone
unless `--allow-rewind`: the group would read records again.
"""

import argparse
from typing import TYPE_CHECKING

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.options import add_common_options
from barnabas.cli.framework.render import show
from barnabas.cli.nouns.group_reset import ActiveGroupError, refuse_active
from barnabas.cli.nouns.zookeeper_groups import (
    add_zookeeper_option,
    cluster_of,
    connector_config,
)
from barnabas.model.errors import LocalError

if TYPE_CHECKING:
    from barnabas.clients.connector import MigrationPlan


COLUMNS = ("group", "topic", "partition", "source_offset", "target_offset", "step", "status")
PLANNED, DONE_STATUS, SKIPPED = "PLANNED", "OK", "SKIPPED"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument(
        "--to", choices=("kafka", "zookeeper"), default="kafka", help="(default: %(default)s)"
    )
    parser.add_argument("--execute", action="store_true", help="do it; else only the plan")
    parser.add_argument("--dry-run", action="store_true", help="only the plan (the default)")
    parser.add_argument(
        "--allow-rewind", action="store_true", help="also where the target is ahead"
    )
    add_zookeeper_option(parser, required=True)
    add_common_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from barnabas.clients.connector import Direction, OffsetMigration

    config = connector_config(Connection.of(arguments), arguments.zookeeper)
    execute = arguments.execute and not arguments.dry_run
    with OffsetMigration({**config, "group.id": arguments.group}) as migration:
        plan = migration.plan(Direction(arguments.to))
        if not plan.moves:
            raise LocalError(f"group {plan.group!r} has no offsets to move to {arguments.to}")
        if execute:
            _refuse_active(arguments, plan)
            migration.apply(plan, allow_rewind=arguments.allow_rewind)
    _show(arguments, plan, execute)
    return DONE


def _refuse_active(arguments: argparse.Namespace, plan: "MigrationPlan") -> None:
    """Whoever reads, on either side, would commit over it a moment later."""
    if plan.members:
        raise ActiveGroupError(
            f"group {plan.group!r} is active in ZooKeeper: stop its members first: "
            f"{', '.join(plan.members)}"
        )
    with cluster_of(arguments).admin() as admin:
        refuse_active(admin, plan.group)


def _show(arguments: argparse.Namespace, plan: "MigrationPlan", executed: bool) -> None:
    written = plan.changes(allow_rewind=arguments.allow_rewind)
    rows = [
        {
            "group": plan.group,
            "topic": move.place.topic,
            "partition": move.place.partition,
            "source_offset": move.source,
            "target_offset": move.target,
            "step": move.step.name.lower(),
            "status": _status(move.place in written, executed),
            "message": move.step.value,
        }
        for move in plan.moves
    ]
    show(arguments, rows, (*COLUMNS, "message"))


def _status(written: bool, executed: bool) -> str:
    if not written:
        return SKIPPED
    return DONE_STATUS if executed else PLANNED
