"""OffsetFetch: the committed offsets of a group, all or some."""

from barnabas.groups.consumer import describe as consumer
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.offsets.store import OffsetStore
from barnabas.groups.registry import GroupTable
from barnabas.groups.replies import FetchedOffset, OffsetFetchReply
from barnabas.groups.requests import OffsetFetchRequest
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

NO_OFFSET = -1


def fetch(groups: GroupTable, store: OffsetStore, request: OffsetFetchRequest) -> OffsetFetchReply:
    """An unknown group or partition is no error: its offset is -1."""
    group = groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        try:
            consumer.validate_fetch(group, request.member_id, request.member_epoch)
        except BrokerError as error:
            return OffsetFetchReply(request.group_id, error.code)
    if request.partitions is None:
        partitions = sorted(store.of_group(request.group_id))
    else:
        partitions = list(request.partitions)
    offsets = tuple(_fetch_one(store, request, partition) for partition in partitions)
    return OffsetFetchReply(request.group_id, ErrorCode.NONE, offsets)


def _fetch_one(
    store: OffsetStore, request: OffsetFetchRequest, topic_partition: TopicPartition
) -> FetchedOffset:
    if request.require_stable and store.is_pending(request.group_id, topic_partition):
        # A transaction may be about to move this offset (KIP-447).
        code = ErrorCode.UNSTABLE_OFFSET_COMMIT
        return FetchedOffset(topic_partition, NO_OFFSET, error_code=code)
    committed = store.get(request.group_id, topic_partition)
    if committed is None:
        return FetchedOffset(topic_partition, NO_OFFSET)
    return FetchedOffset(
        topic_partition, committed.offset, committed.leader_epoch, committed.metadata
    )
