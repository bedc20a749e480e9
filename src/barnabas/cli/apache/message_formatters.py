"""The formatters of the console consumer: Kafka's by their class names, and Python classes.

The default formatter has the properties in `_DEFAULTS`. A deserializer is one of Kafka's by its
class name, or a Python one as `package.module:Class`: a callable of the bytes, or a class with
`deserialize(topic, data)`. Its `configure(configs, is_key)`, if it exists, receives the properties
that begin with `key.deserializer.`, without this prefix.

A Python formatter is named as `package.module:Class`. It has `render(record)`, which returns bytes
or text, or `write_to(record, out)` with a binary stream, as Kafka's `writeTo`. Its
`configure(properties)` and `close()`, if they exist, are called at the start and at the end.
"""

import argparse
import base64
import io
import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from barnabas.cli.apache.flags import make_plugin, simple_class_name
from barnabas.cli.framework.connection import key_values, read_properties
from barnabas.cli.record_io.record_formats import unescape
from barnabas.model.errors import BarnabasError, ConfigError
from barnabas.model.ids import Uuid
from barnabas.model.records import TimestampType
from barnabas.records.record import Record
from barnabas.wire.coordinator_records import (
    maybe_decode_offsets_record,
    maybe_decode_transaction_record,
    version_of,
)
from barnabas.wire.message import Message, WireStruct

Deserializer = Callable[[str, bytes], bytes]
_Plain = Callable[[bytes], bytes]
_KINDS = ("key", "value", "headers")
_DEFAULTS = {
    "print.timestamp": "false",
    "print.partition": "false",
    "print.offset": "false",
    "print.epoch": "false",
    "print.delivery": "false",
    "print.headers": "false",
    "print.key": "false",
    "print.value": "true",
    "key.separator": "\t",
    "line.separator": "\n",
    "headers.separator": ",",
    "null.literal": "null",
    "key.deserializer": "",
    "value.deserializer": "",
    "headers.deserializer": "",
}
_DESERIALIZER_PREFIXES = tuple(f"{kind}.deserializer." for kind in _KINDS)
Decode = Callable[[bytes, bytes | None], tuple[Message, Message | None] | None]


def _number(form: str) -> _Plain:
    layout = struct.Struct(form)

    def read(data: bytes) -> bytes:
        if len(data) != layout.size:
            raise ValueError(f"{len(data)} bytes where {layout.size} are needed")
        return str(layout.unpack(data)[0]).encode()

    return read


_DESERIALIZERS: dict[str, _Plain] = {
    "": bytes,
    "StringDeserializer": bytes,
    "ByteArrayDeserializer": bytes,
    "BytesDeserializer": bytes,
    "ByteBufferDeserializer": bytes,
    "LongDeserializer": _number(">q"),
    "IntegerDeserializer": _number(">i"),
    "ShortDeserializer": _number(">h"),
    "DoubleDeserializer": _number(">d"),
    "FloatDeserializer": _number(">f"),
    "BooleanDeserializer": lambda data: b"true" if data == b"\x01" else b"false",
    "UUIDDeserializer": bytes,
}


def deserializer(kind: str, properties: Mapping[str, str]) -> Deserializer:
    """Returns the deserializer of keys, values or headers that the properties name."""
    class_name = properties.get(f"{kind}.deserializer", "").strip()
    if ":" in class_name:
        return _python_deserializer(kind, class_name, properties)
    found = _DESERIALIZERS.get(class_name.rpartition(".")[2])
    if found is None:
        known = ", ".join(name for name in _DESERIALIZERS if name)
        raise ConfigError(
            f"deserializer {class_name!r} is unknown; known are {known},"
            " and Python classes as package.module:Class"
        )
    return lambda _topic, data: found(data)


def _python_deserializer(kind: str, class_name: str, properties: Mapping[str, str]) -> Deserializer:
    made = make_plugin(class_name, f"{kind}.deserializer")
    if hasattr(made, "configure"):
        prefix = f"{kind}.deserializer."
        own = {name: value for name, value in properties.items() if name.startswith(prefix)}
        made.configure({name.removeprefix(prefix): own[name] for name in own}, kind == "key")
    read: Callable[[str, bytes], object] = (
        made.deserialize if hasattr(made, "deserialize") else lambda _topic, data: made(data)
    )

    def shown(topic: str, data: bytes) -> bytes:
        try:
            value = read(topic, data)
        except Exception as error:
            raise ValueError(f"{class_name}: {type(error).__name__}: {error}") from error
        return value if isinstance(value, bytes) else str(value).encode(errors="surrogateescape")

    return shown


class MessageFormatter:
    """Kafka's DefaultMessageFormatter; an unknown property is an error."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        for name in properties:
            if name not in _DEFAULTS and not name.startswith(_DESERIALIZER_PREFIXES):
                raise ConfigError(f"the formatter has no property {name!r}")
        self._values = {**_DEFAULTS, **properties}
        self._key, self._value, self._headers = (
            deserializer(kind, self._values) for kind in _KINDS
        )
        self._null = self._text("null.literal")

    def render(self, record: Record) -> bytes:
        """Returns the text of a record; raises ValueError when it cannot be deserialized."""
        parts: list[bytes] = []
        if self._on("print.timestamp"):
            parts.append(_timestamp(record))
        if self._on("print.partition"):
            parts.append(b"Partition:%d" % record.partition)
        if self._on("print.offset"):
            parts.append(b"Offset:%d" % record.offset)
        if self._on("print.delivery"):
            parts.append(b"Delivery:NOT_PRESENT")
        if self._on("print.epoch"):
            epoch = record.leader_epoch
            parts.append(b"Epoch:%d" % epoch if epoch >= 0 else b"Epoch:NOT_PRESENT")
        if self._on("print.headers"):
            parts.append(self._render_headers(record))
        if self._on("print.key"):
            parts.append(self._shown(record, record.key, self._key))
        if self._on("print.value"):
            parts.append(self._shown(record, record.value, self._value))
        return self._text("key.separator").join(parts) + self._text("line.separator")

    def _render_headers(self, record: Record) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        return self._text("headers.separator").join(
            name.encode(errors="surrogateescape") + b":" + self._shown(record, value, self._headers)
            for name, value in record.headers
        )

    def _shown(self, record: Record, data: bytes | None, read: Deserializer) -> bytes:
        return self._null if data is None else read(record.topic, data)

    def _on(self, name: str) -> bool:
        return self._values[name].strip().lower() == "true"

    def _text(self, name: str) -> bytes:
        return unescape(self._values[name]).encode(errors="surrogateescape")


def _timestamp(record: Record) -> bytes:
    if record.timestamp < 0:
        return b"NO_TIMESTAMP"
    append_time = record.timestamp_type == TimestampType.LOG_APPEND_TIME
    return (b"LogAppendTime:%d" if append_time else b"CreateTime:%d") % record.timestamp


class Formatter(Protocol):
    def render(self, record: Record) -> bytes: ...


class LoggingMessageFormatter(MessageFormatter):
    """The default formatter; Kafka's class also writes to the log."""


class NoOpMessageFormatter:
    """Prints nothing, for measurements."""

    def render(self, record: Record) -> bytes:
        return b""


class OffsetsMessageFormatter:
    """Prints the committed offsets in `__consumer_offsets`, one line of JSON each."""

    def render(self, record: Record) -> bytes:
        return _decoded(record, maybe_decode_offsets_record, "OffsetCommitKey")


class GroupMetadataMessageFormatter:
    """Prints the group metadata in `__consumer_offsets`."""

    def render(self, record: Record) -> bytes:
        return _decoded(record, maybe_decode_offsets_record, "GroupMetadataKey")


class TransactionLogMessageFormatter:
    """Prints the records of `__transaction_state`."""

    def render(self, record: Record) -> bytes:
        return _decoded(record, maybe_decode_transaction_record, "TransactionLogKey")


class PythonFormatter:
    """A formatter class of the user. Its exceptions are reported as errors of one message."""

    def __init__(self, name: str, properties: Mapping[str, str]) -> None:
        self._name = name
        made = make_plugin(name, "--formatter")
        if not hasattr(made, "render") and not hasattr(made, "write_to"):
            raise ConfigError(
                f"--formatter {name}: the class must have render(record) or write_to(record, out)"
            )
        self._made = made
        if hasattr(made, "configure"):
            try:
                made.configure(dict(properties))
            except Exception as error:
                raise ConfigError(f"--formatter {name}: {type(error).__name__}: {error}") from error

    def render(self, record: Record) -> bytes:
        try:
            shown = self._render(record)
        except Exception as error:
            raise ValueError(f"{self._name}: {type(error).__name__}: {error}") from error
        return shown.encode(errors="surrogateescape") if isinstance(shown, str) else shown

    def close(self) -> None:
        if hasattr(self._made, "close"):
            self._made.close()

    def _render(self, record: Record) -> bytes | str:
        if hasattr(self._made, "render"):
            shown: bytes | str = self._made.render(record)
            return shown
        out = io.BytesIO()
        self._made.write_to(record, out)
        return out.getvalue()


def close_formatter(formatter: Formatter) -> None:
    """Calls `close` of a Python formatter."""
    if isinstance(formatter, PythonFormatter):
        formatter.close()


def formatter_of(arguments: argparse.Namespace) -> Formatter:
    """Returns the formatter of --formatter, with its properties."""
    given_name = arguments.formatter or "DefaultMessageFormatter"
    properties: dict[str, str] = {}
    if arguments.formatter_config is not None:
        properties.update(read_properties(Path(arguments.formatter_config)))
    properties.update(key_values(arguments.formatter_properties, "--property"))
    for kind in ("key", "value"):
        given = getattr(arguments, f"{kind}_deserializer")
        if given:
            properties[f"{kind}.deserializer"] = given
    if ":" in given_name:
        return PythonFormatter(given_name, properties)
    name = simple_class_name(given_name)
    if name == "DefaultMessageFormatter":
        return MessageFormatter(properties)
    if name == "LoggingMessageFormatter":
        return LoggingMessageFormatter(properties)
    plain: dict[str, type[Formatter]] = {
        "NoOpMessageFormatter": NoOpMessageFormatter,
        "OffsetsMessageFormatter": OffsetsMessageFormatter,
        "GroupMetadataMessageFormatter": GroupMetadataMessageFormatter,
        "TransactionLogMessageFormatter": TransactionLogMessageFormatter,
    }
    if name not in plain:
        raise ConfigError(
            f"formatter {given_name!r} is unknown; known are DefaultMessageFormatter,"
            f" LoggingMessageFormatter, {', '.join(plain)},"
            " and Python classes as package.module:Class"
        )
    return plain[name]()


def _decoded(record: Record, decode: Decode, wanted: str) -> bytes:
    """Returns a line for records of the wanted kind, an empty text for others.

    Kafka's formatters write no line end, which makes the output of two records unreadable.
    """
    key = record.key or b""
    try:
        found = decode(key, record.value)
    except BarnabasError as error:
        raise ValueError(str(error)) from error
    if found is None or type(found[0]).__name__ != wanted:
        return b""
    kind = version_of(key)
    value = None
    if record.value is not None and found[1] is not None:
        version = version_of(record.value)
        value = {"version": version, "data": message_data(found[1], version)}
    line = {"key": {"type": kind, "data": message_data(found[0], kind)}, "value": value}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


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


def _plain(value: object, version: int) -> object:
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
