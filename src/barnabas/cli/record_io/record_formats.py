"""Prints records as table, NDJSON, YAML, TSV, raw values, or by a printf format.

JSON keeps every byte, so `record_document` can be read back:

    {"topic": "orders", "partition": 0, "offset": 7, "timestamp": 1714564800000,
     "timestamp_iso": "2024-05-01T12:00:00.000Z", "timestamp_type": "CreateTime",
     "key": "k", "key_encoding": "utf-8", "value": "//8=", "value_encoding": "base64",
     "headers": [{"key": "h", "value": "1", "value_encoding": "utf-8"}]}

Bytes in valid UTF-8 are written as text, other bytes as base64; `*_encoding` names the encoding. It
is null for a null value, which differs from an empty string.

The printf format is given as `-f '%t/%p/%o %k=%v\\n'`:

    %t topic     %p partition   %o offset       %T timestamp in ms   %d timestamp, ISO 8601
    %k key       %K its length  %v %s value     %V %S its length     (-1 for null)
    %h headers as name=value,…  %%              \\n \\t \\r \\0 \\xHH as in C

Keys and values are printed as bytes without conversion; null is printed as `null_text`.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from barnabas.cli.framework.output import cell, iso_time, json_line, yaml_text
from barnabas.model.errors import ConfigError, ProtocolError
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


def record_document(record: Record) -> dict[str, object]:
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


_PIECE = re.compile(r"%(.?)|([^%]+)", re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}
Piece = Callable[[Record], bytes]
FORMATS = ("table", "json", "yaml", "tsv", "raw")
_TABLE = "{:<20} {:>9} {:>10}  {:<24}  {:<16}  {}"
_HEADS = ("TOPIC", "PARTITION", "OFFSET", "TIMESTAMP", "KEY", "VALUE")


class RecordFormat:
    """A compiled format; `render` returns the bytes of one record."""

    def __init__(self, text: str, null_text: bytes = b"") -> None:
        self._null = null_text
        self._pieces = [self._piece(match, text) for match in _PIECE.finditer(unescape(text))]

    def render(self, record: Record) -> bytes:
        return b"".join(piece(record) for piece in self._pieces)

    def _piece(self, match: re.Match[str], text: str) -> Piece:
        letter, literal = match.groups()
        if literal is not None:
            data = literal.encode(errors="surrogateescape")
            return lambda _: data
        fields = self._fields()
        if letter not in fields:
            known = " ".join(f"%{name}" for name in fields)
            raise ConfigError(f"format {text!r}: unknown %{letter}; known are {known}")
        return fields[letter]

    def _fields(self) -> dict[str, Piece]:
        null = self._null

        def shown(data: bytes | None) -> bytes:
            return null if data is None else data

        return {
            "t": lambda r: r.topic.encode(),
            "p": lambda r: b"%d" % r.partition,
            "o": lambda r: b"%d" % r.offset,
            "T": lambda r: b"%d" % r.timestamp,
            "d": lambda r: (iso_time(r.timestamp) or "").encode(),
            "k": lambda r: shown(r.key),
            "K": lambda r: b"%d" % _length(r.key),
            "v": lambda r: shown(r.value),
            "s": lambda r: shown(r.value),
            "V": lambda r: b"%d" % _length(r.value),
            "S": lambda r: b"%d" % _length(r.value),
            "h": lambda r: b",".join(_header(name, value, null) for name, value in r.headers),
            "%": lambda _: b"%",
        }


def unescape(text: str) -> str:
    """Replaces the escapes of C; bytes above ASCII become surrogates and are written unchanged."""

    def replaced(match: re.Match[str]) -> str:
        code = match[1]
        if code.startswith("x") and len(code) > 1:
            return bytes([int(code[1:], 16)]).decode(errors="surrogateescape")
        return _ESCAPES.get(code, match[0])

    return _ESCAPE.sub(replaced, text)


def _length(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _header(name: str, value: bytes | None, null: bytes) -> bytes:
    return name.encode(errors="surrogateescape") + b"=" + (null if value is None else value)


class RecordPrinter:
    """Writes records and flushes after each call."""

    def __init__(self, form: str, printf: str | None, out: BinaryIO) -> None:
        self._out = out
        self._form = form
        self._printf = RecordFormat(printf) if printf is not None else None
        self._began = False

    def write(self, records: list[Record]) -> None:
        if not records:
            return
        if not self._began and self._printf is None and self._form == "table":
            self._out.write(_TABLE.format(*_HEADS).encode() + b"\n")
        self._began = True
        for record in records:
            self._out.write(self._line(record))
        self._out.flush()

    def _line(self, record: Record) -> bytes:
        if self._printf is not None:
            return self._printf.render(record)
        match self._form:
            case "json":
                return json_line(record_document(record)).encode() + b"\n"
            case "yaml":
                return f"---\n{yaml_text(record_document(record))}\n".encode()
            case "raw":
                return (record.value or b"") + b"\n"
            case "tsv":
                return "\t".join(_cells(record)).encode() + b"\n"
            case _:
                return _TABLE.format(*_cells(record)).rstrip().encode() + b"\n"


def _cells(record: Record) -> list[str]:
    return [
        record.topic,
        str(record.partition),
        str(record.offset),
        iso_time(record.timestamp) or "-",
        _text(record.key),
        _text(record.value),
    ]


def _text(data: bytes | None) -> str:
    text, encoding = encode_bytes(data)
    if encoding == "base64":
        return f"base64:{text}"
    return cell(text)
