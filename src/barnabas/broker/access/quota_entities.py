"""Quota entities between their three spellings: requests, the metadata tree, and values."""

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.security.quotas import (
    CLIENT_ID,
    CLIENT_QUOTAS,
    DEFAULT,
    IP,
    IP_QUOTAS,
    USER,
    WHOLE_NUMBERS,
    Entity,
    QuotaTable,
)
from barnabas.zk import paths

_KINDS = {"users": USER, "clients": CLIENT_ID, "ips": IP}
_WORDS = {USER: "users", CLIENT_ID: "clients", IP: "ips"}
_ORDER = (USER, CLIENT_ID, IP)

Parts = dict[str, str | None]
"""By kind: a name, or DEFAULT."""


def parts_of(path: str) -> Parts:
    """
    >>> parts_of("users/alice/clients/<default>")
    {'user': 'alice', 'client-id': None}
    """
    words = path.split("/")
    return {
        _KINDS[kind]: DEFAULT if name == paths.DEFAULT_ENTITY else paths.desanitize(name)
        for kind, name in zip(words[::2], words[1::2], strict=True)
    }


def path_of(parts: Mapping[str, str | None]) -> str:
    """
    >>> path_of({"client-id": "a b", "user": None})
    'users/<default>/clients/a%20b'
    """
    return "/".join(
        paths.config_entity(_WORDS[kind], paths.DEFAULT_ENTITY if name is DEFAULT else name)
        for kind in _ORDER
        for name in [parts.get(kind, "")]
        if kind in parts
    )


def quotas_of(values: Mapping[str, str]) -> dict[str, float]:
    """The quotas among an entity's settings; what cannot be read is no quota."""
    found = {}
    for key in (CLIENT_QUOTAS | IP_QUOTAS).intersection(values):
        try:
            found[key] = float(values[key])
        except ValueError:
            continue
    return found


def stored(key: str, value: float) -> str:
    """A value as the tree has it."""
    return str(int(value)) if key in WHOLE_NUMBERS else str(value)


def table_of(key: str, entities: Iterable[tuple[str, Mapping[str, str]]]) -> QuotaTable:
    """All limits of one kind."""
    limits: dict[Entity, float] = {}
    for path, values in entities:
        value = quotas_of(values).get(key)
        if value is not None and value > 0:
            limits[frozenset(parts_of(path).items())] = value
    return QuotaTable(limits)


def parts_in(entity: Iterable[Any]) -> Parts:
    """The entity of a request; ValueError when a kind is named twice."""
    parts: Parts = {}
    for part in entity:
        if part.entity_type in parts:
            raise ValueError(f"{part.entity_type} is named twice")
        parts[part.entity_type] = part.entity_name
    return parts
