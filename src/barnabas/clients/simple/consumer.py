"""The simple consumer: find the leader, choose an offset, fetch bytes, decode them.

Small, synchronous, and the shortest way from a broker to records: no thread, no group, no position
kept. The caller holds the offset. A leader that moved is found again and the call goes on; an
offset out of range is the caller's decision and comes back as an error.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from barnabas.clients._core.blocking_router import BlockingRouter
from barnabas.clients._core.cluster_metadata import Node
from barnabas.clients._core.options import ClientOptions
from barnabas.clients.simple.fetched import FetchedBatches, PartitionOffset
from barnabas.clients.simple.requests import (
    LAST_FETCH_BY_NAME,
    LAST_OFFSETS_BY_NAME,
    FetchPlan,
    commit_request,
    committed_request,
    offsets_request,
    read_commit,
    read_committed_offset,
    read_offset,
)
from barnabas.model.config_keys.simple import SIMPLE_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.records.record import Record
from barnabas.wire.messages.fetch import FetchRequest
from barnabas.wire.messages.offset_commit import OffsetCommitRequest
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest

EARLIEST = -2
LATEST = -1
DEFAULT_FETCH_SIZE = 1024 * 1024
T = TypeVar("T")

_MOVED = frozenset(
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
        self._values: dict[str, Any] = values
        self._router = BlockingRouter(ClientOptions.from_values(values))
        self._timeout_s: float = values["default.api.timeout.ms"] / 1000
        self._isolation = (
            IsolationLevel.READ_COMMITTED
            if values["isolation.level"] == "read_committed"
            else IsolationLevel.READ_UNCOMMITTED
        )

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
        place = TopicPartition(topic, partition)

        def ask(_: float) -> Node:
            self._router.leader(place)
            found = self._router.metadata.leader_of(place)
            assert found is not None
            return found[0]

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
        place = TopicPartition(topic, partition)

        def ask(left_s: float) -> FetchedBatches:
            connection, epoch = self._router.leader(place)
            plan = self._plan(place, offset, fetch_size, epoch)
            version = connection.version_of(FetchRequest)
            if plan.by_name:
                version = min(version, LAST_FETCH_BY_NAME)
            wait_s = plan.max_wait_ms / 1000 + 1
            response = connection.send(
                plan.request(), version=version, timeout_s=max(left_s, wait_s)
            )
            return plan.read(response)

        limit = self._timeout_s if timeout is None else timeout
        return self._router.retry(lambda left: self._at_leader(place, ask, left), limit, str(place))

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
            request = offsets_request(place, timestamp, epoch, self._isolation)
            return read_offset(connection.send(request, timeout_s=left_s), place)

        return self._router.retry(
            lambda left: self._at_leader(place, ask, left), self._timeout_s, f"offsets of {place}"
        )

    def _plan(self, place: TopicPartition, offset: int, size: int, epoch: int) -> FetchPlan:
        values = self._values
        return FetchPlan(
            place,
            self._router.metadata.topics[place.topic].topic_id,
            offset,
            size,
            epoch,
            self._isolation,
            values["fetch.max.wait.ms"],
            values["fetch.min.bytes"],
            values["max.decompressed.batch.bytes"],
        )

    def _at_leader(self, place: TopicPartition, ask: Callable[[float], T], left_s: float) -> T:
        try:
            return ask(left_s)
        except BrokerError as error:
            if error.code in _MOVED:
                self._router.forget_leader(place)
            raise
        except BarnabasError:
            self._router.forget_leader(place)
            raise
