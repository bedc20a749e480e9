"""Options of the source and the sink as text, and the client settings among them (`kafka.*`).

As in Spark's own connector, options with the prefix `kafka.` are client settings. The client
receives the settings that it supports. Settings that need a consumer group are checked and ignored,
because a query is not a group member. Settings that would break the query, and unknown ones, are
rejected: a typo in a security setting must not be ignored. Every error names the option and its
text.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.client import ADMIN_KEYS, CLIENT_KEYS, SIMPLE_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.errors import ConfigError

FORMAT = "barnabas"
"""The name of the data source: `format("barnabas")`."""
KAFKA_PREFIX = "kafka."
FETCH_BYTES = 16 * 1024 * 1024
"""16 times a consumer's default, so that the fixed cost of a fetch is small per row."""
SERVERS = "bootstrap.servers"
ISOLATION = "isolation.level"

_REJECTED_IN_SOURCE = {
    "auto.offset.reset": "use startingOffsets",
    "key.deserializer": "keys are always bytes; cast or decode the column",
    "value.deserializer": "values are always bytes; cast or decode the column",
    "enable.auto.commit": "the query's checkpoint holds its position",
    "interceptor.classes": "interceptors are not supported",
}
_REJECTED_IN_SINK = {
    "key.serializer": "keys are taken as bytes or text",
    "value.serializer": "values are taken as bytes or text",
    "transactional.id": "the sink names its transactions itself",
    "enable.idempotence": "the sink is always idempotent",
    "interceptor.classes": "interceptors are not supported",
}


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How queries reach a cluster: the one place that adds the prefix `kafka.` to settings.

    Args:
        client: Client settings by Kafka's names, `bootstrap.servers` among them.
        read_options: Options of the source for every read, such as `maxOffsetsPerTrigger`.

    Example:
        >>> options = {"kafka.client.id": "a", "minPartitions": "2"}
        >>> cluster = ClusterSettings.of("localhost:9092", options)
        >>> cluster.client["client.id"], cluster.read_options
        ('a', {'minPartitions': '2'})
    """

    client: Mapping[str, str]
    read_options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, servers: str, options: Mapping[str, str] | None = None) -> "ClusterSettings":
        """Returns the settings from options as users write them for the source: `kafka.*` and
        others.
        """
        given = options or {}
        client = _client_part(given)
        rest = {name: t for name, t in given.items() if not name.lower().startswith(KAFKA_PREFIX)}
        return cls({SERVERS: servers, **client}, rest)

    def options(self) -> dict[str, str]:
        """Returns the client settings as options of the source or the sink."""
        return {KAFKA_PREFIX + name: str(text) for name, text in self.client.items()}

    def source_options(self) -> dict[str, str]:
        """Returns options for a read; the default isolation level is read_committed."""
        return {KAFKA_PREFIX + ISOLATION: "read_committed", **self.options(), **self.read_options}

    def sink_options(self) -> dict[str, str]:
        """Returns options for a write, without the isolation level, which a producer does not
        have."""
        options = self.options()
        options.pop(KAFKA_PREFIX + ISOLATION, None)
        return options

    def producer(self) -> dict[str, str]:
        """Returns checked settings for a producer; ConfigError names an invalid one."""
        return producer_settings(self.sink_options())

    def admin(self) -> dict[str, str]:
        """Returns settings for an Admin."""
        return admin_settings(self.producer())


def consumer_settings(options: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Returns settings for a SimpleConsumer, and the number of bytes per fetch."""
    given = _kafka_options(options, _REJECTED_IN_SOURCE)
    settings: dict[str, str] = {}
    for name, text in given.items():
        if name in SIMPLE_KEYS:
            settings[name] = text
        else:
            CONSUMER_KEYS.key(name).parse(text)
    fetch_bytes = CONSUMER_KEYS["max.partition.fetch.bytes"].parse(
        given.get("max.partition.fetch.bytes", FETCH_BYTES)
    )
    SIMPLE_KEYS.parse(settings)
    return settings, max(int(fetch_bytes), 1)


def producer_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Returns checked settings for a Producer."""
    settings = _kafka_options(options, _REJECTED_IN_SINK)
    PRODUCER_KEYS.parse(settings)
    return settings


def admin_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the part of a client's settings that an Admin accepts too."""
    return {name: text for name, text in settings.items() if name in ADMIN_KEYS}


def connection_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Returns the part of any client's settings that is needed to connect to the cluster."""
    shared = ConfigTable(CLIENT_KEYS)
    return {name: text for name, text in settings.items() if name in shared}


def _kafka_options(options: Mapping[str, str], rejected: Mapping[str, str]) -> dict[str, str]:
    given = _client_part(options)
    for name in given:
        if name in rejected:
            raise ConfigError(f"option {KAFKA_PREFIX + name!r} is rejected: {rejected[name]}")
    if SERVERS not in given:
        raise ConfigError(f"option {KAFKA_PREFIX + SERVERS!r} is missing")
    return given


def _client_part(options: Mapping[str, str]) -> dict[str, str]:
    """Returns the client settings among options, without the prefix."""
    return {
        name.lower().removeprefix(KAFKA_PREFIX): text
        for name, text in options.items()
        if name.lower().startswith(KAFKA_PREFIX)
    }


_TIME = re.compile(r"\s*(\d+)\s*([a-z]*)\s*")
_UNIT_MS = {
    "": 1.0,
    "us": 0.001,
    "ms": 1.0,
    "s": 1000.0,
    "m": 60_000.0,
    "min": 60_000.0,
    "h": 3_600_000.0,
    "d": 86_400_000.0,
}


SPARK_TABLE_PROPERTIES = (
    "provider",
    "owner",
    "comment",
    "collation",
    "location",
    "path",
    "external",
    "is_managed_location",
)
"""Properties that Spark adds to a table's options; `path` also to those of a read or a write."""


class OptionTexts:
    """Options by Spark's spelling; names are compared without regard to case."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = {name.lower(): (name, text) for name, text in given.items()}

    def text(self, name: str) -> str | None:
        found = self._given.get(name.lower())
        return None if found is None else found[1]

    def has(self, name: str) -> bool:
        return name.lower() in self._given

    def names(self) -> list[str]:
        """Returns the names in the user's spelling, if Spark has kept it."""
        return [name for name, _ in self._given.values()]

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text is None:
            return default
        if text.strip().lower() not in ("true", "false"):
            raise ConfigError(f"{name}={text!r}: must be true or false")
        return text.strip().lower() == "true"

    def number(self, name: str, default: int, least: int = 0) -> int:
        found = self.maybe_number(name, least)
        return default if found is None else found

    def maybe_number(self, name: str, least: int = 0) -> int | None:
        text = self.text(name)
        if text is None:
            return None
        try:
            value = int(text)
        except ValueError:
            raise ConfigError(f"{name}={text!r}: must be a whole number") from None
        if value < least:
            raise ConfigError(f"{name}={text!r}: must be at least {least}")
        return value

    def duration_ms(self, name: str, default: int) -> int:
        """Returns a time in Spark's syntax (`15m`, `100ms`, or milliseconds without a unit)."""
        text = self.text(name)
        if text is None:
            return default
        found = _TIME.fullmatch(text.lower())
        if found is None or found[2] not in _UNIT_MS:
            raise ConfigError(f"{name}={text!r}: must be a time such as 15m, 10s or 500ms")
        return int(int(found[1]) * _UNIT_MS[found[2]])

    def word(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        text = self.text(name)
        if text is None:
            return default
        if text.strip().lower() not in allowed:
            raise ConfigError(f"{name}={text!r}: must be one of: {', '.join(allowed)}")
        return text.strip().lower()


def check_names(texts: OptionTexts, known: tuple[str, ...]) -> None:
    """Raises ConfigError for an unknown option; `kafka.*` options are checked elsewhere."""
    spelled = {name.lower(): name for name in known}
    for name in texts.names():
        lower = name.lower()
        if lower in spelled or lower.startswith(KAFKA_PREFIX):
            continue
        close = difflib.get_close_matches(lower, spelled, n=1, cutoff=0.7)
        hint = f"; did you mean {spelled[close[0]]!r}?" if close else ""
        raise ConfigError(f"unknown option {name!r}{hint}")
