"""The simple consumer's requests and what their responses mean, without IO."""

from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.clients.simple.fetched import FetchedBatches, PartitionOffset
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
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

LAST_FETCH_BY_NAME = 12
"""The last version of Fetch that names topics; later ones need a topic id."""

LAST_OFFSETS_BY_NAME = 9
"""The same for OffsetCommit and OffsetFetch."""


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """One fetch of one partition."""

    partition: TopicPartition
    topic_id: Uuid
    offset: int
    fetch_size: int
    leader_epoch: int
    isolation: IsolationLevel
    max_wait_ms: int
    min_bytes: int
    max_decompressed: int

    @property
    def by_name(self) -> bool:
        """Whether the topic has no id to go by."""
        return self.topic_id == ZERO_UUID

    def request(self) -> FetchRequest:
        """A full fetch, outside any session."""
        partition = FetchPartition(
            partition=self.partition.partition,
            current_leader_epoch=self.leader_epoch,
            fetch_offset=self.offset,
            partition_max_bytes=self.fetch_size,
        )
        topic = FetchTopic(
            topic=self.partition.topic, topic_id=self.topic_id, partitions=[partition]
        )
        return FetchRequest(
            max_wait_ms=self.max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.fetch_size,
            isolation_level=self.isolation,
            topics=[topic],
        )

    def read(self, response: FetchResponse) -> FetchedBatches:
        """The batches, or the error the broker answered."""
        _raise_for(response.error_code)
        if not response.responses or not response.responses[0].partitions:
            raise ProtocolError(f"the response to a fetch of {self.partition} does not name it")
        found = response.responses[0].partitions[0]
        _raise_for(found.error_code, f"{self.partition} at offset {self.offset}")
        aborted = None
        if self.isolation is IsolationLevel.READ_COMMITTED:
            entries = found.aborted_transactions or ()
            aborted = tuple((entry.producer_id, entry.first_offset) for entry in entries)
        return FetchedBatches(
            self.partition,
            self.offset,
            memoryview(b"") if found.records is None else found.records,
            found.high_watermark,
            found.last_stable_offset,
            found.log_start_offset,
            aborted,
            self.max_decompressed,
        )


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
