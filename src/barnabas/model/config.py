"""Declares configuration keys (name, type, default, validator, doc) and parses their values.

Each table of keys is declared once, in `model/config_keys/`, and is used for parsing,
`DescribeConfigs`, the reference page and shell completion. Kafka's dotted names and their
snake_case form are accepted. An unknown key raises ConfigError with a suggestion. Names of keys and
values from other clients are accepted where an equivalent exists. Text is trimmed, as in Java.
"""

import difflib
import enum
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from barnabas.model.errors import ConfigError


class ConfigType(enum.Enum):
    """Type of a value, with its number in the protocol (DescribeConfigs v3+)."""

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

_JAVA_PACKAGES = ("org.apache.kafka.", "kafka.")

Validator = Callable[[Any], str | None]
"""Returns why a parsed value is invalid, or None if it is valid."""
ConfigValues: TypeAlias = Mapping[str, Any]
"""Parsed values by key. The key determines the type of its value, so readers state the type."""
ConfigLookup: TypeAlias = Callable[[str], Any]
"""Returns the parsed value of a key."""


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a key. `factor` converts the unit: 1024 for a name in kilobytes."""

    name: str
    factor: int = 1


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One configuration key. `default` is a parsed value; required keys have none.

    `doc` and `note` are the texts of the reference page. `aliases` are other names of the key.
    `synonyms` maps other names of a value to the value: Java classes by the last part of their
    name, and the names that other clients use.
    """

    name: str
    type: ConfigType
    default: Any
    doc: str
    validator: Validator | None = None
    required: bool = False
    dynamic: bool = False
    note: str = ""
    aliases: tuple[Alias, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def parse(self, raw: object) -> Any:
        """Returns the typed and validated value; raises ConfigError with the key and the cause."""
        value = _parse_value(self, raw)
        problem = self.validator(value) if self.validator is not None else None
        if problem is not None:
            raise ConfigError(f"{self.name}={raw!r}: {problem}")
        return value

    def render(self, value: object) -> str | None:
        """Returns the text form of a value, as in the protocol and in property files."""
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list | tuple):
            return ",".join(str(item) for item in value)
        return str(value)

    @property
    def sensitive(self) -> bool:
        """Whether the value must not be displayed."""
        return self.type in (ConfigType.PASSWORD, ConfigType.UNKNOWN)


class ConfigTable:
    """An ordered set of keys that parses mappings.

    >>> table = ConfigTable([ConfigKey("linger.ms", ConfigType.LONG, 5, "how long to wait")])
    >>> table.parse({"linger_ms": "10"})
    {'linger.ms': 10}
    """

    def __init__(
        self,
        keys: Iterable[ConfigKey],
        advice: Mapping[str, str] | None = None,
        plugin_prefixes: tuple[str, ...] = (),
    ) -> None:
        """Creates a table.

        Args:
            advice: Maps keys of other clients to the text of their error.
            plugin_prefixes: Keys that begin so are settings of the application's own classes;
                their values are not parsed.
        """
        self._keys = {key.name: key for key in keys}
        self._aliases = {
            alias.name: (key, alias.factor) for key in self._keys.values() for alias in key.aliases
        }
        self._advice = advice or {}
        self._plugin_prefixes = plugin_prefixes

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self._keys.values())

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __getitem__(self, name: str) -> ConfigKey:
        return self._keys[name]

    def key(self, name: str) -> ConfigKey:
        """Returns the key with this dotted or snake_case name; raises ConfigError if unknown."""
        return self._find(name)[0]

    def knows(self, name: str) -> bool:
        """Whether `key` finds this name, aliases included."""
        dotted = name.replace("_", ".")
        return bool({name, dotted} & (self._keys.keys() | self._aliases.keys()))

    def given(self, names: Iterable[str]) -> set[str]:
        """Returns the canonical names of the keys that a user has set."""
        return {self._plugin_key(name) or self.key(name).name for name in names}

    def translate(self, name: str, raw: object) -> tuple[str, object]:
        """Returns the canonical name of a key and its value, converted from an alias.

        >>> buffer = ConfigKey("buffer.bytes", ConfigType.LONG, 1, "", aliases=(Alias("kb", 1024),))
        >>> ConfigTable([buffer]).translate("kb", "2")
        ('buffer.bytes', 2048)
        """
        plugin_key = self._plugin_key(name)
        if plugin_key is not None:
            return plugin_key, raw
        key, factor = self._find(name)
        return key.name, raw if factor == 1 else _parse_integer(key, raw) * factor

    def parse(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Returns the values of all keys: the given values, parsed, and defaults for the others."""
        values = {key.name: key.default for key in self}
        seen: dict[str, str] = {}
        for name, raw in given.items():
            own_name, value = self.translate(name, raw)
            if own_name in seen:
                raise ConfigError(f"{own_name} is given twice: {seen[own_name]!r} and {name!r}")
            seen[own_name] = name
            key = self._keys.get(own_name)
            values[own_name] = value if key is None else key.parse(value)
        missing = [key.name for key in self if key.required and key.name not in seen]
        if missing:
            raise ConfigError(f"missing required configuration: {', '.join(missing)}")
        return values

    def _plugin_key(self, name: str) -> str | None:
        """Returns the dotted name of a key of an application's class; None for other keys."""
        for text in (name, name.replace("_", ".")):
            if text.startswith(self._plugin_prefixes):
                return text
        return None

    def _find(self, name: str) -> tuple[ConfigKey, int]:
        """Returns the key with this name or alias, and the factor that converts its value."""
        dotted = name.replace("_", ".")
        key = self._keys.get(name) or self._keys.get(dotted)
        if key is not None:
            return key, 1
        found = self._aliases.get(name) or self._aliases.get(dotted)
        if found is not None:
            return found
        advice = self._advice.get(name) or self._advice.get(dotted)
        if advice is not None:
            raise ConfigError(f"configuration key {name} is not supported: {advice}")
        hint = did_you_mean(name.replace("_", "."), self._keys)
        raise ConfigError(f"unknown configuration key {name!r}{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns the end of an error message about an unknown name; empty if no name is similar."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
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


def only_objects(value: Iterable[object]) -> str | None:
    """Rejects lists that contain text: a class cannot be loaded by its Java name."""
    if any(isinstance(item, str) for item in value):
        return "must be Python objects or classes, not names"
    return None


def each_of(*allowed: str) -> Validator:
    """Returns a validator of lists whose items must all be allowed values."""
    names = ", ".join(allowed)
    return lambda value: None if set(value) <= set(allowed) else f"must be among: {names}"


def _parse_value(key: ConfigKey, raw: object) -> Any:
    if raw is None:
        if key.default is None:
            return None
        raise ConfigError(f"{key.name}: must not be None")
    match key.type:
        case ConfigType.BOOLEAN:
            return _parse_bool(key, raw)
        case ConfigType.SHORT | ConfigType.INT | ConfigType.LONG:
            return _parse_integer(key, raw)
        case ConfigType.DOUBLE:
            return _parse_double(key, raw)
        case ConfigType.LIST:
            return [_own_value(key, item) for item in _parse_list(raw)]
        case ConfigType.CLASS:
            return _own_value(key, raw)
        case _:
            return _own_value(key, _parse_text(key, raw))


def _own_value(key: ConfigKey, raw: object) -> Any:
    """Trims text and replaces a synonym of another client by the value."""
    if not isinstance(raw, str):
        return raw
    text = raw.strip()
    found = key.synonyms.get(text)
    if found is not None or not key.synonyms or not text.startswith(_JAVA_PACKAGES):
        return text if found is None else found
    class_name = text.replace("$", ".").rpartition(".")[2]
    if class_name not in key.synonyms:
        known = ", ".join(dict.fromkeys(key.synonyms.values()))
        raise ConfigError(
            f"{key.name}={raw!r}: this Java class has no equivalent; use one of: {known}"
        )
    return key.synonyms[class_name]


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


def merged(config: object, options: Mapping[str, object]) -> dict[str, object]:
    """Returns the configuration of a client: a mapping and keywords, which override it.

    Raises:
        ConfigError: `config` is not a mapping, for example a topic or an address.

    >>> merged({"client.id": "a"}, {"linger_ms": 5})
    {'client.id': 'a', 'linger_ms': 5}
    """
    if config is not None and not isinstance(config, Mapping):
        raise ConfigError(
            f"the configuration must be a mapping or keywords, not {config!r}; "
            "for example bootstrap_servers='localhost:9092'; topics are given to subscribe()"
        )
    return {**(config or {}), **options}


# --- Limits per address ---------------------------------------------------------------------------


_HOST = re.compile(r"[0-9A-Za-z\-%._:]+")


def parse_address_limits(text: str) -> dict[str, int]:
    """Returns the limit of each host name or address.

    Raises:
        ValueError: An entry does not have the form host:count.

    >>> parse_address_limits("10.0.0.7:100, ::1:5")
    {'10.0.0.7': 100, '::1': 5}
    """
    limits = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        host, _, count = pair.rpartition(":")
        if not _HOST.fullmatch(host.strip()) or not re.fullmatch("[0-9]+", count.strip()):
            raise ValueError(f"{pair!r} is not of the form host:count")
        limits[host.strip()] = int(count)
    return limits


def address_limits_problem(text: str) -> str | None:
    """Validates the value of max.connections.per.ip.overrides."""
    try:
        parse_address_limits(text)
    except ValueError:
        return "must be host:count pairs, for example 10.0.0.7:100,client.example:5"
    return None


def closed_to_all(per_ip: int, overrides: str) -> str | None:
    """Returns an error text if the limit is 0 and no address has an override."""
    if per_ip or parse_address_limits(overrides):
        return None
    return "max.connections.per.ip=0: no client can connect; set max.connections.per.ip.overrides"
