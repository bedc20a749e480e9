"""Handlers that look up or change offsets of a log.

They serve ListOffsets, OffsetForLeaderEpoch and DeleteRecords.
"""

import asyncio
from collections import Counter
from typing import NamedTuple, Protocol

from barnabas.broker.config_layers import ConfigLayers
from barnabas.broker.disk_jobs import CheckpointWriter
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.broker.produce_rules import ValidationThread
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import INTERNAL_TOPICS, TopicPartition
from barnabas.model.records import (
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    IsolationLevel,
)
from barnabas.replication.epochs import LogEpochEnd
from barnabas.replication.partition import Partition
from barnabas.replication.partition_reader import (
    NOT_SEARCHED,
    FoundOffset,
    TimestampSearch,
    end_offset_for_epoch,
    list_offset,
)
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.slices import in_slices
from barnabas.storage.log_reader import LargeBatchError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from barnabas.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


class LogOffsetsPorts(RequestPorts, Protocol):
    """Parts of the broker that lookups of offsets use."""

    replicas: ReplicaManager


class ListOffsetsPorts(LogOffsetsPorts, Protocol):
    """Parts of the broker that ListOffsets uses."""

    validation_thread: ValidationThread


class DeleteRecordsPorts(LogOffsetsPorts, Protocol):
    """Parts of the broker that DeleteRecords uses."""

    layers: ConfigLayers
    checkpoints: CheckpointWriter


def _local_partition(
    ctx: HandlerContext[LogOffsetsPorts], topic_partition: TopicPartition
) -> Partition:
    """Returns the replica on this broker; raises the error that makes clients look elsewhere."""
    partition = ctx.services.replicas.partition(topic_partition)
    if partition is None:
        exists = ctx.services.metadata.partition(topic_partition) is not None
        raise BrokerError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
    return partition


# --- ListOffsets ----------------------------------------------------------------------------------


_CONSUMER_REPLICA_ID = -1
_SPECIAL_FROM = {
    EARLIEST_TIMESTAMP: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
    EARLIEST_PENDING_UPLOAD_TIMESTAMP: 11,
}
_NO_VERSION = 1 << 15


def handle_list_offsets(
    ctx: HandlerContext[ListOffsetsPorts], request: ListOffsetsRequest
) -> Result:
    """Returns the offset for a timestamp, or the first or last offset of a log.

    v2 isolation level; v4 leader epochs; v6 flexible; v7 max timestamp (-3); v8 earliest local
    (-4); v9 latest tiered (-5); v10 a timeout for tiered storage; v11 earliest pending upload (-6).
    This broker has no tiered storage, so -5 and -6 never find an offset.
    """
    lookup = _OffsetLookup(ctx, request)
    topics = [
        ListOffsetsTopicResponse(topic.name, lookup.partitions(topic)) for topic in request.topics
    ]
    response = ListOffsetsResponse(topics=topics)
    return lookup.complete(response) if lookup.large else response


class _LargeSearch(NamedTuple):
    """A partition whose search by time must be continued in a thread, with its response."""

    topic_partition: TopicPartition
    requested: ListOffsetsPartition
    response: ListOffsetsPartitionResponse
    batch: LargeBatchError


class _OffsetLookup:
    """The lookups of one ListOffsets request."""

    def __init__(self, ctx: HandlerContext[ListOffsetsPorts], request: ListOffsetsRequest) -> None:
        self._ctx = ctx
        self._request = request
        self.large: list[_LargeSearch] = []

    def partitions(self, topic: ListOffsetsTopic) -> list[ListOffsetsPartitionResponse]:
        times = Counter(requested.partition_index for requested in topic.partitions)
        once = [
            requested for requested in topic.partitions if times[requested.partition_index] == 1
        ]
        return [
            *(self._partition(topic.name, requested) for requested in once),
            *(
                ListOffsetsPartitionResponse(number, ErrorCode.INVALID_REQUEST)
                for number, count in times.items()
                if count > 1
            ),
        ]

    def _partition(
        self, topic: str, requested: ListOffsetsPartition
    ) -> ListOffsetsPartitionResponse:
        response = ListOffsetsPartitionResponse(requested.partition_index)
        self._look_up(
            TopicPartition(topic, requested.partition_index), requested, response, NOT_SEARCHED
        )
        return response

    async def complete(self, response: ListOffsetsResponse) -> ListOffsetsResponse:
        """Continues the searches in large batches in a thread."""
        thread = self._ctx.services.validation_thread
        while self.large:
            search = self.large.pop(0)
            try:
                hit = await thread.run(search.batch.search)
            except CorruptRecordError:
                search.response.error_code = ErrorCode.CORRUPT_MESSAGE
                continue
            found = TimestampSearch(hit, search.batch.next_offset)
            self._look_up(search.topic_partition, search.requested, search.response, found)
        return response

    def _look_up(
        self,
        topic_partition: TopicPartition,
        requested: ListOffsetsPartition,
        response: ListOffsetsPartitionResponse,
        searched: TimestampSearch,
    ) -> None:
        try:
            found = self._find(topic_partition, requested, searched)
        except BrokerError as error:
            response.error_code = _code_of_version(self._ctx.version, error.code)
        except LargeBatchError as batch:
            self.large.append(_LargeSearch(topic_partition, requested, response, batch))
        else:
            response.timestamp = found.timestamp_ms
            response.offset = found.offset
            response.leader_epoch = found.leader_epoch

    def _find(
        self,
        topic_partition: TopicPartition,
        requested: ListOffsetsPartition,
        searched: TimestampSearch,
    ) -> FoundOffset:
        partition = _local_partition(self._ctx, topic_partition)
        if requested.timestamp < LATEST_TIMESTAMP and self._ctx.version < _SPECIAL_FROM.get(
            requested.timestamp, _NO_VERSION
        ):
            raise BrokerError(ErrorCode.UNSUPPORTED_VERSION)
        if requested.timestamp in (LATEST_TIERED_TIMESTAMP, EARLIEST_PENDING_UPLOAD_TIMESTAMP):
            return FoundOffset()
        replica_id = self._request.replica_id
        isolation = IsolationLevel(1 if self._request.isolation_level else 0)
        return list_offset(
            partition,
            requested.timestamp,
            isolation=isolation if replica_id == _CONSUMER_REPLICA_ID else None,
            current_leader_epoch=requested.current_leader_epoch,
            leader_only=replica_id >= _CONSUMER_REPLICA_ID,
            searched=searched,
        )


def _code_of_version(version: int, code: ErrorCode) -> ErrorCode:
    # OFFSET_NOT_AVAILABLE exists since version 5; older clients retry on this error (KIP-207).
    if code is ErrorCode.OFFSET_NOT_AVAILABLE and version < 5:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return code


# --- OffsetForLeaderEpoch -------------------------------------------------------------------------


def handle_offset_for_leader_epoch(
    ctx: HandlerContext[LogOffsetsPorts], request: OffsetForLeaderEpochRequest
) -> Result:
    """Returns the end offset of an epoch, to detect truncation (KIP-320).

    v2 current leader epoch; v3 replica id (-1 for consumers, which read from the leader); v4
    flexible.
    """
    topics = [
        OffsetForLeaderTopicResult(
            topic.topic, [_epoch_end(ctx, topic.topic, requested) for requested in topic.partitions]
        )
        for topic in request.topics
    ]
    return OffsetForLeaderEpochResponse(topics=topics)


def _epoch_end(
    ctx: HandlerContext[LogOffsetsPorts], topic: str, requested: OffsetForLeaderPartition
) -> EpochEndOffset:
    try:
        end = _find_epoch_end(ctx, TopicPartition(topic, requested.partition), requested)
    except BrokerError as error:
        return EpochEndOffset(error.code, requested.partition)
    return EpochEndOffset(0, requested.partition, end.epoch, end.end_offset)


def _find_epoch_end(
    ctx: HandlerContext[LogOffsetsPorts],
    topic_partition: TopicPartition,
    requested: OffsetForLeaderPartition,
) -> LogEpochEnd:
    partition = _local_partition(ctx, topic_partition)
    return end_offset_for_epoch(
        partition, requested.leader_epoch, current_leader_epoch=requested.current_leader_epoch
    )


# --- DeleteRecords --------------------------------------------------------------------------------


# Followers report their log start offset with their next fetch; nothing wakes the request.
_LOW_WATERMARK_POLL_S = 0.02

_WaitingDeletions = list[tuple[Partition, int, DeleteRecordsPartitionResult]]


async def handle_delete_records(
    ctx: HandlerContext[DeleteRecordsPorts], request: DeleteRecordsRequest
) -> DeleteRecordsResponse:
    """Increases the log start offset on every replica.

    v1 throttling; v2 flexible. As in Kafka, the response is sent when all replicas of the ISR have
    the new log start offset. It must also be on this broker's disk, so that deleted records do not
    reappear after a crash.
    """
    waiting: _WaitingDeletions = []
    topics = []
    for topic in request.topics:
        results = []
        async for requested in in_slices(topic.partitions):
            topic_partition = TopicPartition(topic.name, requested.partition_index)
            results.append(
                _delete_partition_records(ctx, topic_partition, requested.offset, waiting)
            )
        topics.append(DeleteRecordsTopicResult(topic.name, results))
    await ctx.services.checkpoints.log_start_offsets()
    await _wait_for_replicas(waiting, request.timeout_ms)
    return DeleteRecordsResponse(topics=topics)


def _delete_partition_records(
    ctx: HandlerContext[DeleteRecordsPorts],
    topic_partition: TopicPartition,
    offset: int,
    waiting: _WaitingDeletions,
) -> DeleteRecordsPartitionResult:
    number = topic_partition.partition
    try:
        partition = _local_partition(ctx, topic_partition)
        _check_deletable(ctx, topic_partition.topic)
        start = partition.delete_records(offset)
    except BrokerError as error:
        return DeleteRecordsPartitionResult(number, -1, error.code)
    result = DeleteRecordsPartitionResult(number, start, 0)
    if partition.low_watermark < start:
        waiting.append((partition, start, result))
    return result


def _check_deletable(ctx: HandlerContext[DeleteRecordsPorts], topic: str) -> None:
    if topic in INTERNAL_TOPICS:
        raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    # Kafka rejects compacted topics: consumers of the latest values would miss deleted keys.
    if "delete" not in ctx.services.layers.topic_value(topic, "cleanup.policy"):
        raise BrokerError(ErrorCode.POLICY_VIOLATION)


async def _wait_for_replicas(waiting: _WaitingDeletions, timeout_ms: int) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_ms / 1000
    behind = waiting
    while behind and loop.time() < deadline:
        await asyncio.sleep(_LOW_WATERMARK_POLL_S)
        behind = [item for item in behind if item[0].low_watermark < item[1]]
    for _, _, result in behind:
        result.error_code = ErrorCode.REQUEST_TIMED_OUT
        result.low_watermark = -1


HANDLERS = (
    ApiHandler(ApiKey.LIST_OFFSETS, (1, 11), handle_list_offsets),
    ApiHandler(ApiKey.OFFSET_FOR_LEADER_EPOCH, (2, 4), handle_offset_for_leader_epoch),
    ApiHandler(ApiKey.DELETE_RECORDS, (0, 2), handle_delete_records),
)
