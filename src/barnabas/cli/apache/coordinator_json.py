"""Converts the records of coordinators to the JSON of Kafka's tools.

The JSON has the fields of the stored version under Kafka's names; bytes are base64. A tagged field
with its default value is left out, since it was not written.
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


def message_data(message: Message, version: int) -> dict[str, Any]:
    """Returns the fields of a message in this version."""
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
