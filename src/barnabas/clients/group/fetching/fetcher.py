"""The loop that fetches: plans, sends one request per broker, puts what comes into the buffer.

Decisions are elsewhere (`plan`, `session`, `response`); here is the IO around them. Runs as one
task on the client's loop until the consumer is closed.
"""

import asyncio
import logging
from collections.abc import Callable

from barnabas.clients.core.apis.fetch import (
    aborted_transactions,
    close_session_request,
    fetch_request,
    next_fetch_offset,
)
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.group.background import BackgroundWork
from barnabas.clients.group.fetching.buffer import FetchBuffer, Piece
from barnabas.clients.group.fetching.plan import (
    FetchLimits,
    NodePlan,
    Place,
    plan_fetches,
)
from barnabas.clients.group.fetching.response import PartitionAnswer, Verdict, read_answers
from barnabas.clients.group.fetching.session import FetchSession
from barnabas.clients.group.positions.partition_state import PartitionState, Phase
from barnabas.clients.group.positions.subscription import SubscriptionState
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.records.reader import FetchDecoder
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

logger = logging.getLogger(__name__)

PURPOSE = "fetch"
IDLE_CHECK_MS = 1000


class Fetcher:
    """Owned by the client's event loop; `wake` may be called on the loop only."""

    def __init__(
        self,
        settings: ConsumerSettings,
        client: KafkaClient,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        clock: Clock,
    ) -> None:
        self.on_out_of_range: Callable[[PartitionState], None] = lambda state: None
        self.on_unvalidated: Callable[[], None] = lambda: None
        self._settings = settings
        self._client = client
        self._subscription = subscription
        self._buffer = buffer
        self._clock = clock
        self._limits: FetchLimits = settings.fetch_limits
        self._sessions: dict[int, FetchSession] = {}
        self._woken = asyncio.Event()
        self._pause_s = settings.client.retry_backoff_ms / 1000
        self._work = BackgroundWork(self._woken.set, self._pause_s)
        self._backing_off_ms = settings.client.retry_backoff_ms

    async def run(self) -> None:
        """Fetch until cancelled."""
        while True:
            self._woken.clear()
            wait_ms = self._step(self._clock.monotonic_ms())
            try:
                async with asyncio.timeout(wait_ms / 1000):
                    await self._woken.wait()
            except TimeoutError:
                pass

    def wake(self) -> None:
        self._woken.set()

    async def close(self) -> None:
        """End what is under way, and the sessions on the brokers."""
        await self._work.close()
        for node_id, session in self._sessions.items():
            connection = self._client.connected(node_id, PURPOSE)
            if session.id and connection is not None and not connection.in_flight:
                connection.submit(close_session_request(session.id))

    # -- one round -----------------------------------------------------------------------------

    def _step(self, now_ms: int) -> int:
        """Send what can be sent; milliseconds until there may be more to do."""
        with self._subscription.lock:
            plan = plan_fetches(self._subscription.states(), self._locate, self._limits, now_ms)
        if plan.leaderless:
            topics = {state.partition.topic for state in plan.leaderless}
            self._work.start("metadata", lambda: self._client.refresh(topics))
            for state in plan.leaderless:
                self._rest(state)
                if state.partition.topic in self._client.metadata.topics:
                    self._client.note_no_leader(state.partition)
        if plan.unvalidated:
            self.on_unvalidated()
        for node_id, node in plan.nodes.items():
            if not self._work.busy(node_id):
                self._work.start(node_id, lambda i=node_id, n=node: self._fetch(i, n))  # type: ignore[misc]
        return max(min(plan.next_look_ms - now_ms, IDLE_CHECK_MS), 1)

    def _locate(self, partition: TopicPartition) -> Place | None:
        metadata = self._client.metadata
        found = metadata.leader_of(partition)
        if found is None:
            return None
        return Place(found[0].id, found[1], metadata.topics[partition.topic].topic_id)

    async def _fetch(self, node_id: int, node: NodePlan) -> None:
        session = self._sessions.setdefault(node_id, FetchSession())
        try:
            connection = await self._client.connection(node_id, PURPOSE)
        except BarnabasError:
            self._leave_replica(node)
            raise
        selection = session.next(node.targets)
        request = fetch_request(selection, self._limits.options(node.hurried))
        version = selection.version(connection.version_of(FetchRequest))
        timeout_s = self._settings.request_timeout_s + request.max_wait_ms / 1000
        try:
            response: FetchResponse = await connection.send(
                request, version=version, timeout_s=timeout_s
            )
        except BaseException:
            session.lost()
            self._leave_replica(node)
            raise
        self._take_in(node_id, node, session, response)
        if response.throttle_time_ms > 0:
            # A quota is spent: the broker would not read what is sent meanwhile (KIP-219).
            await asyncio.sleep(response.throttle_time_ms / 1000)

    def _leave_replica(self, node: NodePlan) -> None:
        """The broker cannot be talked to: back to the leaders, whoever they are now."""
        for state, _ in node.states.values():
            state.preferred_replica = -1
        self._work.start("metadata", self._client.refresh)

    # -- answers -------------------------------------------------------------------------------

    def _take_in(
        self, node_id: int, node: NodePlan, session: FetchSession, response: FetchResponse
    ) -> None:
        code = ErrorCode.of(response.error_code)
        session.answered(code, response.session_id)
        if code is not ErrorCode.NONE:
            if "SESSION" not in code.name:
                raise BrokerError(code, f"fetching from broker {node_id}: {code.explanation}")
            logger.debug("broker %d: %s, a full fetch follows", node_id, code.name)
            return
        got_data = False
        for answer in read_answers(response, self._client.metadata.topic_names):
            known = node.states.get(answer.partition)
            if known is None or known[0].stamp != known[1]:
                continue
            got_data |= self._apply(known[0], known[1], node, answer)
        if got_data:
            self._buffer.on_data()

    def _apply(
        self, state: PartitionState, stamp: int, node: NodePlan, answer: PartitionAnswer
    ) -> bool:
        match answer.verdict:
            case Verdict.DATA:
                return self._store(state, stamp, answer.data)
            case Verdict.REDIRECTED:
                self._redirect(state, answer.data.preferred_read_replica)
            case Verdict.LOOK_AGAIN:
                self._look_again(state, answer)
            case Verdict.RETRY:
                self._rest(state)
            case Verdict.OUT_OF_RANGE:
                self._out_of_range(state, node.targets[state.partition].offset)
            case Verdict.FAILED:
                self._rest(state)
                error = BrokerError(answer.code, f"{state.partition}: {answer.code.explanation}")
                self._buffer.fail(state, stamp, error)
        return False

    def _store(self, state: PartitionState, stamp: int, data: PartitionData) -> bool:
        with self._subscription.lock:
            state.high_watermark = data.high_watermark
            state.last_stable_offset = data.last_stable_offset
            if data.log_start_offset >= 0:
                state.log_start_offset = data.log_start_offset
        records = data.records
        if not records:
            return False
        start = state.fetch_offset
        following = next_fetch_offset(records, start)
        if following == start:
            self._rest(state)
            error = ProtocolError(f"{state.partition}: no whole batch at offset {start}")
            self._buffer.fail(state, stamp, error)
            return True
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

    def _redirect(self, state: PartitionState, replica: int) -> None:
        state.preferred_replica = replica
        lifetime_ms = self._settings.client.metadata_max_age_ms
        state.preferred_until_ms = self._clock.monotonic_ms() + lifetime_ms

    def _look_again(self, state: PartitionState, answer: PartitionAnswer) -> None:
        state.preferred_replica = -1
        leader = answer.data.current_leader
        if leader is not None:
            self._client.metadata.move_leader(
                state.partition, leader.leader_id, leader.leader_epoch
            )
        self._rest(state)
        topics = {state.partition.topic}
        self._work.start("metadata", lambda: self._client.refresh(topics))

    def _out_of_range(self, state: PartitionState, offset: int) -> None:
        if state.preferred_replica >= 0:
            # A follower may lag or have been cleaned differently: the leader decides (KIP-392).
            state.preferred_replica = -1
        elif state.buffered_bytes or state.phase is not Phase.FETCHING:
            # What was fetched before is still good; the question comes up again after it.
            self._rest(state)
        elif state.fetch_offset == offset:
            self.on_out_of_range(state)

    def _rest(self, state: PartitionState) -> None:
        state.retry_at_ms = self._clock.monotonic_ms() + self._backing_off_ms
