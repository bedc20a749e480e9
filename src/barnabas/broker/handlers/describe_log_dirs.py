"""DescribeLogDirs: returns the replicas and their sizes in each log directory.

v2 flexible; v3 a top-level error; v4 size of the volume; v5 cordoned directories, which
this broker does not have.
"""

from collections import defaultdict
from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDir
from barnabas.storage.log_manager import LogManager
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    logs: LogManager


def handle_describe_log_dirs(ctx: HandlerContext[Ports], request: DescribeLogDirsRequest) -> Result:
    wanted = None
    if request.topics is not None:
        wanted = {
            TopicPartition(topic.topic, number)
            for topic in request.topics
            for number in topic.partitions
        }
    return DescribeLogDirsResponse(
        results=[_describe(ctx, directory, wanted) for directory in ctx.services.logs.dirs]
    )


def _describe(
    ctx: HandlerContext[Ports], directory: LogDir, wanted: set[TopicPartition] | None
) -> DescribeLogDirsResult:
    path = str(directory.path.absolute())
    if directory.health.failed:
        return DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, path)
    logs = ctx.services.logs
    topics: dict[str, list[DescribeLogDirsPartition]] = defaultdict(list)
    for log in (*logs.logs_in(directory.path), *logs.futures_in(directory.path)):
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


HANDLER = ApiHandler(ApiKey.DESCRIBE_LOG_DIRS, (1, 5), handle_describe_log_dirs)
