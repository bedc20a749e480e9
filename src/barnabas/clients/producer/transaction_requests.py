"""Builds the requests of a transaction and reads the errors in their responses. No IO."""

from collections.abc import Iterable, Iterator, Mapping

from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.wire.message import Message
from barnabas.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from barnabas.wire.messages.end_txn import EndTxnRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.produce import ProduceRequest
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

LAST_ADD_PARTITIONS = 3
"""Only brokers send later versions of AddPartitionsToTxn."""
LAST_BEFORE_V2: dict[type[Message], int] = {
    EndTxnRequest: 4,
    TxnOffsetCommitRequest: 4,
    ProduceRequest: 11,
}
"""With later versions the broker adds partitions and increments epochs (KIP-890); allowed only if
the cluster's transaction.version is 2."""

Identity = tuple[int, int]
"""Producer id and epoch."""


def last_version(request: type[Message], *, implicit: bool) -> int | None:
    """Returns the last version that a producer may send; None if there is no limit."""
    if request is AddPartitionsToTxnRequest:
        return LAST_ADD_PARTITIONS
    return None if implicit else LAST_BEFORE_V2.get(request)


def init_request(
    transactional_id: str, timeout_ms: int, identity: Identity = (-1, -1)
) -> InitProducerIdRequest:
    """Requests the next epoch of `identity`; without it, the id and epoch of the coordinator."""
    return InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=identity[0],
        producer_epoch=identity[1],
    )


def add_partitions_request(
    transactional_id: str, identity: Identity, topic_partitions: Iterable[TopicPartition]
) -> AddPartitionsToTxnRequest:
    topics: dict[str, list[int]] = {}
    for topic_partition in sorted(topic_partitions):
        topics.setdefault(topic_partition.topic, []).append(topic_partition.partition)
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=identity[0],
        v3_and_below_producer_epoch=identity[1],
        v3_and_below_topics=[
            AddPartitionsToTxnTopic(name=name, partitions=numbers)
            for name, numbers in topics.items()
        ],
    )


def add_offsets_request(
    transactional_id: str, identity: Identity, group: GroupMetadata
) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=transactional_id,
        producer_id=identity[0],
        producer_epoch=identity[1],
        group_id=group.group_id,
    )


def txn_offset_commit_request(
    transactional_id: str,
    identity: Identity,
    group: GroupMetadata,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
) -> TxnOffsetCommitRequest:
    topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
    for topic_partition, position in offsets.items():
        topics.setdefault(topic_partition.topic, []).append(
            TxnOffsetCommitRequestPartition(
                partition_index=topic_partition.partition,
                committed_offset=position.offset,
                committed_leader_epoch=position.leader_epoch,
                committed_metadata=position.metadata,
            )
        )
    return TxnOffsetCommitRequest(
        transactional_id=transactional_id,
        group_id=group.group_id,
        producer_id=identity[0],
        producer_epoch=identity[1],
        generation_id=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        topics=[
            TxnOffsetCommitRequestTopic(name=name, partitions=items)
            for name, items in topics.items()
        ],
    )


def end_request(transactional_id: str, identity: Identity, commit: bool) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=transactional_id,
        producer_id=identity[0],
        producer_epoch=identity[1],
        committed=commit,
    )


def partition_errors(
    response: AddPartitionsToTxnResponse | TxnOffsetCommitResponse,
) -> Iterator[int]:
    """Returns the error code of every partition in the response; 0 means no error."""
    if isinstance(response, AddPartitionsToTxnResponse):
        for topic in response.results_by_topic_v3_and_below:
            for result in topic.results_by_partition:
                yield result.partition_error_code
        return
    for topic_result in response.topics:
        for item in topic_result.partitions:
            yield item.error_code
