"""The requests of both simple consumers and their results: batches and offsets; without IO."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from barnabas.clients.core.apis.committed_offsets import (
    LAST_OFFSET_COMMIT_BY_NAME,
    LAST_OFFSET_FETCH_BY_NAME,
    check_offset_commit,
    offset_commit_request,
    offset_fetch_request,
    read_requested_committed,
)
from barnabas.clients.core.apis.fetch import (
    FetchOptions,
    FetchSelection,
    FetchTarget,
    aborted_transactions,
    all_have_ids,
    fetch_request,
    fetched_partitions,
)
from barnabas.clients.core.apis.list_offsets import (
    OffsetQuery,
    list_offsets_request,
    read_requested_offsets,
)
from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    DeadlineError,
    LocalError,
    ProtocolError,
    error_for,
    raise_for,
)
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import GroupMetadata, IsolationLevel, OffsetAndMetadata
from barnabas.records.reader import FetchDecoder
from barnabas.records.record import Record
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData
from barnabas.wire.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from barnabas.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class PartitionOffset:
    """An offset with the timestamp and leader epoch of its record, -1 if unknown."""

    offset: int
    timestamp: int = -1
    leader_epoch: int = -1


@dataclass(frozen=True, slots=True)
class FetchedBatches:
    """The batches of one partition from an offset on; they are decoded on request.

    The first batch may begin before the requested offset: `data` contains its earlier records,
    `records()` does not. `aborted` is None unless `isolation.level` is `read_committed`.

    >>> for record in consumer.fetch("orders", 0, 0).records():  # doctest: +SKIP
    ...     print(record.value)
    """

    partition: TopicPartition
    fetch_offset: int
    data: memoryview
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[tuple[int, int], ...] | None
    max_decompressed: int

    def records(self) -> list[Record]:
        """Returns the records, without control records and records of aborted transactions.

        Raises:
            CorruptRecordError: a batch cannot be decoded.
        """
        return self.decode()[0]

    def decode(self) -> tuple[list[Record], int]:
        """Returns the records and the next offset to fetch (after gaps, markers, empty batches)."""
        decoder = self.decoder()
        return decoder.take(), decoder.next_offset

    def arrow(self) -> "pyarrow.RecordBatch":
        """Returns the records as one Arrow batch; needs the extra `arrow`."""
        from barnabas.records.arrow import take_arrow  # optional extra: pyarrow

        return take_arrow(self.decoder())

    def decoder(self) -> FetchDecoder:
        """Returns a decoder at the first requested record."""
        return FetchDecoder(
            self.data,
            self.partition.topic,
            self.partition.partition,
            fetch_offset=self.fetch_offset,
            aborted=self.aborted,
            max_decompressed=self.max_decompressed,
        )


DEFAULT_FETCH_SIZE = 1024 * 1024

LEADER_MOVED = frozenset(
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
"""Errors after which the consumer looks up the leader again."""

MAX_INT = 2**31 - 1


Fetched = dict[TopicPartition, FetchedBatches | BrokerError]
"""The batches of each partition, or the error that the broker returned for it."""


@dataclass(frozen=True, slots=True)
class SimpleFetchSettings:
    """The settings that all fetches of a simple consumer share."""

    isolation: IsolationLevel
    max_wait_ms: int
    min_bytes: int
    max_decompressed: int

    @classmethod
    def from_values(cls, values: ConfigValues) -> "SimpleFetchSettings":
        """Returns the settings from the parsed values of `SIMPLE_KEYS`."""
        committed = values["isolation.level"] == "read_committed"
        return cls(
            IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED,
            values["fetch.max.wait.ms"],
            values["fetch.min.bytes"],
            values["max.decompressed.batch.bytes"],
        )

    def sharing_wait(self, requests: int) -> "SimpleFetchSettings":
        """Returns settings for requests sent one after the other: they share fetch.max.wait.ms."""
        return replace(self, max_wait_ms=self.max_wait_ms // max(requests, 1))


@dataclass(frozen=True, slots=True)
class SimpleFetchPlan:
    """One fetch from one broker, outside a fetch session."""

    targets: Mapping[TopicPartition, FetchTarget]
    settings: SimpleFetchSettings

    def version(self, newest: int) -> int:
        """Returns the version to send, given the newest one that both sides support."""
        return self._selection().version(newest)

    def request(self) -> FetchRequest:
        """Builds the request."""
        total = sum(target.max_bytes for target in self.targets.values())
        options = FetchOptions(
            self.settings.max_wait_ms,
            self.settings.min_bytes,
            min(total, MAX_INT),
            self.settings.isolation,
        )
        return fetch_request(self._selection(), options)

    def read(self, response: FetchResponse) -> Fetched:
        """Returns the batches or the error of each partition.

        Raises:
            BrokerError: the error of the whole response.
            ProtocolError: the response does not contain a requested partition.
        """
        raise_for(response.error_code, "fetch")
        names: dict[Uuid, str] = {
            target.topic_id: topic_partition.topic
            for topic_partition, target in self.targets.items()
        }
        by_partition = dict(fetched_partitions(response, names))
        found: Fetched = {}
        for topic_partition, target in self.targets.items():
            data = by_partition.get(topic_partition)
            if data is None:
                raise ProtocolError(f"the response to a fetch does not contain {topic_partition}")
            what = f"{topic_partition} at offset {target.offset}"
            found[topic_partition] = error_for(data.error_code, what) or self._batches(
                topic_partition, target, data
            )
        return found

    def _selection(self) -> FetchSelection:
        return FetchSelection(self.targets, all_have_ids(self.targets))

    def _batches(
        self, topic_partition: TopicPartition, target: FetchTarget, data: PartitionData
    ) -> FetchedBatches:
        return FetchedBatches(
            topic_partition,
            target.offset,
            memoryview(b"") if data.records is None else data.records,
            data.high_watermark,
            data.last_stable_offset,
            data.log_start_offset,
            aborted_transactions(data, self.settings.isolation),
            self.settings.max_decompressed,
        )


@dataclass(frozen=True, slots=True)
class PartitionOffsetQuery:
    """Reads one offset of one partition with ListOffsets."""

    topic_partition: TopicPartition
    timestamp: int
    leader_epoch: int

    def request(self, isolation: IsolationLevel) -> ListOffsetsRequest:
        """Builds the request."""
        return list_offsets_request(self._queries(), isolation)

    def read(self, response: ListOffsetsResponse) -> PartitionOffset:
        """Returns the offset, -1 if no record has the timestamp or a later one; raises errors."""
        (found,) = read_requested_offsets(response, self._queries()).values()
        if isinstance(found, BarnabasError):
            raise found
        return PartitionOffset(found.offset, found.timestamp, found.leader_epoch)

    def _queries(self) -> dict[TopicPartition, OffsetQuery]:
        return {self.topic_partition: OffsetQuery(self.timestamp, self.leader_epoch)}


@dataclass(frozen=True, slots=True)
class CommittedOffsetQuery:
    """Reads the committed offset of a group for one partition."""

    LAST_VERSION = LAST_OFFSET_FETCH_BY_NAME
    group: str
    topic_partition: TopicPartition

    def __str__(self) -> str:
        return f"the offsets of group {self.group!r}"

    def request(self) -> OffsetFetchRequest:
        """Builds the request."""
        return offset_fetch_request(GroupMetadata(self.group), [self.topic_partition])

    def read(self, response: OffsetFetchResponse) -> int | None:
        """Returns the offset, None if the group has none for this partition; raises errors."""
        found = read_requested_committed(response, [self.topic_partition])[self.topic_partition]
        return None if found is None else found.offset


@dataclass(frozen=True, slots=True)
class GroupCommit:
    """Commits offsets for a group that has no members."""

    LAST_VERSION = LAST_OFFSET_COMMIT_BY_NAME
    group: str
    offsets: Mapping[TopicPartition, int]

    def __str__(self) -> str:
        return f"committing for group {self.group!r}"

    def request(self) -> OffsetCommitRequest:
        """Builds the request."""
        positions = {
            topic_partition: OffsetAndMetadata(offset)
            for topic_partition, offset in self.offsets.items()
        }
        return offset_commit_request(GroupMetadata(self.group), positions)

    def check(self, response: OffsetCommitResponse) -> None:
        """Raises the first error of the response."""
        check_offset_commit(response, self.offsets)


def pending_offsets(
    wanted: Mapping[TopicPartition, int], found: Container[TopicPartition]
) -> dict[TopicPartition, int]:
    """Returns the offsets to fetch of partitions that have no result yet."""
    return {
        topic_partition: offset
        for topic_partition, offset in wanted.items()
        if topic_partition not in found
    }


def add_final_results(results: Fetched, found: Fetched) -> dict[TopicPartition, BrokerError]:
    """Adds results to `found`, except errors of a moved leader, which it returns for a retry."""
    moved: dict[TopicPartition, BrokerError] = {}
    for topic_partition, result in results.items():
        if isinstance(result, BrokerError) and result.code in LEADER_MOVED:
            moved[topic_partition] = result
        else:
            found[topic_partition] = result
    return moved


def no_progress(topic: str, partition: int, position: int, end: int) -> DeadlineError:
    """Returns the error of an iteration that gets no records before the end."""
    return DeadlineError(
        f"{TopicPartition(topic, partition)}: no records from offset {position} on, "
        f"although its end is {end}"
    )


def largest_offsets(found: Iterable[int], max_offsets: int) -> list[int]:
    """Returns up to `max_offsets` different offsets, the largest first."""
    return sorted(set(found), reverse=True)[:max_offsets]


def check_max_offsets(max_offsets: int) -> None:
    """Raises LocalError if `max_offsets` is below 1."""
    if max_offsets < 1:
        raise LocalError(f"max_offsets={max_offsets}: must be at least 1")
