"""Fetches records: plans requests, sends one per broker and puts the records into the buffer.

`fetch_plan` decides what to fetch; this module does the IO and classifies the
responses. It runs as one task on the client's loop until the consumer is closed.
"""

import asyncio
import enum
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from barnabas.clients.core.apis.fetch import (
    aborted_transactions,
    close_session_request,
    fetch_request,
    fetched_partitions,
)
from barnabas.clients.core.background import Background, run_steps
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.group.fetch_buffer import FetchBuffer, Piece
from barnabas.clients.group.fetch_plan import (
    ConsumerFetchSession,
    FetchLimits,
    FetchPlan,
    NodePlan,
    PartitionLeader,
    plan_fetches,
)
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import AssignedPartition, Phase, SubscriptionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.net.client import ClientConnection
from barnabas.net.fetch_session import SESSION_ERRORS
from barnabas.records._batch_header_hot import next_fetch_offset
from barnabas.records.reader import FetchDecoder
from barnabas.runtime.clock import Clock
from barnabas.wire.message import Message
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

LEADER_CHANGED = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    }
)
"""Errors after which the fetcher refreshes the metadata."""


class FetchResult(enum.Enum):
    """The reaction to one partition of a response."""

    DATA = "buffer the records"
    PREFERRED_REPLICA = "fetch from another replica (KIP-392)"
    LEADER_CHANGED = "refresh the metadata, then retry"
    RETRY = "retry after a backoff"
    OUT_OF_RANGE = "the offset is not in the log"
    FAILED = "raise the error in poll()"


@dataclass(frozen=True, slots=True)
class PartitionFetchResult:
    """One partition of a response with the reaction to it."""

    partition: TopicPartition
    result: FetchResult
    code: ErrorCode
    data: PartitionData


def read_fetch_results(
    response: FetchResponse, names: Mapping[Uuid, str]
) -> Iterator[PartitionFetchResult]:
    """Yields every partition of the response whose topic id is in `names`."""
    for topic_partition, data in fetched_partitions(response, names):
        code = ErrorCode.of(data.error_code)
        yield PartitionFetchResult(topic_partition, _classify(code, data), code, data)


def _classify(code: ErrorCode, data: PartitionData) -> FetchResult:
    if code is ErrorCode.NONE:
        return (
            FetchResult.PREFERRED_REPLICA if data.preferred_read_replica >= 0 else FetchResult.DATA
        )
    if code is ErrorCode.OFFSET_OUT_OF_RANGE:
        return FetchResult.OUT_OF_RANGE
    if code in LEADER_CHANGED:
        return FetchResult.LEADER_CHANGED
    if code.retriable and code is not ErrorCode.CORRUPT_MESSAGE:
        return FetchResult.RETRY
    return FetchResult.FAILED


logger = logging.getLogger(__name__)

PURPOSE = "fetch"
IDLE_CHECK_MS = 1000
LARGE_RESPONSE_BYTES = 64 * 1024
"""From this size on the next request is sent before the polling thread is woken.

That thread then decodes for about a millisecond without releasing the GIL, and the broker would
wait for its next request that long. The records of a smaller response are passed on first, to keep
the latency low.
"""


SMALL_RECORD_BYTES = 512
"""Average size of records below which a thread of an asyncio consumer receives responses.

To decode a megabyte of small records takes several times as long as to receive it, so it is worth
to do both at the same time. With records of a kilobyte and more the thread made a consumer slower
beside a broker on the same machine of two cores: the bytes moved from one core to the other.
"""


class Fetcher:
    """Sends fetch requests. Owned by the client's event loop; call `wake` on the loop only."""

    def __init__(
        self,
        settings: ConsumerSettings,
        client: KafkaClient,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        clock: Clock,
    ) -> None:
        self.on_out_of_range: Callable[[AssignedPartition], None] = lambda state: None
        self.on_unvalidated: Callable[[], None] = lambda: None
        self.shares_loop = False
        """Whether records are decoded on the same event loop: a consumer for asyncio."""
        self._settings = settings
        self._client = client
        self._subscription = subscription
        self._buffer = buffer
        self._clock = clock
        self._limits: FetchLimits = settings.fetch_limits
        self._sessions: dict[int, ConsumerFetchSession] = {}
        self.resume_below = 0
        """Buffered bytes below which a broker without a request gets one; 0 if none waits for room.

        Any thread may read it.
        """
        self._leaders: dict[TopicPartition, PartitionLeader] = {}  # of this generation:
        self._metadata_generation = -1
        self._woken = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._backoff_ms = settings.client.retry_backoff_ms
        self._work = Background(self._backoff_ms / 1000, self._woken.set)

    async def run(self) -> None:
        """Fetches until cancelled."""
        await run_steps(self._step, self._woken, self._clock)

    def wake(self) -> None:
        self._woken.set()

    async def close(self) -> None:
        """Cancels requests in flight and ends the fetch sessions on the brokers."""
        await self._work.close()
        for node_id, session in self._sessions.items():
            connection = self._client.connected(node_id, PURPOSE)
            if session.id and connection is not None and not connection.in_flight:
                connection.submit(close_session_request(session.id))

    # -- one round -----------------------------------------------------------------------------

    def _step(self, now_ms: int) -> int:
        """Starts all possible requests; returns the milliseconds until the next check."""
        plan = self._plan(now_ms)
        if plan.leaderless:
            topics = {state.partition.topic for state in plan.leaderless}
            self._work.run("metadata", lambda: self._client.refresh(topics))
            for state in plan.leaderless:
                self._back_off(state)
                if state.partition.topic in self._client.metadata.topics:
                    self._client.note_no_leader(state.partition)
        if plan.unvalidated:
            self.on_unvalidated()
        for node_id, node in plan.nodes.items():
            if not self._work.busy(node_id):
                self._work.run(node_id, partial(self._fetch, node_id, node))
        return max(min(plan.next_check_ms - now_ms, IDLE_CHECK_MS), 1)

    def _plan(self, now_ms: int) -> FetchPlan:
        if self._metadata_generation != self._client.metadata.generation:
            self._metadata_generation = self._client.metadata.generation
            self._leaders.clear()
        with self._subscription.lock:
            plan = plan_fetches(self._subscription.states(), self._locate, self._limits, now_ms)
            # Under the lock: a piece that is dropped after the plan must see this plan's result.
            # A broker with a request in flight is planned again after the response, with the room
            # that there is then: with 1,000 partitions a plan takes half a millisecond.
            waits = any(not self._work.busy(node_id) for node_id in plan.without_room)
            self.resume_below = self._buffer.total_bytes - plan.missing_room + 1 if waits else 0
            return plan

    def _locate(self, topic_partition: TopicPartition) -> PartitionLeader | None:
        leader = self._leaders.get(topic_partition)
        if leader is None:
            metadata = self._client.metadata
            found = metadata.leader_of(topic_partition)
            if found is None:
                return None
            topic_id = metadata.topics[topic_partition.topic].topic_id
            leader = PartitionLeader(found[0].id, found[1], topic_id)
            self._leaders[topic_partition] = leader
        return leader

    async def _fetch(self, node_id: int, node: NodePlan) -> None:
        """Fetches from one broker while there is room in the buffer."""
        session = self._sessions.setdefault(node_id, ConsumerFetchSession())
        try:
            connection = await self._client.connection(node_id, PURPOSE)
        except BarnabasError:
            self._leave_replica(node)
            raise
        following: NodePlan | None = node
        reply = self._send(connection, session, node)
        while following is not None:
            node = following
            sent_s = self._loop.time()
            response = await self._response(reply, session, node)
            self._buffer.meters.on_response(self._loop.time() - sent_s, response.throttle_time_ms)
            size = self._take_in(node_id, node, session, response)
            if self.shares_loop:
                small = size < SMALL_RECORD_BYTES * _offsets_fetched(node)
                connection.receives_in_thread = small
            if 0 < size < LARGE_RESPONSE_BYTES:
                self._buffer.on_data()
            try:
                following = self._following(node_id, connection, response)
                if following is not None:
                    reply = self._send(connection, session, following)
            finally:
                if size >= LARGE_RESPONSE_BYTES:
                    self._buffer.on_data()
        if response.throttle_time_ms > 0:
            # The quota is exceeded: the broker mutes this connection meanwhile (KIP-219).
            await asyncio.sleep(response.throttle_time_ms / 1000)

    def _send(
        self, connection: ClientConnection, session: ConsumerFetchSession, node: NodePlan
    ) -> "asyncio.Future[Message]":
        """Sends the request of a plan; returns the future of its response."""
        selection = session.select(node.targets)
        request = fetch_request(selection, self._limits.options(node))
        version = selection.version(connection.version_of(FetchRequest))
        timeout_s = self._settings.request_timeout_s + request.max_wait_ms / 1000
        try:
            return connection.submit(request, version=version, timeout_s=timeout_s)
        except BarnabasError:
            self._request_lost(session, node)
            raise

    async def _response(
        self, reply: "asyncio.Future[Message]", session: ConsumerFetchSession, node: NodePlan
    ) -> FetchResponse:
        try:
            response = await reply
        except BaseException:
            self._request_lost(session, node)
            raise
        assert isinstance(response, FetchResponse)
        return response

    def _following(
        self, node_id: int, connection: ClientConnection, response: FetchResponse
    ) -> NodePlan | None:
        """Returns the fetch that follows a response without another step of the fetcher.

        None if the broker throttles or another connection must be used, if there is no room, or if
        the next step has more to do than to fetch.
        """
        if response.throttle_time_ms or self._client.connected(node_id, PURPOSE) is not connection:
            return None
        plan = self._plan(self._clock.monotonic_ms())
        if plan.leaderless or plan.unvalidated:
            return None
        if any(not self._work.busy(other) for other in plan.nodes):
            self._woken.set()  # a partition moved to another broker
        return plan.nodes.get(node_id)

    def _request_lost(self, session: ConsumerFetchSession, node: NodePlan) -> None:
        session.lost()
        self._leave_replica(node)

    def _leave_replica(self, node: NodePlan) -> None:
        """Returns to the leaders, because this broker cannot be reached."""
        for state, _ in node.states.values():
            state.preferred_replica = -1
        self._work.run("metadata", self._client.refresh)

    # -- responses -----------------------------------------------------------------------------

    def _take_in(
        self, node_id: int, node: NodePlan, session: ConsumerFetchSession, response: FetchResponse
    ) -> int:
        """Applies a response; returns the bytes of records that were buffered."""
        code = ErrorCode.of(response.error_code)
        session.on_response(code, response.session_id)
        if code is not ErrorCode.NONE:
            if code not in SESSION_ERRORS:
                raise BrokerError(code, f"fetching from broker {node_id}: {code.explanation}")
            logger.debug("broker %d: %s, a full fetch follows", node_id, code.name)
            return 0
        buffered = 0
        sizes: dict[AssignedPartition, int] = {}
        for result in read_fetch_results(response, self._client.metadata.topic_names):
            known = node.states.get(result.partition)
            if known is None or known[0].stamp != known[1]:
                continue
            if result.data.records:
                sizes[known[0]] = len(result.data.records)
                self._buffer.meters.partition(known[0])
            if self._apply(known[0], known[1], node, result):
                buffered += sizes.get(known[0], 0)
        self._buffer.meters.fetched(sizes)
        return buffered

    def _apply(
        self, state: AssignedPartition, stamp: int, node: NodePlan, response: PartitionFetchResult
    ) -> bool:
        match response.result:
            case FetchResult.DATA:
                return self._store(state, stamp, response.data)
            case FetchResult.PREFERRED_REPLICA:
                self._redirect(state, response.data.preferred_read_replica)
            case FetchResult.LEADER_CHANGED:
                self._leader_changed(state, response)
            case FetchResult.RETRY:
                self._back_off(state)
            case FetchResult.OUT_OF_RANGE:
                self._out_of_range(state, node.targets[state.partition].offset)
            case FetchResult.FAILED:
                self._back_off(state)
                error = BrokerError(
                    response.code, f"{state.partition}: {response.code.explanation}"
                )
                self._buffer.fail(state, stamp, error)
        return False

    def _store(self, state: AssignedPartition, stamp: int, data: PartitionData) -> bool:
        with self._subscription.lock:
            state.high_watermark = data.high_watermark
            state.last_stable_offset = data.last_stable_offset
            if data.log_start_offset >= 0:
                state.log_start_offset = data.log_start_offset
        records = data.records
        if not records:
            state.has_backlog = False
            return False
        start = state.fetch_offset
        following = next_fetch_offset(records, start)
        if following == start:
            self._back_off(state)
            error = ProtocolError(f"{state.partition}: no whole batch at offset {start}")
            self._buffer.fail(state, stamp, error)
            return True
        end_offset = data.high_watermark
        state.has_backlog = self._limits.has_backlog(len(records), following, end_offset)
        decoder = FetchDecoder(
            records,
            state.partition.topic,
            state.partition.partition,
            fetch_offset=start,
            max_decompressed=self._settings.max_decompressed,
            aborted=aborted_transactions(data, self._limits.isolation),
            check_crcs=self._settings.check_crcs,
        )
        self._buffer.put(Piece(state, stamp, decoder, len(records)), following)
        return True

    def _redirect(self, state: AssignedPartition, replica: int) -> None:
        state.preferred_replica = replica
        lifetime_ms = self._settings.client.metadata_max_age_ms
        state.preferred_until_ms = self._clock.monotonic_ms() + lifetime_ms

    def _leader_changed(self, state: AssignedPartition, response: PartitionFetchResult) -> None:
        state.preferred_replica = -1
        leader = response.data.current_leader
        if leader is not None:
            self._client.metadata.move_leader(
                state.partition, leader.leader_id, leader.leader_epoch
            )
        self._back_off(state)
        topics = {state.partition.topic}
        self._work.run("metadata", lambda: self._client.refresh(topics))

    def _out_of_range(self, state: AssignedPartition, offset: int) -> None:
        if state.preferred_replica >= 0:
            # A follower may lag or have been cleaned differently: the leader decides (KIP-392).
            state.preferred_replica = -1
        elif state.buffered_bytes or state.phase is not Phase.FETCHING:
            # Buffered records are still valid; the next fetch after them fails again.
            self._back_off(state)
        elif state.fetch_offset == offset:
            self.on_out_of_range(state)

    def _back_off(self, state: AssignedPartition) -> None:
        state.retry_at_ms = self._clock.monotonic_ms() + self._backoff_ms


def _offsets_fetched(node: NodePlan) -> int:
    """Returns by how many offsets the partitions of a fetch have advanced: about its records."""
    return sum(
        state.fetch_offset - node.targets[at].offset for at, (state, _) in node.states.items()
    )
