"""AlterReplicaLogDirs: moves replicas between the log directories of this broker (KIP-113).

v2 flexible. The answer says that a move has begun, or that the replica is there already; how far it
is tells DescribeLogDirs. A replica that is not here yet is answered with REPLICA_NOT_AVAILABLE, or
UNKNOWN_TOPIC_OR_PARTITION where nobody knows of it, and made in that directory when it comes.
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
    """The response to a request, with the answer to each replica; of two directories for one the
    later counts.
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
