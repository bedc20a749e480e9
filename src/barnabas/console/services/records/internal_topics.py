"""Decodes the records of the coordinators' topics: committed offsets, groups, transactions."""

import base64
from typing import Any

from barnabas.model.errors import BarnabasError
from barnabas.model.ids import Uuid
from barnabas.wire.coordinator_records import (
    maybe_decode_offsets_record,
    maybe_decode_transaction_record,
    version_of,
)
from barnabas.wire.message import Message, WireStruct

_DECODERS = {
    "__consumer_offsets": maybe_decode_offsets_record,
    "__transaction_state": maybe_decode_transaction_record,
}


def decode_internal(
    topic: str, key: bytes | None, value: bytes | None
) -> tuple[dict[str, Any], dict[str, Any] | None] | None:
    """Returns key and value as JSON values; None for other topics and unknown kinds of records."""
    decode = _DECODERS.get(topic)
    if decode is None or key is None:
        return None
    try:
        found = decode(key, value)
        if found is None:
            return None
        shown_key = _document(found[0], version_of(key))
        if found[1] is None or value is None:
            return shown_key, None
        return shown_key, _document(found[1], version_of(value))
    except BarnabasError:
        return None


def _document(message: Message, version: int) -> dict[str, Any]:
    return {"type": type(message).__name__, "version": version, **_struct(message, version)}


def _struct(value: WireStruct, version: int) -> dict[str, Any]:
    return {
        name: _plain(getattr(value, name), version)
        for name, _, first, last, _ in value.FIELDS
        if first <= version <= last
    }


def _plain(value: Any, version: int) -> Any:
    if isinstance(value, WireStruct):
        return _struct(value, version)
    if isinstance(value, list):
        return [_plain(item, version) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, Uuid) else value
