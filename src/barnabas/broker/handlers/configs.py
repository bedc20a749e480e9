"""Handlers of the configuration APIs: describe, alter, incremental alter, list resources."""

import asyncio
import enum
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from barnabas.broker.config_layers import ConfigValue
from barnabas.broker.config_resources import (
    AlteredResource,
    ConfigPorts,
    ConfigurableResource,
    ResourceCounts,
    check_changed_once,
    check_level,
    check_resource,
    check_together,
    check_values,
    count_resources,
    describe_loggers,
    entity_of,
    set_level,
)
from barnabas.broker.error_responses import code_and_message
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.broker.topics import Topics
from barnabas.model.config import ConfigType
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.coordinators import GROUP_RESOURCE_KEYS
from barnabas.model.config_keys.metrics import CLIENT_METRICS_KEYS
from barnabas.model.config_keys.topic import TOPIC_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from barnabas.wire.messages.alter_configs import AlterConfigsResource as ReplacedResource
from barnabas.wire.messages.alter_configs import (
    AlterConfigsResourceResponse as ReplacedResourceResponse,
)
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from barnabas.zk.tree import TreeError

_ResourceT = TypeVar("_ResourceT", bound=AlteredResource)
_ResponseT = TypeVar("_ResponseT")


class AlterConfigPorts(ConfigPorts, Protocol):
    """Parts of the broker that AlterConfigs and IncrementalAlterConfigs use."""

    topics: Topics


# --- DescribeConfigs ------------------------------------------------------------------------------


def handle_describe_configs(
    ctx: HandlerContext[ConfigPorts], request: DescribeConfigsRequest
) -> Result:
    """Returns configuration values with their sources.

    v1 synonyms; v3 types and documentation; v4 flexible.
    """
    results = [_describe_resource(ctx, request, resource) for resource in request.resources]
    return DescribeConfigsResponse(results=results)


def _describe_resource(
    ctx: HandlerContext[ConfigPorts],
    request: DescribeConfigsRequest,
    resource: DescribeConfigsResource,
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        0, None, resource.resource_type, resource.resource_name, configs=[]
    )
    try:
        kind = check_resource(ctx, resource.resource_type, resource.resource_name)
    except BrokerError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    wanted = resource.configuration_keys
    result.configs = [
        _entry(entry, request)
        for entry in _entries(ctx, kind, resource.resource_name)
        if not wanted or entry.key.name in wanted
    ]
    return result


def _entries(
    ctx: HandlerContext[ConfigPorts], kind: ConfigurableResource, name: str
) -> list[ConfigValue]:
    layers = ctx.services.layers
    if kind is ConfigurableResource.TOPIC:
        return layers.describe_topic(name)
    if kind is ConfigurableResource.GROUP:
        return layers.describe_group(name)
    if kind is ConfigurableResource.CLIENT_METRICS:
        return layers.describe_client_metrics(name)
    if kind is ConfigurableResource.BROKER_LOGGER:
        return describe_loggers()
    return layers.describe_broker() if name else layers.describe_default()


def _entry(entry: ConfigValue, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    key = entry.key
    synonyms = []
    if request.include_synonyms:
        synonyms = [DescribeConfigsSynonym(s.name, s.value, s.source) for s in entry.synonyms]
    documentation = f"{key.doc} {key.note}".strip() if request.include_documentation else None
    return DescribeConfigsResourceResult(
        name=key.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=key.sensitive,
        synonyms=synonyms,
        config_type=key.type.value,
        documentation=documentation,
    )


# --- AlterConfigs ---------------------------------------------------------------------------------


async def handle_alter_configs(
    ctx: HandlerContext[AlterConfigPorts], request: AlterConfigsRequest
) -> AlterConfigsResponse:
    """Replaces all settings of a resource. IncrementalAlterConfigs supersedes it.

    v2 flexible.
    """
    return AlterConfigsResponse(
        responses=await _for_each_resource(
            request.resources, partial(_replace_values, ctx, request)
        )
    )


async def _replace_values(
    ctx: HandlerContext[AlterConfigPorts],
    request: AlterConfigsRequest,
    resource: ReplacedResource,
    counts: ResourceCounts,
) -> ReplacedResourceResponse:
    kind, name = resource.resource_type, resource.resource_name
    response = ReplacedResourceResponse(0, None, kind, name)
    try:
        check_changed_once(counts, resource)
        checked_kind = check_resource(ctx, kind, name)
        if checked_kind is ConfigurableResource.BROKER_LOGGER:
            text = "use IncrementalAlterConfigs to change log levels"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        values = check_values(checked_kind, {item.name: item.value for item in resource.configs})
        check_together(ctx, checked_kind, values)
        if not request.validate_only:
            entity = entity_of(ctx, checked_kind, name)
            await ctx.services.topics.change_config(*entity, values)
    except (BrokerError, TreeError) as error:
        response.error_code, response.error_message = code_and_message(error)
    return response


async def _for_each_resource(
    resources: Sequence[_ResourceT],
    change: Callable[[_ResourceT, ResourceCounts], Awaitable[_ResponseT]],
) -> list[_ResponseT]:
    """Changes the resources one after the other and returns their responses."""
    counts = count_resources(resources)
    responses = []
    for resource in resources:
        responses.append(await change(resource, counts))
        await asyncio.sleep(0)  # lets the loop serve other requests
    return responses


# --- IncrementalAlterConfigs ----------------------------------------------------------------------


_TABLES = {
    ConfigurableResource.TOPIC: TOPIC_KEYS,
    ConfigurableResource.GROUP: GROUP_RESOURCE_KEYS,
    ConfigurableResource.CLIENT_METRICS: CLIENT_METRICS_KEYS,
}


class ConfigOperation(enum.IntEnum):
    """Kind of change to one key."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


async def handle_incremental_alter_configs(
    ctx: HandlerContext[AlterConfigPorts], request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    """Sets, deletes, appends to and subtracts from values (KIP-339).

    v1 flexible.
    """
    return IncrementalAlterConfigsResponse(
        responses=await _for_each_resource(request.resources, partial(_change_values, ctx, request))
    )


async def _change_values(
    ctx: HandlerContext[AlterConfigPorts],
    request: IncrementalAlterConfigsRequest,
    resource: AlterConfigsResource,
    counts: ResourceCounts,
) -> AlterConfigsResourceResponse:
    name = resource.resource_name
    response = AlterConfigsResourceResponse(0, None, resource.resource_type, name)
    try:
        check_changed_once(counts, resource)
        kind = check_resource(ctx, resource.resource_type, name)
        if kind is ConfigurableResource.BROKER_LOGGER:
            _alter_loggers(resource, validate_only=request.validate_only)
            return response
        entity = entity_of(ctx, kind, name)
        values = await ctx.services.topics.read_config(*entity)
        for change in resource.configs:
            _apply_change(ctx, kind, name, values, change)
        check_together(ctx, kind, values)
        if not request.validate_only:
            await ctx.services.topics.change_config(*entity, values)
    except (BrokerError, TreeError) as error:
        response.error_code, response.error_message = code_and_message(error)
    return response


def _alter_loggers(resource: AlterConfigsResource, *, validate_only: bool) -> None:
    """Applies all changes of log levels, or none if one is invalid."""
    levels: dict[str, str | None] = {}
    for change in resource.configs:
        if change.config_operation not in (ConfigOperation.SET, ConfigOperation.DELETE):
            text = "only SET and DELETE are allowed for the BROKER_LOGGER resource"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        deleted = change.config_operation == ConfigOperation.DELETE
        levels[change.name] = None if deleted else change.value or ""
        check_level(change.name, levels[change.name])
    if not validate_only:
        for logger, level in levels.items():
            set_level(logger, level)


def _apply_change(
    ctx: HandlerContext[AlterConfigPorts],
    kind: ConfigurableResource,
    resource: str,
    values: dict[str, str],
    change: AlterableConfig,
) -> None:
    if change.config_operation == ConfigOperation.DELETE:
        values.pop(change.name, None)
        return
    wanted = change.value
    if wanted is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{change.name} needs a value")
    if change.config_operation in (ConfigOperation.APPEND, ConfigOperation.SUBTRACT):
        wanted = _edited_list(ctx, kind, resource, values, change)
    elif change.config_operation != ConfigOperation.SET:
        text = f"unknown operation {change.config_operation}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    values.update(check_values(kind, {change.name: wanted}))


def _edited_list(
    ctx: HandlerContext[AlterConfigPorts],
    kind: ConfigurableResource,
    resource: str,
    values: dict[str, str],
    change: AlterableConfig,
) -> str:
    """Returns the current list with items added or removed."""
    table = _TABLES.get(kind, BROKER_KEYS)
    if change.name not in table or table[change.name].type is not ConfigType.LIST:
        text = f"{change.name} is not a list: APPEND and SUBTRACT are not allowed"
        raise BrokerError(ErrorCode.INVALID_CONFIG, text)
    layers = ctx.services.layers
    if change.name in values:
        current = [item.strip() for item in values[change.name].split(",") if item.strip()]
    elif kind is ConfigurableResource.TOPIC:
        current = list(layers.topic_value(resource, change.name))
    elif kind is ConfigurableResource.CLIENT_METRICS:
        current = []
    else:
        current = list(layers.broker_value(change.name) or ())
    given = [item.strip() for item in (change.value or "").split(",") if item.strip()]
    if change.config_operation == ConfigOperation.APPEND:
        return ",".join(dict.fromkeys([*current, *given]))
    return ",".join(item for item in current if item not in given)


# --- ListConfigResources --------------------------------------------------------------------------


_RESOURCE_TYPES = frozenset(int(kind) for kind in ConfigurableResource)


def handle_list_config_resources(
    ctx: HandlerContext[ConfigPorts], request: ListConfigResourcesRequest
) -> Result:
    """Returns the names of resources with configuration (KIP-1142).

    v0 only client metrics; v1 resource types.
    """
    subscribed = int(ConfigurableResource.CLIENT_METRICS)
    wanted = {subscribed} if ctx.version == 0 else set(request.resource_types) or _RESOURCE_TYPES
    if not wanted <= _RESOURCE_TYPES:
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    metadata = ctx.services.metadata
    found: list[ConfigResource] = []
    if ConfigurableResource.TOPIC in wanted:
        kind = int(ConfigurableResource.TOPIC)
        found += [ConfigResource(name, kind) for name in sorted(metadata.topics())]
    brokers = sorted(broker.broker_id for broker in metadata.brokers())
    if ConfigurableResource.GROUP in wanted:
        kind = int(ConfigurableResource.GROUP)
        found += [ConfigResource(name, kind) for name in ctx.services.layers.groups()]
    for kind in (int(ConfigurableResource.BROKER), int(ConfigurableResource.BROKER_LOGGER)):
        if kind in wanted:
            found += [ConfigResource(str(broker_id), kind) for broker_id in brokers]
    if subscribed in wanted:
        names = sorted(ctx.services.layers.subscriptions)
        found += [ConfigResource(name, subscribed) for name in names]
    return ListConfigResourcesResponse(config_resources=found)


HANDLERS = (
    ApiHandler(ApiKey.DESCRIBE_CONFIGS, (1, 4), handle_describe_configs),
    ApiHandler(ApiKey.ALTER_CONFIGS, (0, 2), handle_alter_configs),
    ApiHandler(ApiKey.INCREMENTAL_ALTER_CONFIGS, (0, 1), handle_incremental_alter_configs),
    ApiHandler(ApiKey.LIST_CONFIG_RESOURCES, (0, 1), handle_list_config_resources),
)
