"""Records as JSON documents that keep every byte, so that they can be read back.

    {"topic": "orders", "partition": 0, "offset": 7, "timestamp": 1714564800000,
     "timestamp_iso": "2024-05-01T12:00:00.000Z", "timestamp_type": "CreateTime",
     "key": "k", "key_encoding": "utf-8", "value": "//8=", "value_encoding": "base64",
     "headers": [{"key": "h", "value": "1", "value_encoding": "utf-8"}]}

Bytes in valid UTF-8 are written as text, other bytes as base64; `*_encoding` names the encoding. It
is null for a null value, which differs from an empty string. A header has `key_encoding` only if
its name is not UTF-8. The keys are a stable interface of the command line and of the console.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from barnabas.model.errors import ProtocolError
from barnabas.model.records import Header, TimestampType
from barnabas.runtime.clock import iso_time

Encoding = Literal["utf-8", "base64"]
UTF8: Encoding = "utf-8"
BASE64: Encoding = "base64"
_TIMESTAMP_TYPES: dict[int, str] = {
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}


class DocumentError(ProtocolError, ValueError):
    """A part of a document is not text, or its encoding is unknown or wrong."""


class DocumentedRecord(Protocol):
    """The parts of a record that a document has."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def timestamp_type(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[Header]: ...


def encode_bytes(data: bytes | None) -> tuple[str | None, Encoding | None]:
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
        DocumentError: The text or its encoding is invalid.
    """
    if text is None:
        return None
    if not isinstance(text, str):
        raise DocumentError(f"{text!r} is not text")
    if encoding in (None, UTF8):
        # JSON can have half of a surrogate pair, which no UTF-8 text has.
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise DocumentError(f"{text[:40]!r} is not valid Unicode: {error.reason}") from error
    if encoding != BASE64:
        raise DocumentError(f"unknown encoding {encoding!r}")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:  # binascii.Error, or a text that is not ASCII
        raise DocumentError(f"{text[:40]!r} is not base64: {error}") from error


def record_document(record: DocumentedRecord) -> dict[str, object]:
    """Returns the document of a record."""
    key, key_encoding = encode_bytes(record.key)
    value, value_encoding = encode_bytes(record.value)
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_iso": iso_time(record.timestamp),
        "timestamp_type": _TIMESTAMP_TYPES[record.timestamp_type],
        "key": key,
        "key_encoding": key_encoding,
        "value": value,
        "value_encoding": value_encoding,
        "headers": [_header_document(header) for header in record.headers],
    }


def parse_document(line: str | bytes, name: str | None = None) -> dict[str, Any]:
    """Returns the JSON object of a line; errors show the line, or its `name`.

    Raises:
        DocumentError: The line is not JSON, or not an object.
    """
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{name or repr(line[:60])} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise DocumentError(f"{name or repr(line[:60])} is not a JSON object")
    return document


def headers_of(document: Mapping[str, Any]) -> list[Header]:
    """Returns the headers of a document.

    Raises:
        DocumentError: `headers` is not a list of objects with a key.
    """
    given = document.get("headers") or ()
    if not isinstance(given, list | tuple):
        raise DocumentError(f"headers {given!r} are not a list")
    found: list[Header] = []
    for item in given:
        if not isinstance(item, dict) or item.get("key") is None:
            raise DocumentError(f"the header {item!r} is not an object with a key")
        name = decode_bytes(item["key"], item.get("key_encoding")) or b""
        value = decode_bytes(item.get("value"), item.get("value_encoding"))
        found.append((name.decode(errors="surrogateescape"), value))
    return found


def timestamp_of(document: Mapping[str, Any]) -> int | None:
    """Returns the timestamp of a document; None if it has none, or a negative one.

    Raises:
        DocumentError: The timestamp is not a whole number of milliseconds.
    """
    given = document.get("timestamp")
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool):
        raise DocumentError(f"the timestamp {given!r} is not a number of milliseconds")
    return given if given >= 0 else None


def _header_document(header: Header) -> dict[str, Any]:
    name, name_encoding = encode_bytes(header[0].encode(errors="surrogateescape"))
    value, encoding = encode_bytes(header[1])
    document = {"key": name, "value": value, "value_encoding": encoding}
    if name_encoding != UTF8:
        document["key_encoding"] = name_encoding
    return document
