"""AlterReplicaLogDirs: the result of each replica."""

from types import SimpleNamespace

from barnabas.broker.handlers.log_dirs import (
    handle_alter_replica_log_dirs,
    respond_per_replica,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)


def request(*moves):
    return AlterReplicaLogDirsRequest(
        [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(*topic)]) for path, *topic in moves]
    )


def results(response):
    return {
        item.topic_name: [(part.partition_index, part.error_code) for part in item.partitions]
        for item in response.results
    }


def test_the_later_of_two_directories_counts():
    asked = []

    def answer(topic_partition, path):
        asked.append((topic_partition, path))
        return ErrorCode.NONE

    response = respond_per_replica(
        request(("/a", "t", [0, 1, 1]), ("/b", "u", [0]), ("/c", "t", [0])), answer
    )
    assert asked == [
        (TopicPartition("t", 0), "/c"),
        (TopicPartition("t", 1), "/a"),
        (TopicPartition("u", 0), "/b"),
    ]
    assert results(response) == {"t": [(0, 0), (1, 0)], "u": [(0, 0)]}


def test_replicas_that_are_not_here():
    def not_here(topic_partition, path):
        raise BrokerError(ErrorCode.REPLICA_NOT_AVAILABLE)

    known = {TopicPartition("t", 0): "elsewhere"}
    services = SimpleNamespace(
        logs=SimpleNamespace(moves=SimpleNamespace(request=not_here)),
        log_mover=SimpleNamespace(wake=lambda: None),
        metadata=SimpleNamespace(partition=known.get),
    )
    ctx = SimpleNamespace(services=services)
    response = handle_alter_replica_log_dirs(ctx, request(("/a", "t", [0, 1])))
    assert results(response) == {
        "t": [(0, ErrorCode.REPLICA_NOT_AVAILABLE), (1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    }
