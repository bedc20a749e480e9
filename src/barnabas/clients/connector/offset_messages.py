"""Requests about a group's committed offsets in Kafka, and their answers, without IO.

The group has no members in Kafka's eyes: it commits as the simple consumer does, with no member
id and no generation.
"""

from collections.abc import Iterable, Mapping

from barnabas.clients.connector.fetch_messages import by_topic
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition
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

LAST_OFFSETS_BY_NAME = 9
"""OffsetCommit and OffsetFetch name topics up to this version; later ones need topic ids."""


def committed_request(group: str, places: Iterable[TopicPartition] | None) -> OffsetFetchRequest:
    """The committed offsets of these partitions, of all with None."""
    if places is None:
        return OffsetFetchRequest(
            group_id=group,
            topics=None,
            groups=[OffsetFetchRequestGroup(group_id=group, topics=None)],
        )
    topics = [(name, [p.partition for p in found]) for name, found in by_topic(sorted(places))]
    return OffsetFetchRequest(
        group_id=group,
        topics=[OffsetFetchRequestTopic(name=n, partition_indexes=i) for n, i in topics],
        groups=[
            OffsetFetchRequestGroup(
                group_id=group,
                topics=[OffsetFetchRequestTopics(name=n, partition_indexes=i) for n, i in topics],
            )
        ],
    )


def read_committed(response: OffsetFetchResponse) -> dict[TopicPartition, int]:
    """The offsets there are; raises the first error."""
    answered = response.groups[0] if response.groups else response
    _raise_for(answered.error_code, "the group's offsets")
    found: dict[TopicPartition, int] = {}
    for topic in answered.topics:
        for item in topic.partitions:
            place = TopicPartition(topic.name, item.partition_index)
            _raise_for(item.error_code, f"the committed offset of {place}")
            if item.committed_offset >= 0:
                found[place] = item.committed_offset
    return found


def commit_request(
    group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=place.partition,
                        committed_offset=offsets[place].offset,
                        committed_leader_epoch=offsets[place].leader_epoch,
                        committed_metadata=offsets[place].metadata,
                    )
                    for place in places
                ],
            )
            for topic, places in by_topic(sorted(offsets))
        ],
    )


def read_commit(response: OffsetCommitResponse) -> None:
    for topic in response.topics:
        for item in topic.partitions:
            _raise_for(item.error_code, f"the offset of {topic.name}-{item.partition_index}")


def _raise_for(error_code: int, what: str) -> None:
    if error_code:
        code = ErrorCode.of(error_code)
        raise BrokerError(code, f"{what}: {code.explanation}")
