"""DeleteRecords: increases the log start offset on every replica.

v1 throttling; v2 flexible. As in Kafka, the response is sent when all replicas of the ISR have the
new log start offset. It must also be on this broker's disk, so that deleted records do not reappear
after a crash.
"""

import asyncio
from collections.abc import Awaitable
from typing import Protocol

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.topic_names import INTERNAL_TOPICS
from barnabas.replication.partition import Partition
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.storage.log_manager import LogManager
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

_POLL_S = 0.02

Waiting = list[tuple[Partition, int, DeleteRecordsPartitionResult]]


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    layers: ConfigLayers
    logs: LogManager
    replicas: ReplicaManager


def handle_delete_records(ctx: HandlerContext[Ports], request: DeleteRecordsRequest) -> Result:
    waiting: Waiting = []
    topics = []
    for topic in request.topics:
        results = []
        for asked in topic.partitions:
            topic_partition = TopicPartition(topic.name, asked.partition_index)
            results.append(_delete(ctx, topic_partition, asked.offset, waiting))
        topics.append(DeleteRecordsTopicResult(topic.name, results))
    ctx.services.logs.checkpoints.log_start_offsets()
    response = DeleteRecordsResponse(topics=topics)
    if waiting:
        return _wait(response, waiting, request.timeout_ms)
    return response


def _delete(
    ctx: HandlerContext[Ports], topic_partition: TopicPartition, offset: int, waiting: Waiting
) -> DeleteRecordsPartitionResult:
    number = topic_partition.partition
    partition = ctx.services.replicas.partition(topic_partition)
    if partition is None:
        known = ctx.services.metadata.partition(topic_partition) is not None
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return DeleteRecordsPartitionResult(number, -1, code)
    if topic_partition.topic in INTERNAL_TOPICS:
        return DeleteRecordsPartitionResult(number, -1, ErrorCode.INVALID_TOPIC_EXCEPTION)
    if "delete" not in ctx.services.layers.topic_value(topic_partition.topic, "cleanup.policy"):
        return DeleteRecordsPartitionResult(number, -1, ErrorCode.POLICY_VIOLATION)
    try:
        start = partition.delete_records(offset)
    except BrokerError as error:
        return DeleteRecordsPartitionResult(number, -1, error.code)
    result = DeleteRecordsPartitionResult(number, start, 0)
    if partition.low_watermark < start:
        waiting.append((partition, start, result))
    return result


def _wait(
    response: DeleteRecordsResponse, waiting: Waiting, timeout_ms: int
) -> Awaitable[DeleteRecordsResponse]:
    async def wait() -> DeleteRecordsResponse:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_ms / 1000
        behind = waiting
        while behind and loop.time() < deadline:
            await asyncio.sleep(_POLL_S)
            behind = [item for item in behind if item[0].low_watermark < item[1]]
        for _, _, result in behind:
            result.error_code = ErrorCode.REQUEST_TIMED_OUT
            result.low_watermark = -1
        return response

    return wait()


HANDLER = ApiHandler(ApiKey.DELETE_RECORDS, (0, 2), handle_delete_records)
