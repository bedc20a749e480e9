"""Value types of configurations: resources, entries, sources and changes.

Values are text in requests and responses; callers may also pass numbers and booleans.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.config import ConfigType
from barnabas.model.errors import ConfigError

ConfigValue = str | int | float


def config_text(value: ConfigValue | None) -> str | None:
    """Returns a configuration value as Kafka writes it.

    >>> config_text(60_000), config_text(True), config_text("lz4"), config_text(None)
    ('60000', 'true', 'lz4', None)
    """
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


class ConfigResourceType(enum.IntEnum):
    """Kinds of resources that have a configuration."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True)
class ConfigResource:
    """A resource with a configuration; a BROKER with an empty name is the cluster-wide default."""

    type: ConfigResourceType
    name: str = ""

    @classmethod
    def topic(cls, name: str) -> "ConfigResource":
        """Returns the resource of a topic."""
        return cls(ConfigResourceType.TOPIC, name)

    @classmethod
    def broker(cls, broker_id: int | None = None) -> "ConfigResource":
        """One broker, or without an id the cluster-wide default."""
        return cls(ConfigResourceType.BROKER, "" if broker_id is None else str(broker_id))

    @classmethod
    def group(cls, name: str) -> "ConfigResource":
        """Returns the resource of a group."""
        return cls(ConfigResourceType.GROUP, name)

    @property
    def broker_id(self) -> int | None:
        """The broker that holds this configuration; None if any broker can return it.

        Raises:
            ConfigError: The name of a broker is not a number.
        """
        owned = self.type in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)
        if not owned or not self.name:
            return None
        try:
            return int(self.name)
        except ValueError:
            raise ConfigError(f"{self.name!r} is not a broker id: use a whole number") from None

    def __str__(self) -> str:
        return f"{self.type.name.lower()} {self.name!r}"


class ConfigSource(enum.IntEnum):
    """The origin of a value. For topics and brokers, lower numbers take precedence."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """One value in the chain that a key falls back to, with its source."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One configuration key and its value; the value of a sensitive key is None."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    synonyms: tuple[ConfigSynonym, ...] = ()
    type: ConfigType | None = None
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether no layer sets the key, so that the built-in default applies."""
        return self.source is ConfigSource.DEFAULT_CONFIG


class AlterOperation(enum.IntEnum):
    """Change of one key; APPEND and SUBTRACT change the items of a list."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One change; APPEND and SUBTRACT apply to keys of type list."""

    name: str
    value: ConfigValue | None = None
    operation: AlterOperation = AlterOperation.SET


Changes = Mapping[str, ConfigValue | None] | Iterable[ConfigChange]
"""Values by key (None restores the default), or `ConfigChange` objects."""
