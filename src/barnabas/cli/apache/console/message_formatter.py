"""Apache's default message formatter: what the console consumer prints for a record.

Properties: print.timestamp, print.partition, print.offset, print.epoch, print.delivery,
print.headers, print.key, print.value, key.separator, line.separator, headers.separator,
null.literal, key.deserializer, value.deserializer, headers.deserializer.
"""

import struct
from collections.abc import Callable, Mapping

from barnabas.cli.reading.record_format import unescape
from barnabas.model.errors import ConfigError
from barnabas.model.records import TimestampType
from barnabas.records.record import Record

Deserializer = Callable[[bytes], bytes]

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


def _number(form: str) -> Deserializer:
    layout = struct.Struct(form)

    def read(data: bytes) -> bytes:
        if len(data) != layout.size:
            raise ValueError(f"{len(data)} bytes where {layout.size} are needed")
        return str(layout.unpack(data)[0]).encode()

    return read


_DESERIALIZERS: dict[str, Deserializer] = {
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


def deserializer(class_name: str) -> Deserializer:
    """What stands in for a Java deserializer, by the last part of its name."""
    found = _DESERIALIZERS.get(class_name.rpartition(".")[2])
    if found is None:
        known = ", ".join(name for name in _DESERIALIZERS if name)
        raise ConfigError(f"deserializer {class_name!r} is not known; there are {known}")
    return found


class MessageFormatter:
    """Renders records to bytes by its properties; unknown ones are an error."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        for name in properties:
            if name not in _DEFAULTS and "deserializer." not in name:
                raise ConfigError(f"the formatter has no property {name!r}")
        self._values = {**_DEFAULTS, **properties}
        self._key = deserializer(self._values["key.deserializer"])
        self._value = deserializer(self._values["value.deserializer"])
        self._headers = deserializer(self._values["headers.deserializer"])
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
            parts.append(self._shown(record.key, self._key))
        if self._on("print.value"):
            parts.append(self._shown(record.value, self._value))
        return self._text("key.separator").join(parts) + self._text("line.separator")

    def _render_headers(self, record: Record) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        return self._text("headers.separator").join(
            name.encode(errors="surrogateescape") + b":" + self._shown(value, self._headers)
            for name, value in record.headers
        )

    def _shown(self, data: bytes | None, read: Deserializer) -> bytes:
        return self._null if data is None else read(data)

    def _on(self, name: str) -> bool:
        return self._values[name].strip().lower() == "true"

    def _text(self, name: str) -> bytes:
        return unescape(self._values[name]).encode(errors="surrogateescape")


def _timestamp(record: Record) -> bytes:
    if record.timestamp < 0:
        return b"NO_TIMESTAMP"
    append_time = record.timestamp_type == TimestampType.LOG_APPEND_TIME
    return (b"LogAppendTime:%d" if append_time else b"CreateTime:%d") % record.timestamp
