"""The simple consumer: finds the leader, fetches batches from an offset and decodes them.

Synchronous and small: no background thread, no group, no stored position. The caller keeps the
offset. The consumer looks up a leader that moved and repeats the call; an offset out of range is
an error for the caller, who decides where to continue.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, Unpack

from barnabas.clients.core.apis.fetch import FetchTarget
from barnabas.clients.core.blocking_router import BlockingRouter
from barnabas.clients.core.cluster_metadata import Node, PartitionMetadata
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.simple.requests import (
    DEFAULT_FETCH_SIZE,
    LEADER_MOVED,
    CommittedOffsetQuery,
    Fetched,
    FetchedBatches,
    GroupCommit,
    PartitionOffset,
    PartitionOffsetQuery,
    SimpleFetchPlan,
    SimpleFetchSettings,
    add_final_results,
    check_max_offsets,
    largest_offsets,
    no_progress,
    pending_offsets,
)
from barnabas.model.config import merged
from barnabas.model.config_keys.client import SIMPLE_KEYS
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.model.records import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from barnabas.net.blocking_client import BlockingConnection
from barnabas.records.record import Record
from barnabas.runtime.closing import ClosesOnExit
from barnabas.wire.message import Request, ResponseT
from barnabas.wire.messages.fetch import FetchRequest

if TYPE_CHECKING:
    from barnabas.model.config_keys.keywords import SimpleConsumerKeywords

T = TypeVar("T")


class SimpleConsumer(ClosesOnExit):
    """Reads partitions by offset. One thread at a time may use it; close it, or use `with`.

    Args:
        config: configuration keys in Kafka's spelling (`{"bootstrap.servers": "kafka1:9092"}`).
        **options: the same keys with underscores (`bootstrap_servers="kafka1:9092"`).

    Raises:
        ConfigError: a key is unknown or a value is invalid.

    Every call raises DeadlineError if the brokers do not respond within `default.api.timeout.ms`.

    >>> with SimpleConsumer(bootstrap_servers="localhost:9092") as consumer:  # doctest: +SKIP
    ...     offset = consumer.earliest_offset("orders", 0)
    ...     fetched = consumer.fetch("orders", 0, offset)
    ...     for record in fetched.records():
    ...         offset = record.offset + 1
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        **options: "Unpack[SimpleConsumerKeywords]",
    ) -> None:
        values = SIMPLE_KEYS.parse(merged(config, options))
        self._router = BlockingRouter(ClientOptions.from_values(values))
        self._timeout_s: float = values["default.api.timeout.ms"] / 1000
        self._settings = SimpleFetchSettings.from_values(values)

    def close(self) -> None:
        """Closes all connections. The consumer cannot be used afterwards."""
        self._router.close()

    # -- partitions ----------------------------------------------------------------------------

    def partitions(self, topic: str) -> list[int]:
        """Returns the partition numbers of a topic, in ascending order."""
        topic_partition = TopicPartition(topic, 0)

        def attempt(_: float) -> list[int]:
            self._router.leader(topic_partition)
            return sorted(self._router.metadata.topics[topic].partitions)

        return self._at_leader(topic_partition, attempt, f"the partitions of {topic!r}")

    def leader(self, topic: str, partition: int) -> Node:
        """Returns the broker that leads a partition."""
        leader = self.partition_metadata(topic, partition).leader
        assert leader is not None  # partition_metadata() waits for one
        return leader

    def partition_metadata(self, topic: str, partition: int) -> PartitionMetadata:
        """Returns the leader, the replicas and the in-sync replicas of a partition.

        >>> consumer.partition_metadata("orders", 0).replicas  # doctest: +SKIP
        (Node(id=1, host='kafka1', port=9092, rack=None), ...)
        """
        topic_partition = TopicPartition(topic, partition)

        def attempt(_: float) -> PartitionMetadata:
            self._router.leader(topic_partition)
            return self._router.metadata.describe(topic_partition)

        return self._at_leader(topic_partition, attempt, f"the leader of {topic_partition}")

    # -- offsets -------------------------------------------------------------------------------

    def earliest_offset(self, topic: str, partition: int) -> int:
        """Returns the log start offset of a partition."""
        return self._offset_at(topic, partition, EARLIEST_TIMESTAMP).offset

    def latest_offset(self, topic: str, partition: int) -> int:
        """Returns the high watermark, or the last stable offset with `read_committed`."""
        return self._offset_at(topic, partition, LATEST_TIMESTAMP).offset

    def offset_for_time(
        self, topic: str, partition: int, timestamp_ms: int
    ) -> PartitionOffset | None:
        """Returns the first record at or after a time, None if there is none."""
        found = self._offset_at(topic, partition, timestamp_ms)
        return None if found.offset < 0 else found

    def offsets_before(
        self, topic: str, partition: int, timestamp_ms: int, max_offsets: int = 1
    ) -> list[int]:
        """Returns offsets to start from in order to read records before a time, largest first.

        The first offset is the one after the last record older than `timestamp_ms`; with -1
        (latest) it is the end of the partition, with -2 (earliest) its start. The second one is
        the start of the partition. Kafka's old protocol also listed the first offsets of the
        segments between the two; brokers no longer return them.

        Args:
            max_offsets: maximum length of the result, at least 1.

        >>> consumer.offsets_before("orders", 0, -1, max_offsets=2)  # doctest: +SKIP
        [1200, 0]
        """
        check_max_offsets(max_offsets)
        found = self._offset_at(topic, partition, timestamp_ms).offset
        if found < 0:
            found = self.latest_offset(topic, partition)
        return largest_offsets((found, self.earliest_offset(topic, partition)), max_offsets)

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        """Returns the committed offset of a group, None if it has none for this partition."""
        query = CommittedOffsetQuery(group, TopicPartition(topic, partition))
        request = query.request()

        def attempt(_: float) -> int | None:
            return query.read(self._to_coordinator(group, request, query.LAST_VERSION))

        return self._router.retry(attempt, self._timeout_s, str(query))

    def commit(self, group: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Stores committed offsets for a group that has no members.

        Raises:
            BrokerError: UNKNOWN_MEMBER_ID while the group has members.
        """
        commit = GroupCommit(group, offsets)
        request = commit.request()

        def attempt(_: float) -> None:
            commit.check(self._to_coordinator(group, request, commit.LAST_VERSION))

        self._router.retry(attempt, self._timeout_s, str(commit))

    # -- records -------------------------------------------------------------------------------

    def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        fetch_size: int = DEFAULT_FETCH_SIZE,
        *,
        timeout: float | None = None,
    ) -> FetchedBatches:
        """Fetches up to `fetch_size` bytes from `offset` on, at least one whole batch.

        At the end of the partition the broker waits up to `fetch.max.wait.ms` for new records;
        the result has no batches if none arrive.

        Args:
            timeout: seconds for the call instead of `default.api.timeout.ms`.

        Raises:
            BrokerError: OFFSET_OUT_OF_RANGE if the partition does not have the offset.
        """
        found = self.fetch_many({TopicPartition(topic, partition): offset}, fetch_size, timeout)
        (batches,) = found.values()
        if isinstance(batches, BrokerError):
            raise batches
        return batches

    def fetch_many(
        self,
        offsets: Mapping[TopicPartition, int],
        fetch_size: int = DEFAULT_FETCH_SIZE,
        timeout: float | None = None,
    ) -> dict[TopicPartition, FetchedBatches | BrokerError]:
        """Fetches up to `fetch_size` bytes of each partition with one request per leader.

        A partition that cannot be read (for example, because its offset is out of range) has the
        broker's error as its value.

        >>> found = consumer.fetch_many({TopicPartition("orders", n): 0 for n in range(3)})
        ... # doctest: +SKIP
        """
        found: Fetched = {}
        wanted = {as_topic_partition(given): offset for given, offset in offsets.items()}

        def attempt(left_s: float) -> None:
            for connection, plan in self._plans(pending_offsets(wanted, found), fetch_size):
                results = self._fetch_from(connection, plan, left_s)
                moved = add_final_results(results, found)
                for topic_partition in moved:
                    self._router.forget_leader(topic_partition)
                if moved:
                    raise next(iter(moved.values()))

        limit_s = self._timeout_s if timeout is None else timeout
        self._router.retry(attempt, limit_s, ", ".join(map(str, wanted)))
        return {topic_partition: found[topic_partition] for topic_partition in wanted}

    def records(
        self, topic: str, partition: int, start: int | None = None, end: int | None = None
    ) -> Iterator[Record]:
        """Yields the records from offset `start` up to, but without, offset `end`.

        Args:
            start: the default is the log start offset.
            end: the default is the latest offset at the time of the call.

        Raises:
            DeadlineError: no further records arrive although `end` is not reached.
        """
        position = self.earliest_offset(topic, partition) if start is None else start
        bound = self.latest_offset(topic, partition) if end is None else end
        progress = time.monotonic()
        while position < bound:
            found, following = self.fetch(topic, partition, position).decode()
            yield from (record for record in found if record.offset < bound)
            if following > position:
                position, progress = following, time.monotonic()
            elif time.monotonic() - progress > self._timeout_s:
                raise no_progress(topic, partition, position, bound)

    # -- private ------------------------------------------------------------------------------

    def _offset_at(self, topic: str, partition: int, timestamp: int) -> PartitionOffset:
        topic_partition = TopicPartition(topic, partition)

        def attempt(left_s: float) -> PartitionOffset:
            connection, epoch = self._router.leader(topic_partition)
            query = PartitionOffsetQuery(topic_partition, timestamp, epoch)
            request = query.request(self._settings.isolation)
            return query.read(connection.send(request, timeout_s=left_s))

        return self._at_leader(topic_partition, attempt, f"offsets of {topic_partition}")

    def _plans(
        self, offsets: Mapping[TopicPartition, int], fetch_size: int
    ) -> list[tuple[BlockingConnection, SimpleFetchPlan]]:
        """Returns one fetch per leader."""
        targets: dict[BlockingConnection, dict[TopicPartition, FetchTarget]] = {}
        for topic_partition, offset in offsets.items():
            connection, epoch = self._leader_of(topic_partition)
            topic_id = self._router.metadata.topics[topic_partition.topic].topic_id
            target = FetchTarget(topic_id, offset, epoch, fetch_size)
            targets.setdefault(connection, {})[topic_partition] = target
        settings = self._settings.sharing_wait(len(targets))
        return [(node, SimpleFetchPlan(part, settings)) for node, part in targets.items()]

    def _leader_of(self, topic_partition: TopicPartition) -> tuple[BlockingConnection, int]:
        with self._forgetting_leader(topic_partition):
            return self._router.leader(topic_partition)

    def _fetch_from(
        self, connection: BlockingConnection, plan: SimpleFetchPlan, left_s: float
    ) -> Fetched:
        version = plan.version(connection.version_of(FetchRequest))
        timeout_s = max(left_s, plan.settings.max_wait_ms / 1000 + 1)
        try:
            response = connection.send(plan.request(), version=version, timeout_s=timeout_s)
            return plan.read(response)
        except BarnabasError:
            for topic_partition in plan.targets:
                self._router.forget_leader(topic_partition)
            raise

    def _to_coordinator(
        self, group: str, request: Request[ResponseT], last_version: int
    ) -> ResponseT:
        connection = self._router.coordinator(group)
        version = min(connection.version_of(type(request)), last_version)
        return connection.send(request, version=version)

    def _at_leader(
        self, topic_partition: TopicPartition, attempt: Callable[[float], T], what: str
    ) -> T:
        """Retries `attempt(seconds left)`; looks up the leader again after an error."""

        def guarded(left_s: float) -> T:
            with self._forgetting_leader(topic_partition):
                return attempt(left_s)

        return self._router.retry(guarded, self._timeout_s, what)

    @contextmanager
    def _forgetting_leader(self, topic_partition: TopicPartition) -> Iterator[None]:
        try:
            yield
        except BrokerError as error:
            if error.code in LEADER_MOVED:
                self._router.forget_leader(topic_partition)
            raise
        except BarnabasError:
            self._router.forget_leader(topic_partition)
            raise
