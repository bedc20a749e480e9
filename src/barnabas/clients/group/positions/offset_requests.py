"""Requests about offsets and what their answers mean, without IO.

No answer is taken on trust: a partition that is missing is an error to retry, an offset that
cannot be one is a ProtocolError. Nothing here ever turns an odd answer into an offset.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from barnabas.clients.group.positions.offset_reset import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
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
from barnabas.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

LAST_OFFSETS_BY_NAME = 9
"""OffsetCommit and OffsetFetch name topics up to this version; later ones need topic ids."""

CONSUMER_REPLICA = -1


@dataclass(frozen=True, slots=True)
class OffsetAndTimestamp:
    """An offset found by time, with the timestamp and leader epoch of its record."""

    offset: int
    timestamp: int
    leader_epoch: int = -1


Found = dict[TopicPartition, OffsetAndTimestamp | BarnabasError]


def by_topic(places: Iterable[TopicPartition]) -> list[tuple[str, list[TopicPartition]]]:
    """Partitions grouped by topic, in order."""
    return [(topic, list(group)) for topic, group in groupby(sorted(places), lambda p: p.topic)]


def list_offsets_request(
    timestamps: Mapping[TopicPartition, tuple[int, int]], isolation: IsolationLevel
) -> ListOffsetsRequest:
    """For each partition its timestamp and the leader epoch we know."""
    return ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA,
        isolation_level=isolation,
        topics=[
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(
                        partition_index=place.partition,
                        current_leader_epoch=timestamps[place][1],
                        timestamp=timestamps[place][0],
                    )
                    for place in places
                ],
            )
            for topic, places in by_topic(timestamps)
        ],
    )


def read_list_offsets(
    response: ListOffsetsResponse, timestamps: Mapping[TopicPartition, tuple[int, int]]
) -> Found:
    """For each partition asked for: its offset (-1 when no record is that young), or an error."""
    found: Found = {}
    for topic in response.topics:
        for item in topic.partitions:
            place = TopicPartition(topic.name, item.partition_index)
            if item.error_code:
                found[place] = BrokerError(ErrorCode.of(item.error_code), f"offsets of {place}")
            else:
                found[place] = OffsetAndTimestamp(item.offset, item.timestamp, item.leader_epoch)
    answers: Found = {}
    for place, (timestamp, _) in timestamps.items():
        answers[place] = _checked(place, timestamp, found.get(place))
    return answers


def _checked(
    place: TopicPartition, timestamp: int, answer: OffsetAndTimestamp | BarnabasError | None
) -> OffsetAndTimestamp | BarnabasError:
    if answer is None:
        return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no answer for {place}")
    if isinstance(answer, BarnabasError):
        return answer
    special = timestamp in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP)
    if answer.offset < (0 if special else -1):
        return ProtocolError(f"{place}: the broker answered the offset {answer.offset}")
    return answer


def epochs_request(
    positions: Mapping[TopicPartition, tuple[int, int]],
) -> OffsetForLeaderEpochRequest:
    """For each partition: the epoch of its position, and the leader epoch we know."""
    return OffsetForLeaderEpochRequest(
        replica_id=CONSUMER_REPLICA,
        topics=[
            OffsetForLeaderTopic(
                topic=topic,
                partitions=[
                    OffsetForLeaderPartition(
                        partition=place.partition,
                        current_leader_epoch=positions[place][1],
                        leader_epoch=positions[place][0],
                    )
                    for place in places
                ],
            )
            for topic, places in by_topic(positions)
        ],
    )


def read_epochs(
    response: OffsetForLeaderEpochResponse,
) -> dict[TopicPartition, tuple[int, int] | BrokerError]:
    """The largest epoch at or below the one asked, and where it ends; -1 where unknown."""
    found: dict[TopicPartition, tuple[int, int] | BrokerError] = {}
    for topic in response.topics:
        for item in topic.partitions:
            place = TopicPartition(topic.topic, item.partition)
            found[place] = (item.leader_epoch, item.end_offset)
            if item.error_code:
                found[place] = BrokerError(ErrorCode.of(item.error_code), f"epochs of {place}")
    return found


def committed_request(group: GroupMetadata, places: Iterable[TopicPartition]) -> OffsetFetchRequest:
    """Stable offsets only: what a transaction may still change is waited for (KIP-447)."""
    topics = [(name, [place.partition for place in found]) for name, found in by_topic(places)]
    return OffsetFetchRequest(
        group_id=group.group_id,
        topics=[
            OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
            for name, indexes in topics
        ],
        groups=[
            OffsetFetchRequestGroup(
                group_id=group.group_id,
                member_id=group.member_id or None,
                member_epoch=group.generation_id if group.member_id else -1,
                topics=[
                    OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
                    for name, indexes in topics
                ],
            )
        ],
        require_stable=True,
    )


def read_committed(
    response: OffsetFetchResponse, places: Iterable[TopicPartition]
) -> dict[TopicPartition, OffsetAndMetadata | None]:
    """The committed offset of each partition, None without one; raises the first error."""
    answered = response.groups[0] if response.groups else response
    _raise_for(answered.error_code, "the group's offsets")
    found: dict[TopicPartition, OffsetAndMetadata | None] = {}
    for topic in answered.topics:
        for item in topic.partitions:
            place = TopicPartition(topic.name, item.partition_index)
            _raise_for(item.error_code, f"the committed offset of {place}")
            if item.committed_offset < -1:
                raise ProtocolError(f"{place}: committed offset {item.committed_offset}")
            found[place] = (
                None
                if item.committed_offset < 0
                else OffsetAndMetadata(
                    item.committed_offset, item.metadata or "", item.committed_leader_epoch
                )
            )
    missing = [place for place in places if place not in found]
    if missing:
        raise ProtocolError(f"the answer leaves out the committed offset of {missing[0]}")
    return found


def commit_request(
    group: GroupMetadata, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group.group_id,
        generation_id_or_member_epoch=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
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
            for topic, places in by_topic(offsets)
        ],
    )


def read_commit(
    response: OffsetCommitResponse, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> None:
    """Raises the first error, and for a partition the answer leaves out."""
    answered: set[TopicPartition] = set()
    for topic in response.topics:
        for item in topic.partitions:
            place = TopicPartition(topic.name, item.partition_index)
            _raise_for(item.error_code, f"committing {place}")
            answered.add(place)
    missing = [place for place in offsets if place not in answered]
    if missing:
        raise ProtocolError(f"the answer to a commit leaves out {missing[0]}")


def _raise_for(code: int, what: str) -> None:
    if code:
        error = ErrorCode.of(code)
        raise BrokerError(error, f"{what}: {error.explanation}")
