"""The simple consumer: find the leader, choose an offset, fetch bytes, decode them.

Small, synchronous, and the shortest way from a broker to records: no thread, no group, no position
kept. The caller holds the offset. A leader that moved is found again and the call goes on; an
offset out of range is the caller's decision and comes back as an error.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar, cast

from barnabas.clients.core.blocking_router import BlockingRouter
from barnabas.clients.core.cluster_metadata import Node
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.simple.fetched import FetchedBatches, PartitionMetadata, PartitionOffset
from barnabas.clients.simple.requests import (
    DEFAULT_FETCH_SIZE,
    EARLIEST,
    LAST_OFFSETS_BY_NAME,
    LATEST,
    MOVED,
    FetchPlan,
    FetchTarget,
    check_max_offsets,
    commit_request,
    committed_request,
    descending,
    offsets_request,
    read_commit,
    read_committed_offset,
    read_limits,
    read_offset,
)
from barnabas.model.config_keys.simple import SIMPLE_KEYS
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.net.blocking_client import BlockingConnection
from barnabas.records.record import Record
from barnabas.wire.messages.fetch import FetchRequest
from barnabas.wire.messages.offset_commit import OffsetCommitRequest
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest

T = TypeVar("T")


class SimpleConsumer:
    """Reads partitions by offset. For one thread at a time; close it, or use `with`.

    >>> from barnabas.testing import Broker                                   # doctest: +SKIP
    >>> with SimpleConsumer(bootstrap_servers="localhost:9092") as consumer:  # doctest: +SKIP
    ...     offset = consumer.earliest_offset("orders", 0)
    ...     fetched = consumer.fetch("orders", 0, offset)
    ...     for record in fetched.records():
    ...         offset = record.offset + 1
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        values = SIMPLE_KEYS.parse({**(config or {}), **options})
        self._router = BlockingRouter(ClientOptions.from_values(values))
        self._timeout_s: float = values["default.api.timeout.ms"] / 1000
        self._limits = read_limits(values)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the consumer cannot be used after."""
        self._router.close()

    def partitions(self, topic: str) -> list[int]:
        """The partition numbers of a topic."""

        place = TopicPartition(topic, 0)

        def ask(_: float) -> list[int]:
            self._router.leader(place)
            return sorted(self._router.metadata.topics[topic].partitions)

        return self._router.retry(
            lambda left: self._at_leader(place, ask, left),
            self._timeout_s,
            f"the partitions of {topic!r}",
        )

    def leader(self, topic: str, partition: int) -> Node:
        """The broker that leads a partition, found by asking any seed broker."""
        return self.partition_metadata(topic, partition).leader

    def partition_metadata(self, topic: str, partition: int) -> PartitionMetadata:
        """The leader of a partition with all its replicas, found by asking any seed broker.

        >>> consumer.partition_metadata("orders", 0).replicas  # doctest: +SKIP
        (Node(id=1, host='kafka1', port=9092, rack=None), ...)
        """
        place = TopicPartition(topic, partition)

        def ask(_: float) -> PartitionMetadata:
            self._router.leader(place)
            return PartitionMetadata.of(self._router.metadata, place)

        return self._router.retry(
            lambda left: self._at_leader(place, ask, left),
            self._timeout_s,
            f"the leader of {place}",
        )

    def earliest_offset(self, topic: str, partition: int) -> int:
        """The first offset still there."""
        return self._offset_at(topic, partition, EARLIEST).offset

    def latest_offset(self, topic: str, partition: int) -> int:
        """The offset the next record will get, as this isolation level sees it."""
        return self._offset_at(topic, partition, LATEST).offset

    def offset_for_time(
        self, topic: str, partition: int, timestamp_ms: int
    ) -> PartitionOffset | None:
        """The first record at or after a time; None when there is none."""
        found = self._offset_at(topic, partition, timestamp_ms)
        return None if found.offset < 0 else found

    def offsets_before(
        self, topic: str, partition: int, timestamp_ms: int, max_offsets: int = 1
    ) -> list[int]:
        """Offsets from which to read what is older than a time, the greatest first.

        The first one is the offset after the last record older than `timestamp_ms`: of -1 (latest)
        the end of the partition, of -2 (earliest) its beginning. The beginning follows, where
        `max_offsets` allows for two. Kafka's old protocol listed the first offsets of segment
        files between the two; brokers do not tell these any more.

        >>> consumer.offsets_before("orders", 0, -1, max_offsets=2)  # doctest: +SKIP
        [1200, 0]
        """
        check_max_offsets(max_offsets)
        found = self._offset_at(topic, partition, timestamp_ms).offset
        if found < 0:
            found = self.latest_offset(topic, partition)
        return descending((found, self.earliest_offset(topic, partition)), max_offsets)

    def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        fetch_size: int = DEFAULT_FETCH_SIZE,
        *,
        timeout: float | None = None,
    ) -> FetchedBatches:
        """Up to `fetch_size` bytes from `offset` on: at least one whole batch if there is one.

        Waits up to fetch.max.wait.ms at the end of the partition, then returns no batches.
        Raises BrokerError OFFSET_OUT_OF_RANGE when the offset is not there.
        """
        found = self.fetch_many({TopicPartition(topic, partition): offset}, fetch_size, timeout)
        (answer,) = found.values()
        if isinstance(answer, BrokerError):
            raise answer
        return answer

    def fetch_many(
        self,
        offsets: Mapping[TopicPartition, int],
        fetch_size: int = DEFAULT_FETCH_SIZE,
        timeout: float | None = None,
    ) -> dict[TopicPartition, FetchedBatches | BrokerError]:
        """Up to `fetch_size` bytes of each partition from its offset on, by one request per leader.

        A partition that cannot be read, for its offset is out of range, say, has the broker's
        error in its place. The leader of a partition that moved is found again.

        >>> found = consumer.fetch_many({TopicPartition("orders", n): 0 for n in range(3)})
        ... # doctest: +SKIP
        """
        found: dict[TopicPartition, FetchedBatches | BrokerError] = {}
        wanted = {as_topic_partition(place): offset for place, offset in offsets.items()}

        def ask(left_s: float) -> None:
            open_offsets = {p: offset for p, offset in wanted.items() if p not in found}
            for connection, plan in self._plans(open_offsets, fetch_size):
                answers = self._ask_leader(connection, plan, left_s)
                moved = [error for error in answers.values() if _is_moved(error)]
                found.update((p, it) for p, it in answers.items() if not _is_moved(it))
                for place in answers.keys() - found.keys():
                    self._router.forget_leader(place)
                if moved:
                    raise cast(BrokerError, moved[0])

        limit = self._timeout_s if timeout is None else timeout
        self._router.retry(ask, limit, ", ".join(map(str, wanted)))
        return {place: found[place] for place in wanted}

    def records(
        self, topic: str, partition: int, start: int | None = None, end: int | None = None
    ) -> Iterator[Record]:
        """The records from `start` on, before `end`: unless told, all that are there now.

        Fetched as they are asked for, and as this isolation level sees them. DeadlineError when
        the end is not reached and nothing more comes.
        """
        position = self.earliest_offset(topic, partition) if start is None else start
        bound = self.latest_offset(topic, partition) if end is None else end
        moved = time.monotonic()
        while position < bound:
            found, following = self.fetch(topic, partition, position).decode()
            yield from (record for record in found if record.offset < bound)
            if following > position:
                position, moved = following, time.monotonic()
            elif time.monotonic() - moved > self._timeout_s:
                place = TopicPartition(topic, partition)
                raise DeadlineError(f"{place} gives nothing from {position} on; its end is {bound}")

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        """The offset a group has committed, or None."""
        place = TopicPartition(topic, partition)

        def ask(_: float) -> int | None:
            connection = self._router.coordinator(group)
            version = min(connection.version_of(OffsetFetchRequest), LAST_OFFSETS_BY_NAME)
            response = connection.send(committed_request(group, place), version=version)
            return read_committed_offset(response, place)

        return self._router.retry(ask, self._timeout_s, f"the offsets of group {group!r}")

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Store offsets for a group that has no members."""

        def ask(_: float) -> None:
            connection = self._router.coordinator(group)
            version = min(connection.version_of(OffsetCommitRequest), LAST_OFFSETS_BY_NAME)
            read_commit(connection.send(commit_request(group, offsets), version=version))

        self._router.retry(ask, self._timeout_s, f"committing for group {group!r}")

    def _offset_at(self, topic: str, partition: int, timestamp: int) -> PartitionOffset:
        place = TopicPartition(topic, partition)

        def ask(left_s: float) -> PartitionOffset:
            connection, epoch = self._router.leader(place)
            request = offsets_request(place, timestamp, epoch, self._limits.isolation)
            return read_offset(connection.send(request, timeout_s=left_s), place)

        return self._router.retry(
            lambda left: self._at_leader(place, ask, left), self._timeout_s, f"offsets of {place}"
        )

    def _plans(
        self, offsets: Mapping[TopicPartition, int], fetch_size: int
    ) -> list[tuple[BlockingConnection, FetchPlan]]:
        """A fetch for each leader; they share the time that a broker may wait for records."""
        targets: dict[BlockingConnection, list[FetchTarget]] = {}
        for place, offset in offsets.items():
            connection, epoch = self._at_leader(place, lambda _, p=place: self._router.leader(p), 0)  # type: ignore[misc]
            topic_id = self._router.metadata.topics[place.topic].topic_id
            target = FetchTarget(place, topic_id, offset, epoch)
            targets.setdefault(connection, []).append(target)
        wait_ms = self._limits.max_wait_ms // max(len(targets), 1)
        limits = replace(self._limits, max_wait_ms=wait_ms)
        return [(c, FetchPlan(tuple(part), fetch_size, limits)) for c, part in targets.items()]

    def _ask_leader(
        self, connection: BlockingConnection, plan: FetchPlan, left_s: float
    ) -> dict[TopicPartition, FetchedBatches | BrokerError]:
        version = min(connection.version_of(FetchRequest), plan.max_version)
        timeout_s = max(left_s, plan.limits.max_wait_ms / 1000 + 1)
        try:
            response = connection.send(plan.request(), version=version, timeout_s=timeout_s)
            return plan.read(response)
        except BarnabasError:
            for target in plan.targets:
                self._router.forget_leader(target.partition)
            raise

    def _at_leader(self, place: TopicPartition, ask: Callable[[float], T], left_s: float) -> T:
        try:
            return ask(left_s)
        except BrokerError as error:
            if error.code in MOVED:
                self._router.forget_leader(place)
            raise
        except BarnabasError:
            self._router.forget_leader(place)
            raise


def _is_moved(answer: object) -> bool:
    return isinstance(answer, BrokerError) and answer.code in MOVED
