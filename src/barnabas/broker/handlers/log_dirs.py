"""Handlers of log directories: DescribeLogDirs, AlterReplicaLogDirs (KIP-113)."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from barnabas.broker.disk_jobs import LogMover
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDirectory
from barnabas.storage.log_manager import LogManager
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from barnabas.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


class DescribeLogDirsPorts(RequestPorts, Protocol):
    """Parts of the broker that DescribeLogDirs uses."""

    logs: LogManager


class AlterReplicaLogDirsPorts(RequestPorts, Protocol):
    """Parts of the broker that AlterReplicaLogDirs uses."""

    log_mover: LogMover
    logs: LogManager


# --- DescribeLogDirs ------------------------------------------------------------------------------


async def handle_describe_log_dirs(
    ctx: HandlerContext[DescribeLogDirsPorts], request: DescribeLogDirsRequest
) -> DescribeLogDirsResponse:
    """Returns the replicas and their sizes in each log directory.

    v2 flexible; v3 a top-level error; v4 size of the volume; v5 cordoned directories, which this
    broker does not have.
    """
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.topic, partition)
            for topic in request.topics
            for partition in topic.partitions
        }
    response = DescribeLogDirsResponse()
    for directory in ctx.services.logs.dirs:
        response.results.append(await _describe_log_dir(ctx, directory, wanted))
    return response


async def _describe_log_dir(
    ctx: HandlerContext[DescribeLogDirsPorts],
    directory: LogDirectory,
    wanted: set[TopicPartition] | None,
) -> DescribeLogDirsResult:
    path = str(directory.path.absolute())
    if directory.health.failed:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, path)
    logs = ctx.services.logs
    topics: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    present = [*logs.logs_in(directory.path), *logs.futures_in(directory.path)]
    async for log in in_slices(present):
        topic, number = log.topic_partition
        if wanted is None or log.topic_partition in wanted:
            move = logs.moves.get(log.topic_partition)
            future = move is not None and move.future is log
            lag = move.lag if move is not None and future else _lag(log)
            topics[topic].append(DescribeLogDirsPartition(number, log.size_bytes, lag, future))
    usage = directory.fs.usage(directory.path)
    return DescribeLogDirsResult(
        0,
        path,
        [DescribeLogDirsTopic(name, partitions) for name, partitions in sorted(topics.items())],
        usage.total_bytes,
        usage.free_bytes,
    )


def _lag(log: Log) -> int:
    return max(log.high_watermark - log.log_end_offset, 0)


# --- AlterReplicaLogDirs --------------------------------------------------------------------------


def handle_alter_replica_log_dirs(
    ctx: HandlerContext[AlterReplicaLogDirsPorts], request: AlterReplicaLogDirsRequest
) -> Result:
    """Moves replicas between the log directories of this broker (KIP-113).

    v2 flexible. NONE means that the move has started, or that the replica is already in the
    directory; DescribeLogDirs reports the progress. If this broker has no such replica, the error
    is REPLICA_NOT_AVAILABLE, or UNKNOWN_TOPIC_OR_PARTITION if the cluster has no such partition.
    The broker remembers the directory and uses it if the replica is created later.
    """
    response = respond_per_replica(request, partial(_start_move, ctx))
    ctx.services.log_mover.wake()
    return response


def respond_per_replica(
    request: AlterReplicaLogDirsRequest, response: Callable[[TopicPartition, str], ErrorCode]
) -> AlterReplicaLogDirsResponse:
    """Returns the response, with one error code per replica.

    If the request names two directories for one replica, the last one is used.
    """
    wanted: dict[str, dict[int, str]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            paths = wanted.setdefault(topic.name, {})
            paths.update(dict.fromkeys(topic.partitions, directory.path))

    def results(name: str) -> Iterator[AlterReplicaLogDirPartitionResult]:
        for partition, path in wanted[name].items():
            error = response(TopicPartition(name, partition), path)
            yield AlterReplicaLogDirPartitionResult(partition, error)

    return AlterReplicaLogDirsResponse(
        results=[AlterReplicaLogDirTopicResult(name, list(results(name))) for name in wanted]
    )


def _start_move(
    ctx: HandlerContext[AlterReplicaLogDirsPorts], topic_partition: TopicPartition, path: str
) -> ErrorCode:
    try:
        ctx.services.logs.moves.request(topic_partition, path)
    except BrokerError as error:
        unknown = ctx.services.metadata.partition(topic_partition) is None
        if error.code is ErrorCode.REPLICA_NOT_AVAILABLE and unknown:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return error.code
    return ErrorCode.NONE


HANDLERS = (
    ApiHandler(ApiKey.DESCRIBE_LOG_DIRS, (1, 5), handle_describe_log_dirs),
    ApiHandler(ApiKey.ALTER_REPLICA_LOG_DIRS, (1, 2), handle_alter_replica_log_dirs),
)
