"""The things that have configuration in the protocol, and what a change of them must satisfy."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from barnabas.broker.handler import RequestContext
from barnabas.broker.listener_keys import any_broker_key
from barnabas.broker.topics import check_compaction_lags, check_topic_configs
from barnabas.model.address_limits import closed_to_all
from barnabas.model.config import ConfigType
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.topic_names import topic_name_problem
from barnabas.zk.paths import DEFAULT_ENTITY


class AlteredConfig(Protocol):
    """One key of a change."""

    name: str


class AlteredResource(Protocol):
    """What is changed, in either of the two requests."""

    resource_type: int
    resource_name: str

    @property
    def configs(self) -> Sequence[AlteredConfig]: ...


class ResourceType(enum.IntEnum):
    """Kinds of resources with configuration, as the protocol numbers them."""

    TOPIC = 2
    BROKER = 4


def check_resource(ctx: RequestContext, kind: int, name: str) -> ResourceType:
    """The kind of an existing resource; BrokerError for what does not exist or is not ours."""
    if kind == ResourceType.TOPIC:
        problem = topic_name_problem(name)
        if problem is not None:
            raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        if not ctx.services.metadata.has_topic(name):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")
        return ResourceType.TOPIC
    if kind == ResourceType.BROKER:
        if name not in ("", str(ctx.services.broker_id)):
            text = f"this is broker {ctx.services.broker_id}, the request is about {name!r}"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        return ResourceType.BROKER
    text = f"resources of type {kind} have no configuration here"
    raise BrokerError(ErrorCode.INVALID_REQUEST, text)


def check_changed_once(resources: Iterable[AlteredResource], resource: AlteredResource) -> None:
    """Refuse a resource or a key that a request names twice: what it wants would be a guess."""
    asked = (resource.resource_type, resource.resource_name)
    if sum((item.resource_type, item.resource_name) == asked for item in resources) > 1:
        text = f"resource {resource.resource_name!r} is changed twice"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    if len({item.name for item in resource.configs}) != len(resource.configs):
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a key is changed twice")
    if resource.resource_type == ResourceType.TOPIC and not resource.resource_name:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a topic's name is missing")


def entity_of(ctx: RequestContext, kind: ResourceType, name: str) -> tuple[str, str]:
    """The resource as the metadata tree names it."""
    if kind is ResourceType.TOPIC:
        return "topics", name
    return "brokers", name or DEFAULT_ENTITY


def check_values(kind: ResourceType, values: Mapping[str, str | None]) -> dict[str, str]:
    """The values as they will be stored; INVALID_CONFIG or INVALID_REQUEST otherwise."""
    missing = next((name for name, value in values.items() if value is None), None)
    if missing is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{missing} needs a value")
    if kind is ResourceType.TOPIC:
        return check_topic_configs(values)
    return dict(_check_broker_value(name, value or "") for name, value in values.items())


def _check_broker_value(name: str, value: str) -> tuple[str, str]:
    key = any_broker_key(name)
    known = key.type is not ConfigType.UNKNOWN
    if known and not key.dynamic:
        text = f"{name} cannot be changed while the broker runs"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    try:
        if known:
            key.parse(value)
    except ConfigError as error:
        # Of a topic this would be INVALID_CONFIG; Kafka's brokers tell them apart.
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from None
    return key.name, value


def check_together(ctx: RequestContext, kind: ResourceType, values: Mapping[str, str]) -> None:
    """Refuse a topic's values that contradict each other, and those of a broker that nobody could
    connect to any more.
    """
    if kind is ResourceType.TOPIC:
        check_compaction_lags(values)
        return
    if "max.connections.per.ip" not in values:
        return
    name = "max.connections.per.ip.overrides"
    overrides = values[name] if name in values else ctx.services.layers.broker_value(name)
    problem = closed_to_all(int(values["max.connections.per.ip"]), overrides)
    if problem is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, problem)
