"""Serves one fetch request: reads its partitions, repeatedly if needed, and builds the response.

A read determines file ranges and copies no data. If its result is not sent, it is released.
"""

from collections.abc import Callable, Collection
from typing import Protocol

from barnabas.broker.access.access import Authorizers, fetch_permission
from barnabas.broker.error_responses import leader_hint, node_endpoints
from barnabas.broker.fetch_sessions import (
    CachedFetchSession,
    FetchSessionCache,
    PartitionChanges,
    SessionFetchPlan,
    SessionPartition,
)
from barnabas.broker.handler import HandlerContext, RequestPorts
from barnabas.broker.metrics.topic_metrics import TopicMetrics
from barnabas.model.control import NO_BROKER_EPOCH
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_BROKER, BrokerId, TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.replication import partition_reader
from barnabas.replication.partition import Partition
from barnabas.replication.partition_reader import PartitionRead, needs_high_watermark
from barnabas.replication.ports import FetchSpec, ReplicaLog
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.runtime.clock import Clock
from barnabas.runtime.slices import in_slices
from barnabas.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

_HINTS_FROM = 12
_ENDPOINTS_FROM = 16
MANY_PARTITIONS = 250
"""A request without a session that names more partitions is served in slices."""
# An enum member is looked up by a slow path of its class; these run for each request.
_COMMITTED = IsolationLevel.READ_COMMITTED
_UNCOMMITTED = IsolationLevel.READ_UNCOMMITTED


class FetchPorts(RequestPorts, Protocol):
    """Parts of the broker that a fetch uses."""

    authorizers: Authorizers
    clock: Clock
    fetch_sessions: FetchSessionCache
    replicas: ReplicaManager
    topic_metrics: TopicMetrics


class FetchJob:
    """Reads the partitions of one fetch request.

    Created per request; `read` and `discard` alternate until `response` is called.
    """

    __slots__ = (
        "_budget",
        "_bytes",
        "_ctx",
        "_failed",
        "_isolation",
        "_may_read",
        "_plan",
        "_reads",
        "_replica_epoch",
        "_replica_id",
        "_request",
        "_urgent",
        "_waiting",
    )

    def __init__(
        self, ctx: HandlerContext[FetchPorts], request: FetchRequest, plan: SessionFetchPlan
    ) -> None:
        self._ctx = ctx
        self._request = request
        self._plan = plan
        self._isolation = _COMMITTED if request.isolation_level else _UNCOMMITTED
        state = request.replica_state
        self._replica_id = BrokerId(request.replica_id if state is None else state.replica_id)
        self._replica_epoch = NO_BROKER_EPOCH if state is None else state.replica_epoch
        authorizer = ctx.services.authorizers.of(ctx.connection.listener_name)
        self._may_read = (
            None
            if authorizer is None
            else fetch_permission(ctx, authorizer, follower=self._replica_id >= 0)
        )
        self._reads: list[tuple[SessionPartition, PartitionData]] = []
        self._budget = 0
        self._bytes = 0
        self._failed = False
        self._urgent = False
        self._waiting: dict[Partition, SessionPartition | None] = {}

    def wait_for(self) -> Collection[Partition]:
        """Returns the requested partitions that this broker has, after a read without result."""
        waiting = self._waiting
        for target in self._plan.targets:
            partition = self._find(target)
            if partition is not None:
                # None: the request names the partition twice, so no single target belongs to it.
                waiting[partition] = None if partition in waiting else target
        return waiting.keys()

    def read(self) -> bool:
        """Reads all partitions; returns whether the response can be sent now."""
        self._begin_read()
        self._read_targets(self._plan.targets)
        return self._can_respond()

    async def read_in_slices(self) -> bool:
        """Like `read`; the loop serves other requests between two slices of the partitions."""
        self._begin_read()
        async for target in in_slices(self._plan.targets):
            self._read_targets([target])
        return self._can_respond()

    def _begin_read(self) -> None:
        self._reads = []
        self._bytes = 0
        self._failed = not self._plan.targets
        self._urgent = False
        limit: int = self._ctx.services.config["fetch.max.bytes"]
        self._budget = min(self._request.max_bytes, limit)

    def _read_targets(self, targets: list[SessionPartition]) -> None:
        now_ms = self._ctx.services.clock.monotonic_ms()
        for target in targets:
            if target.read_from is not None and self._is_idle(target, target.read_from, now_ms):
                continue
            data = self._read_one(target, self._budget)
            size = len(data.records)
            self._bytes += size
            self._budget = max(self._budget - size, 0)
            self._reads.append((target, data))

    def _can_respond(self) -> bool:
        return self._failed or self._urgent or self._bytes >= self._request.min_bytes

    def _is_idle(self, target: SessionPartition, partition: Partition, now_ms: int) -> bool:
        """Whether a session's partition has neither records nor news since the latest read.

        A session with many partitions mostly consists of these, so they are not read: the latest
        read of this position succeeded in the same leader epoch, in which a leader's log only
        grows. A follower's fetch is recorded.
        """
        log = partition.log
        if (
            self._plan.session is None
            or partition.leader_epoch != target.read_epoch
            or not partition.is_leader
            or log.high_watermark != target.sent_high_watermark
            or log.log_start_offset != target.sent_log_start_offset
            or self._find(target) is not partition
            or (self._may_read is not None and not self._is_allowed(self._may_read, target))
        ):
            return False
        if self._replica_id < 0:
            return self._bound(log) == target.fetch_offset and not self._request.rack_id
        return partition_reader.try_record_idle_follower(
            partition, self._replica_id, self._replica_epoch, target.fetch_offset, now_ms
        )

    def _bound(self, log: ReplicaLog) -> int:
        """Returns the first offset that the sender of this fetch cannot read yet."""
        if self._replica_id >= 0:
            return log.log_end_offset
        if self._isolation is _COMMITTED:
            return log.last_stable_offset
        return log.high_watermark

    def discard(self) -> None:
        """Releases the result of `read`."""
        for _, data in self._reads:
            _release(data)
        self._reads = []

    def may_have_enough(self, partition: Partition) -> bool:
        """Returns False only if a change of this partition brought no new data; cheap."""
        target = self._waiting.get(partition)
        if target is None or not partition.is_leader:
            return True
        if self._bound(partition.log) != target.fetch_offset:
            return True
        return self._replica_id >= 0 and needs_high_watermark(partition, self._replica_id)

    def response(self) -> FetchResponse:
        """Returns the response with the last read; a session omits unchanged partitions."""
        session = self._session()
        response = self._empty_response(session)
        self._count_replication()
        self._add_reads(response, session, self._reads)
        return response

    async def response_in_slices(self) -> FetchResponse:
        """Like `response`; the loop serves other requests between two slices of the partitions."""
        session = self._session()
        response = self._empty_response(session)
        self._count_replication()
        async for read in in_slices(self._reads):
            self._add_reads(response, session, [read])
        return response

    def _session(self) -> CachedFetchSession | None:
        if self._plan.session is not None:
            return self._plan.session
        services = self._ctx.services
        return services.fetch_sessions.try_create(
            self._plan, privileged=self._replica_id >= 0, now_ms=services.clock.monotonic_ms()
        )

    @staticmethod
    def _empty_response(session: CachedFetchSession | None) -> FetchResponse:
        return FetchResponse(session_id=session.session_id if session is not None else 0)

    def _add_reads(
        self,
        response: FetchResponse,
        session: CachedFetchSession | None,
        reads: list[tuple[SessionPartition, PartitionData]],
    ) -> None:
        self._count_topics(reads)
        included = reads
        if session is not None:
            incremental = self._plan.session is not None
            # `has_news` also stores the state to be sent, so it is called for every partition.
            with_news = [(t, d, session.has_news(t, _news(d))) for t, d in reads]
            included = [(t, d) for t, d, news in with_news if news or not incremental]
        _add_by_topic(response.responses, included)
        if self._ctx.version >= _HINTS_FROM and self._failed:
            self._add_hints(response, included)

    def _count_replication(self) -> None:
        """Counts the response's bytes for the replication throttle (KIP-73)."""
        services = self._ctx.services
        throttle = services.replicas.settings.leader_throttle
        if self._replica_id < 0 or throttle is None or not throttle.active:
            return
        now_ms = services.clock.monotonic_ms()
        for target, data in self._reads:
            partition = self._find(target) if len(data.records) else None
            if partition is not None:
                throttle.record(partition.topic_partition, len(data.records), now_ms)

    def _count_topics(self, reads: list[tuple[SessionPartition, PartitionData]]) -> None:
        """Counts the response's bytes and failures by topic."""
        services = self._ctx.services
        for target, data in reads:
            size = len(data.records)
            if not size and not data.error_code:
                continue
            topic = target.topic or services.metadata.topic_name(target.topic_id)
            if topic is None or not services.metadata.has_topic(topic):
                continue  # names of topics that do not exist must not become labels
            counters = services.topic_metrics.of(topic)
            counters.total_fetch += 1
            if data.error_code:
                counters.failed_fetch += 1
            elif self._replica_id >= 0:
                counters.replication_bytes_out += size
            else:
                counters.bytes_out += size

    # --- one partition -----------------------------------------------------------------------

    def _find(self, target: SessionPartition) -> Partition | None:
        replicas = self._ctx.services.replicas
        if target.topic is None:
            return replicas.partition_by_id(target.topic_id, target.partition)
        return replicas.partition(TopicPartition(target.topic, target.partition))

    def _read_one(self, target: SessionPartition, budget: int) -> PartitionData:
        if self._may_read is not None and not self._is_allowed(self._may_read, target):
            self._failed = True
            return _failure(target, None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        partition = self._find(target)
        try:
            if partition is None:
                raise BrokerError(self._missing_partition_code(target))
            found = partition_reader.read(partition, self._spec(target, budget))
        except BrokerError as error:
            self._failed = True
            target.read_from = None
            return _failure(target, partition, error.code)
        target.read_from, target.read_epoch = partition, partition.leader_epoch
        if found.diverging_epoch is not None or found.preferred_read_replica != NO_BROKER:
            self._failed = True  # errors are sent without waiting
            target.read_from = None
        elif found.is_urgent:
            self._urgent = True
        return self._data(target, found)

    def _is_allowed(self, may_read: Callable[[str], bool], target: SessionPartition) -> bool:
        name = target.topic
        if name is None:
            name = self._ctx.services.metadata.topic_name(target.topic_id)
        return name is None or may_read(name)  # unknown ids are handled below

    def _spec(self, target: SessionPartition, budget: int) -> FetchSpec:
        request = self._request
        return FetchSpec(
            offset=target.fetch_offset,
            max_bytes=min(target.max_bytes, budget),
            min_one_batch=self._bytes == 0,
            current_leader_epoch=target.current_leader_epoch,
            isolation=self._isolation,
            replica_id=self._replica_id,
            last_fetched_epoch=target.last_fetched_epoch,
            log_start_offset=target.log_start_offset,
            replica_epoch=self._replica_epoch,
            client_rack=request.rack_id or None,
            leader_only=not request.rack_id,
        )

    def _data(self, target: SessionPartition, found: PartitionRead) -> PartitionData:
        aborted = None
        if self._isolation is _COMMITTED:
            aborted = [AbortedTransaction(t.producer_id, t.first_offset) for t in found.aborted]
        data = PartitionData(
            target.partition,
            0,
            found.high_watermark,
            found.last_stable_offset,
            found.log_start_offset,
            aborted_transactions=aborted,
            preferred_read_replica=found.preferred_read_replica,
            records=found.slice if found.slice is not None else b"",
        )
        if found.diverging_epoch is not None:
            data.diverging_epoch = EpochEndOffset(*found.diverging_epoch)
        return data

    def _missing_partition_code(self, target: SessionPartition) -> ErrorCode:
        metadata = self._ctx.services.metadata
        name = target.topic
        if name is None:
            name = metadata.topic_name(target.topic_id)
            if name is None:
                return ErrorCode.UNKNOWN_TOPIC_ID
        if metadata.partition(TopicPartition(name, target.partition)) is not None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def _add_hints(
        self, response: FetchResponse, included: list[tuple[SessionPartition, PartitionData]]
    ) -> None:
        ctx = self._ctx
        leaders: set[BrokerId] = set()
        for target, data in included:
            name = target.topic or ctx.services.metadata.topic_name(target.topic_id) or ""
            state = leader_hint(ctx, data.error_code, TopicPartition(name, target.partition))
            if state is not None:
                leaders.add(state.leader)
                data.current_leader = LeaderIdAndEpoch(state.leader, state.leader_epoch)
        leaders -= {endpoint.node_id for endpoint in response.node_endpoints}
        if leaders and ctx.version >= _ENDPOINTS_FROM:
            response.node_endpoints += node_endpoints(ctx, leaders, NodeEndpoint)


def _failure(
    target: SessionPartition, partition: Partition | None, code: ErrorCode
) -> PartitionData:
    """Returns an error; OFFSET_OUT_OF_RANGE includes the valid range of offsets."""
    data = PartitionData(target.partition, code, -1, -1, -1, records=b"")
    if partition is not None and code is ErrorCode.OFFSET_OUT_OF_RANGE:
        log = partition.log
        data.high_watermark = log.high_watermark
        data.last_stable_offset = log.last_stable_offset
        data.log_start_offset = log.log_start_offset
    return data


def _news(data: PartitionData) -> PartitionChanges:
    redirected = data.preferred_read_replica >= 0 or data.diverging_epoch is not None
    return PartitionChanges(
        data.error_code,
        len(data.records),
        data.high_watermark,
        data.log_start_offset,
        redirected,
    )


def _add_by_topic(
    topics: list[FetchableTopicResponse], included: list[tuple[SessionPartition, PartitionData]]
) -> None:
    """Adds partitions, grouping adjacent ones of a topic; keeps the order of the partitions."""
    for target, data in included:
        name = target.topic or ""
        last = topics[-1] if topics else None
        if last is None or last.topic_id != target.topic_id or last.topic != name:
            last = FetchableTopicResponse(name, target.topic_id, [])
            topics.append(last)
        last.partitions.append(data)


def _release(data: PartitionData) -> None:
    release = getattr(data.records, "release", None)
    if release is not None and not isinstance(data.records, memoryview):
        release()
