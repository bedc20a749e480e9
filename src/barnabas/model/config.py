"""Configuration keys as data: name, type, default, validator, doc; parsing and its errors.

A table of keys is declared once (`model/config_keys/`) and serves parsing, `DescribeConfigs`, the
reference page and shell completion. Users write Kafka's dotted names; snake_case is accepted too.
An unknown key is an error with a suggestion, never a silent default.
"""

import difflib
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.model.errors import ConfigError


class ConfigType(enum.Enum):
    """The type of a value, with the number the protocol gives it (DescribeConfigs v3+)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


_BOUNDS = {
    ConfigType.SHORT: (-(2**15), 2**15 - 1),
    ConfigType.INT: (-(2**31), 2**31 - 1),
    ConfigType.LONG: (-(2**63), 2**63 - 1),
}

Validator = Callable[[Any], str | None]
"""Returns what is wrong with a parsed value, or None."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key. `default` is a parsed value; REQUIRED keys have none."""

    name: str
    type: ConfigType
    default: Any
    doc: str
    validator: Validator | None = None
    required: bool = False
    dynamic: bool = False
    note: str = ""

    def parse(self, raw: object) -> Any:
        """Turn a user's value into a typed one, or raise ConfigError naming key and cause."""
        value = _parse_value(self, raw)
        problem = self.validator(value) if self.validator is not None else None
        if problem is not None:
            raise ConfigError(f"{self.name}={raw!r}: {problem}")
        return value

    def render(self, value: object) -> str | None:
        """The text form that the protocol and property files carry."""
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list | tuple):
            return ",".join(str(item) for item in value)
        return str(value)

    @property
    def sensitive(self) -> bool:
        """Whether the value must never be shown."""
        return self.type in (ConfigType.PASSWORD, ConfigType.UNKNOWN)


class ConfigTable:
    """An ordered set of keys that parses mappings.

    >>> table = ConfigTable([ConfigKey("linger.ms", ConfigType.LONG, 5, "how long to wait")])
    >>> table.parse({"linger_ms": "10"})
    {'linger.ms': 10}
    """

    def __init__(self, keys: Iterable[ConfigKey]) -> None:
        self._keys = {key.name: key for key in keys}

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self._keys.values())

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __getitem__(self, name: str) -> ConfigKey:
        return self._keys[name]

    def key(self, name: str) -> ConfigKey:
        """The key of this dotted or snake_case name; ConfigError with a suggestion otherwise."""
        found = self._keys.get(name) or self._keys.get(name.replace("_", "."))
        if found is None:
            raise ConfigError(f"unknown configuration key {name!r}{self._suggestion(name)}")
        return found

    def parse(self, given: Mapping[str, object]) -> dict[str, Any]:
        """All keys with their values: what was given, parsed, over the defaults."""
        values = {key.name: key.default for key in self}
        seen: dict[str, str] = {}
        for name, raw in given.items():
            key = self.key(name)
            if key.name in seen:
                raise ConfigError(f"{key.name} is given twice: {seen[key.name]!r} and {name!r}")
            seen[key.name] = name
            values[key.name] = key.parse(raw)
        missing = [key.name for key in self if key.required and key.name not in seen]
        if missing:
            raise ConfigError(f"missing required configuration: {', '.join(missing)}")
        return values

    def _suggestion(self, name: str) -> str:
        close = difflib.get_close_matches(name.replace("_", "."), self._keys, n=1, cutoff=0.7)
        return f"; did you mean {close[0]!r}?" if close else ""


def at_least(minimum: float) -> Validator:
    return lambda value: None if value >= minimum else f"must be at least {minimum}"


def between(minimum: float, maximum: float) -> Validator:
    return lambda value: (
        None if minimum <= value <= maximum else f"must be between {minimum} and {maximum}"
    )


def one_of(*allowed: object) -> Validator:
    names = ", ".join(str(item) for item in allowed)
    return lambda value: None if value in allowed else f"must be one of: {names}"


def each_of(*allowed: str) -> Validator:
    """Every item of a list is one of these."""
    names = ", ".join(allowed)
    return lambda value: None if set(value) <= set(allowed) else f"must be among: {names}"


def _parse_value(key: ConfigKey, raw: object) -> Any:
    if raw is None:
        if key.default is None:
            return None
        raise ConfigError(f"{key.name}: a value is needed, None was given")
    match key.type:
        case ConfigType.BOOLEAN:
            return _parse_bool(key, raw)
        case ConfigType.SHORT | ConfigType.INT | ConfigType.LONG:
            return _parse_integer(key, raw)
        case ConfigType.DOUBLE:
            return _parse_double(key, raw)
        case ConfigType.LIST:
            return _parse_list(raw)
        case ConfigType.CLASS:
            return raw
        case _:
            return _parse_text(key, raw)


def _parse_bool(key: ConfigKey, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    match str(raw).strip().lower():
        case "true":
            return True
        case "false":
            return False
    raise ConfigError(f"{key.name}={raw!r}: must be true or false")


def _parse_integer(key: ConfigKey, raw: object) -> int:
    if isinstance(raw, bool) or (isinstance(raw, float) and not raw.is_integer()):
        raise ConfigError(f"{key.name}={raw!r}: must be a whole number")
    try:
        value = int(raw) if isinstance(raw, int | float) else int(str(raw).strip())
    except ValueError:
        raise ConfigError(f"{key.name}={raw!r}: must be a whole number") from None
    low, high = _BOUNDS[key.type]
    if not low <= value <= high:
        raise ConfigError(f"{key.name}={raw!r}: must be between {low} and {high}")
    return value


def _parse_double(key: ConfigKey, raw: object) -> float:
    try:
        return float(str(raw).strip())
    except ValueError:
        raise ConfigError(f"{key.name}={raw!r}: must be a number") from None


def _parse_list(raw: object) -> list[Any]:
    if isinstance(raw, str):
        return [item.strip() for item in raw.split(",") if item.strip()]
    if isinstance(raw, Iterable):
        return list(raw)
    return [raw]


def _parse_text(key: ConfigKey, raw: object) -> str:
    if isinstance(raw, str):
        return raw
    if isinstance(raw, int | float):
        return str(raw)
    if isinstance(raw, list | tuple):
        return ",".join(str(item) for item in raw)
    raise ConfigError(f"{key.name}={raw!r}: must be text")
