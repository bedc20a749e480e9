"""AlterReplicaLogDirs: moves replicas between the log directories of this broker (KIP-113).

v2 flexible. The answer says that a move has begun, or that the replica is there already; how far it
is tells DescribeLogDirs. A replica that is not here yet is answered with REPLICA_NOT_AVAILABLE, and
made in that directory when it comes.
"""

from collections.abc import Callable
from functools import partial

from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle_alter_replica_log_dirs(
    ctx: RequestContext, request: AlterReplicaLogDirsRequest
) -> Result:
    response = answer_each(request, partial(_move, ctx))
    ctx.services.log_mover.wake()
    return response


def answer_each(
    request: AlterReplicaLogDirsRequest, answer: Callable[[TopicPartition, str], ErrorCode]
) -> AlterReplicaLogDirsResponse:
    """The response to a request, with the answer to each replica and directory in it."""
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            found = results.setdefault(topic.name, [])
            for number in topic.partitions:
                error = answer(TopicPartition(topic.name, number), directory.path)
                found.append(AlterReplicaLogDirPartitionResult(number, error))
    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(name, found) for name, found in results.items()]
    )


def _move(ctx: RequestContext, place: TopicPartition, path: str) -> ErrorCode:
    try:
        ctx.services.logs.moves.request(place, path)
    except BrokerError as error:
        return error.code
    return ErrorCode.NONE


HANDLER = Handler(ApiKey.ALTER_REPLICA_LOG_DIRS, (1, 2), handle_alter_replica_log_dirs)
