"""Reads offsets of partitions without a replica on this broker from leaders, for group lag.

One ListOffsets request per leader returns the ends of its partitions. A Fetch request returns the
batches at the committed offsets, of which only the timestamps are used: many partitions in one
request with a small limit for each. A leader returns whole batches, so a batch above that limit
is requested in a later call, alone at the head of a request, for which a leader always returns one
batch.

A broker that cannot be reached, or that rejects the request, delays nothing else: its partitions
are missing in the result.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from barnabas.broker.cluster.links import BrokerLink, BrokerLinks
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.metrics.lag import LogBounds, Position, batch_timestamp
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition
from barnabas.wire.messages import fetch, list_offsets

_logger = logging.getLogger("barnabas.broker")
_T = TypeVar("_T")
_EARLIEST, _LATEST = -2, -1
_BY_NAME = 12
"""Last version of Fetch that names topics."""
_WITHOUT_SESSION = -1
_PARTITION_BYTES = 16 * 1024
_RESPONSE_BYTES = 4 * 1024 * 1024
_PARTITIONS_PER_FETCH = 200
_FETCHES = 50
"""Fetch requests to one leader in one call; the other positions are requested in the next call."""
_TIMEOUT_S = 5.0


class RequestedLeaders:
    """A `LeaderQueries` that sends requests; owned by the broker's loop."""

    def __init__(self, metadata: MetadataCache, links: BrokerLinks) -> None:
        self._metadata = metadata
        self._links = links

    async def bounds(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LogBounds]:
        """Returns the first offset and the high watermark of each partition."""
        found: dict[TopicPartition, LogBounds] = {}
        by_leader = self._by_leader(
            (topic_partition, topic_partition) for topic_partition in partitions
        )
        await asyncio.gather(
            *(self._read_bounds(leader, wanted, found) for leader, wanted in by_leader.items())
        )
        return found

    async def timestamps(self, positions: Collection[Position]) -> Mapping[Position, int]:
        """Returns the timestamps of the batches that contain the offsets."""
        found: dict[Position, int] = {}
        by_leader = self._by_leader((position[0], position) for position in positions)
        await asyncio.gather(
            *(self._read_timestamps(leader, wanted, found) for leader, wanted in by_leader.items())
        )
        return found

    def _by_leader(self, items: Iterable[tuple[TopicPartition, _T]]) -> dict[BrokerId, list[_T]]:
        grouped: dict[BrokerId, list[_T]] = defaultdict(list)
        for topic_partition, item in items:
            state = self._metadata.partition(topic_partition)
            if state is not None and state.leader != NO_BROKER:
                grouped[state.leader].append(item)
        return grouped

    async def _read_bounds(
        self,
        leader: BrokerId,
        partitions: list[TopicPartition],
        found: dict[TopicPartition, LogBounds],
    ) -> None:
        link = self._links.to(leader)
        try:
            starts = await _list_offsets(link, partitions, _EARLIEST)
            ends = await _list_offsets(link, partitions, _LATEST)
        except (BarnabasError, OSError) as error:
            _logger.debug("the ends of partitions on broker %d cannot be read: %s", leader, error)
            return
        for topic_partition in starts.keys() & ends.keys():
            found[topic_partition] = LogBounds(starts[topic_partition], ends[topic_partition])

    async def _read_timestamps(
        self, leader: BrokerId, positions: list[Position], found: dict[Position, int]
    ) -> None:
        """Reads timestamps; a leader always returns the first position of a request."""
        link = self._links.to(leader)
        waiting = positions
        for _ in range(_FETCHES):
            if not waiting:
                return
            wanted = _distinct(waiting)
            try:
                timestamps = await _fetch(link, wanted)
            except (BarnabasError, OSError) as error:
                _logger.debug("timestamps on broker %d cannot be read: %s", leader, error)
                return
            found.update(timestamps)
            first = next(iter(wanted.items()))
            waiting = [at for at in waiting if at != first and at not in timestamps]


def _distinct(positions: list[Position]) -> dict[TopicPartition, int]:
    """Returns one position of each partition, in their order; a request names a partition once."""
    found: dict[TopicPartition, int] = {}
    for topic_partition, offset in positions:
        found.setdefault(topic_partition, offset)
        if len(found) == _PARTITIONS_PER_FETCH:
            break
    return found


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    grouped: dict[str, list[TopicPartition]] = defaultdict(list)
    for topic_partition in partitions:
        grouped[topic_partition.topic].append(topic_partition)
    return grouped


async def _list_offsets(
    link: BrokerLink, partitions: list[TopicPartition], timestamp: int
) -> dict[TopicPartition, int]:
    request = list_offsets.ListOffsetsRequest(
        replica_id=NO_BROKER,
        topics=[
            list_offsets.ListOffsetsTopic(
                topic,
                [
                    list_offsets.ListOffsetsPartition(topic_partition.partition, -1, timestamp)
                    for topic_partition in wanted
                ],
            )
            for topic, wanted in _by_topic(partitions).items()
        ],
    )
    response: list_offsets.ListOffsetsResponse = await link.request(request, timeout_s=_TIMEOUT_S)
    return {
        TopicPartition(topic.name, found.partition_index): found.offset
        for topic in response.topics
        for found in topic.partitions
        if not found.error_code
    }


async def _fetch(link: BrokerLink, positions: Mapping[TopicPartition, int]) -> dict[Position, int]:
    """Returns the timestamps of the batches that fit into the response."""
    request = fetch.FetchRequest(
        max_bytes=_RESPONSE_BYTES,
        session_epoch=_WITHOUT_SESSION,
        topics=[
            fetch.FetchTopic(
                topic=topic,
                partitions=[
                    fetch.FetchPartition(
                        partition=topic_partition.partition,
                        fetch_offset=positions[topic_partition],
                        partition_max_bytes=_PARTITION_BYTES,
                    )
                    for topic_partition in wanted
                ],
            )
            for topic, wanted in _by_topic(positions).items()
        ],
    )
    response: fetch.FetchResponse = await link.request(
        request, version=_BY_NAME, timeout_s=_TIMEOUT_S
    )
    found: dict[Position, int] = {}
    for topic in response.responses:
        for data in topic.partitions:
            timestamp = batch_timestamp(data.records) if data.records else None
            if timestamp is not None:
                topic_partition = TopicPartition(topic.topic, data.partition_index)
                found[topic_partition, positions[topic_partition]] = timestamp
    return found
