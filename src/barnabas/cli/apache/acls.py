"""kafka-acls: list, add and remove access rules."""

import argparse
import sys
from collections.abc import Iterable
from itertools import groupby, product
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.exit_codes import DONE, FAILED
from barnabas.model.errors import ConfigError

if TYPE_CHECKING:
    from barnabas.admin import AclBinding, AclFilter, Admin, Operation, ResourcePattern

EXAMPLE = """
barnabas kafka-acls --bootstrap-server localhost:9092 --add --allow-principal User:alice \\
    --operation Read --topic orders --group billing
"""
_RESOURCES = {
    "topic": "TOPIC",
    "group": "GROUP",
    "transactional_id": "TRANSACTIONAL_ID",
    "delegation_token": "DELEGATION_TOKEN",
    "user_principal": "USER",
}
_PRODUCER = (
    ("TOPIC", ("WRITE", "DESCRIBE", "CREATE")),
    ("TRANSACTIONAL_ID", ("WRITE", "DESCRIBE")),
)
_CONSUMER = (("TOPIC", ("READ", "DESCRIBE")), ("GROUP", ("READ",)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    action = parser.add_mutually_exclusive_group(required=True)
    for name in ("add", "remove", "list"):
        action.add_argument(f"--{name}", action="store_true")
    for name in _RESOURCES:
        parser.add_argument(f"--{name.replace('_', '-')}", action="append", default=[])
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--operation", action="append", default=[])
    for kind in ("allow", "deny"):
        parser.add_argument(f"--{kind}-principal", action="append", default=[])
        parser.add_argument(f"--{kind}-host", action="append", default=[])
    parser.add_argument("--principal", action="append", default=[], help="with --list")
    parser.add_argument("--resource-pattern-type", default="LITERAL")
    parser.add_argument("--producer", action="store_true")
    parser.add_argument("--consumer", action="store_true")
    parser.add_argument("--idempotent", action="store_true")
    parser.add_argument("--force", action="store_true")
    add_bootstrap_options(parser)


def run(arguments: argparse.Namespace) -> int:
    with connection_of(arguments).admin() as admin:
        if arguments.list:
            _print(_matching(admin, arguments))
            return DONE
        rules = list(_rules(arguments))
        if not rules:
            raise ConfigError("a rule needs a resource and --allow-principal or --deny-principal")
        if arguments.add:
            errors = admin.create_acls(rules).errors
            for resource, bindings in _by_resource(rules):
                say(f"Adding ACLs for resource `{_shown(resource)}`: ")
                for binding in bindings:
                    say(f" \t{_entry(binding)} ")
            for rule, error in errors.items():
                sys.stderr.write(f"Error while adding {_entry(rule)}: {error}\n")
        else:
            errors = admin.delete_acls([_exact(rule) for rule in rules]).errors  # type: ignore[assignment]
        _print(_matching(admin, arguments))
    return FAILED if errors else DONE


def _rules(arguments: argparse.Namespace) -> Iterable["AclBinding"]:
    from barnabas.admin import AccessEntry, AclBinding, Operation, Permission

    for resource, default in _resources(arguments):
        operations = [Operation.from_label(name) for name in arguments.operation]
        operations = default or operations or [Operation.ALL]
        for kind, permission in (("allow", Permission.ALLOW), ("deny", Permission.DENY)):
            principals = getattr(arguments, f"{kind}_principal")
            hosts = getattr(arguments, f"{kind}_host") or ["*"]
            for principal, host, operation in product(principals, hosts, operations):
                yield AclBinding(resource, AccessEntry(principal, host, operation, permission))


def _resources(
    arguments: argparse.Namespace,
) -> Iterable[tuple["ResourcePattern", "list[Operation]"]]:
    """Resources with the operations that --producer and --consumer imply."""
    from barnabas.admin import Operation, PatternType, ResourcePattern, ResourceType

    pattern = PatternType.from_label(arguments.resource_pattern_type)
    implied: dict[str, list[Operation]] = {}
    for wanted, table in ((arguments.producer, _PRODUCER), (arguments.consumer, _CONSUMER)):
        for kind, names in table if wanted else ():
            implied.setdefault(kind, []).extend(Operation[name] for name in names)
    for flag, kind in _RESOURCES.items():
        for name in getattr(arguments, flag):
            yield ResourcePattern(ResourceType[kind], name, pattern), implied.get(kind, [])
    if arguments.cluster or arguments.idempotent:
        idempotent = [Operation.IDEMPOTENT_WRITE] if arguments.idempotent else []
        yield ResourcePattern(ResourceType.CLUSTER, "kafka-cluster"), idempotent


def _matching(admin: "Admin", arguments: argparse.Namespace) -> list["AclBinding"]:
    from barnabas.admin import AclFilter, PatternType

    pattern = PatternType.from_label(arguments.resource_pattern_type)
    filters = [
        AclFilter(resource.type, resource.name, pattern) for resource, _ in _resources(arguments)
    ] or [AclFilter()]
    found = [binding for wanted in filters for binding in admin.describe_acls(wanted)]
    if arguments.principal:
        found = [b for b in found if b.entry.principal in arguments.principal]
    return list(dict.fromkeys(found))


def _exact(binding: "AclBinding") -> "AclFilter":
    from barnabas.admin import AclFilter

    pattern, entry = binding.pattern, binding.entry
    return AclFilter(
        pattern.type,
        pattern.name,
        pattern.pattern,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission,
    )


def _by_resource(
    bindings: Iterable["AclBinding"],
) -> Iterable[tuple["ResourcePattern", list["AclBinding"]]]:
    ordered = sorted(bindings, key=lambda b: (b.pattern.type.value, b.pattern.name))
    for resource, group in groupby(ordered, key=lambda binding: binding.pattern):
        yield resource, list(group)


def _print(bindings: Iterable["AclBinding"]) -> None:
    for resource, group in _by_resource(bindings):
        say(f"Current ACLs for resource `{_shown(resource)}`: ")
        for binding in group:
            say(f" \t{_entry(binding)} ")
        say("")


def _shown(resource: "ResourcePattern") -> str:
    return (
        f"ResourcePattern(resourceType={resource.type.name}, name={resource.name}, "
        f"patternType={resource.pattern.name})"
    )


def _entry(binding: "AclBinding") -> str:
    entry = binding.entry
    return (
        f"(principal={entry.principal}, host={entry.host}, operation={entry.operation.name}, "
        f"permissionType={entry.permission.name})"
    )
