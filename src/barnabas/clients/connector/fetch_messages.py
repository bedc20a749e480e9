"""The fetchers' requests and what their answers mean, without IO."""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from barnabas.clients.connector.settings import FetchSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.model.java_hash import java_abs, java_string_hash
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

LAST_FETCH_BY_NAME = 12
"""The last version of Fetch that names topics; later ones need a topic id."""

MAX_RESPONSE_BYTES = 2**31 - 1
_BATCH_START = struct.Struct(">qi")
_LAST_DELTA = struct.Struct(">i")
_LOG_OVERHEAD, _MAGIC_AT, _LAST_DELTA_AT = 12, 16, 23


def fetcher_id(place: TopicPartition, fetchers: int) -> int:
    """Which of a broker's fetchers reads a partition; Kafka's formula, in 32 bits."""
    value = (31 * java_string_hash(place.topic) + place.partition) & 0xFFFFFFFF
    return java_abs(value - 0x1_0000_0000 if value >= 0x8000_0000 else value) % fetchers


def by_topic(places: Iterable[TopicPartition]) -> list[tuple[str, list[TopicPartition]]]:
    """Grouped by topic, in the order given: who comes first is served first."""
    groups: dict[str, list[TopicPartition]] = {}
    for place in places:
        groups.setdefault(place.topic, []).append(place)
    return list(groups.items())


def fetch_request(
    positions: Mapping[TopicPartition, int], settings: FetchSettings, max_wait_ms: int
) -> FetchRequest:
    """A full fetch, outside any session."""
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=settings.min_bytes,
        max_bytes=MAX_RESPONSE_BYTES,
        isolation_level=settings.isolation,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(
                        partition=place.partition,
                        fetch_offset=positions[place],
                        partition_max_bytes=settings.partition_max_bytes,
                    )
                    for place in places
                ],
            )
            for topic, places in by_topic(positions)
        ],
    )


@dataclass(frozen=True, slots=True)
class PartitionAnswer:
    """One partition of a fetch answer."""

    place: TopicPartition
    code: ErrorCode
    records: memoryview
    aborted: tuple[tuple[int, int], ...] | None


def read_answers(response: FetchResponse, isolation: IsolationLevel) -> Iterator[PartitionAnswer]:
    """Every partition of an answer; raises the error of the whole."""
    if response.error_code:
        raise BrokerError(ErrorCode.of(response.error_code))
    for topic in response.responses:
        for found in topic.partitions:
            yield PartitionAnswer(
                TopicPartition(topic.topic, found.partition_index),
                ErrorCode.of(found.error_code),
                memoryview(b"") if found.records is None else found.records,
                _aborted(found) if isolation is IsolationLevel.READ_COMMITTED else None,
            )


def _aborted(found: PartitionData) -> tuple[tuple[int, int], ...]:
    entries = found.aborted_transactions or ()
    return tuple((entry.producer_id, entry.first_offset) for entry in entries)


def next_fetch_offset(records: memoryview, fetch_offset: int) -> int:
    """The offset after the last whole batch, read from the batches' heads alone.

    A message set of the old formats (magic 0 and 1) has the offset of its last message in front.
    """
    position, following, size = 0, fetch_offset, len(records)
    while size - position > _MAGIC_AT:
        offset, length = _BATCH_START.unpack_from(records, position)
        if length <= 0:
            raise ProtocolError(f"a batch of {length} bytes")
        end = position + _LOG_OVERHEAD + length
        if end > size or end < position + _LAST_DELTA_AT:
            break
        if records[position + _MAGIC_AT] >= 2:
            offset += _LAST_DELTA.unpack_from(records, position + _LAST_DELTA_AT)[0]
        following = max(following, offset + 1)
        position = end
    return following


def offset_request(
    places: Iterable[TopicPartition], timestamp: int, isolation: IsolationLevel
) -> ListOffsetsRequest:
    """The offsets of a special timestamp."""
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation,
        topics=[
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(partition_index=place.partition, timestamp=timestamp)
                    for place in group
                ],
            )
            for topic, group in by_topic(sorted(places))
        ],
    )


def read_offsets(response: ListOffsetsResponse) -> tuple[dict[TopicPartition, int], set[ErrorCode]]:
    """The offsets that were found, and the errors of the others."""
    found: dict[TopicPartition, int] = {}
    errors: set[ErrorCode] = set()
    for topic in response.topics:
        for item in topic.partitions:
            if item.error_code or item.offset < 0:
                errors.add(ErrorCode.of(item.error_code))
            else:
                found[TopicPartition(topic.name, item.partition_index)] = item.offset
    return found, errors
