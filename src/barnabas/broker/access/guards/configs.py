"""Guards of requests about configuration: the right depends on the kind of resource."""

from typing import Any

from barnabas.broker.access.access import Access
from barnabas.broker.access.guards.guard import Guard, Serve
from barnabas.broker.handler import RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation
from barnabas.wire.messages.alter_configs import AlterConfigsResourceResponse
from barnabas.wire.messages.describe_configs import DescribeConfigsResult
from barnabas.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementalResponse,
)

_TOPIC, _GROUP = 2, 32


def _refusal(access: Access, operation: Operation, resource: Any) -> ErrorCode | None:
    kind, name = resource.resource_type, resource.resource_name
    if kind == _TOPIC:
        allowed, code = access.topic(operation, name), ErrorCode.TOPIC_AUTHORIZATION_FAILED
    elif kind == _GROUP:
        allowed, code = access.group(operation, name), ErrorCode.GROUP_AUTHORIZATION_FAILED
    else:
        allowed, code = access.cluster(operation), ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return None if allowed else code


def _resource_by_resource(operation: Operation, result_type: Any, answered: str) -> Guard:
    def guard(access: Access, ctx: RequestContext, request: Any, serve: Serve) -> Result:
        judged = [(item, _refusal(access, operation, item)) for item in request.resources]
        request.resources = [item for item, code in judged if code is None]

        def amend(response: Any) -> Any:
            getattr(response, answered).extend(
                result_type(code, code.explanation, item.resource_type, item.resource_name)
                for item, code in judged
                if code is not None
            )
            return response

        ctx.amend_with(amend)
        return serve(ctx, request)

    return guard


guard_describe_configs = _resource_by_resource(
    Operation.DESCRIBE_CONFIGS, DescribeConfigsResult, "results"
)
guard_alter_configs = _resource_by_resource(
    Operation.ALTER_CONFIGS, AlterConfigsResourceResponse, "responses"
)
guard_incremental_alter_configs = _resource_by_resource(
    Operation.ALTER_CONFIGS, IncrementalResponse, "responses"
)
