"""AlterConfigs: replaces all settings of a resource. IncrementalAlterConfigs supersedes it.

v2 flexible.
"""

from typing import Protocol

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
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from barnabas.zk.tree import TreeError


class Ports(ConfigPorts, Protocol):
    """Parts of the broker that this handler uses."""

    topics: Topics


async def handle_alter_configs(
    ctx: HandlerContext[Ports], request: AlterConfigsRequest
) -> AlterConfigsResponse:
    responses = [await _alter(ctx, request, resource) for resource in request.resources]
    return AlterConfigsResponse(responses=responses)


async def _alter(
    ctx: HandlerContext[Ports], request: AlterConfigsRequest, resource: AlterConfigsResource
) -> AlterConfigsResourceResponse:
    kind, name = resource.resource_type, resource.resource_name
    response = AlterConfigsResourceResponse(0, None, kind, name)
    try:
        check_changed_once(request.resources, resource)
        checked_kind = check_resource(ctx, kind, name)
        if checked_kind is ResourceType.BROKER_LOGGER:
            text = "use IncrementalAlterConfigs to change log levels"
            raise BrokerError(ErrorCode.INVALID_REQUEST, text)
        values = check_values(checked_kind, {item.name: item.value for item in resource.configs})
        check_together(ctx, checked_kind, values)
        if not request.validate_only:
            entity = entity_of(ctx, checked_kind, name)
            await ctx.services.topics.change_config(*entity, values)
    except BrokerError as error:
        response.error_code, response.error_message = error.code, error.message
    except TreeError as error:
        response.error_code, response.error_message = ErrorCode.REQUEST_TIMED_OUT, str(error)
    return response


HANDLER = ApiHandler(ApiKey.ALTER_CONFIGS, (0, 2), handle_alter_configs)
