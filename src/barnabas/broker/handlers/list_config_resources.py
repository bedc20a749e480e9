"""ListConfigResources: returns the names of resources with configuration (KIP-1142).

v0 only client metrics, which this broker does not have; v1 resource types.
"""

from barnabas.broker.config_resources import ConfigPorts, ResourceType
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_KNOWN = frozenset(int(kind) for kind in ResourceType)


def handle_list_config_resources(
    ctx: HandlerContext[ConfigPorts], request: ListConfigResourcesRequest
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
    if ResourceType.GROUP in wanted:
        kind = int(ResourceType.GROUP)
        found += [ConfigResource(name, kind) for name in ctx.services.layers.groups()]
    for kind in (int(ResourceType.BROKER), int(ResourceType.BROKER_LOGGER)):
        if kind in wanted:
            found += [ConfigResource(str(broker_id), kind) for broker_id in brokers]
    return ListConfigResourcesResponse(config_resources=found)


HANDLER = ApiHandler(ApiKey.LIST_CONFIG_RESOURCES, (0, 1), handle_list_config_resources)
