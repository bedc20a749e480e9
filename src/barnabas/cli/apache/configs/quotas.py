"""The part of kafka-configs about users, clients and addresses: quotas and SCRAM credentials."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.model.errors import BarnabasError, ConfigError

if TYPE_CHECKING:
    from barnabas.admin import Admin, QuotaEntity, ScramPassword

Entities = Sequence[tuple[str, str | None]]
_SCRAM = re.compile(r"SCRAM-SHA-(256|512)")
_ITERATIONS = 4096


def describe_quotas(admin: "Admin", entities: Entities) -> None:
    """Quotas that match, then SCRAM credentials of users."""
    for entity, values in admin.describe_client_quotas(_matching(entities)).items():
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
    """Set and remove quotas and SCRAM credentials."""
    scram = {key: value for key, value in added.items() if _SCRAM.fullmatch(key)}
    gone = [key for key in deleted if _SCRAM.fullmatch(key)]
    if scram or gone:
        _alter_scram(admin, entities, scram, gone)
    changes: dict[str, float | None] = dict.fromkeys(k for k in deleted if k not in gone)
    for key, value in added.items():
        if key not in scram:
            changes[key] = _number(key, value)
    if changes:
        admin.alter_client_quotas({_matching(entities): changes}).check()
    for kind, name in entities:
        shown = f"{kind.removesuffix('s')} {name}" if name else f"default {kind.removesuffix('s')}"
        say(f"Completed updating config for {shown}.")


def _alter_scram(
    admin: "Admin", entities: Entities, added: dict[str, str], deleted: list[str]
) -> None:
    from barnabas.admin import ScramDeletion, ScramMechanism

    users = [name for kind, name in entities if kind == "users" and name]
    if len(users) != 1:
        raise ConfigError("SCRAM credentials belong to one user")
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


def _matching(entities: Entities) -> "QuotaEntity":
    from barnabas.admin import QuotaEntity

    fields = {"users": "user", "clients": "client_id", "ips": "ip"}
    return QuotaEntity(**{fields[kind]: name for kind, name in entities if name is not None})


def _label(entity: "QuotaEntity") -> str:
    parts = (
        ("user-principal", entity.user),
        ("client-id", entity.client_id),
        ("ip", entity.ip),
    )
    return ", ".join(
        f"{kind} '{name}'" if name else f"the default {kind}"
        for kind, name in parts
        if name is not None
    )


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError(f"{key}={value}: must be a number") from None
