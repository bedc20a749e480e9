"""Actions on topics."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from barnabas.console.actions.action import Action


def create_topic(
    name: str, partitions: int | None, replication_factor: int | None, configs: Mapping[str, str]
) -> Action:
    cli = ["topics", "create", name]
    arguments = [repr(name)]
    if partitions is not None:
        cli += ["--partitions", str(partitions)]
        arguments.append(f"partitions={partitions}")
    if replication_factor is not None:
        cli += ["--replication-factor", str(replication_factor)]
        arguments.append(f"replication_factor={replication_factor}")
    for key, value in configs.items():
        cli += ["--config", f"{key}={value}"]
    if configs:
        arguments.append(f"configs={dict(configs)!r}")
    body = {
        "name": name,
        "partitions": partitions,
        "replication_factor": replication_factor,
        "configs": dict(configs),
    }
    python = f"admin.create_topic({', '.join(arguments)})"
    return Action("Create topic", "POST", "/topics", body, cli, python)


def delete_topic(name: str) -> Action:
    cli = ["topics", "delete", name, "--yes"]
    python = f"admin.delete_topic({name!r})"
    return Action("Delete topic", "DELETE", f"/topics/{quote(name)}", None, cli, python)


def add_partitions(name: str, total: int) -> Action:
    return Action(
        "Add partitions",
        "POST",
        f"/topics/{quote(name)}/partitions",
        {"total": total},
        ["topics", "alter", name, "--partitions", str(total)],
        f"admin.create_partitions({{{name!r}: {total}}}).check()",
    )


def alter_topic_configs(name: str, values: Mapping[str, str], reset: Sequence[str]) -> Action:
    cli = ["topics", "alter", name]
    for key, value in values.items():
        cli += ["--config", f"{key}={value}"]
    for key in reset:
        cli += ["--delete-config", key]
    changes: dict[str, str | None] = {**values, **dict.fromkeys(reset)}
    return Action(
        "Change configuration",
        "PATCH",
        f"/topics/{quote(name)}/configs",
        {"values": dict(values), "reset": list(reset)},
        cli,
        f"admin.alter_configs({{ConfigResource.topic({name!r}): {changes!r}}}).check()",
        imports=["from barnabas.admin import ConfigResource"],
    )


def delete_records(name: str, offsets: Mapping[int, int] | None) -> Action:
    """Deletes records before an offset of each partition; without offsets, all records."""
    path = f"/topics/{quote(name)}/delete-records"
    imports = ["from barnabas import TopicPartition"]
    if offsets is None:
        return Action(
            "Delete records",
            "POST",
            path,
            {},
            ["records", "delete", name, "--offset", "end", "--yes"],
            f"topic = admin.describe_topic({name!r})\n"
            f"admin.delete_records({{TopicPartition({name!r}, item.partition): HIGH_WATERMARK "
            "for item in topic.partitions}).check()",
            imports=[*imports, "from barnabas.admin import HIGH_WATERMARK"],
        )
    [(partition, offset)] = offsets.items()
    return Action(
        "Delete records",
        "POST",
        path,
        {"offsets": {str(partition): offset}},
        ["records", "delete", f"{name}:{partition}", "--offset", str(offset), "--yes"],
        f"admin.delete_records({{TopicPartition({name!r}, {partition}): {offset}}}).check()",
        imports=imports,
    )
