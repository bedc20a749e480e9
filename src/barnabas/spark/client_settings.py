"""`kafka.*` options to client settings, as Spark's own connector passes them through.

The client receives the settings that it supports. Settings that need a consumer group are checked
and ignored, because a query is not a group member. Settings that would break the query, and unknown
ones, are rejected: a typo in a security setting must not be ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.admin import ADMIN_KEYS
from barnabas.model.config_keys.client import CLIENT_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.config_keys.simple import SIMPLE_KEYS
from barnabas.model.errors import ConfigError

KAFKA_PREFIX = "kafka."
FETCH_BYTES = 16 * 1024 * 1024
"""16 times a consumer's default, so that the fixed cost of a fetch is small beside its rows."""
SERVERS = "bootstrap.servers"
ISOLATION = "isolation.level"

_REFUSED_IN_SOURCE = {
    "auto.offset.reset": "use startingOffsets",
    "key.deserializer": "keys are always bytes; cast or decode the column",
    "value.deserializer": "values are always bytes; cast or decode the column",
    "enable.auto.commit": "the query's checkpoint holds its position",
    "interceptor.classes": "interceptors are not supported",
}
_REFUSED_IN_SINK = {
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
        """From options as users write them for the source: `kafka.*` and others."""
        given = options or {}
        client = _client_part(given)
        rest = {name: t for name, t in given.items() if not name.lower().startswith(KAFKA_PREFIX)}
        return cls({SERVERS: servers, **client}, rest)

    def options(self) -> dict[str, str]:
        """The client settings as options of the source or the sink."""
        return {KAFKA_PREFIX + name: str(text) for name, text in self.client.items()}

    def source_options(self) -> dict[str, str]:
        """Options for a read of committed records, unless the settings have another isolation."""
        return {KAFKA_PREFIX + ISOLATION: "read_committed", **self.options(), **self.read_options}

    def sink_options(self) -> dict[str, str]:
        """Options for a write; a producer has no isolation level."""
        options = self.options()
        options.pop(KAFKA_PREFIX + ISOLATION, None)
        return options

    def producer(self) -> dict[str, str]:
        """Checked settings for a producer; ConfigError names what is wrong."""
        return producer_settings(self.sink_options())

    def admin(self) -> dict[str, str]:
        """Settings for an Admin."""
        return admin_settings(self.producer())


def consumer_settings(options: Mapping[str, str]) -> tuple[dict[str, str], int]:
    """Settings for a SimpleConsumer, and the bytes to fetch at a time."""
    given = _kafka_options(options, _REFUSED_IN_SOURCE)
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
    """Settings for a Producer."""
    settings = _kafka_options(options, _REFUSED_IN_SINK)
    PRODUCER_KEYS.parse(settings)
    return settings


def admin_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The part of a client's settings that an Admin takes too."""
    return {name: text for name, text in settings.items() if name in ADMIN_KEYS}


def connection_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The part of any client's settings that says how to reach the cluster."""
    shared = ConfigTable(CLIENT_KEYS)
    return {name: text for name, text in settings.items() if name in shared}


def _kafka_options(options: Mapping[str, str], refused: Mapping[str, str]) -> dict[str, str]:
    given = _client_part(options)
    for name in given:
        if name in refused:
            raise ConfigError(f"option {KAFKA_PREFIX + name!r} is refused: {refused[name]}")
    if SERVERS not in given:
        raise ConfigError(f"option {KAFKA_PREFIX + SERVERS!r} is needed")
    return given


def _client_part(options: Mapping[str, str]) -> dict[str, str]:
    """The client settings among options, without the prefix."""
    return {
        name.lower().removeprefix(KAFKA_PREFIX): text
        for name, text in options.items()
        if name.lower().startswith(KAFKA_PREFIX)
    }
