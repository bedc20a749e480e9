"""The simple consumer's requests and what their responses mean, without IO."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.clients.simple.fetched import FetchedBatches, PartitionOffset
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError, ProtocolError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
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

EARLIEST = -2
LATEST = -1
DEFAULT_FETCH_SIZE = 1024 * 1024

MOVED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
"""Answers after which the leader is looked up again."""

LAST_FETCH_BY_NAME = 12
"""The last version of Fetch that names topics; later ones need a topic id."""

LAST_OFFSETS_BY_NAME = 9
"""The same for OffsetCommit and OffsetFetch."""

MAX_INT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class FetchTarget:
    """One partition of a fetch; `leader_epoch` is the epoch of the leader that is asked."""

    partition: TopicPartition
    topic_id: Uuid
    offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What all fetches of a consumer have in common."""

    isolation: IsolationLevel
    max_wait_ms: int
    min_bytes: int
    max_decompressed: int


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """One fetch from one broker: up to `fetch_size` bytes of each partition."""

    targets: tuple[FetchTarget, ...]
    fetch_size: int
    limits: FetchLimits

    @property
    def max_version(self) -> int:
        """The last version to use: a topic without an id can only be named."""
        named = any(target.topic_id == ZERO_UUID for target in self.targets)
        return LAST_FETCH_BY_NAME if named else FetchRequest.MAX_VERSION

    def request(self) -> FetchRequest:
        """A full fetch, outside any session."""
        topics: dict[str, FetchTopic] = {}
        for target in self.targets:
            name = target.partition.topic
            topic = topics.setdefault(
                name, FetchTopic(topic=name, topic_id=target.topic_id, partitions=[])
            )
            topic.partitions.append(
                FetchPartition(
                    partition=target.partition.partition,
                    current_leader_epoch=target.leader_epoch,
                    fetch_offset=target.offset,
                    partition_max_bytes=self.fetch_size,
                )
            )
        return FetchRequest(
            max_wait_ms=self.limits.max_wait_ms,
            min_bytes=self.limits.min_bytes,
            max_bytes=min(self.fetch_size * len(self.targets), MAX_INT),
            isolation_level=self.limits.isolation,
            topics=list(topics.values()),
        )

    def read(self, response: FetchResponse) -> "dict[TopicPartition, FetchedBatches | BrokerError]":
        """The batches of each partition, or the error the broker answered for it."""
        _raise_for(response.error_code)
        names = {target.topic_id: target.partition.topic for target in self.targets}
        answers = {
            (topic.topic or names.get(topic.topic_id), data.partition_index): data
            for topic in response.responses
            for data in topic.partitions
        }
        found: dict[TopicPartition, FetchedBatches | BrokerError] = {}
        for target in self.targets:
            data = answers.get((target.partition.topic, target.partition.partition))
            if data is None:
                raise ProtocolError(f"the response to a fetch does not name {target.partition}")
            found[target.partition] = self._read_partition(target, data)
        return found

    def _read_partition(
        self, target: FetchTarget, data: PartitionData
    ) -> "FetchedBatches | BrokerError":
        try:
            _raise_for(data.error_code, f"{target.partition} at offset {target.offset}")
        except BrokerError as error:
            return error
        aborted = None
        if self.limits.isolation is IsolationLevel.READ_COMMITTED:
            entries = data.aborted_transactions or ()
            aborted = tuple((entry.producer_id, entry.first_offset) for entry in entries)
        return FetchedBatches(
            target.partition,
            target.offset,
            memoryview(b"") if data.records is None else data.records,
            data.high_watermark,
            data.last_stable_offset,
            data.log_start_offset,
            aborted,
            self.limits.max_decompressed,
        )


def read_limits(values: Mapping[str, Any]) -> FetchLimits:
    """From the values of `SIMPLE_KEYS`."""
    committed = values["isolation.level"] == "read_committed"
    return FetchLimits(
        IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED,
        values["fetch.max.wait.ms"],
        values["fetch.min.bytes"],
        values["max.decompressed.batch.bytes"],
    )


def descending(found: Iterable[int], max_offsets: int) -> list[int]:
    """Up to `max_offsets` different offsets, the greatest first."""
    return sorted(set(found), reverse=True)[:max_offsets]


def check_max_offsets(max_offsets: int) -> None:
    if max_offsets < 1:
        raise LocalError(f"max_offsets={max_offsets}: must be at least 1")


def offsets_request(
    partition: TopicPartition, timestamp: int, leader_epoch: int, isolation: IsolationLevel
) -> ListOffsetsRequest:
    item = ListOffsetsPartition(
        partition_index=partition.partition,
        current_leader_epoch=leader_epoch,
        timestamp=timestamp,
    )
    topic = ListOffsetsTopic(name=partition.topic, partitions=[item])
    return ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=[topic])


def read_offset(response: ListOffsetsResponse, partition: TopicPartition) -> PartitionOffset:
    found = response.topics[0].partitions[0]
    _raise_for(found.error_code, str(partition))
    return PartitionOffset(found.offset, found.timestamp, found.leader_epoch)


def committed_request(group: str, partition: TopicPartition) -> OffsetFetchRequest:
    indexes = [partition.partition]
    topics = [OffsetFetchRequestTopics(name=partition.topic, partition_indexes=indexes)]
    return OffsetFetchRequest(
        group_id=group,
        topics=[OffsetFetchRequestTopic(name=partition.topic, partition_indexes=indexes)],
        groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)],
    )


def read_committed_offset(response: OffsetFetchResponse, partition: TopicPartition) -> int | None:
    if response.groups:
        group = response.groups[0]
        _raise_for(group.error_code)
        found = group.topics[0].partitions[0]
        _raise_for(found.error_code, str(partition))
        return found.committed_offset if found.committed_offset >= 0 else None
    _raise_for(response.error_code)
    single = response.topics[0].partitions[0]
    _raise_for(single.error_code, str(partition))
    return single.committed_offset if single.committed_offset >= 0 else None


def commit_request(group: str, offsets: Mapping[TopicPartition, int]) -> OffsetCommitRequest:
    """A commit from outside the group: no member, no generation."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for partition, offset in offsets.items():
        item = OffsetCommitRequestPartition(
            partition_index=partition.partition, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(partition.topic, []).append(item)
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=items) for name, items in topics.items()
        ],
    )


def read_commit(response: OffsetCommitResponse) -> None:
    for topic in response.topics:
        for item in topic.partitions:
            _raise_for(item.error_code, f"{topic.name}-{item.partition_index}")


def _raise_for(error_code: int, where: str | None = None) -> None:
    if error_code:
        code = ErrorCode.of(error_code)
        raise BrokerError(code, f"{where}: {code.explanation}" if where else None)
