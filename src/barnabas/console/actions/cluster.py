"""Actions on the cluster: configuration, reassignments, elections, transactions, ACLs, quotas."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.console.actions.action import Action


def alter_broker_configs(broker: int, values: Mapping[str, str], reset: Sequence[str]) -> Action:
    cli = ["configs", "alter", "broker", str(broker)]
    for key, value in values.items():
        cli += ["--set", f"{key}={value}"]
    for key in reset:
        cli += ["--delete", key]
    changes: dict[str, str | None] = {**values, **dict.fromkeys(reset)}
    return Action(
        "Change configuration",
        "PATCH",
        f"/cluster/brokers/{broker}/configs",
        {"values": dict(values), "reset": list(reset)},
        cli,
        f"admin.alter_configs({{ConfigResource.broker({broker}): {changes!r}}}).check()",
        imports=["from barnabas.admin import ConfigResource"],
    )


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


def abort_transaction(row: Mapping[str, Any]) -> Action:
    body = {
        name: row[name]
        for name in ("topic", "partition", "producer_id", "producer_epoch", "coordinator_epoch")
    }
    place = f"{row['topic']}:{row['partition']}"
    return Action(
        "Abort transaction",
        "POST",
        "/cluster/transactions/abort",
        body,
        ["transactions", "abort", place, "--producer-id", str(row["producer_id"]), "--yes"],
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


def set_quota(user: str | None, client_id: str | None, key: str, value: float | None) -> Action:
    """Sets one quota of an entity; without a value, removes it."""
    cli = ["kafka-configs", "--alter"]
    for kind, name in (("users", user), ("clients", client_id)):
        if name == "<default>":
            cli += ["--entity-type", kind, "--entity-default"]
        elif name is not None:
            cli += ["--entity-type", kind, "--entity-name", name]
    cli += ["--delete-config", key] if value is None else ["--add-config", f"{key}={value:g}"]
    return Action(
        "Set a quota",
        "PUT",
        "/cluster/quotas",
        {"user": user, "client_id": client_id, "values": {key: value}},
        cli,
        f"admin.alter_client_quotas({{QuotaEntity(user={user!r}, client_id={client_id!r}): "
        f"{{{key!r}: {value!r}}}}}).check()",
        imports=["from barnabas.admin import QuotaEntity"],
    )
