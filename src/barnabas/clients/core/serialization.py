"""Built-in serializers and deserializers, selected by name; their bytes are those of Kafka's.

string   text as UTF-8            int      4 bytes, big-endian     double   8 bytes, IEEE 754
bytes    bytes as they are        long     8 bytes, big-endian     uuid     its text
json     JSON as UTF-8
"""

import json
import struct
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from barnabas.model.errors import ConfigError

Serializer = Callable[[Any], bytes | None]
Deserializer = Callable[[bytes], Any]

_INT, _LONG, _DOUBLE = struct.Struct(">i"), struct.Struct(">q"), struct.Struct(">d")


def _string(value: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"the string serializer takes str, not {type(value).__name__}")
    return value.encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _number(layout: struct.Struct) -> Deserializer:
    def read(data: bytes) -> Any:
        if len(data) != layout.size:
            raise ValueError(f"{len(data)} bytes where {layout.size} are needed")
        return layout.unpack(data)[0]

    return read


SERIALIZERS: dict[str, Serializer] = {
    "string": _string,
    "bytes": lambda value: value,
    "int": _INT.pack,
    "long": _LONG.pack,
    "double": _DOUBLE.pack,
    "uuid": lambda value: str(uuid.UUID(str(value))).encode(),
    "json": _json,
}
DESERIALIZERS: dict[str, Deserializer] = {
    "string": lambda data: bytes(data).decode(),
    "bytes": lambda data: data,
    "int": _number(_INT),
    "long": _number(_LONG),
    "double": _number(_DOUBLE),
    "uuid": lambda data: uuid.UUID(bytes(data).decode()),
    "json": lambda data: json.loads(bytes(data)),
}


def serializer(values: Mapping[str, Any], key: str) -> Serializer | None:
    """The serializer under a configuration key: a built-in by name, or the callable given.

    Raises:
        ConfigError: It is neither.
    """
    chosen: Serializer | None = _chosen(values[key], key, SERIALIZERS)
    return chosen


def deserializer(values: Mapping[str, Any], key: str) -> Deserializer | None:
    """The deserializer under a configuration key; see `serializer`."""
    chosen: Deserializer | None = _chosen(values[key], key, DESERIALIZERS)
    return chosen


def _chosen(given: Any, key: str, built_in: Mapping[str, Callable[[Any], Any]]) -> Any:
    found = built_in.get(given) if isinstance(given, str) else given
    if given is not None and not callable(found):
        raise ConfigError(f"{key}={given!r}: must be a callable or one of: {', '.join(built_in)}")
    return found
