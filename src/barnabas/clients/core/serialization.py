"""Serializers and deserializers of keys and values, for producers and consumers.

A setting such as `value.serializer` has one of these forms:

- the name of a built-in; its bytes are those of Kafka's serializer:
  string   text as UTF-8            int      4 bytes, big-endian     double   8 bytes, IEEE 754
  bytes    bytes as they are        long     8 bytes, big-endian     uuid     its text
  json     JSON as UTF-8
- a function of one argument, such as `json.loads`;
- an object with the methods of `Serializer` or `Deserializer`, its class, or the import path of
  the class.
"""

import json
import struct
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from barnabas.model.config import ConfigValues
from barnabas.model.errors import ConfigError, LocalError
from barnabas.runtime.plugins import close, configure, instance_of, is_path, load

Function = Callable[[Any], Any]

_INT, _LONG, _DOUBLE = struct.Struct(">i"), struct.Struct(">q"), struct.Struct(">d")


class Serializer:
    """Converts the keys or values that `send()` gets into bytes.

    Subclasses define `serialize`. A class with the same methods needs not be a subclass.

    >>> class Celsius(Serializer):
    ...     def serialize(self, topic, data):
    ...         return b"%.1f" % data
    >>> producer = Producer(config, value_serializer=Celsius)  # doctest: +SKIP
    """

    def configure(self, config: Mapping[str, object], is_key: bool) -> None:
        """Receives the producer's configuration once, before the first record."""

    def serialize(self, topic: str, data: Any) -> bytes | str | None:
        """Returns the bytes of a key or value; text is stored as UTF-8. Never called for None."""
        raise NotImplementedError

    def close(self) -> None:
        """Called when the producer is closed."""


class Deserializer:
    """Converts the bytes of a key or value into the object that `poll()` returns.

    Subclasses define `deserialize`. A class with the same methods needs not be a subclass.

    >>> class Celsius(Deserializer):
    ...     def deserialize(self, topic, data):
    ...         return float(data)
    """

    def configure(self, config: Mapping[str, object], is_key: bool) -> None:
        """Receives the consumer's configuration once, before the first record."""

    def deserialize(self, topic: str, data: bytes) -> Any:
        """Returns the object for the bytes of a key or value. Never called for None."""
        raise NotImplementedError

    def close(self) -> None:
        """Called when the consumer is closed."""


class SerializationError(LocalError):
    """A serializer raised for a key or value; `__cause__` is its exception."""


class Conversion:
    """A configured serializer or deserializer."""

    __slots__ = ("_function", "_method", "_plugin", "setting")

    def __init__(self, plugin: Any, method: str, setting: str) -> None:
        self.setting = setting
        self._plugin = plugin
        self._method: Callable[[str, Any], object] | None = getattr(plugin, method, None)
        self._function: Function = plugin

    def for_topic(self, topic: str) -> Function:
        """Returns the function that converts the keys or values of a topic."""
        return self._function if self._method is None else partial(self._method, topic)

    def close(self) -> None:
        """Closes an object of the application."""
        close(self._plugin)


def _string(value: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"the string serializer takes str, not {type(value).__name__}")
    return value.encode()


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _number(layout: struct.Struct) -> Function:
    def read(data: bytes) -> Any:
        if len(data) != layout.size:
            raise ValueError(f"{len(data)} bytes where {layout.size} are needed")
        return layout.unpack(data)[0]

    return read


SERIALIZERS: dict[str, Function] = {
    "string": _string,
    "bytes": lambda value: value,
    "int": _INT.pack,
    "long": _LONG.pack,
    "double": _DOUBLE.pack,
    "uuid": lambda value: str(uuid.UUID(str(value))).encode(),
    "json": _json,
}
DESERIALIZERS: dict[str, Function] = {
    "string": lambda data: bytes(data).decode(),
    "bytes": lambda data: data,
    "int": _number(_INT),
    "long": _number(_LONG),
    "double": _number(_DOUBLE),
    "uuid": lambda data: uuid.UUID(bytes(data).decode()),
    "json": lambda data: json.loads(bytes(data)),
}


def serializer(values: Mapping[str, object], setting: str) -> Conversion | None:
    """Returns the configured serializer of a setting; None if the setting has no value.

    Raises:
        ConfigError: The value is not a serializer, or the serializer cannot be created.
    """
    return _conversion(values, setting, "serialize", SERIALIZERS)


def deserializer(values: Mapping[str, object], setting: str) -> Conversion | None:
    """Returns the configured deserializer of a setting; see `serializer`."""
    return _conversion(values, setting, "deserialize", DESERIALIZERS)


def _conversion(
    values: ConfigValues, setting: str, method: str, built_in: Mapping[str, Function]
) -> Conversion | None:
    given = values[setting]
    if given is None:
        return None
    plugin = built_in.get(given) if isinstance(given, str) else given
    if plugin is None and is_path(given):
        plugin = load(given, setting)
    if isinstance(plugin, type) and _has_instances(plugin, method):
        plugin = instance_of(plugin, setting)
    if not callable(plugin) and not hasattr(plugin, method):
        raise ConfigError(
            f"{setting}={given!r}: must be one of {', '.join(built_in)}; a callable; or a class, "
            f"an object or the import path of a class with a method {method}()"
        )
    configure(plugin, setting, dict(values), setting.startswith("key."))
    return Conversion(plugin, method, setting)


def _has_instances(kind: type, method: str) -> bool:
    """Whether instances of a class convert; a class such as `int` converts by its constructor."""
    return hasattr(kind, method) or any("__call__" in base.__dict__ for base in kind.__mro__)
