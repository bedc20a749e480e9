import pytest

from barnabas.admin import FeatureRange, FeatureUpdate, LogDir, Operation, Replica, UpgradeType
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages import alter_replica_log_dirs as moving
from barnabas.wire.messages import describe_log_dirs as dirs
from barnabas.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from barnabas.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.wire.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)


async def test_the_cluster_by_its_own_request(cluster, admin):
    brokers = [DescribeClusterBroker(2, "h2", 9092, "r"), DescribeClusterBroker(1, "h1", 9092)]
    response = DescribeClusterResponse(
        cluster_id="c",
        controller_id=-1,
        brokers=brokers,
        cluster_authorized_operations=1 << Operation.ALTER.value,
    )
    cluster.on(DescribeClusterRequest, response)
    described = await admin.describe_cluster(include_operations=True)
    assert (described.cluster_id, described.controller) == ("c", None)
    assert [(node.id, node.rack) for node in described.brokers] == [(1, None), (2, "r")]
    assert described.authorized_operations == {Operation.ALTER}


async def test_the_cluster_by_metadata_where_that_is_not_served(cluster, admin):
    described = await admin.describe_cluster()
    assert (described.cluster_id, described.controller) == ("scripted", 1)
    assert [node.id for node in described.brokers] == [1, 2, 3]
    assert described.authorized_operations is None


async def test_versions_and_features(cluster, admin):
    response = ApiVersionsResponse(
        api_keys=[ApiVersion(18, 0, 4), ApiVersion(3, 0, 12), ApiVersion(9999, 0, 1)],
        supported_features=[SupportedFeatureKey("group.version", 0, 1)],
        finalized_features=[FinalizedFeatureKey("group.version", 1, 1)],
        finalized_features_epoch=5,
    )
    cluster.on(ApiVersionsRequest, response)
    versions = await admin.describe_api_versions()
    assert [(each.name, each.max_version) for each in versions] == [
        ("METADATA", 12),
        ("API_VERSIONS", 4),
        ("9999", 1),
    ]
    features = await admin.describe_features(2)
    assert features.supported == {"group.version": FeatureRange(0, 1)}
    assert features.finalized == {"group.version": FeatureRange(1, 1)}
    assert features.finalized_epoch == 5


@pytest.mark.parametrize("told", [True, False])
async def test_features_are_updated_whether_a_success_is_told_or_not(cluster, admin, told):
    results = [UpdatableFeatureResult("a", 0)] if told else []
    cluster.on(UpdateFeaturesRequest, UpdateFeaturesResponse(results=results))
    update = FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE)
    assert (await admin.update_features({"a": update})).check() == {"a": None}
    ((_, request),) = cluster.asked(UpdateFeaturesRequest)
    assert request.feature_updates[0].upgrade_type == 2


async def test_directories_of_all_brokers_or_of_some(cluster, admin):
    def answer(node, request):
        topic = dirs.DescribeLogDirsTopic(
            "t", [dirs.DescribeLogDirsPartition(0, 10 * node, 1, True)]
        )
        failed = dirs.DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, "/bad")
        good = dirs.DescribeLogDirsResult(0, f"/{node}", [topic], 100, 50)
        return dirs.DescribeLogDirsResponse(results=[failed, good])

    cluster.on(dirs.DescribeLogDirsRequest, answer)
    everywhere = await admin.describe_log_dirs()
    assert list(everywhere) == [1, 2, 3]
    bad, good = (await admin.describe_log_dirs([2], partitions=[TopicPartition("t", 0)]))[2]
    assert isinstance(bad, LogDir)
    assert bad.error.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert bad.total_bytes is None
    replica = good.replicas[TopicPartition("t", 0)]
    assert (replica.size_bytes, replica.offset_lag, replica.future) == (20, 1, True)
    assert (good.total_bytes, good.usable_bytes) == (100, 50)
    assert cluster.asked(dirs.DescribeLogDirsRequest)[-1][1].topics[0].partitions == [0]


async def test_replicas_move_between_directories_of_their_brokers(cluster, admin):
    def answer(node, request):
        code = ErrorCode.LOG_DIR_NOT_FOUND if node == 2 else 0
        result = moving.AlterReplicaLogDirTopicResult(
            "t", [moving.AlterReplicaLogDirPartitionResult(0, code)]
        )
        return moving.AlterReplicaLogDirsResponse(results=[result])

    cluster.on(moving.AlterReplicaLogDirsRequest, answer)
    moves = {Replica("t", 0, 1): "/a", Replica("t", 0, 2): "/b"}
    results = await admin.alter_replica_log_dirs(moves)
    assert results.ok == {Replica("t", 0, 1): None}
    assert results.errors[Replica("t", 0, 2)].code is ErrorCode.LOG_DIR_NOT_FOUND
    asked = dict(cluster.asked(moving.AlterReplicaLogDirsRequest))
    assert asked[2].dirs[0].path == "/b"
