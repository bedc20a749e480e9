"""Stored messages of the coordinators as the JSON that Kafka's tools make of them.

Only the fields of the version that was stored, by Kafka's names; bytes in base64. A tagged field
that has its default is left out, since it was not written.
"""

import base64
from typing import Any

from barnabas.model.ids import Uuid
from barnabas.wire.message import Message, WireStruct

TAGGED = frozenset(
    {
        "previous_producer_id",
        "next_producer_id",
        "client_transaction_version",
        "next_producer_epoch",
        "topic_id",
    }
)


def data_of(message: Message, version: int) -> dict[str, Any]:
    """The fields of a message that this version has."""
    return _struct(message, version)


def _struct(value: WireStruct, version: int) -> dict[str, Any]:
    default = type(value)()
    found = {}
    for name, _, first, last, _ in value.FIELDS:
        item = getattr(value, name)
        if first <= version <= last and not (name in TAGGED and item == getattr(default, name)):
            found[_camel(name)] = _plain(item, version)
    return found


def _plain(value: Any, version: int) -> Any:
    if isinstance(value, WireStruct):
        return _struct(value, version)
    if isinstance(value, list):
        return [_plain(item, version) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, Uuid) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
