"""Authorization of requests of brokers and administrators, which concern the cluster or tokens."""

from typing import Any, Protocol

from barnabas.broker.access.access import Access, AuthorizationRule, needs_cluster
from barnabas.broker.access.authorization.topics import cluster_operations
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.broker.handlers.delegation_tokens import owner_of
from barnabas.broker.handlers.log_dirs import respond_per_replica
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation, Resource, ResourceType
from barnabas.security.principal import Principal
from barnabas.wire.message import Message
from barnabas.wire.messages import alter_client_quotas as quotas
from barnabas.wire.messages import alter_user_scram_credentials as scram
from barnabas.wire.messages import create_acls as creating
from barnabas.wire.messages import delete_acls as deleting
from barnabas.wire.messages.alter_configs import AlterConfigsResourceResponse
from barnabas.wire.messages.alter_partition import AlterPartitionResponse
from barnabas.wire.messages.alter_partition_reassignments import AlterPartitionReassignmentsResponse
from barnabas.wire.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from barnabas.wire.messages.controlled_shutdown import ControlledShutdownResponse
from barnabas.wire.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from barnabas.wire.messages.describe_acls import DescribeAclsResponse
from barnabas.wire.messages.describe_client_quotas import DescribeClientQuotasResponse
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.wire.messages.describe_configs import DescribeConfigsResult
from barnabas.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsResponse
from barnabas.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsResponse,
)
from barnabas.wire.messages.elect_leaders import ElectLeadersResponse
from barnabas.wire.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse as IncrementalResponse,
)
from barnabas.wire.messages.leader_and_isr import LeaderAndIsrResponse
from barnabas.wire.messages.list_config_resources import ListConfigResourcesResponse
from barnabas.wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse
from barnabas.wire.messages.stop_replica import StopReplicaResponse
from barnabas.wire.messages.update_metadata import UpdateMetadataResponse

_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
_TEXT = _DENIED.explanation


def _cluster_or(
    response_type: type, *operations: Operation, text: bool = False
) -> AuthorizationRule:
    """Returns the rule of an API whose response has a top-level error code."""
    fields = {"error_code": _DENIED, "error_message": _TEXT} if text else {"error_code": _DENIED}
    return needs_cluster(lambda _ctx, _request: response_type(**fields), *operations)


def _no_moves(_: RequestContext, request: AlterReplicaLogDirsRequest) -> Message:
    return respond_per_replica(request, lambda _partition, _path: _DENIED)


authorize_leader_and_isr = _cluster_or(LeaderAndIsrResponse, Operation.CLUSTER_ACTION)
authorize_stop_replica = _cluster_or(StopReplicaResponse, Operation.CLUSTER_ACTION)
authorize_update_metadata = _cluster_or(UpdateMetadataResponse, Operation.CLUSTER_ACTION)
authorize_controlled_shutdown = _cluster_or(ControlledShutdownResponse, Operation.CLUSTER_ACTION)
authorize_alter_partition = _cluster_or(AlterPartitionResponse, Operation.CLUSTER_ACTION)
authorize_elect_leaders = _cluster_or(ElectLeadersResponse, Operation.ALTER)
authorize_alter_reassignments = _cluster_or(
    AlterPartitionReassignmentsResponse, Operation.ALTER, text=True
)
authorize_list_reassignments = _cluster_or(
    ListPartitionReassignmentsResponse, Operation.DESCRIBE, text=True
)
authorize_alter_log_dirs = needs_cluster(_no_moves, Operation.ALTER)
authorize_describe_log_dirs = _cluster_or(DescribeLogDirsResponse, Operation.DESCRIBE)
authorize_describe_acls = _cluster_or(DescribeAclsResponse, Operation.DESCRIBE, text=True)
authorize_describe_client_quotas = _cluster_or(
    DescribeClientQuotasResponse, Operation.DESCRIBE_CONFIGS, text=True
)
authorize_describe_scram = _cluster_or(
    DescribeUserScramCredentialsResponse, Operation.DESCRIBE, text=True
)
authorize_list_config_resources = _cluster_or(
    ListConfigResourcesResponse, Operation.DESCRIBE_CONFIGS
)


def _no_creation(_: RequestContext, request: creating.CreateAclsRequest) -> Message:
    return creating.CreateAclsResponse(
        results=[creating.AclCreationResult(_DENIED, _TEXT) for _ in request.creations]
    )


def _no_deletion(_: RequestContext, request: deleting.DeleteAclsRequest) -> Message:
    return deleting.DeleteAclsResponse(
        filter_results=[
            deleting.DeleteAclsFilterResult(_DENIED, _TEXT, []) for _ in request.filters
        ]
    )


def _no_quotas(_: RequestContext, request: quotas.AlterClientQuotasRequest) -> Message:
    return quotas.AlterClientQuotasResponse(
        entries=[quotas.EntryResponse(_DENIED, _TEXT, entry.entity) for entry in request.entries]
    )


def _no_scram(_: RequestContext, request: scram.AlterUserScramCredentialsRequest) -> Message:
    names = [item.name for item in request.deletions]
    names += [item.name for item in request.upsertions]
    return scram.AlterUserScramCredentialsResponse(
        results=[
            scram.AlterUserScramCredentialsResult(name, _DENIED, _TEXT)
            for name in dict.fromkeys(names)
        ]
    )


authorize_create_acls = needs_cluster(_no_creation, Operation.ALTER)
authorize_delete_acls = needs_cluster(_no_deletion, Operation.ALTER)
authorize_alter_client_quotas = needs_cluster(_no_quotas, Operation.ALTER_CONFIGS)
authorize_alter_scram = needs_cluster(_no_scram, Operation.ALTER)


def authorize_describe_cluster(
    access: Access, ctx: RequestContext, request: DescribeClusterRequest, serve: Handle
) -> Result:
    """Every client may see the brokers; the allowed operations are included on request."""

    def amend(response: DescribeClusterResponse) -> DescribeClusterResponse:
        response.cluster_authorized_operations = cluster_operations(access)
        return response

    if request.include_cluster_authorized_operations:
        ctx.amend_with(amend)
    return serve(ctx, request)


# --- delegation tokens ---------------------------------------------------------------------------
#
# Owners, requesters and renewers manage their tokens without an ACL. CREATE_TOKENS on a user allows
# to create tokens for that user, DESCRIBE_TOKENS on a user or DESCRIBE on a token to see tokens.


def authorize_create_delegation_token(
    access: Access, ctx: RequestContext, request: CreateDelegationTokenRequest, serve: Handle
) -> Result:
    owner = owner_of(ctx, request)
    user = Resource(ResourceType.USER, str(owner))
    if owner == ctx.principal or access.may(Operation.CREATE_TOKENS, user):
        return serve(ctx, request)
    return CreateDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)


def authorize_describe_delegation_token(
    access: Access, ctx: RequestContext, request: DescribeDelegationTokenRequest, serve: Handle
) -> Result:
    def amend(response: DescribeDelegationTokenResponse) -> DescribeDelegationTokenResponse:
        response.tokens = [t for t in response.tokens if _may_see(access, ctx.principal, t)]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _may_see(access: Access, principal: Principal, token: DescribedDelegationToken) -> bool:
    owner = Principal(token.principal_type, token.principal_name)
    requester = Principal(
        token.token_requester_principal_type, token.token_requester_principal_name
    )
    renewers = [Principal(each.principal_type, each.principal_name) for each in token.renewers]
    if principal in (owner, requester, *renewers):
        return True
    return access.may(
        Operation.DESCRIBE, Resource(ResourceType.DELEGATION_TOKEN, token.token_id)
    ) or access.may(Operation.DESCRIBE_TOKENS, Resource(ResourceType.USER, str(owner)))


# --- configurations ------------------------------------------------------------------------------


_TOPIC, _GROUP = 2, 32


class _ConfigResource(Protocol):
    """A resource of a request about configurations; each API has its own class for it."""

    resource_type: int
    resource_name: str


def _denied_code(
    access: Access, operation: Operation, resource: _ConfigResource
) -> ErrorCode | None:
    kind, name = resource.resource_type, resource.resource_name
    if kind == _TOPIC:
        allowed, code = access.topic(operation, name), ErrorCode.TOPIC_AUTHORIZATION_FAILED
    elif kind == _GROUP:
        allowed, code = access.group(operation, name), ErrorCode.GROUP_AUTHORIZATION_FAILED
    else:
        allowed, code = access.cluster(operation), ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return None if allowed else code


def _resource_by_resource(
    operation: Operation, result_type: Any, result_list: str
) -> AuthorizationRule:
    def rule(access: Access, ctx: RequestContext, request: Any, serve: Handle) -> Result:
        judged = [(item, _denied_code(access, operation, item)) for item in request.resources]
        request.resources = [item for item, code in judged if code is None]

        def amend(response: Any) -> Any:
            getattr(response, result_list).extend(
                result_type(code, code.explanation, item.resource_type, item.resource_name)
                for item, code in judged
                if code is not None
            )
            return response

        ctx.amend_with(amend)
        return serve(ctx, request)

    return rule


authorize_describe_configs = _resource_by_resource(
    Operation.DESCRIBE_CONFIGS, DescribeConfigsResult, "results"
)
authorize_alter_configs = _resource_by_resource(
    Operation.ALTER_CONFIGS, AlterConfigsResourceResponse, "responses"
)
authorize_incremental_alter_configs = _resource_by_resource(
    Operation.ALTER_CONFIGS, IncrementalResponse, "responses"
)
