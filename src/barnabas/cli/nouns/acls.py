"""List, add and remove ACLs."""

import argparse
from typing import Any, TypeVar

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
from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.options import add_common_options, add_confirmation_options, confirmed
from barnabas.cli.framework.output import DONE, FAILED, exit_code, show, status_of
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.model.errors import ConfigError

_E = TypeVar("_E", ResourceType, PatternType, Operation)
COLUMNS = ("resource_type", "name", "pattern", "principal", "host", "operation", "permission")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _rule_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--resource", metavar="TYPE:NAME", help="topic:orders, group:*, cluster")
    parser.add_argument("--pattern", default=None, help="literal or prefixed")
    parser.add_argument("--principal", metavar="User:NAME")
    parser.add_argument("--host")
    parser.add_argument("--operation", help="read, write, describe, …")
    parser.add_argument(
        "--deny", action="store_true", help="an ACL that denies access (default: allows)"
    )
    add_common_options(parser)


def _filter(arguments: argparse.Namespace) -> "AclFilter":
    kind, name = _resource(arguments.resource)
    return AclFilter(
        ResourceType.ANY if kind is None else _named(ResourceType, kind),
        name,
        PatternType.ANY if arguments.pattern is None else _named(PatternType, arguments.pattern),
        arguments.principal,
        arguments.host,
        Operation.ANY if arguments.operation is None else _named(Operation, arguments.operation),
        Permission.DENY if arguments.deny else Permission.ANY,
    )


def _resource(text: str | None) -> tuple[str | None, str | None]:
    if text is None:
        return None, None
    kind, _, name = text.partition(":")
    return kind, name or ("kafka-cluster" if kind == "cluster" else None)


def _named(words: type[_E], text: str) -> _E:
    try:
        return words.from_label(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def row_of(binding: "AclBinding") -> dict[str, Any]:
    """Returns the row of an ACL; its keys are a stable interface."""
    return {
        "resource_type": binding.pattern.type.name,
        "name": binding.pattern.name,
        "pattern": binding.pattern.pattern.name,
        "principal": binding.entry.principal,
        "host": binding.entry.host,
        "operation": binding.entry.operation.name,
        "permission": binding.entry.permission.name,
    }


def _list(arguments: argparse.Namespace) -> int:
    with Connection.of(arguments).admin() as admin:
        found = admin.describe_acls(_filter(arguments))
    show(arguments, [row_of(binding) for binding in found], COLUMNS)
    return DONE


def _add(arguments: argparse.Namespace) -> int:
    kind, name = _resource(arguments.resource)
    if kind is None or name is None or arguments.principal is None:
        raise ConfigError("an ACL needs --resource TYPE:NAME and --principal")
    pattern = _named(PatternType, arguments.pattern or "literal")
    binding = AclBinding(
        ResourcePattern(_named(ResourceType, kind), name, pattern),
        AccessEntry(
            arguments.principal,
            arguments.host or "*",
            _named(Operation, arguments.operation or "all"),
            Permission.DENY if arguments.deny else Permission.ALLOW,
        ),
    )
    with Connection.of(arguments).admin() as admin:
        errors = admin.create_acls([binding]).errors
    rows = [{**row_of(binding), **status_of(errors.get(binding))}]
    show(arguments, rows, (*COLUMNS, "status", "message"))
    return exit_code(errors)


def _remove_arguments(parser: argparse.ArgumentParser) -> None:
    add_confirmation_options(parser)
    _rule_arguments(parser)


def _remove(arguments: argparse.Namespace) -> int:
    wanted = _filter(arguments)
    with Connection.of(arguments).admin() as admin:
        matching = admin.describe_acls(wanted)
        if matching and not arguments.dry_run:
            if not confirmed(arguments, f"remove {len(matching)} ACLs"):
                return FAILED
            admin.delete_acls([wanted]).check()
    show(arguments, [{**row_of(binding), **status_of(None)} for binding in matching], COLUMNS)
    return DONE


VERBS = (
    Verb(
        "list",
        "list the ACLs that match",
        "barnabas acls list --resource topic:orders",
        _rule_arguments,
        _list,
        ("ls",),
    ),
    Verb(
        "add",
        "add an ACL",
        "barnabas acls add --resource topic:orders --principal User:alice --operation read",
        _rule_arguments,
        _add,
        ("create",),
    ),
    Verb(
        "remove",
        "remove the ACLs that match",
        "barnabas acls remove --principal User:alice --yes",
        _remove_arguments,
        _remove,
        ("rm", "delete"),
    ),
)
