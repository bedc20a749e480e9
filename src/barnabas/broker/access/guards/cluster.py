"""Guards of what only brokers and administrators ask: rights on the cluster."""

from barnabas.broker.access.access import Access
from barnabas.broker.access.guards.guard import Guard, Serve, needs_cluster
from barnabas.broker.access.guards.topic_admin import cluster_operations
from barnabas.broker.handler import RequestContext, Result
from barnabas.broker.handlers.alter_replica_log_dirs import answer_each
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation
from barnabas.wire.message import Message
from barnabas.wire.messages import alter_client_quotas as quotas
from barnabas.wire.messages import alter_user_scram_credentials as scram
from barnabas.wire.messages import create_acls as creating
from barnabas.wire.messages import delete_acls as deleting
from barnabas.wire.messages.alter_partition import AlterPartitionResponse
from barnabas.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
)
from barnabas.wire.messages.alter_replica_log_dirs import AlterReplicaLogDirsRequest
from barnabas.wire.messages.controlled_shutdown import ControlledShutdownResponse
from barnabas.wire.messages.describe_acls import DescribeAclsResponse
from barnabas.wire.messages.describe_client_quotas import DescribeClientQuotasResponse
from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from barnabas.wire.messages.describe_log_dirs import DescribeLogDirsResponse
from barnabas.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsResponse,
)
from barnabas.wire.messages.elect_leaders import ElectLeadersResponse
from barnabas.wire.messages.leader_and_isr import LeaderAndIsrResponse
from barnabas.wire.messages.list_config_resources import ListConfigResourcesResponse
from barnabas.wire.messages.list_partition_reassignments import ListPartitionReassignmentsResponse
from barnabas.wire.messages.stop_replica import StopReplicaResponse
from barnabas.wire.messages.update_metadata import UpdateMetadataResponse

_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
_TEXT = _DENIED.explanation


def _cluster_or(response_type: type, *operations: Operation, text: bool = False) -> Guard:
    """For responses with an error code of their own."""
    fields = {"error_code": _DENIED, "error_message": _TEXT} if text else {"error_code": _DENIED}
    return needs_cluster(lambda _ctx, _request: response_type(**fields), *operations)


def _no_moves(_: RequestContext, request: AlterReplicaLogDirsRequest) -> Message:
    return answer_each(request, lambda _place, _path: _DENIED)


guard_leader_and_isr = _cluster_or(LeaderAndIsrResponse, Operation.CLUSTER_ACTION)
guard_stop_replica = _cluster_or(StopReplicaResponse, Operation.CLUSTER_ACTION)
guard_update_metadata = _cluster_or(UpdateMetadataResponse, Operation.CLUSTER_ACTION)
guard_controlled_shutdown = _cluster_or(ControlledShutdownResponse, Operation.CLUSTER_ACTION)
guard_alter_partition = _cluster_or(AlterPartitionResponse, Operation.CLUSTER_ACTION)
guard_elect_leaders = _cluster_or(ElectLeadersResponse, Operation.ALTER)
guard_alter_reassignments = _cluster_or(
    AlterPartitionReassignmentsResponse, Operation.ALTER, text=True
)
guard_list_reassignments = _cluster_or(
    ListPartitionReassignmentsResponse, Operation.DESCRIBE, text=True
)
guard_alter_log_dirs = needs_cluster(_no_moves, Operation.ALTER)
guard_describe_log_dirs = _cluster_or(DescribeLogDirsResponse, Operation.DESCRIBE)
guard_describe_acls = _cluster_or(DescribeAclsResponse, Operation.DESCRIBE, text=True)
guard_describe_client_quotas = _cluster_or(
    DescribeClientQuotasResponse, Operation.DESCRIBE_CONFIGS, text=True
)
guard_describe_scram = _cluster_or(
    DescribeUserScramCredentialsResponse, Operation.DESCRIBE, text=True
)
guard_list_config_resources = _cluster_or(ListConfigResourcesResponse, Operation.DESCRIBE_CONFIGS)


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


guard_create_acls = needs_cluster(_no_creation, Operation.ALTER)
guard_delete_acls = needs_cluster(_no_deletion, Operation.ALTER)
guard_alter_client_quotas = needs_cluster(_no_quotas, Operation.ALTER_CONFIGS)
guard_alter_scram = needs_cluster(_no_scram, Operation.ALTER)


def guard_describe_cluster(
    access: Access, ctx: RequestContext, request: DescribeClusterRequest, serve: Serve
) -> Result:
    """Whoever may connect may know the brokers; what one may do is told to those who ask."""

    def amend(response: DescribeClusterResponse) -> DescribeClusterResponse:
        response.cluster_authorized_operations = cluster_operations(access)
        return response

    if request.include_cluster_authorized_operations:
        ctx.amend_with(amend)
    return serve(ctx, request)
