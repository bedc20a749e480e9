"""ListConfigResources: the names of what can carry configuration (KIP-1142).

v0 client metrics alone, of which there are none here; v1 types of resources.
"""

from barnabas.broker.config_resources import ResourceType
from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_BROKER_LOGGER, _CLIENT_METRICS, _GROUP = 8, 16, 32
_KNOWN = frozenset(
    {int(ResourceType.TOPIC), int(ResourceType.BROKER), _BROKER_LOGGER, _CLIENT_METRICS, _GROUP}
)


def handle_list_config_resources(
    ctx: RequestContext, request: ListConfigResourcesRequest
) -> Result:
    if ctx.version == 0:
        return ListConfigResourcesResponse(config_resources=[])
    wanted = set(request.resource_types) or _KNOWN
    if not wanted <= _KNOWN:
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    metadata = ctx.services.metadata
    found: list[ConfigResource] = []
    if ResourceType.TOPIC in wanted:
        kind = int(ResourceType.TOPIC)
        found += [ConfigResource(name, kind) for name in sorted(metadata.topics())]
    brokers = sorted(broker.broker_id for broker in metadata.brokers())
    for kind in (int(ResourceType.BROKER), _BROKER_LOGGER):
        if kind in wanted:
            found += [ConfigResource(str(broker_id), kind) for broker_id in brokers]
    return ListConfigResourcesResponse(config_resources=found)


HANDLER = Handler(ApiKey.LIST_CONFIG_RESOURCES, (0, 1), handle_list_config_resources)
