"""Converts records to JSON and back without loss.

    {"topic": "orders", "partition": 0, "offset": 7, "timestamp": 1714564800000,
     "timestamp_iso": "2024-05-01T12:00:00.000Z", "timestamp_type": "CreateTime",
     "key": "k", "key_encoding": "utf-8", "value": "//8=", "value_encoding": "base64",
     "headers": [{"key": "h", "value": "1", "value_encoding": "utf-8"}]}

Bytes in valid UTF-8 are written as text, other bytes as base64; `*_encoding` names the encoding. It
is null for a null value, which differs from an empty string.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from barnabas.cli.framework.times import iso_time
from barnabas.model.errors import ProtocolError
from barnabas.model.records import Header, TimestampType
from barnabas.records.record import Record

UTF8, BASE64 = "utf-8", "base64"
_TYPES = {
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}


def encode_bytes(data: bytes | None) -> tuple[str | None, str | None]:
    """Returns the text and its encoding.

    >>> encode_bytes(b"a"), encode_bytes(b"\\xff"), encode_bytes(None)
    (('a', 'utf-8'), ('/w==', 'base64'), (None, None))
    """
    if data is None:
        return None, None
    try:
        return data.decode(), UTF8
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), BASE64


def decode_bytes(text: object, encoding: object) -> bytes | None:
    """Returns the bytes of a text that `encode_bytes` wrote.

    Raises:
        ProtocolError: The text or its encoding is invalid.
    """
    if text is None:
        return None
    if not isinstance(text, str):
        raise ProtocolError(f"{text!r} is not text")
    if encoding in (None, UTF8):
        return text.encode()
    if encoding != BASE64:
        raise ProtocolError(f"unknown encoding {encoding!r}")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ProtocolError(f"{text[:40]!r} is not base64: {error}") from error


def record_document(record: Record) -> dict[str, Any]:
    """Returns the JSON document of a record; its keys are a stable interface."""
    key, key_encoding = encode_bytes(record.key)
    value, value_encoding = encode_bytes(record.value)
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_iso": iso_time(record.timestamp),
        "timestamp_type": _TYPES[TimestampType(record.timestamp_type)],
        "key": key,
        "key_encoding": key_encoding,
        "value": value,
        "value_encoding": value_encoding,
        "headers": [_header_document(header) for header in record.headers],
    }


def headers_of(document: Mapping[str, Any]) -> list[Header]:
    """Returns the headers of a document."""
    found: list[Header] = []
    for item in document.get("headers") or ():
        name = decode_bytes(item["key"], item.get("key_encoding")) or b""
        value = decode_bytes(item.get("value"), item.get("value_encoding"))
        found.append((name.decode(errors="surrogateescape"), value))
    return found


def _header_document(header: Header) -> dict[str, Any]:
    """Returns the document of a header; `key_encoding` exists only when the name is not UTF-8."""
    name, name_encoding = encode_bytes(header[0].encode(errors="surrogateescape"))
    value, encoding = encode_bytes(header[1])
    document = {"key": name, "value": value, "value_encoding": encoding}
    if name_encoding != UTF8:
        document["key_encoding"] = name_encoding
    return document
