"""AlterReplicaLogDirs: moves replicas between the log directories of this broker (KIP-113).

v2 flexible. NONE means that the move has started, or that the replica is already in the directory;
DescribeLogDirs reports the progress. If this broker has no such replica, the error is
REPLICA_NOT_AVAILABLE, or UNKNOWN_TOPIC_OR_PARTITION if the cluster has no such partition. The
broker remembers the directory and uses it if the replica is created later.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.broker.log_mover import LogMover
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.storage.log_manager import LogManager
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    log_mover: LogMover
    logs: LogManager


def handle_alter_replica_log_dirs(
    ctx: HandlerContext[Ports], request: AlterReplicaLogDirsRequest
) -> Result:
    response = answer_each(request, partial(_move, ctx))
    ctx.services.log_mover.wake()
    return response


def answer_each(
    request: AlterReplicaLogDirsRequest, answer: Callable[[TopicPartition, str], ErrorCode]
) -> AlterReplicaLogDirsResponse:
    """Returns the response, with one error code per replica.

    If the request names two directories for one replica, the last one is used.
    """
    wanted: dict[str, dict[int, str]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            places = wanted.setdefault(topic.name, {})
            places.update(dict.fromkeys(topic.partitions, directory.path))

    def results(name: str) -> Iterator[AlterReplicaLogDirPartitionResult]:
        for number, path in wanted[name].items():
            error = answer(TopicPartition(name, number), path)
            yield AlterReplicaLogDirPartitionResult(number, error)

    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(name, list(results(name))) for name in wanted]
    )


def _move(ctx: HandlerContext[Ports], topic_partition: TopicPartition, path: str) -> ErrorCode:
    try:
        ctx.services.logs.moves.request(topic_partition, path)
    except BrokerError as error:
        unknown = ctx.services.metadata.partition(topic_partition) is None
        if error.code is ErrorCode.REPLICA_NOT_AVAILABLE and unknown:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return error.code
    return ErrorCode.NONE


HANDLER = ApiHandler(ApiKey.ALTER_REPLICA_LOG_DIRS, (1, 2), handle_alter_replica_log_dirs)
