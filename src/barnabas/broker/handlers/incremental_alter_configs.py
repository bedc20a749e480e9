"""IncrementalAlterConfigs: sets, deletes, appends to and subtracts from values (KIP-339).

v1 flexible.
"""

import enum
from typing import Protocol

from barnabas.broker.broker_loggers import check_level, set_level
from barnabas.broker.config_resources import (
    ConfigPorts,
    ResourceType,
    check_changed_once,
    check_resource,
    check_together,
    check_values,
    entity_of,
)
from barnabas.broker.handler import ApiHandler, HandlerContext
from barnabas.broker.topics import Topics
from barnabas.model.config import ConfigType
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.groups import GROUP_RESOURCE_KEYS
from barnabas.model.config_keys.topic import TOPIC_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.zk.tree import TreeError

_TABLES = {ResourceType.TOPIC: TOPIC_KEYS, ResourceType.GROUP: GROUP_RESOURCE_KEYS}


class Ports(ConfigPorts, Protocol):
    """Parts of the broker that this handler uses."""

    topics: Topics


class Operation(enum.IntEnum):
    """Kind of change to one key."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


async def handle_incremental_alter_configs(
    ctx: HandlerContext[Ports], request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    responses = [await _alter(ctx, request, resource) for resource in request.resources]
    return IncrementalAlterConfigsResponse(responses=responses)


async def _alter(
    ctx: HandlerContext[Ports],
    request: IncrementalAlterConfigsRequest,
    resource: AlterConfigsResource,
) -> AlterConfigsResourceResponse:
    name = resource.resource_name
    response = AlterConfigsResourceResponse(0, None, resource.resource_type, name)
    try:
        check_changed_once(request.resources, resource)
        kind = check_resource(ctx, resource.resource_type, name)
        if kind is ResourceType.BROKER_LOGGER:
            _alter_loggers(resource, validate_only=request.validate_only)
            return response
        entity = entity_of(ctx, kind, name)
        values = await ctx.services.topics.read_config(*entity)
        for change in resource.configs:
            _apply(ctx, kind, name, values, change)
        check_together(ctx, kind, values)
        if not request.validate_only:
            await ctx.services.topics.change_config(*entity, values)
    except BrokerError as error:
        response.error_code, response.error_message = error.code, error.message
    except TreeError as error:
        response.error_code, response.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return response


def _alter_loggers(resource: AlterConfigsResource, *, validate_only: bool) -> None:
    """Applies all changes of log levels, or none if one is invalid."""
    levels: dict[str, str | None] = {}
    for change in resource.configs:
        if change.config_operation not in (Operation.SET, Operation.DELETE):
            text = "only SET and DELETE are allowed for the BROKER_LOGGER resource"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        deleted = change.config_operation == Operation.DELETE
        levels[change.name] = None if deleted else change.value or ""
        check_level(change.name, levels[change.name])
    if not validate_only:
        for logger, level in levels.items():
            set_level(logger, level)


def _apply(
    ctx: HandlerContext[Ports],
    kind: ResourceType,
    resource: str,
    values: dict[str, str],
    change: AlterableConfig,
) -> None:
    if change.config_operation == Operation.DELETE:
        values.pop(change.name, None)
        return
    wanted = change.value
    if wanted is None:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{change.name} needs a value")
    if change.config_operation in (Operation.APPEND, Operation.SUBTRACT):
        wanted = _edited_list(ctx, kind, resource, values, change)
    elif change.config_operation != Operation.SET:
        text = f"unknown operation {change.config_operation}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, text)
    values.update(check_values(kind, {change.name: wanted}))


def _edited_list(
    ctx: HandlerContext[Ports],
    kind: ResourceType,
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
    elif kind is ResourceType.TOPIC:
        current = list(layers.topic_value(resource, change.name))
    else:
        current = list(layers.broker_value(change.name) or ())
    given = [item.strip() for item in (change.value or "").split(",") if item.strip()]
    if change.config_operation == Operation.APPEND:
        return ",".join(dict.fromkeys([*current, *given]))
    return ",".join(item for item in current if item not in given)


HANDLER = ApiHandler(ApiKey.INCREMENTAL_ALTER_CONFIGS, (0, 1), handle_incremental_alter_configs)
