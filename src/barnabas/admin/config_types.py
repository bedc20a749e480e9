"""Settings as values: what has them, where one comes from, and a change to one.

A value is text on the wire and in every answer; whoever sets one may give a number or a bool.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.model.config import ConfigType

ConfigValue = str | int | float


def config_text(value: ConfigValue | None) -> str | None:
    """A setting as Kafka writes it.

    >>> config_text(60_000), config_text(True), config_text("lz4"), config_text(None)
    ('60000', 'true', 'lz4', None)
    """
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


class ConfigResourceType(enum.IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True)
class ConfigResource:
    """What has settings; a BROKER with an empty name stands for the whole cluster's defaults."""

    type: ConfigResourceType
    name: str = ""

    @classmethod
    def topic(cls, name: str) -> "ConfigResource":
        return cls(ConfigResourceType.TOPIC, name)

    @classmethod
    def broker(cls, broker_id: int | None = None) -> "ConfigResource":
        """One broker, or the default of all of them."""
        return cls(ConfigResourceType.BROKER, "" if broker_id is None else str(broker_id))

    @classmethod
    def group(cls, name: str) -> "ConfigResource":
        return cls(ConfigResourceType.GROUP, name)

    @property
    def broker_id(self) -> int | None:
        """The broker that alone knows these settings."""
        owned = self.type in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)
        return int(self.name) if owned and self.name else None

    def __str__(self) -> str:
        return f"{self.type.name.lower()} {self.name!r}"


class ConfigSource(enum.IntEnum):
    """Where a value comes from, the strongest first as far as topics and brokers go."""

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
    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One setting; a sensitive one has no value."""

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
        return self.source is ConfigSource.DEFAULT_CONFIG


class AlterOperation(enum.IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One change; APPEND and SUBTRACT are for settings that are lists."""

    name: str
    value: ConfigValue | None = None
    operation: AlterOperation = AlterOperation.SET


Changes = Mapping[str, ConfigValue | None] | Iterable[ConfigChange]
"""Values by name, None to go back to the default; or changes in full."""
