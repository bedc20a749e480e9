"""One row per API: a request that uses one resource, the rights, and the response without them. A
new API needs a new row here, or the test of the guards fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.security.acl import CLUSTER, Operation, Resource, ResourceType
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages import (
    add_offsets_to_txn,
    add_partitions_to_txn,
    alter_client_quotas,
    alter_configs,
    alter_partition,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    alter_user_scram_credentials,
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    controlled_shutdown,
    create_acls,
    create_delegation_token,
    create_partitions,
    create_topics,
    delete_acls,
    delete_groups,
    delete_records,
    delete_topics,
    describe_acls,
    describe_client_quotas,
    describe_cluster,
    describe_configs,
    describe_delegation_token,
    describe_groups,
    describe_log_dirs,
    describe_producers,
    describe_topic_partitions,
    describe_transactions,
    describe_user_scram_credentials,
    elect_leaders,
    end_txn,
    expire_delegation_token,
    fetch,
    find_coordinator,
    get_telemetry_subscriptions,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leader_and_isr,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    list_transactions,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    push_telemetry,
    renew_delegation_token,
    sasl_authenticate,
    sasl_handshake,
    stop_replica,
    sync_group,
    txn_offset_commit,
    update_metadata,
    write_txn_markers,
)

TOPIC = Resource(ResourceType.TOPIC, "secret")
GROUP = Resource(ResourceType.GROUP, "team")
TXN = Resource(ResourceType.TRANSACTIONAL_ID, "txn")
TOPIC_ID = Uuid(b"\x07" * 16)

NO_TOPIC = ErrorCode.TOPIC_AUTHORIZATION_FAILED
NO_GROUP = ErrorCode.GROUP_AUTHORIZATION_FAILED
NO_TXN = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
NO_CLUSTER = ErrorCode.CLUSTER_AUTHORIZATION_FAILED

_O = Operation
Right = tuple[Operation, Resource]


@dataclass(frozen=True, slots=True)
class Row:
    """`needs` maps each right that is needed to the code without it. Empty: no right is needed."""

    make: Callable[[int], Any]
    needs: Mapping[Right, ErrorCode] = field(default_factory=dict)
    versions: tuple[int, int] = (0, 99)
    silent_until: int = -1
    """Up to this version the response has no place for a code: it is empty."""
    answer: Callable[[Any], Any] | None = None
    """The response of the handler, if errors are added to parts of it."""


def _of(operation: Operation, resource: Resource, code: ErrorCode) -> dict[Right, ErrorCode]:
    return {(operation, resource): code}


def _cluster(operation: Operation) -> dict[Right, ErrorCode]:
    return _of(operation, CLUSTER, NO_CLUSTER)


def _produce(version: int) -> Any:
    data = [produce.PartitionProduceData(0, memoryview(b"batch"))]
    name = "" if version >= 13 else TOPIC.name
    topic_data = [produce.TopicProduceData(name, TOPIC_ID, data)]
    return produce.ProduceRequest(
        acks=1, timeout_ms=1, transactional_id=TXN.name, topic_data=topic_data
    )


def _list_offsets(version: int) -> Any:
    topic = list_offsets.ListOffsetsTopic(TOPIC.name, [list_offsets.ListOffsetsPartition(0)])
    return list_offsets.ListOffsetsRequest(topics=[topic])


def _metadata(version: int) -> Any:
    topic = metadata.MetadataRequestTopic(name=TOPIC.name)
    if version >= 12:
        topic = metadata.MetadataRequestTopic(TOPIC_ID, None)
    return metadata.MetadataRequest(topics=[topic])


def _offset_commit(version: int) -> Any:
    topic = offset_commit.OffsetCommitRequestTopic(
        TOPIC.name, TOPIC_ID, [offset_commit.OffsetCommitRequestPartition(0)]
    )
    return offset_commit.OffsetCommitRequest(group_id=GROUP.name, topics=[topic])


def _offset_fetch(version: int) -> Any:
    topics = [offset_fetch.OffsetFetchRequestTopic(TOPIC.name, [0])]
    grouped = [offset_fetch.OffsetFetchRequestTopics(TOPIC.name, TOPIC_ID, [0])]
    return offset_fetch.OffsetFetchRequest(
        group_id=GROUP.name,
        topics=topics,
        groups=[offset_fetch.OffsetFetchRequestGroup(GROUP.name, topics=grouped)],
    )


def _offsets_of_groups(request: Any) -> Any:
    groups = [offset_fetch.OffsetFetchResponseGroup(item.group_id, []) for item in request.groups]
    return offset_fetch.OffsetFetchResponse(groups=groups)


def _txn_offset_commit(version: int) -> Any:
    topic = txn_offset_commit.TxnOffsetCommitRequestTopic(
        TOPIC.name, [txn_offset_commit.TxnOffsetCommitRequestPartition(0)]
    )
    return txn_offset_commit.TxnOffsetCommitRequest(TXN.name, GROUP.name, topics=[topic])


def _delete_topics(version: int) -> Any:
    return delete_topics.DeleteTopicsRequest(
        topics=[delete_topics.DeleteTopicState(TOPIC.name)], topic_names=[TOPIC.name]
    )


def _add_partitions(version: int) -> Any:
    topics = [add_partitions_to_txn.AddPartitionsToTxnTopic(TOPIC.name, [0])]
    return add_partitions_to_txn.AddPartitionsToTxnRequest(
        transactions=[],
        v3_and_below_transactional_id=TXN.name,
        v3_and_below_topics=topics,
    )


def _markers(version: int) -> Any:
    topics = [write_txn_markers.WritableTxnMarkerTopic(TOPIC.name, [0])]
    marker = write_txn_markers.WritableTxnMarker(1, 0, True, topics)
    return write_txn_markers.WriteTxnMarkersRequest([marker])


def _describe_configs(version: int) -> Any:
    resource = describe_configs.DescribeConfigsResource(2, TOPIC.name, None)
    return describe_configs.DescribeConfigsRequest([resource])


def _group_heartbeat(version: int) -> Any:
    return consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        group_id=GROUP.name, subscribed_topic_names=[TOPIC.name]
    )


def _offset_delete(version: int) -> Any:
    topic = offset_delete.OffsetDeleteRequestTopic(
        TOPIC.name, [offset_delete.OffsetDeleteRequestPartition(0)]
    )
    return offset_delete.OffsetDeleteRequest(GROUP.name, [topic])


def _epochs(version: int) -> Any:
    topic = offset_for_leader_epoch.OffsetForLeaderTopic(
        TOPIC.name, [offset_for_leader_epoch.OffsetForLeaderPartition(0)]
    )
    return offset_for_leader_epoch.OffsetForLeaderEpochRequest(topics=[topic])


def _delete_records(version: int) -> Any:
    topic = delete_records.DeleteRecordsTopic(
        TOPIC.name, [delete_records.DeleteRecordsPartition(0, 1)]
    )
    return delete_records.DeleteRecordsRequest([topic])


def _find(kind: int, key: str) -> Callable[[int], Any]:
    return lambda version: find_coordinator.FindCoordinatorRequest(
        key=key, key_type=kind, coordinator_keys=[key]
    )


def _scram(version: int) -> Any:
    deletion = alter_user_scram_credentials.ScramCredentialDeletion("u", 1)
    return alter_user_scram_credentials.AlterUserScramCredentialsRequest([deletion], [])


def _quota(version: int) -> Any:
    entity = [alter_client_quotas.EntityData("user", "u")]
    entry = alter_client_quotas.EntryData(entity, [])
    return alter_client_quotas.AlterClientQuotasRequest([entry])


def _plain(make: Callable[[], Any]) -> Callable[[int], Any]:
    return lambda version: make()


ROWS: dict[ApiKey, list[Row]] = {
    ApiKey.PRODUCE: [
        Row(_produce, {(_O.WRITE, TXN): NO_TXN, (_O.WRITE, TOPIC): NO_TOPIC}),
    ],
    ApiKey.FETCH: [Row(_plain(fetch.FetchRequest))],  # judged by its reads
    ApiKey.LIST_OFFSETS: [Row(_list_offsets, _of(_O.DESCRIBE, TOPIC, NO_TOPIC))],
    ApiKey.METADATA: [Row(_metadata, _of(_O.DESCRIBE, TOPIC, NO_TOPIC))],
    ApiKey.LEADER_AND_ISR: [
        Row(_plain(leader_and_isr.LeaderAndIsrRequest), _cluster(_O.CLUSTER_ACTION))
    ],
    ApiKey.STOP_REPLICA: [
        Row(_plain(stop_replica.StopReplicaRequest), _cluster(_O.CLUSTER_ACTION))
    ],
    ApiKey.UPDATE_METADATA: [
        Row(_plain(update_metadata.UpdateMetadataRequest), _cluster(_O.CLUSTER_ACTION))
    ],
    ApiKey.CONTROLLED_SHUTDOWN: [
        Row(_plain(controlled_shutdown.ControlledShutdownRequest), _cluster(_O.CLUSTER_ACTION))
    ],
    ApiKey.OFFSET_COMMIT: [
        Row(_offset_commit, {(_O.READ, GROUP): NO_GROUP, (_O.READ, TOPIC): NO_TOPIC})
    ],
    ApiKey.OFFSET_FETCH: [
        Row(
            _offset_fetch,
            {(_O.DESCRIBE, GROUP): NO_GROUP, (_O.DESCRIBE, TOPIC): NO_TOPIC},
            answer=_offsets_of_groups,
        )
    ],
    ApiKey.FIND_COORDINATOR: [
        Row(_find(0, GROUP.name), _of(_O.DESCRIBE, GROUP, NO_GROUP)),
        Row(_find(1, TXN.name), _of(_O.DESCRIBE, TXN, NO_TXN)),
    ],
    ApiKey.JOIN_GROUP: [
        Row(
            _plain(lambda: join_group.JoinGroupRequest(group_id=GROUP.name)),
            _of(_O.READ, GROUP, NO_GROUP),
        )
    ],
    ApiKey.HEARTBEAT: [
        Row(
            _plain(lambda: heartbeat.HeartbeatRequest(group_id=GROUP.name)),
            _of(_O.READ, GROUP, NO_GROUP),
        )
    ],
    ApiKey.LEAVE_GROUP: [
        Row(
            _plain(lambda: leave_group.LeaveGroupRequest(group_id=GROUP.name)),
            _of(_O.READ, GROUP, NO_GROUP),
        )
    ],
    ApiKey.SYNC_GROUP: [
        Row(
            _plain(lambda: sync_group.SyncGroupRequest(group_id=GROUP.name)),
            _of(_O.READ, GROUP, NO_GROUP),
        )
    ],
    ApiKey.DESCRIBE_GROUPS: [
        Row(
            _plain(lambda: describe_groups.DescribeGroupsRequest(groups=[GROUP.name])),
            _of(_O.DESCRIBE, GROUP, NO_GROUP),
        )
    ],
    ApiKey.LIST_GROUPS: [Row(_plain(list_groups.ListGroupsRequest))],  # filtered
    ApiKey.SASL_HANDSHAKE: [Row(_plain(sasl_handshake.SaslHandshakeRequest))],
    ApiKey.API_VERSIONS: [Row(_plain(api_versions.ApiVersionsRequest))],
    ApiKey.CREATE_TOPICS: [
        Row(
            _plain(
                lambda: create_topics.CreateTopicsRequest(
                    [create_topics.CreatableTopic(TOPIC.name, 1, 1)]
                )
            ),
            _of(_O.CREATE, TOPIC, NO_TOPIC),
        )
    ],
    ApiKey.DELETE_TOPICS: [Row(_delete_topics, _of(_O.DELETE, TOPIC, NO_TOPIC))],
    ApiKey.DELETE_RECORDS: [Row(_delete_records, _of(_O.DELETE, TOPIC, NO_TOPIC))],
    ApiKey.INIT_PRODUCER_ID: [
        Row(
            _plain(lambda: init_producer_id.InitProducerIdRequest(TXN.name)),
            _of(_O.WRITE, TXN, NO_TXN),
        ),
        Row(
            _plain(lambda: init_producer_id.InitProducerIdRequest(None)),
            _cluster(_O.IDEMPOTENT_WRITE),
        ),
        Row(
            _plain(lambda: init_producer_id.InitProducerIdRequest(None)),
            _of(_O.WRITE, TOPIC, NO_CLUSTER),
        ),
    ],
    ApiKey.OFFSET_FOR_LEADER_EPOCH: [
        Row(_epochs, _of(_O.DESCRIBE, TOPIC, NO_TOPIC)),
        Row(_epochs, _of(_O.CLUSTER_ACTION, CLUSTER, NO_TOPIC)),
    ],
    ApiKey.ADD_PARTITIONS_TO_TXN: [
        Row(
            _add_partitions,
            {(_O.WRITE, TXN): NO_TXN, (_O.WRITE, TOPIC): NO_TOPIC},
            versions=(0, 3),
        ),
        Row(_add_partitions, _cluster(_O.CLUSTER_ACTION), versions=(4, 99)),
    ],
    ApiKey.ADD_OFFSETS_TO_TXN: [
        Row(
            _plain(
                lambda: add_offsets_to_txn.AddOffsetsToTxnRequest(TXN.name, group_id=GROUP.name)
            ),
            {(_O.WRITE, TXN): NO_TXN, (_O.READ, GROUP): NO_GROUP},
        )
    ],
    ApiKey.END_TXN: [
        Row(_plain(lambda: end_txn.EndTxnRequest(TXN.name)), _of(_O.WRITE, TXN, NO_TXN))
    ],
    ApiKey.WRITE_TXN_MARKERS: [
        Row(_markers, _cluster(_O.CLUSTER_ACTION)),
        Row(_markers, _cluster(_O.ALTER)),
    ],
    ApiKey.TXN_OFFSET_COMMIT: [
        Row(
            _txn_offset_commit,
            {
                (_O.WRITE, TXN): NO_TXN,
                (_O.READ, GROUP): NO_GROUP,
                (_O.READ, TOPIC): NO_TOPIC,
            },
        )
    ],
    ApiKey.DESCRIBE_ACLS: [Row(_plain(describe_acls.DescribeAclsRequest), _cluster(_O.DESCRIBE))],
    ApiKey.CREATE_ACLS: [
        Row(
            _plain(lambda: create_acls.CreateAclsRequest([create_acls.AclCreation()])),
            _cluster(_O.ALTER),
        )
    ],
    ApiKey.DELETE_ACLS: [
        Row(
            _plain(lambda: delete_acls.DeleteAclsRequest([delete_acls.DeleteAclsFilter()])),
            _cluster(_O.ALTER),
        )
    ],
    ApiKey.DESCRIBE_CONFIGS: [
        Row(_describe_configs, _of(_O.DESCRIBE_CONFIGS, TOPIC, NO_TOPIC)),
        Row(
            _plain(
                lambda: describe_configs.DescribeConfigsRequest(
                    [describe_configs.DescribeConfigsResource(4, "1", None)]
                )
            ),
            _cluster(_O.DESCRIBE_CONFIGS),
        ),
    ],
    ApiKey.ALTER_CONFIGS: [
        Row(
            _plain(
                lambda: alter_configs.AlterConfigsRequest(
                    [alter_configs.AlterConfigsResource(2, TOPIC.name)]
                )
            ),
            _of(_O.ALTER_CONFIGS, TOPIC, NO_TOPIC),
        )
    ],
    ApiKey.ALTER_REPLICA_LOG_DIRS: [
        Row(
            _plain(
                lambda: alter_replica_log_dirs.AlterReplicaLogDirsRequest(
                    [
                        alter_replica_log_dirs.AlterReplicaLogDir(
                            "/d",
                            [alter_replica_log_dirs.AlterReplicaLogDirTopic(TOPIC.name, [0])],
                        )
                    ]
                )
            ),
            _cluster(_O.ALTER),
        )
    ],
    ApiKey.DESCRIBE_LOG_DIRS: [
        Row(
            _plain(describe_log_dirs.DescribeLogDirsRequest),
            _cluster(_O.DESCRIBE),
            silent_until=2,
        )
    ],
    ApiKey.SASL_AUTHENTICATE: [Row(_plain(sasl_authenticate.SaslAuthenticateRequest))],
    ApiKey.CREATE_PARTITIONS: [
        Row(
            _plain(
                lambda: create_partitions.CreatePartitionsRequest(
                    [create_partitions.CreatePartitionsTopic(TOPIC.name, 2, None)]
                )
            ),
            _of(_O.ALTER, TOPIC, NO_TOPIC),
        )
    ],
    ApiKey.DELETE_GROUPS: [
        Row(
            _plain(lambda: delete_groups.DeleteGroupsRequest([GROUP.name])),
            _of(_O.DELETE, GROUP, NO_GROUP),
        )
    ],
    ApiKey.ELECT_LEADERS: [
        Row(_plain(elect_leaders.ElectLeadersRequest), _cluster(_O.ALTER), silent_until=0)
    ],
    ApiKey.INCREMENTAL_ALTER_CONFIGS: [
        Row(
            _plain(
                lambda: incremental_alter_configs.IncrementalAlterConfigsRequest(
                    [incremental_alter_configs.AlterConfigsResource(4, "1")]
                )
            ),
            _cluster(_O.ALTER_CONFIGS),
        )
    ],
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: [
        Row(
            _plain(alter_partition_reassignments.AlterPartitionReassignmentsRequest),
            _cluster(_O.ALTER),
        )
    ],
    ApiKey.LIST_PARTITION_REASSIGNMENTS: [
        Row(
            _plain(list_partition_reassignments.ListPartitionReassignmentsRequest),
            _cluster(_O.DESCRIBE),
        )
    ],
    ApiKey.OFFSET_DELETE: [
        Row(_offset_delete, {(_O.DELETE, GROUP): NO_GROUP, (_O.READ, TOPIC): NO_TOPIC})
    ],
    ApiKey.DESCRIBE_CLIENT_QUOTAS: [
        Row(
            _plain(describe_client_quotas.DescribeClientQuotasRequest),
            _cluster(_O.DESCRIBE_CONFIGS),
        )
    ],
    ApiKey.ALTER_CLIENT_QUOTAS: [Row(_quota, _cluster(_O.ALTER_CONFIGS))],
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: [
        Row(
            _plain(describe_user_scram_credentials.DescribeUserScramCredentialsRequest),
            _cluster(_O.DESCRIBE),
        )
    ],
    ApiKey.CREATE_DELEGATION_TOKEN: [
        Row(_plain(create_delegation_token.CreateDelegationTokenRequest)),  # for the caller
        Row(
            _plain(lambda: create_delegation_token.CreateDelegationTokenRequest("User", "bob")),
            _of(
                _O.CREATE_TOKENS,
                Resource(ResourceType.USER, "User:bob"),
                ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
            ),
            versions=(3, 99),
        ),
    ],
    ApiKey.RENEW_DELEGATION_TOKEN: [
        Row(_plain(renew_delegation_token.RenewDelegationTokenRequest))
    ],
    ApiKey.EXPIRE_DELEGATION_TOKEN: [
        Row(_plain(expire_delegation_token.ExpireDelegationTokenRequest))
    ],
    ApiKey.DESCRIBE_DELEGATION_TOKEN: [  # filtered
        Row(_plain(describe_delegation_token.DescribeDelegationTokenRequest))
    ],
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: [Row(_scram, _cluster(_O.ALTER))],
    ApiKey.ALTER_PARTITION: [
        Row(_plain(alter_partition.AlterPartitionRequest), _cluster(_O.CLUSTER_ACTION))
    ],
    ApiKey.DESCRIBE_CLUSTER: [Row(_plain(describe_cluster.DescribeClusterRequest))],
    ApiKey.DESCRIBE_PRODUCERS: [
        Row(
            _plain(
                lambda: describe_producers.DescribeProducersRequest(
                    [describe_producers.TopicRequest(TOPIC.name, [0])]
                )
            ),
            _of(_O.READ, TOPIC, NO_TOPIC),
        )
    ],
    ApiKey.DESCRIBE_TRANSACTIONS: [
        Row(
            _plain(lambda: describe_transactions.DescribeTransactionsRequest([TXN.name])),
            _of(_O.DESCRIBE, TXN, NO_TXN),
        )
    ],
    ApiKey.LIST_TRANSACTIONS: [Row(_plain(list_transactions.ListTransactionsRequest))],  # filtered
    ApiKey.CONSUMER_GROUP_HEARTBEAT: [
        Row(_group_heartbeat, {(_O.READ, GROUP): NO_GROUP, (_O.DESCRIBE, TOPIC): NO_TOPIC})
    ],
    ApiKey.CONSUMER_GROUP_DESCRIBE: [
        Row(
            _plain(lambda: consumer_group_describe.ConsumerGroupDescribeRequest([GROUP.name])),
            _of(_O.DESCRIBE, GROUP, NO_GROUP),
        )
    ],
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: [
        Row(_plain(get_telemetry_subscriptions.GetTelemetrySubscriptionsRequest))
    ],
    ApiKey.PUSH_TELEMETRY: [Row(_plain(push_telemetry.PushTelemetryRequest))],
    ApiKey.LIST_CONFIG_RESOURCES: [
        Row(_plain(list_config_resources.ListConfigResourcesRequest), _cluster(_O.DESCRIBE_CONFIGS))
    ],
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: [
        Row(
            _plain(
                lambda: describe_topic_partitions.DescribeTopicPartitionsRequest(
                    [describe_topic_partitions.TopicRequest(TOPIC.name)]
                )
            ),
            _of(_O.DESCRIBE, TOPIC, NO_TOPIC),
        )
    ],
}
