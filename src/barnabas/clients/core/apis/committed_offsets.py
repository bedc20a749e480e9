"""Committed offsets of a group: OffsetCommit and OffsetFetch requests, and their responses."""

from collections.abc import Iterable, Mapping

from barnabas.model.errors import ProtocolError, raise_for
from barnabas.model.ids import TopicPartition, by_topic
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

LAST_OFFSET_COMMIT_BY_NAME = 9
"""Last version that names topics; later ones use topic ids, which deleted topics lack."""
LAST_OFFSET_FETCH_BY_NAME = 9
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
                    _partition(partition, offsets[TopicPartition(topic, partition)])
                    for partition in partitions
                ],
            )
            for topic, partitions in by_topic(offsets).items()
        ],
    )


def _partition(partition: int, position: OffsetAndMetadata) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=partition,
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


CommittedOffsets = dict[TopicPartition, OffsetAndMetadata | None]
"""None for a partition without a committed offset."""


def offset_fetch_request(
    group: GroupMetadata,
    topic_partitions: Iterable[TopicPartition] | None,
    *,
    require_stable: bool = False,
) -> OffsetFetchRequest:
    """Builds a request with the fields of both forms: one group (old) and many groups (new).

    Args:
        group: the group; with a member id, the coordinator also checks the member epoch.
        topic_partitions: None for all partitions that have a committed offset.
        require_stable: wait for open transactions that commit offsets (KIP-447).
    """
    old = new = None
    if topic_partitions is not None:
        topics = by_topic(topic_partitions)
        old = [OffsetFetchRequestTopic(name=t, partition_indexes=n) for t, n in topics.items()]
        new = [OffsetFetchRequestTopics(name=t, partition_indexes=n) for t, n in topics.items()]
    return OffsetFetchRequest(
        group_id=group.group_id,
        topics=old,
        groups=[
            OffsetFetchRequestGroup(
                group_id=group.group_id,
                member_id=group.member_id or None,
                member_epoch=group.generation_id if group.member_id else -1,
                topics=new,
            )
        ],
        require_stable=require_stable,
    )


def read_offset_fetch(response: OffsetFetchResponse) -> CommittedOffsets:
    """Returns the committed offset of each partition of the response.

    Raises:
        BrokerError: the error of the group, or the first error of a partition.
        ProtocolError: a committed offset is impossible.
    """
    group = response.groups[0] if response.groups else response
    raise_for(group.error_code, "committed offsets of the group")
    found: CommittedOffsets = {}
    for topic in group.topics:
        for item in topic.partitions:
            topic_partition = TopicPartition(topic.name, item.partition_index)
            raise_for(item.error_code, f"committed offset of {topic_partition}")
            if item.committed_offset < -1:
                raise ProtocolError(
                    f"{topic_partition}: invalid committed offset {item.committed_offset}"
                )
            found[topic_partition] = (
                None
                if item.committed_offset < 0
                else OffsetAndMetadata(
                    item.committed_offset, item.metadata or "", item.committed_leader_epoch
                )
            )
    return found


def read_requested_committed(
    response: OffsetFetchResponse, requested: Iterable[TopicPartition]
) -> CommittedOffsets:
    """Returns the committed offsets as `read_offset_fetch`.

    Raises:
        ProtocolError: also if the response does not contain a requested partition.
    """
    found = read_offset_fetch(response)
    missing = [topic_partition for topic_partition in requested if topic_partition not in found]
    if missing:
        raise ProtocolError(f"the response leaves out the committed offset of {missing[0]}")
    return found


def committed_only(offsets: CommittedOffsets) -> dict[TopicPartition, OffsetAndMetadata]:
    """Returns the entries of partitions that have a committed offset."""
    return {
        topic_partition: position
        for topic_partition, position in offsets.items()
        if position is not None
    }
