"""Actions on the cluster: configuration, reassignments, elections, transactions, ACLs, quotas."""

import json
from collections.abc import Mapping, Sequence

from barnabas.console.actions.action import Action, alter_configs, config_options


def alter_broker_configs(broker: int, values: Mapping[str, str], reset: Sequence[str]) -> Action:
    cli = ["configs", "alter", "broker", str(broker)]
    cli += config_options("--set", "--delete", values, reset)
    path = f"/cluster/brokers/{broker}/configs"
    return alter_configs(f"broker({broker})", path, cli, values, reset)


def reassign(topic: str, partition: int, replicas: Sequence[int] | None) -> Action:
    """Moves the replicas of a partition; without replicas, cancels the move."""
    plan = {
        "version": 1,
        "partitions": [{"topic": topic, "partition": partition, "replicas": list(replicas or [])}],
    }
    verb = "--cancel" if replicas is None else "--execute"
    wanted = None if replicas is None else list(replicas)
    return Action(
        "Move a partition",
        "POST",
        "/cluster/reassignments",
        {"topic": topic, "partition": partition, "replicas": wanted},
        ["kafka-reassign-partitions", "--reassignment-json-file", "/dev/stdin", verb],
        f"admin.alter_partition_reassignments({{TopicPartition({topic!r}, {partition}): "
        f"{wanted!r}}}).check()",
        imports=["from barnabas import TopicPartition"],
        cli_input=json.dumps(plan),
    )


def elect(kind: str, topic: str | None, partition: int | None) -> Action:
    """Elects the leader of a partition, or leaders of all partitions."""
    constant = f"ElectionType.{kind.upper()}"
    if topic is None:
        scope, python = ["--all-topic-partitions"], f"admin.elect_leaders({constant})"
    else:
        scope = ["--topic", topic, "--partition", str(partition)]
        python = f"admin.elect_leaders({constant}, [TopicPartition({topic!r}, {partition})])"
    return Action(
        f"Elect {kind} leaders",
        "POST",
        "/cluster/elections",
        {"kind": kind, "topic": topic, "partition": partition},
        ["kafka-leader-election", "--election-type", kind, *scope],
        python,
        imports=["from barnabas import TopicPartition", "from barnabas.admin import ElectionType"],
    )


def abort_transaction(row: Mapping[str, object]) -> Action:
    body = {
        name: row[name]
        for name in ("topic", "partition", "producer_id", "producer_epoch", "coordinator_epoch")
    }
    partition = f"{row['topic']}:{row['partition']}"
    return Action(
        "Abort transaction",
        "POST",
        "/cluster/transactions/abort",
        body,
        ["transactions", "abort", partition, "--producer-id", str(row["producer_id"]), "--yes"],
        f"admin.abort_transaction(HangingTransaction(TopicPartition({row['topic']!r}, "
        f"{row['partition']}), {row['producer_id']}, {row['producer_epoch']}, "
        f"{row['coordinator_epoch']}))",
        imports=[
            "from barnabas import TopicPartition",
            "from barnabas.admin import HangingTransaction",
        ],
    )


def create_acl(item: Mapping[str, str]) -> Action:
    return _acl("Create ACL", "/cluster/acls", "add", "create_acls([binding])", item)


def delete_acl(item: Mapping[str, str]) -> Action:
    call = (
        "delete_acls([AclFilter(binding.pattern.type, binding.pattern.name, "
        "binding.pattern.pattern, binding.entry.principal, binding.entry.host, "
        "binding.entry.operation, binding.entry.permission)])"
    )
    return _acl("Delete ACL", "/cluster/acls/delete", "remove", call, item)


def _acl(title: str, path: str, verb: str, call: str, item: Mapping[str, str]) -> Action:
    names = ("AccessEntry", "AclBinding", "AclFilter", "Operation", "PatternType", "Permission")
    python = (
        f"binding = AclBinding(\n"
        f"    ResourcePattern(ResourceType.{item['resource_type'].upper()}, "
        f"{item['resource_name']!r}, PatternType.{item['pattern'].upper()}),\n"
        f"    AccessEntry({item['principal']!r}, {item['host']!r}, "
        f"Operation.{item['operation'].upper()}, Permission.{item['permission'].upper()}),\n)\n"
        f"admin.{call}.check()"
    )
    cli = [
        "acls",
        verb,
        "--resource",
        f"{item['resource_type']}:{item['resource_name']}",
        "--pattern",
        item["pattern"],
        "--principal",
        item["principal"],
        "--host",
        item["host"],
        "--operation",
        item["operation"],
        *(["--deny"] if item["permission"] == "deny" else []),
        *(["--yes"] if verb == "remove" else []),
    ]
    imports = [
        f"from barnabas.admin import {', '.join((*names, 'ResourcePattern', 'ResourceType'))}"
    ]
    return Action(title, "POST", path, dict(item), cli, python, imports=imports)


def set_quotas(entity: Mapping[str, str | None], values: Mapping[str, float | None]) -> Action:
    """Sets quotas of an entity; a value of None removes the quota.

    Args:
        entity: Names by `user`, `client_id` and `ip`.
        values: Limits by the name of the quota.
    """
    names = {kind: name for kind, name in entity.items() if name is not None}
    cli = ["kafka-configs", "--alter"]
    for kind, option in (("user", "users"), ("client_id", "clients"), ("ip", "ips")):
        if kind in names:
            default = names[kind] == "<default>"
            which = ["--entity-default"] if default else ["--entity-name", names[kind]]
            cli += ["--entity-type", option, *which]
    given = [f"{key}={number_text(value)}" for key, value in values.items() if value is not None]
    removed = [key for key, value in values.items() if value is None]
    cli += ["--add-config", ",".join(given)] if given else []
    cli += ["--delete-config", ",".join(removed)] if removed else []
    arguments = ", ".join(f"{kind}={name!r}" for kind, name in names.items())
    return Action(
        "Set a quota" if given else "Delete quotas",
        "PUT",
        "/cluster/quotas",
        {**names, "values": dict(values)},
        cli,
        f"admin.alter_client_quotas({{QuotaEntity({arguments}): {dict(values)!r}}}).check()",
        imports=["from barnabas.admin import QuotaEntity"],
    )


def number_text(value: float) -> str:
    """Returns all digits of a number, without a fraction of 0.

    >>> number_text(12345678.0), number_text(0.25)
    ('12345678', '0.25')
    """
    return str(int(value)) if value == int(value) else repr(value)
