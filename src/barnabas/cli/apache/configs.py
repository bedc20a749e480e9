"""kafka-configs: describe and alter configurations of topics, brokers, users and other entities."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.cli.apache.config_quotas import alter_quotas, describe_quotas
from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.exit_codes import DONE
from barnabas.cli.framework.settings import read_properties
from barnabas.model.errors import ConfigError, LocalError

if TYPE_CHECKING:
    from barnabas.admin import Admin, ConfigEntry, ConfigResource

EXAMPLE = """
barnabas kafka-configs --bootstrap-server localhost:9092 --alter --entity-type topics \\
    --entity-name orders --add-config retention.ms=2592000000
barnabas kafka-configs --bootstrap-server localhost:9092 --describe --topic orders
"""
_PIECE = re.compile(r",(?=[^\[\]]*(?:\[|$))")
QUOTA_KINDS = frozenset({"users", "clients", "ips"})
_SHORT = {
    "topic": "topics",
    "broker": "brokers",
    "broker_logger": "broker-loggers",
    "group": "groups",
    "client_metrics": "client-metrics",
    "user": "users",
    "client": "clients",
    "ip": "ips",
}
_RESOURCE = {
    "topics": "TOPIC",
    "brokers": "BROKER",
    "broker-loggers": "BROKER_LOGGER",
    "groups": "GROUP",
    "client-metrics": "CLIENT_METRICS",
}


def completed(kind: str, name: str | None) -> str:
    """
    >>> completed("topics", "orders")
    'Completed updating config for topic orders.'
    >>> completed("brokers", "")
    'Completed updating default config for brokers in the cluster.'
    """
    if name:
        return f"Completed updating config for {kind.removesuffix('s')} {name}."
    return f"Completed updating default config for {kind} in the cluster."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--alter", action="store_true")
    action.add_argument("--describe", action="store_true")
    parser.add_argument("--entity-type", action="append", default=[])
    parser.add_argument("--entity-name", action="append", default=[])
    parser.add_argument("--entity-default", action="store_true")
    for name in _SHORT:
        parser.add_argument(f"--{name.replace('_', '-')}", dest=f"entity_{name}")
    for kind in ("user", "client", "broker", "ip"):
        parser.add_argument(f"--{kind}-defaults", action="store_true")
    parser.add_argument(
        "--all", action="store_true", help="with --describe: include default values"
    )
    parser.add_argument("--add-config", metavar="K=V,K=[V,V]")
    parser.add_argument("--add-config-file", metavar="FILE")
    parser.add_argument("--delete-config", metavar="K,K")
    parser.add_argument("--force", action="store_true")
    add_bootstrap_options(parser, zookeeper=True)


def run(arguments: argparse.Namespace) -> int:
    entities = entities_of(arguments)
    with connection_of(arguments).admin() as admin:
        if {kind for kind, _ in entities} <= QUOTA_KINDS:
            if arguments.describe:
                describe_quotas(admin, entities)
            else:
                alter_quotas(admin, entities, additions(arguments), deletions(arguments))
                say(completed(*entities[0]))
            return DONE
        if len(entities) != 1:
            raise ConfigError("only one entity type is allowed, except users with clients")
        (kind, name) = entities[0]
        if arguments.describe:
            _describe(admin, arguments, kind, name)
        else:
            _alter(admin, arguments, kind, name)
    return DONE


def entities_of(arguments: argparse.Namespace) -> list[tuple[str, str | None]]:
    """Returns (kind, name) pairs; the name "" is the default entity, None means all entities."""
    names: list[str | None] = list(arguments.entity_name)
    if arguments.entity_default:
        names.append("")
    found: list[tuple[str, str | None]] = []
    for index, kind in enumerate(arguments.entity_type):
        found.append((kind, names[index] if index < len(names) else None))
    for short, kind in _SHORT.items():
        name = getattr(arguments, f"entity_{short}")
        if name is not None:
            found.append((kind, name))
        elif getattr(arguments, f"{short}_defaults", False):
            found.append((kind, ""))
    if not found:
        raise ConfigError("at least one entity type must be specified: --entity-type or --topic …")
    unknown = [kind for kind, _ in found if kind not in _SHORT.values()]
    if unknown:
        raise ConfigError(f"invalid entity type {unknown[0]}: one of {', '.join(_SHORT.values())}")
    return found


def additions(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns the pairs of --add-config; values with commas are in square brackets."""
    found: dict[str, str] = {}
    if arguments.add_config_file is not None:
        found.update(read_properties(Path(arguments.add_config_file)))
    for piece in _PIECE.split(arguments.add_config or ""):
        if not piece.strip():
            continue
        key, equals, value = piece.partition("=")
        if not equals:
            raise ConfigError("Invalid entity config: all configs to be added must be key=val")
        found[key.strip()] = value.strip().removeprefix("[").removesuffix("]")
    return found


def deletions(arguments: argparse.Namespace) -> list[str]:
    return [key.strip() for key in (arguments.delete_config or "").split(",") if key.strip()]


def _resource(kind: str, name: str | None) -> "ConfigResource":
    from barnabas.admin import ConfigResource, ConfigResourceType

    return ConfigResource(ConfigResourceType[_RESOURCE[kind]], name or "")


def _named(admin: "Admin", kind: str, name: str | None) -> list[str]:
    if name is not None:
        return [name]
    if kind == "topics":
        return [item.name for item in admin.list_topics(internal=True)]
    if kind in ("brokers", "broker-loggers"):
        return [*(str(node.id) for node in admin.describe_cluster().brokers), ""]
    return [
        item.name for item in admin.list_config_resources() if item.type.name == _RESOURCE[kind]
    ]


def _describe(admin: "Admin", arguments: argparse.Namespace, kind: str, name: str | None) -> None:
    for each in _named(admin, kind, name):
        resource = _resource(kind, each)
        entries = admin.describe_configs([resource], synonyms=True)[resource]
        label = kind.removesuffix("s")
        if each == "" and kind == "brokers":
            say("Default configs for brokers in the cluster are:")
        elif arguments.all:
            say(f"All configs for {label} {each} are:")
        else:
            say(f"Dynamic configs for {label} {each} are:")
        for key in sorted(entries):
            if arguments.all or entries[key].source.name.startswith("DYNAMIC"):
                say(_entry_line(entries[key]))


def _entry_line(entry: "ConfigEntry") -> str:
    synonyms = ", ".join(
        f"{item.source.name}:{item.name}={_shown(item.value)}" for item in entry.synonyms
    )
    value, sensitive = _shown(entry.value), str(entry.sensitive).lower()
    return f"  {entry.name}={value} sensitive={sensitive} synonyms={{{synonyms}}}"


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _alter(admin: "Admin", arguments: argparse.Namespace, kind: str, name: str | None) -> None:
    from barnabas.admin import AlterOperation, ConfigChange

    if name is None:
        raise ConfigError("--alter needs --entity-name or --entity-default")
    added, deleted = additions(arguments), deletions(arguments)
    if not added and not deleted:
        raise ConfigError("--alter needs --add-config, --add-config-file or --delete-config")
    resource = _resource(kind, name)
    entries = admin.describe_configs([resource])[resource]
    missing = [key for key in deleted if key not in entries]
    if missing:
        raise LocalError(f"Invalid config(s): {','.join(missing)}")
    changes: list[ConfigChange] = [ConfigChange(key, value) for key, value in added.items()]
    changes += [ConfigChange(key, None, AlterOperation.DELETE) for key in deleted]
    admin.alter_configs({resource: changes}).check()
    say(completed(kind, name))
