"""Resources with configuration in the protocol, and the checks of changes to them.

A resource of type BROKER_LOGGER is the log levels of the running broker (KIP-412). The names are
those of Python's loggers, the levels are Kafka's. Levels are not stored: a restart resets them.
"""

import enum
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from barnabas.broker.config import any_broker_key
from barnabas.broker.config_layers import ConfigLayers, ConfigOrigin, ConfigValue
from barnabas.broker.handler import HandlerContext, RequestPorts
from barnabas.broker.topics import check_compaction_lags, check_topic_configs
from barnabas.model.config import ConfigKey, ConfigType, ConfigValues, closed_to_all
from barnabas.model.config_keys.coordinators import GROUP_RESOURCE_KEYS
from barnabas.model.config_keys.metrics import ClientMetricsSubscription
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.ids import topic_name_problem
from barnabas.runtime.reporters import SETTING as REPORTERS
from barnabas.runtime.reporters import check_reporters
from barnabas.zk.paths import DEFAULT_ENTITY

_THREAD_COUNTS = frozenset(
    {
        "background.threads",
        "log.cleaner.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
    }
)
_GROUP_BOUNDS = {
    "consumer.session.timeout.ms": (
        "group.consumer.min.session.timeout.ms",
        "group.consumer.max.session.timeout.ms",
    ),
    "consumer.heartbeat.interval.ms": (
        "group.consumer.min.heartbeat.interval.ms",
        "group.consumer.max.heartbeat.interval.ms",
    ),
}
ROOT_LOGGER = "root"
_LOG_LEVELS = {
    "TRACE": 5,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}


class ConfigPorts(RequestPorts, Protocol):
    """Parts of the broker that checks of configuration changes use."""

    layers: ConfigLayers

    def check_certificates(self, changed: Mapping[str, str], /) -> None:
        """Raises ConfigError if TLS listeners could not use these dynamic values."""
        ...


class AlteredConfig(Protocol):
    """One key of a change."""

    name: str


class AlteredResource(Protocol):
    """Changed resource of AlterConfigs or IncrementalAlterConfigs."""

    resource_type: int
    resource_name: str

    @property
    def configs(self) -> Sequence[AlteredConfig]: ...


class ConfigurableResource(enum.IntEnum):
    """Types of resources with configuration, with the protocol's numbers."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


def check_resource(ctx: HandlerContext[ConfigPorts], kind: int, name: str) -> ConfigurableResource:
    """Returns the resource type; raises BrokerError if this broker has no such resource."""
    if kind == ConfigurableResource.TOPIC:
        problem = topic_name_problem(name)
        if problem is not None:
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        if not ctx.services.metadata.has_topic(name):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {name} does not exist")
        return ConfigurableResource.TOPIC
    if kind == ConfigurableResource.GROUP:
        if not name:
            text = "Default group resources are not allowed."
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        return ConfigurableResource.GROUP
    if kind == ConfigurableResource.CLIENT_METRICS:
        if not name:
            text = "Client metrics config resource name must not be empty."
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        return ConfigurableResource.CLIENT_METRICS
    if kind in (ConfigurableResource.BROKER, ConfigurableResource.BROKER_LOGGER):
        allowed = {str(ctx.services.broker_id), "" if kind == ConfigurableResource.BROKER else None}
        if name not in allowed:
            text = f"this is broker {ctx.services.broker_id}, the request is about {name!r}"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        return ConfigurableResource(kind)
    text = f"resource type {kind} is not supported"
    raise BrokerError(ErrorCode.INVALID_REQUEST, text)


ResourceCounts = Counter[tuple[int, str]]
"""How often a request names each resource, by type and name."""


def count_resources(resources: Iterable[AlteredResource]) -> ResourceCounts:
    return Counter((item.resource_type, item.resource_name) for item in resources)


def check_changed_once(counts: ResourceCounts, resource: AlteredResource) -> None:
    """Rejects a request with a repeated resource or key, because its meaning is ambiguous."""
    if counts[resource.resource_type, resource.resource_name] > 1:
        text = f"resource {resource.resource_name!r} is changed twice"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    if len({item.name for item in resource.configs}) != len(resource.configs):
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a key is changed twice")
    if resource.resource_type == ConfigurableResource.TOPIC and not resource.resource_name:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "the topic name is empty")


def entity_of(
    ctx: HandlerContext[ConfigPorts], kind: ConfigurableResource, name: str
) -> tuple[str, str]:
    """Returns entity type and name of the resource in the metadata tree."""
    if kind is ConfigurableResource.TOPIC:
        return "topics", name
    if kind is ConfigurableResource.GROUP:
        return "groups", name
    if kind is ConfigurableResource.CLIENT_METRICS:
        return "client-metrics", name
    return "brokers", name or DEFAULT_ENTITY


def check_values(kind: ConfigurableResource, values: Mapping[str, str | None]) -> dict[str, str]:
    """Returns the values in their stored form; raises INVALID_CONFIG or INVALID_REQUEST."""
    missing = next((name for name, value in values.items() if value is None), None)
    if missing is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{missing} needs a value")
    if kind is ConfigurableResource.TOPIC:
        return check_topic_configs(values)
    if kind is ConfigurableResource.GROUP:
        return dict(_check_group_value(name, value or "") for name, value in values.items())
    if kind is ConfigurableResource.CLIENT_METRICS:
        return _check_client_metrics({name: value or "" for name, value in values.items()})
    return dict(_check_broker_value(name, value or "") for name, value in values.items())


def _check_broker_value(name: str, value: str) -> tuple[str, str]:
    key = any_broker_key(name)
    known = key.type is not ConfigType.UNKNOWN
    if known and not key.dynamic:
        text = f"{name} cannot be changed while the broker runs"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    try:
        if known:
            parsed = key.parse(value)
            if key.name == REPORTERS:
                check_reporters(parsed)
    except ConfigError as error:
        # As in Kafka; the same error in a topic value is INVALID_CONFIG.
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from None
    return key.name, value


def _check_group_value(name: str, value: str) -> tuple[str, str]:
    if name not in GROUP_RESOURCE_KEYS:
        text = f"Unknown group config name: {name}"
        if name.startswith(("share.", "streams.")):
            text += ": share and streams groups are not supported"
        raise BrokerError(ErrorCode.INVALID_CONFIG, text)
    try:
        GROUP_RESOURCE_KEYS[name].parse(value)
    except ConfigError as error:
        raise BrokerError(ErrorCode.INVALID_CONFIG, str(error)) from None
    return name, value


def _check_client_metrics(values: dict[str, str]) -> dict[str, str]:
    try:
        ClientMetricsSubscription.parse(values)
    except ConfigError as error:
        raise BrokerError(ErrorCode.INVALID_CONFIG, str(error)) from None
    return values


def _check_group_bounds(config: ConfigValues, values: Mapping[str, str]) -> None:
    """Checks the broker's limits, and that session timeouts exceed heartbeat intervals."""
    effective = {}
    for key in GROUP_RESOURCE_KEYS:
        name = key.name
        if name not in values:
            effective[name] = config[f"group.{name}"]
            continue
        found = effective[name] = key.parse(values[name])
        least, most = _GROUP_BOUNDS[name]
        for bound, broken, words in (
            (least, found < config[least], "greater"),
            (most, found > config[most], "less"),
        ):
            if broken:
                text = f"{name} must be {words} than or equal to {bound}={config[bound]}"
                raise BrokerError(ErrorCode.INVALID_CONFIG, text)
    session, heartbeat = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
    if effective[session] <= effective[heartbeat]:
        text = f"{session} must be greater than {heartbeat}"
        raise BrokerError(ErrorCode.INVALID_CONFIG, text)


def _check_thread_counts(ctx: HandlerContext[ConfigPorts], values: Mapping[str, str]) -> None:
    """Allows to double or halve a thread pool at most, as in Kafka."""
    for name in _THREAD_COUNTS & values.keys():
        wanted, current = int(values[name]), int(ctx.services.layers.broker_value(name))
        if wanted > current * 2 or wanted * 2 < current:
            text = f"{name}={wanted} must be between half and double the current value {current}"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)


def check_together(
    ctx: HandlerContext[ConfigPorts], kind: ConfigurableResource, values: Mapping[str, str]
) -> None:
    """Rejects contradicting values of a topic, and broker values that prevent all connections."""
    if kind is ConfigurableResource.TOPIC:
        check_compaction_lags(values)
        return
    if kind is ConfigurableResource.GROUP:
        _check_group_bounds(ctx.services.config.values, values)
        return
    if kind is ConfigurableResource.CLIENT_METRICS:
        return
    _check_thread_counts(ctx, values)
    try:
        ctx.services.check_certificates(values)
    except ConfigError as error:
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from None
    if "max.connections.per.ip" not in values:
        return
    name = "max.connections.per.ip.overrides"
    overrides = values[name] if name in values else ctx.services.layers.broker_value(name)
    problem = closed_to_all(int(values["max.connections.per.ip"]), overrides)
    if problem is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, problem)


# --- Log levels -----------------------------------------------------------------------------------


def describe_loggers() -> list[ConfigValue]:
    """Returns every logger of this process with its effective level."""
    names = [ROOT_LOGGER, *sorted(logging.root.manager.loggerDict)]
    return [
        _logger_entry(name, _level_name(_logger_named(name).getEffectiveLevel())) for name in names
    ]


def check_level(name: str, level: str | None) -> None:
    """Raises BrokerError if logger or level does not exist; None removes the level."""
    if name != ROOT_LOGGER and name not in logging.root.manager.loggerDict:
        raise BrokerError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
    if level is None and name == ROOT_LOGGER:
        text = "Removing the log level of the root logger is not allowed"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    if level is not None and level.upper() not in _LOG_LEVELS:
        known = ", ".join(sorted(_LOG_LEVELS))
        text = (
            f"Cannot set the log level of {name} to {level} as it is not a supported log level. "
            f"Valid log levels are {known}"
        )
        raise BrokerError(ErrorCode.INVALID_CONFIG, text)


def set_level(name: str, level: str | None) -> None:
    """Applies a checked level."""
    _logger_named(name).setLevel(logging.NOTSET if level is None else _LOG_LEVELS[level.upper()])


def _logger_named(name: str) -> logging.Logger:
    return logging.getLogger() if name == ROOT_LOGGER else logging.getLogger(name)


def _level_name(level: int) -> str:
    return max((number, name) for name, number in _LOG_LEVELS.items() if number <= max(level, 5))[1]


def _logger_entry(name: str, level: str) -> ConfigValue:
    key = ConfigKey(name, ConfigType.STRING, None, "Log level.")
    return ConfigValue(key, level, ConfigOrigin.BROKER_LOGGER, False, ())
