"""Quotas and SCRAM credentials of users, clients and addresses, for kafka-configs."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.security.quotas import CLIENT_QUOTAS, IP_QUOTAS

if TYPE_CHECKING:
    from barnabas.admin import Admin, QuotaEntity, ScramPassword


Entities = Sequence[tuple[str, str | None]]
_SCRAM = re.compile(r"SCRAM-SHA-(256|512)")
_ITERATIONS = 4096


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
    from barnabas.admin import ScramDeletion, ScramMechanism

    users = [name for kind, name in entities if kind == "users" and name]
    if len(users) != 1:
        raise ConfigError("SCRAM credentials can be altered for one user only")
    passwords = [_password(users[0], key, value) for key, value in added.items()]
    gone = [ScramDeletion(users[0], ScramMechanism[key.replace("-", "_")]) for key in deleted]
    admin.alter_scram_users(passwords, deletions=gone).check()


def _password(user: str, mechanism: str, text: str) -> "ScramPassword":
    from barnabas.admin import ScramMechanism, ScramPassword

    values = dict(piece.split("=", 1) for piece in text.split(",") if "=" in piece)
    if "password" not in values:
        raise ConfigError(f"{mechanism}: password is missing")
    return ScramPassword(
        user,
        values["password"],
        ScramMechanism[mechanism.replace("-", "_")],
        int(values.get("iterations", _ITERATIONS)),
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
    from barnabas.admin import QuotaEntity
    from barnabas.admin.access.quotas import ANY, DEFAULT

    fields = {"users": "user", "clients": "client_id", "ips": "ip"}
    named = {fields[kind]: ANY if name is None else name or DEFAULT for kind, name in entities}
    return QuotaEntity(**named)


def _label(entity: "QuotaEntity") -> str:
    from barnabas.admin.access.quotas import DEFAULT

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
