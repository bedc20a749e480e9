"""DescribeProducers: returns the active producers and open transactions of partitions.

It serves to find hanging transactions (KIP-664): an administrator compares the result with the
coordinator's state and aborts a hanging transaction with WriteTxnMarkers.
"""

from typing import Protocol

from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.topic_names import topic_name_problem
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.storage.log_manager import LogManager
from barnabas.storage.producer_state import ProducerEntry
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    logs: LogManager
    replicas: ReplicaManager


def handle_describe_producers(
    ctx: HandlerContext[Ports], request: DescribeProducersRequest
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                topic.name,
                [
                    _describe(ctx, TopicPartition(topic.name, number))
                    for number in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe(ctx: HandlerContext[Ports], topic_partition: TopicPartition) -> PartitionResponse:
    partition = ctx.services.replicas.partition(topic_partition)
    log = ctx.services.logs.get(topic_partition)
    if partition is None or log is None:  # followers respond too, from their log
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if ctx.services.metadata.partition(topic_partition) is not None:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif topic_name_problem(topic_partition.topic) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return PartitionResponse(topic_partition.partition, code, code.explanation)
    states = [_state(entry) for entry in log.producer_states()]
    return PartitionResponse(topic_partition.partition, active_producers=states)


def _state(entry: ProducerEntry) -> ProducerState:
    return ProducerState(
        entry.producer_id,
        entry.epoch,
        entry.last_sequence,
        entry.last_timestamp,
        entry.coordinator_epoch,
        entry.txn_first_offset,
    )


HANDLER = ApiHandler(ApiKey.DESCRIBE_PRODUCERS, (0, 0), handle_describe_producers)
