"""kafka-acls: list, add and remove ACLs."""

import argparse
import sys
from collections.abc import Iterable
from itertools import groupby, product
from typing import TYPE_CHECKING, TypeVar

from barnabas.admin import (
    AccessEntry,
    AclBinding,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import ConfigError, LocalError

if TYPE_CHECKING:
    from barnabas.admin import Admin

EXAMPLE = """
barnabas kafka-acls --bootstrap-server localhost:9092 --add --allow-principal User:alice \\
    --operation Read --topic orders --group billing
barnabas kafka-acls --bootstrap-server localhost:9092 --list --topic orders
"""
ERROR_PREFIX = "Error while executing ACL command: "
NO_RESOURCE = (
    "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
    "--delegation-token <Delegation Token ID>"
)
_E = TypeVar("_E", PatternType, Operation)
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
            _list(admin, arguments)
            return DONE
        return _add(admin, arguments) if arguments.add else _remove(admin, arguments)


def _list(admin: "Admin", arguments: argparse.Namespace) -> None:
    found = _matching(admin, arguments)
    if not arguments.principal:
        _print(found)
    for principal in arguments.principal:
        say(f"ACLs for principal `{principal}`")
        _print([binding for binding in found if binding.entry.principal == principal])


def _add(admin: "Admin", arguments: argparse.Namespace) -> int:
    if not arguments.allow_principal and not arguments.deny_principal:
        raise ConfigError(
            "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs."
        )
    wanted = list(_bindings(arguments))
    if not wanted:
        raise ConfigError(NO_RESOURCE)
    for binding in wanted:
        problem = binding.problem() or binding.idle_problem()
        if problem is not None:
            raise ConfigError(problem)
    for resource, bindings in _by_resource(wanted):
        say(f"Adding ACLs for resource `{_shown(resource)}`: \n {_entries(bindings)}\n")
    admin.create_acls(wanted).check()
    return DONE


def _remove(admin: "Admin", arguments: argparse.Namespace) -> int:
    """Removes exactly the given ACLs; without a principal all ACLs of the resources."""
    resources = [resource for resource, _ in _resources(arguments)]
    if not resources:
        raise ConfigError(NO_RESOURCE)
    wanted = list(_bindings(arguments))
    if not wanted:
        for resource in resources:
            _confirm(arguments, f"delete all ACLs for resource filter `{_shown(resource)}`")
        filters = [AclFilter(item.type, item.name, item.pattern) for item in resources]
        admin.delete_acls(filters).check()
        return DONE
    for resource, bindings in _by_resource(wanted):
        where = f"from resource filter `{_shown(resource)}`"
        _confirm(arguments, f"remove ACLs: \n {_entries(bindings)}\n {where}")
    admin.delete_acls([_exact(binding) for binding in wanted]).check()
    return DONE


def _confirm(arguments: argparse.Namespace, what: str) -> None:
    """Asks for confirmation unless --force is given; raises LocalError when the user declines."""
    if arguments.force:
        return
    if not sys.stdin.isatty():
        raise ConfigError("--remove needs --force when there is no terminal")
    say(f"Are you sure you want to {what}? (y/n)")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() != "y":
        raise LocalError("nothing was removed")


def _bindings(arguments: argparse.Namespace) -> Iterable["AclBinding"]:
    for resource, default in _resources(arguments):
        operations = [_labelled(Operation, name) for name in arguments.operation]
        operations = default or operations or [Operation.ALL]
        for kind, permission in (("allow", Permission.ALLOW), ("deny", Permission.DENY)):
            principals = getattr(arguments, f"{kind}_principal")
            hosts = getattr(arguments, f"{kind}_host") or ["*"]
            for principal, host, operation in product(principals, hosts, operations):
                yield AclBinding(resource, AccessEntry(principal, host, operation, permission))


def _resources(
    arguments: argparse.Namespace,
) -> Iterable[tuple["ResourcePattern", "list[Operation]"]]:
    """Yields the resources with the operations that --producer and --consumer imply."""
    pattern = _labelled(PatternType, arguments.resource_pattern_type)
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
    pattern = _labelled(PatternType, arguments.resource_pattern_type)
    filters = [
        AclFilter(resource.type, resource.name, pattern) for resource, _ in _resources(arguments)
    ] or [AclFilter()]
    found = [binding for wanted in filters for binding in admin.describe_acls(wanted)]
    return list(dict.fromkeys(found))


def _exact(binding: "AclBinding") -> "AclFilter":
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
    def sort_key(binding: "AclBinding") -> tuple[int, str, int]:
        pattern = binding.pattern
        return pattern.type.value, pattern.name, pattern.pattern.value

    ordered = sorted(bindings, key=sort_key)
    for resource, group in groupby(ordered, key=lambda binding: binding.pattern):
        yield resource, list(group)


def _print(bindings: Iterable["AclBinding"]) -> None:
    for resource, group in _by_resource(bindings):
        say(f"Current ACLs for resource `{_shown(resource)}`:\n{_entries(group)}\n")


def _entries(bindings: Iterable["AclBinding"]) -> str:
    return "\n".join(f"\t{_entry(binding)}" for binding in bindings)


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


def _labelled(words: type[_E], text: str) -> _E:
    try:
        return words.from_label(text)
    except ValueError as error:
        known = ", ".join(word.label for word in words if word.value > 1)
        raise ConfigError(f"{error}; known are {known}") from None
