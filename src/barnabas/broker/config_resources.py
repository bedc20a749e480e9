"""The things that have configuration in the protocol, and what a change of them must satisfy."""

import enum
from collections.abc import Mapping

from barnabas.broker.handler import RequestContext
from barnabas.broker.listener_keys import broker_key
from barnabas.broker.topics import check_topic_configs
from barnabas.model.address_limits import closed_to_all
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError
from barnabas.model.topic_names import topic_name_problem
from barnabas.zk.paths import DEFAULT_ENTITY


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


def entity_of(ctx: RequestContext, kind: ResourceType, name: str) -> tuple[str, str]:
    """The resource as the metadata tree names it."""
    if kind is ResourceType.TOPIC:
        return "topics", name
    return "brokers", name or DEFAULT_ENTITY


def check_values(kind: ResourceType, values: Mapping[str, str | None]) -> dict[str, str]:
    """The values as they will be stored; INVALID_CONFIG or INVALID_REQUEST otherwise."""
    if kind is ResourceType.TOPIC:
        return check_topic_configs(values)
    return dict(_check_broker_value(name, value) for name, value in values.items())


def _check_broker_value(name: str, value: str | None) -> tuple[str, str]:
    try:
        key = broker_key(name)
    except ConfigError as error:
        raise BrokerError(ErrorCode.INVALID_CONFIG, str(error)) from None
    if not key.dynamic:
        text = f"{name} cannot be changed while the broker runs"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    if value is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{name} needs a value")
    try:
        key.parse(value)
    except ConfigError as error:
        # Of a topic this would be INVALID_CONFIG; Kafka's brokers tell them apart.
        raise BrokerError(ErrorCode.INVALID_REQUEST, str(error)) from None
    return key.name, value


def check_together(ctx: RequestContext, kind: ResourceType, values: Mapping[str, str]) -> None:
    """Refuse values of a broker that nobody could connect to any more."""
    if kind is not ResourceType.BROKER or "max.connections.per.ip" not in values:
        return
    name = "max.connections.per.ip.overrides"
    overrides = values[name] if name in values else ctx.services.layers.broker_value(name)
    problem = closed_to_all(int(values["max.connections.per.ip"]), overrides)
    if problem is not None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, problem)
