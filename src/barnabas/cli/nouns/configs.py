"""Describe and alter the configurations of topics, brokers and groups."""

import argparse
from typing import Any

from barnabas.admin import (
    AlterOperation,
    ConfigChange,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
)
from barnabas.cli.framework.connection import Connection, key_values
from barnabas.cli.framework.options import add_common_options, add_dry_run_option
from barnabas.cli.framework.output import DONE, exit_code, show, status_of
from barnabas.cli.framework.verbs import Verb, add_verbs, run_verb
from barnabas.model.errors import ConfigError

KINDS = ("topic", "broker", "broker-logger", "group", "client-metrics")
COLUMNS = ("name", "value", "source", "read_only")
STATUS_COLUMNS = ("resource", "status", "message")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_verbs(parser, VERBS)


run = run_verb


def _resource_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name", nargs="?", default="", help="empty: the default of all brokers")
    add_common_options(parser)


def resource_of(kind: str, name: str) -> "ConfigResource":
    """Returns the resource of arguments such as `topic orders`."""
    if kind == "topic" and not name:
        raise ConfigError("the name of the topic is missing")
    return ConfigResource(ConfigResourceType[kind.upper().replace("-", "_")], name)


def _describe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="include default values")
    _resource_arguments(parser)


def _describe(arguments: argparse.Namespace) -> int:
    resource = resource_of(arguments.kind, arguments.name)
    with Connection.of(arguments).admin() as admin:
        entries = admin.describe_configs([resource], synonyms=True)[resource]
    rows = [
        _row(entry)
        for entry in sorted(entries.values(), key=lambda entry: entry.name)
        if arguments.all or not entry.is_default
    ]
    show(arguments, rows, COLUMNS)
    return DONE


def _row(entry: "ConfigEntry") -> dict[str, Any]:
    return {
        "name": entry.name,
        "value": entry.value,
        "source": entry.source.name,
        "read_only": entry.read_only,
        "sensitive": entry.sensitive,
        "synonyms": [
            {"name": item.name, "value": item.value, "source": item.source.name}
            for item in entry.synonyms
        ],
    }


def _alter_arguments(parser: argparse.ArgumentParser) -> None:
    for flag, text in (
        ("--set", "set a value"),
        ("--append", "add to a list"),
        ("--subtract", "remove from a list"),
    ):
        parser.add_argument(flag, metavar="KEY=VALUE", action="append", default=[], help=text)
    parser.add_argument(
        "--delete", metavar="KEY", action="append", default=[], help="reset to the default"
    )
    add_dry_run_option(parser)
    _resource_arguments(parser)


def _alter(arguments: argparse.Namespace) -> int:
    resource = resource_of(arguments.kind, arguments.name)
    changes = _changes(arguments)
    if not changes:
        raise ConfigError("nothing to alter: give --set, --append, --subtract or --delete")
    with Connection.of(arguments).admin() as admin:
        results = admin.alter_configs({resource: changes}, validate_only=arguments.dry_run)
    label = f"{arguments.kind} {arguments.name}".strip()
    row = {"resource": label, **status_of(results.errors.get(resource))}
    show(arguments, [row], STATUS_COLUMNS)
    return exit_code(results.errors)


def _changes(arguments: argparse.Namespace) -> list["ConfigChange"]:
    found = [ConfigChange(name, None, AlterOperation.DELETE) for name in arguments.delete]
    for flag in ("set", "append", "subtract"):
        operation = AlterOperation[flag.upper()]
        pairs = key_values(getattr(arguments, flag), f"--{flag}")
        found += [ConfigChange(name, value, operation) for name, value in pairs.items()]
    return found


VERBS = (
    Verb(
        "describe",
        "show settings with the source of each value",
        "barnabas configs describe topic orders --all",
        _describe_arguments,
        _describe,
    ),
    Verb(
        "alter",
        "change settings",
        "barnabas configs alter topic orders --set retention.ms=2592000000 --delete segment.ms",
        _alter_arguments,
        _alter,
    ),
)
