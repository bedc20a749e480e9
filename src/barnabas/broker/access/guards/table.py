"""Every API's guard, and putting them before the handlers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from barnabas.broker.access.access import Access
from barnabas.broker.access.guards import (
    cluster,
    configs,
    groups,
    offsets,
    topic_admin,
    topics,
    transactions,
)
from barnabas.broker.access.guards.guard import Guard, anybody
from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.errors import LocalError
from barnabas.security.authorizer import Authorizer
from barnabas.wire.api_keys import ApiKey

GUARDS: dict[ApiKey, Guard] = {
    ApiKey.PRODUCE: topics.guard_produce,
    # The partitions of a fetch session are judged at every read, not only when they are named.
    ApiKey.FETCH: anybody,
    ApiKey.LIST_OFFSETS: topics.guard_list_offsets,
    ApiKey.METADATA: topic_admin.guard_metadata,
    ApiKey.LEADER_AND_ISR: cluster.guard_leader_and_isr,
    ApiKey.STOP_REPLICA: cluster.guard_stop_replica,
    ApiKey.UPDATE_METADATA: cluster.guard_update_metadata,
    ApiKey.CONTROLLED_SHUTDOWN: cluster.guard_controlled_shutdown,
    ApiKey.OFFSET_COMMIT: offsets.guard_offset_commit,
    ApiKey.OFFSET_FETCH: offsets.guard_offset_fetch,
    ApiKey.FIND_COORDINATOR: groups.guard_find_coordinator,
    ApiKey.JOIN_GROUP: groups.guard_join_group,
    ApiKey.HEARTBEAT: groups.guard_heartbeat,
    ApiKey.LEAVE_GROUP: groups.guard_leave_group,
    ApiKey.SYNC_GROUP: groups.guard_sync_group,
    ApiKey.DESCRIBE_GROUPS: groups.guard_describe_groups,
    ApiKey.LIST_GROUPS: groups.guard_list_groups,
    ApiKey.SASL_HANDSHAKE: anybody,
    ApiKey.API_VERSIONS: anybody,
    ApiKey.CREATE_TOPICS: topic_admin.guard_create_topics,
    ApiKey.DELETE_TOPICS: topic_admin.guard_delete_topics,
    ApiKey.DELETE_RECORDS: topics.guard_delete_records,
    ApiKey.INIT_PRODUCER_ID: transactions.guard_init_producer_id,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: topics.guard_offset_for_leader_epoch,
    ApiKey.ADD_PARTITIONS_TO_TXN: transactions.guard_add_partitions_to_txn,
    ApiKey.ADD_OFFSETS_TO_TXN: transactions.guard_add_offsets_to_txn,
    ApiKey.END_TXN: transactions.guard_end_txn,
    ApiKey.WRITE_TXN_MARKERS: transactions.guard_write_txn_markers,
    ApiKey.TXN_OFFSET_COMMIT: offsets.guard_txn_offset_commit,
    ApiKey.DESCRIBE_ACLS: cluster.guard_describe_acls,
    ApiKey.CREATE_ACLS: cluster.guard_create_acls,
    ApiKey.DELETE_ACLS: cluster.guard_delete_acls,
    ApiKey.DESCRIBE_CONFIGS: configs.guard_describe_configs,
    ApiKey.ALTER_CONFIGS: configs.guard_alter_configs,
    ApiKey.ALTER_REPLICA_LOG_DIRS: cluster.guard_alter_log_dirs,
    ApiKey.DESCRIBE_LOG_DIRS: cluster.guard_describe_log_dirs,
    ApiKey.SASL_AUTHENTICATE: anybody,
    ApiKey.CREATE_PARTITIONS: topics.guard_create_partitions,
    ApiKey.DELETE_GROUPS: groups.guard_delete_groups,
    ApiKey.ELECT_LEADERS: cluster.guard_elect_leaders,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: configs.guard_incremental_alter_configs,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: cluster.guard_alter_reassignments,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: cluster.guard_list_reassignments,
    ApiKey.OFFSET_DELETE: groups.guard_offset_delete,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: cluster.guard_describe_client_quotas,
    ApiKey.ALTER_CLIENT_QUOTAS: cluster.guard_alter_client_quotas,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: cluster.guard_describe_scram,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: cluster.guard_alter_scram,
    ApiKey.ALTER_PARTITION: cluster.guard_alter_partition,
    ApiKey.DESCRIBE_CLUSTER: cluster.guard_describe_cluster,
    ApiKey.DESCRIBE_PRODUCERS: topics.guard_describe_producers,
    ApiKey.DESCRIBE_TRANSACTIONS: transactions.guard_describe_transactions,
    ApiKey.LIST_TRANSACTIONS: transactions.guard_list_transactions,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: groups.guard_consumer_group_heartbeat,
    ApiKey.CONSUMER_GROUP_DESCRIBE: groups.guard_consumer_group_describe,
    ApiKey.LIST_CONFIG_RESOURCES: cluster.guard_list_config_resources,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: topic_admin.guard_describe_topic_partitions,
}


def guarded(handlers: Iterable[Handler], authorizer: Authorizer) -> list[Handler]:
    """The handlers behind their guards; LocalError for one that has none."""
    found = []
    for handler in handlers:
        guard = GUARDS.get(handler.api)
        if guard is None:
            raise LocalError(f"{handler.api.name} has no guard")
        found.append(replace(handler, handle=_behind(guard, handler, authorizer)))
    return found


def access_of(authorizer: Authorizer, ctx: RequestContext) -> Access:
    """The rights of a request's sender."""
    return Access(authorizer, ctx.principal, ctx.connection.stream.peer[0])


def _behind(guard: Guard, handler: Handler, authorizer: Authorizer) -> Any:
    serve = handler.handle

    def handle(ctx: RequestContext, request: Any) -> Result:
        return guard(access_of(authorizer, ctx), ctx, request, serve)

    return handle
