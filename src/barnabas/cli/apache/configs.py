"""kafka-configs: describe and alter configurations, quotas and SCRAM users."""

import argparse
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.admin import (
    AlterOperation,
    ConfigChange,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    QuotaEntity,
    ScramDeletion,
    ScramMechanism,
    ScramPassword,
)
from barnabas.admin.access_types import ANY, DEFAULT
from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.connection import read_properties
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import BarnabasError, ConfigError, LocalError
from barnabas.security.quotas import CLIENT_QUOTAS, IP_QUOTAS

if TYPE_CHECKING:
    from barnabas.admin import Admin


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
_SCRAM = re.compile(r"SCRAM-SHA-(256|512)")
_ITERATIONS = 4096


def completed(kind: str, name: str | None) -> str:
    """Returns the line that Apache's tool prints after a change.

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
    return ConfigResource(ConfigResourceType[_RESOURCE[kind]], name or "")


def _named(admin: "Admin", kind: str, name: str | None) -> list[str]:
    if name is not None:
        return [name]
    if kind == "topics":
        return [item.name for item in admin.list_topics(internal=True)]
    if kind in ("brokers", "broker-loggers"):
        ids = [str(node.id) for node in admin.describe_cluster().brokers]
        return [*ids, ""] if kind == "brokers" else ids  # loggers have no cluster-wide default
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


Entities = Sequence[tuple[str, str | None]]


def describe_quotas(admin: "Admin", entities: Entities) -> None:
    """Prints the matching quotas, then the SCRAM credentials of users."""
    wanted = _entity(entities)
    for entity, values in admin.describe_client_quotas(wanted, strict=True).items():
        quotas = ", ".join(f"{key}={value}" for key, value in values.items())
        say(f"Quota configs for {_label(entity)} are {quotas}")
    users = [name for kind, name in entities if kind == "users"]
    if users and len(entities) == 1:
        _describe_scram(admin, users[0])


def _describe_scram(admin: "Admin", user: str | None) -> None:
    try:
        found = admin.describe_scram_users([user] if user else None).ok
    except BarnabasError:
        return
    for name, credentials in found.items():
        listed = ", ".join(
            f"{item.mechanism.name.replace('_', '-')}=iterations={item.iterations}"
            for item in credentials
        )
        say(f"SCRAM credential configs for user-principal '{name}' are {listed}")


def alter_quotas(
    admin: "Admin", entities: Entities, added: dict[str, str], deleted: list[str]
) -> None:
    """Sets and removes quotas and SCRAM credentials."""
    _check_names(entities, [*added, *deleted])
    scram = {key: value for key, value in added.items() if _SCRAM.fullmatch(key)}
    gone = [key for key in deleted if _SCRAM.fullmatch(key)]
    if scram or gone:
        _alter_scram(admin, entities, scram, gone)
    changes: dict[str, float | None] = dict.fromkeys(k for k in deleted if k not in gone)
    for key, value in added.items():
        if key not in scram:
            changes[key] = _number(key, value)
    if changes:
        admin.alter_client_quotas({_entity(entities): changes}).check()


def _alter_scram(
    admin: "Admin", entities: Entities, added: dict[str, str], deleted: list[str]
) -> None:
    users = [name for kind, name in entities if kind == "users" and name]
    if len(users) != 1:
        raise ConfigError("SCRAM credentials can be altered for one user only")
    passwords = [_password(users[0], key, value) for key, value in added.items()]
    gone = [ScramDeletion(users[0], ScramMechanism[key.replace("-", "_")]) for key in deleted]
    admin.alter_scram_users(passwords, deletions=gone).check()


def _password(user: str, mechanism: str, text: str) -> "ScramPassword":
    values = dict(piece.split("=", 1) for piece in text.split(",") if "=" in piece)
    if "password" not in values:
        raise ConfigError(f"{mechanism}: password is missing")
    iterations = values.get("iterations", str(_ITERATIONS))
    try:
        count = int(iterations)
    except ValueError:
        raise ConfigError(
            f"{mechanism}: iterations={iterations!r}: must be a whole number"
        ) from None
    return ScramPassword(
        user, values["password"], ScramMechanism[mechanism.replace("-", "_")], count
    )


def _check_names(entities: Entities, names: Iterable[str]) -> None:
    kinds = {kind for kind, _ in entities}
    scram = kinds == {"users"}
    known = IP_QUOTAS if "ips" in kinds else CLIENT_QUOTAS
    unknown = [n for n in names if n not in known and not (scram and _SCRAM.fullmatch(n))]
    if unknown:
        what = "quota and SCRAM credential configs" if scram else "quota configs"
        raise ConfigError(
            f"Only {what} can be added for '{entities[0][0]}' using --bootstrap-server. "
            f"Unexpected config names: Set({', '.join(unknown)})"
        )


def _entity(entities: Entities) -> "QuotaEntity":
    """Returns the quota entity; a missing name matches all, an empty name is the default entity."""
    fields = {"users": "user", "clients": "client_id", "ips": "ip"}
    named = {fields[kind]: ANY if name is None else name or DEFAULT for kind, name in entities}
    return QuotaEntity(**named)


def _label(entity: "QuotaEntity") -> str:
    parts = (
        ("user-principal", entity.user),
        ("client-id", entity.client_id),
        ("ip", entity.ip),
    )
    return ", ".join(
        f"the default {kind}" if name == DEFAULT else f"{kind} '{name}'"
        for kind, name in parts
        if name is not None
    )


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError(f"{key}={value}: must be a number") from None
