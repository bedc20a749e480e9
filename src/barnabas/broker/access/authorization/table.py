"""The authorization rule of every API, and the handlers behind their rules."""

from collections.abc import Iterable

from barnabas.broker.access.access import Access, AuthorizationRule, Authorizers, no_authorization
from barnabas.broker.access.authorization import (
    cluster,
    groups,
    topics,
    transactions,
)
from barnabas.broker.handler import Handle, Handler, RequestContext, Result
from barnabas.model.errors import LocalError
from barnabas.net.server_connection import ServerConnection
from barnabas.wire.api_keys import ApiKey

RULES: dict[ApiKey, AuthorizationRule] = {
    ApiKey.PRODUCE: topics.authorize_produce,
    # Fetch authorizes the partitions of its session at every read.
    ApiKey.FETCH: no_authorization,
    ApiKey.LIST_OFFSETS: topics.authorize_list_offsets,
    ApiKey.METADATA: topics.authorize_metadata,
    ApiKey.LEADER_AND_ISR: cluster.authorize_leader_and_isr,
    ApiKey.STOP_REPLICA: cluster.authorize_stop_replica,
    ApiKey.UPDATE_METADATA: cluster.authorize_update_metadata,
    ApiKey.CONTROLLED_SHUTDOWN: cluster.authorize_controlled_shutdown,
    ApiKey.OFFSET_COMMIT: groups.authorize_offset_commit,
    ApiKey.OFFSET_FETCH: groups.authorize_offset_fetch,
    ApiKey.FIND_COORDINATOR: groups.authorize_find_coordinator,
    ApiKey.JOIN_GROUP: groups.authorize_join_group,
    ApiKey.HEARTBEAT: groups.authorize_heartbeat,
    ApiKey.LEAVE_GROUP: groups.authorize_leave_group,
    ApiKey.SYNC_GROUP: groups.authorize_sync_group,
    ApiKey.DESCRIBE_GROUPS: groups.authorize_describe_groups,
    ApiKey.LIST_GROUPS: groups.authorize_list_groups,
    ApiKey.SASL_HANDSHAKE: no_authorization,
    ApiKey.API_VERSIONS: no_authorization,
    ApiKey.CREATE_TOPICS: topics.authorize_create_topics,
    ApiKey.DELETE_TOPICS: topics.authorize_delete_topics,
    ApiKey.DELETE_RECORDS: topics.authorize_delete_records,
    ApiKey.INIT_PRODUCER_ID: transactions.authorize_init_producer_id,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: topics.authorize_offset_for_leader_epoch,
    ApiKey.ADD_PARTITIONS_TO_TXN: transactions.authorize_add_partitions_to_txn,
    ApiKey.ADD_OFFSETS_TO_TXN: transactions.authorize_add_offsets_to_txn,
    ApiKey.END_TXN: transactions.authorize_end_txn,
    ApiKey.WRITE_TXN_MARKERS: transactions.authorize_write_txn_markers,
    ApiKey.TXN_OFFSET_COMMIT: groups.authorize_txn_offset_commit,
    ApiKey.DESCRIBE_ACLS: cluster.authorize_describe_acls,
    ApiKey.CREATE_ACLS: cluster.authorize_create_acls,
    ApiKey.DELETE_ACLS: cluster.authorize_delete_acls,
    ApiKey.DESCRIBE_CONFIGS: cluster.authorize_describe_configs,
    ApiKey.ALTER_CONFIGS: cluster.authorize_alter_configs,
    ApiKey.ALTER_REPLICA_LOG_DIRS: cluster.authorize_alter_log_dirs,
    ApiKey.DESCRIBE_LOG_DIRS: cluster.authorize_describe_log_dirs,
    ApiKey.SASL_AUTHENTICATE: no_authorization,
    ApiKey.CREATE_DELEGATION_TOKEN: cluster.authorize_create_delegation_token,
    # The handlers allow these to owner, requester and renewers of the token.
    ApiKey.RENEW_DELEGATION_TOKEN: no_authorization,
    ApiKey.EXPIRE_DELEGATION_TOKEN: no_authorization,
    ApiKey.DESCRIBE_DELEGATION_TOKEN: cluster.authorize_describe_delegation_token,
    ApiKey.CREATE_PARTITIONS: topics.authorize_create_partitions,
    ApiKey.DELETE_GROUPS: groups.authorize_delete_groups,
    ApiKey.ELECT_LEADERS: cluster.authorize_elect_leaders,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: cluster.authorize_incremental_alter_configs,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: cluster.authorize_alter_reassignments,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: cluster.authorize_list_reassignments,
    ApiKey.OFFSET_DELETE: groups.authorize_offset_delete,
    ApiKey.DESCRIBE_CLIENT_QUOTAS: cluster.authorize_describe_client_quotas,
    ApiKey.ALTER_CLIENT_QUOTAS: cluster.authorize_alter_client_quotas,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: cluster.authorize_describe_scram,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: cluster.authorize_alter_scram,
    ApiKey.ALTER_PARTITION: cluster.authorize_alter_partition,
    ApiKey.DESCRIBE_CLUSTER: cluster.authorize_describe_cluster,
    ApiKey.DESCRIBE_PRODUCERS: topics.authorize_describe_producers,
    ApiKey.DESCRIBE_TRANSACTIONS: transactions.authorize_describe_transactions,
    ApiKey.LIST_TRANSACTIONS: transactions.authorize_list_transactions,
    ApiKey.CONSUMER_GROUP_HEARTBEAT: groups.authorize_consumer_group_heartbeat,
    ApiKey.CONSUMER_GROUP_DESCRIBE: groups.authorize_consumer_group_describe,
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: no_authorization,
    ApiKey.PUSH_TELEMETRY: no_authorization,
    ApiKey.LIST_CONFIG_RESOURCES: cluster.authorize_list_config_resources,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: topics.authorize_describe_topic_partitions,
}


def authorized(handlers: Iterable[Handler], authorizers: Authorizers) -> list[Handler]:
    """Returns the handlers behind their rules; raises LocalError for an API without a rule."""
    found = []

    def allows_all(connection: ServerConnection) -> bool:
        return authorizers.of(connection.listener_name) is None

    for handler in handlers:
        rule = RULES.get(handler.api)
        if rule is None:
            raise LocalError(f"{handler.api.name} has no authorization rule")
        found.append(handler.wrapped(_behind(rule, handler, authorizers), allows_all))
    return found


def _behind(rule: AuthorizationRule, handler: Handler, authorizers: Authorizers) -> Handle:
    serve = handler.handle

    def handle(ctx: RequestContext, request: object) -> Result:
        authorizer = authorizers.of(ctx.connection.listener_name)
        if authorizer is None:
            return serve(ctx, request)
        return rule(Access.of(authorizer, ctx), ctx, request, serve)

    return handle
