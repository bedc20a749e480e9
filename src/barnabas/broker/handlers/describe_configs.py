"""DescribeConfigs: returns configuration values with their sources.

v1 synonyms; v3 types and documentation; v4 flexible.
"""

from barnabas.broker.broker_loggers import describe_loggers
from barnabas.broker.config_layers import ConfigEntry
from barnabas.broker.config_resources import ConfigPorts, ResourceType, check_resource
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def handle_describe_configs(
    ctx: HandlerContext[ConfigPorts], request: DescribeConfigsRequest
) -> Result:
    results = [_describe(ctx, request, resource) for resource in request.resources]
    return DescribeConfigsResponse(results=results)


def _describe(
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


def _entries(ctx: HandlerContext[ConfigPorts], kind: ResourceType, name: str) -> list[ConfigEntry]:
    layers = ctx.services.layers
    if kind is ResourceType.TOPIC:
        return layers.describe_topic(name)
    if kind is ResourceType.GROUP:
        return layers.describe_group(name)
    if kind is ResourceType.BROKER_LOGGER:
        return describe_loggers()
    return layers.describe_broker() if name else layers.describe_default()


def _entry(entry: ConfigEntry, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
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


HANDLER = ApiHandler(ApiKey.DESCRIBE_CONFIGS, (1, 4), handle_describe_configs)
