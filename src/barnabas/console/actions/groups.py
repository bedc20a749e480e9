"""Actions on groups and on the data of pipelines.

Offsets are reset, dead letters are sent back, SQL statements are run.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import quote

from barnabas.console.actions.action import Action, ApiAction, ConsoleAddress
from barnabas.console.models.groups import ResetRuleName

_OPTIONS = {"earliest": "--to-earliest", "latest": "--to-latest"}


def reset_offsets(
    group: str,
    rule: ResetRuleName,
    topic: str | None,
    value: int | None,
    time: datetime | None,
    planned: Sequence[tuple[str, int, int]],
) -> Action:
    """`planned` has topic, partition and new offset of each partition, for the Python text."""
    cli = ["groups", "reset", group]
    cli += ["--all-topics"] if topic is None else ["--topic", topic]
    match rule:
        case "offset":
            cli += ["--to-offset", str(value)]
        case "shift":
            cli += ["--shift-by", str(value)]
        case "time":
            cli += ["--to-datetime", "" if time is None else time.isoformat()]
        case _:
            cli.append(_OPTIONS[rule])
    offsets = ", ".join(f"TopicPartition({name!r}, {n}): {at}" for name, n, at in planned)
    body = {
        "rule": rule,
        "topic": topic,
        "value": value,
        "time": None if time is None else time.isoformat(),
    }
    return Action(
        "Reset offsets",
        "POST",
        f"/groups/{quote(group, safe='')}/reset",
        body,
        [*cli, "--execute"],
        f"admin.alter_group_offsets({group!r}, {{{offsets}}})",
        imports=["from barnabas import TopicPartition"],
    )


def delete_group(group: str, zookeeper: str | None = None) -> Action:
    """Deletes a group of the brokers or, with the address of ZooKeeper, one of ZooKeeper."""
    path = f"/groups/{quote(group, safe='')}"
    cli = ["groups", "delete", group, "--yes"]
    if zookeeper is None:
        python = f"admin.delete_groups([{group!r}]).check()"
        return Action("Delete group", "DELETE", path, None, cli, python)
    return Action(
        "Delete group",
        "DELETE",
        path,
        None,
        [*cli, "--zookeeper", zookeeper],
        f"with GroupReports({{'zookeeper.connect': {zookeeper!r}}}) as groups:\n"
        f"    groups.delete({group!r})",
        imports=["from barnabas.clients.connector import GroupReports"],
        query={"source": "zookeeper"},
    )


def remove_member(group: str, member: str, static: bool) -> Action:
    field = "instance_id" if static else "member_id"
    return Action(
        "Remove member",
        "POST",
        f"/groups/{quote(group, safe='')}/remove-members",
        {"members": [member]},
        ["groups", "remove-members", group, f"--{field.replace('_', '-')}", member, "--yes"],
        f"admin.remove_group_members({group!r}, [GroupMember({field}={member!r})])",
        imports=["from barnabas.admin import GroupMember"],
    )


def resend(topic: str, body: Mapping[str, object], console: ConsoleAddress) -> ApiAction:
    """Sends letters back; `body` has the fields of the API's ResendBody.

    The texts use the console's API, because the console sends each letter back only once.
    """
    given = {key: value for key, value in body.items() if value is not None}
    path = f"/dead-letters/{quote(topic)}/resend"
    return ApiAction("Send back", "POST", path, given, console)


def run_statement(statement: str) -> Action:
    """Runs one bounded statement."""
    return Action(
        "Run",
        "POST",
        "/sql",
        {"statement": statement},
        ["sql", "--format", "json", "--no-queries", "--execute", statement],
        f"for result in engine.run({statement!r}):\n    print(result)",
        (),
        "streams.sql.engine.engine.Engine",
        "engine",
    )
