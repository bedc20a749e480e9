"""OffsetCommit: stores the committed offsets of a group."""

from collections.abc import Iterable, Mapping

from barnabas.clients.core.apis.common import by_topic, raise_for
from barnabas.model.errors import ProtocolError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

LAST_OFFSET_COMMIT_BY_NAME = 9
"""Last version that names topics; later ones use topic ids, which deleted topics lack."""


def offset_commit_request(
    group: GroupMetadata, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> OffsetCommitRequest:
    """Builds the request; topics and partitions have the order of `offsets`.

    Args:
        group: the member that commits. `GroupMetadata(group_id)` commits for a group that has
            no members.
        offsets: the offset of the next record to read, for each partition.
    """
    return OffsetCommitRequest(
        group_id=group.group_id,
        generation_id_or_member_epoch=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    _partition(number, offsets[TopicPartition(topic, number)]) for number in numbers
                ],
            )
            for topic, numbers in by_topic(offsets).items()
        ],
    )


def _partition(number: int, position: OffsetAndMetadata) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=number,
        committed_offset=position.offset,
        committed_leader_epoch=position.leader_epoch,
        committed_metadata=position.metadata,
    )


def check_offset_commit(
    response: OffsetCommitResponse, requested: Iterable[TopicPartition]
) -> None:
    """Checks that every requested offset was committed.

    Raises:
        BrokerError: the first error of a partition.
        ProtocolError: the response does not contain a requested partition.
    """
    committed: set[TopicPartition] = set()
    for topic in response.topics:
        for item in topic.partitions:
            topic_partition = TopicPartition(topic.name, item.partition_index)
            raise_for(item.error_code, f"committing {topic_partition}")
            committed.add(topic_partition)
    missing = [topic_partition for topic_partition in requested if topic_partition not in committed]
    if missing:
        raise ProtocolError(f"the response to a commit leaves out {missing[0]}")
