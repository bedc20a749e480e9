"""Apache's default message formatter: what the console consumer prints for a record.

Properties: print.timestamp, print.partition, print.offset, print.epoch, print.delivery,
print.headers, print.key, print.value, key.separator, line.separator, headers.separator,
null.literal, key.deserializer, value.deserializer, headers.deserializer.

A deserializer is one of Kafka's by its class name, or a Python one as `package.module:Class`: a
callable that takes the bytes, or a class with `deserialize(topic, data)`. Its `configure(configs,
is_key)`, if it has one, gets the properties that begin with `key.deserializer.`, without that.
"""

import struct
from collections.abc import Callable, Mapping

from barnabas.cli.framework.loading import make_plugin
from barnabas.cli.reading.record_format import unescape
from barnabas.model.errors import ConfigError
from barnabas.model.records import TimestampType
from barnabas.records.record import Record

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
    """The deserializer of keys, values or headers that the properties name."""
    class_name = properties.get(f"{kind}.deserializer", "").strip()
    if ":" in class_name:
        return _python_deserializer(kind, class_name, properties)
    found = _DESERIALIZERS.get(class_name.rpartition(".")[2])
    if found is None:
        known = ", ".join(name for name in _DESERIALIZERS if name)
        raise ConfigError(
            f"deserializer {class_name!r} is not known; there are {known},"
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
    """Renders records to bytes by its properties; unknown ones are an error."""

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
        """One record with its line separator; ValueError when it cannot be deserialized."""
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
