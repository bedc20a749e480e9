"""Gives every assigned partition a position and keeps it true: committed, reset, validated.

Runs as one task on the client's loop. The rules: a position is the committed offset where there is
one, else what auto.offset.reset says, else an error for the application. A position that is not in
the log follows auto.offset.reset.out.of.range instead. After a leader change
the position is compared with the new leader's epochs before the next fetch (KIP-320). No answer,
however odd, ever becomes a position by itself.
"""

import asyncio
import logging
from collections.abc import Callable

from barnabas.clients.core.apis.list_offsets import OffsetAndTimestamp, OffsetQuery
from barnabas.clients.core.apis.offset_for_leader_epoch import (
    EpochEnd,
    EpochQuery,
    offset_for_leader_epoch_request,
    read_offset_for_leader_epoch,
)
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.group.background import BackgroundWork
from barnabas.clients.group.errors import LogTruncationError, NoOffsetError, OffsetOutOfRangeError
from barnabas.clients.group.fetch_buffer import FetchBuffer
from barnabas.clients.group.offset_reset import LATEST, OffsetReset
from barnabas.clients.group.offsets import Offsets
from barnabas.clients.group.partition_state import PartitionState, Phase
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest

logger = logging.getLogger(__name__)

CHECK_MS = 1000
Stamped = dict[TopicPartition, tuple[PartitionState, int]]


class PositionKeeper:
    """Owned by the client's event loop; `on_position` is called when fetching may go on."""

    def __init__(
        self,
        settings: ConsumerSettings,
        client: KafkaClient,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        clock: Clock,
    ) -> None:
        self.offsets = Offsets(settings, client)
        self.on_position: Callable[[], None] = lambda: None
        self._settings = settings
        self._client = client
        self._subscription = subscription
        self._buffer = buffer
        self._clock = clock
        self._backoff_ms = settings.client.retry_backoff_ms
        self._woken = asyncio.Event()
        self._work = BackgroundWork(self._woken.set, self._backoff_ms / 1000)

    async def run(self) -> None:
        """Until cancelled."""
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
        await self._work.close()

    def look_up_topics(self) -> None:
        """Ask for the metadata of what is read, for it has changed."""
        self._work.start("metadata", self._client.refresh)

    def out_of_range(self, state: PartitionState) -> None:
        """The leader does not have the position: reset, or tell the application."""
        offset = state.offset
        if self._settings.reset_out_of_range.is_none:
            self._rest(state)
            error = OffsetOutOfRangeError(state.partition, offset)
            self._buffer.fail(state, state.stamp, error)
            return
        logger.warning(
            "%s: offset %d is out of range, going on from %s",
            state.partition,
            offset,
            self._settings.reset_out_of_range.name,
        )
        with self._subscription.lock:
            state.ask_for(self._settings.reset_out_of_range)
        self._woken.set()

    # -- one round -----------------------------------------------------------------------------

    def _step(self, now_ms: int) -> int:
        """Start what is due; milliseconds until the next look."""
        self._keep_metadata_fresh()
        due = {phase: self._subscription.in_phase(phase, now_ms) for phase in Phase}
        if due[Phase.UNPOSITIONED]:
            self._begin(due[Phase.UNPOSITIONED])
        self._start_by_leader(due[Phase.RESETTING], "reset", self._reset)
        self._start_by_leader(due[Phase.VALIDATING], "validate", self._validate)
        resting = [
            state.retry_at_ms
            for state in self._subscription.states()
            if state.phase is not Phase.FETCHING and state.retry_at_ms > now_ms
        ]
        return max(min(resting, default=now_ms + CHECK_MS) - now_ms, 1)

    def _keep_metadata_fresh(self) -> None:
        if self._client.metadata_is_stale and self._subscription.assigned():
            self.look_up_topics()

    def _begin(self, states: list[PartitionState]) -> None:
        """Partitions just assigned: by their committed offsets, if there is a group."""
        if self.offsets.member() is None:
            for state in states:
                self._without_committed(state)
            self._woken.set()
            return
        stamped = {state.partition: (state, state.stamp) for state in states}
        self._work.start("committed", lambda: self._from_committed(stamped))

    async def _from_committed(self, stamped: Stamped) -> None:
        deadline_s = asyncio.get_running_loop().time() + self._settings.api_timeout_s
        try:
            found = await self.offsets.committed(list(stamped), deadline_s)
        except BarnabasError as error:
            for state, stamp in stamped.values():
                self._rest(state)
                if not error.retriable:
                    self._buffer.fail(state, stamp, error)
            raise
        for topic_partition, (state, stamp) in stamped.items():
            position = found[topic_partition]
            if state.stamp != stamp or state.phase is not Phase.UNPOSITIONED:
                continue
            if position is None:
                self._without_committed(state)
            else:
                with self._subscription.lock:
                    state.move_to_checked(position.offset, position.leader_epoch)
        self.on_position()

    def _without_committed(self, state: PartitionState) -> None:
        if self._settings.reset.is_none:
            self._rest(state)
            self._buffer.fail(state, state.stamp, NoOffsetError(state.partition))
            return
        with self._subscription.lock:
            state.ask_for(self._settings.reset)

    # -- by leader -----------------------------------------------------------------------------

    def _start_by_leader(
        self,
        states: list[PartitionState],
        what: str,
        work: Callable[[int, Stamped], "asyncio.coroutines.Coroutine[object, object, None]"],  # type: ignore[name-defined]
    ) -> None:
        by_node: dict[int, Stamped] = {}
        for state in states:
            found = self._client.metadata.leader_of(state.partition)
            if found is None:
                self._look_up(state)
            else:
                entry = (state, state.stamp)
                by_node.setdefault(found[0].id, {})[state.partition] = entry
        for node_id, stamped in by_node.items():
            self._work.start((what, node_id), lambda n=node_id, s=stamped: work(n, s))  # type: ignore[misc]

    async def _reset(self, node_id: int, stamped: Stamped) -> None:
        now_ms = self._clock.now_ms()
        queries = {}
        for topic_partition, (state, _) in stamped.items():
            reset = state.reset or self._settings.reset
            found = self._client.metadata.leader_of(topic_partition)
            queries[topic_partition] = OffsetQuery(
                reset.timestamp_at(now_ms), found[1] if found else -1
            )
        try:
            answers = await self.offsets.ask(node_id, queries)
        except BarnabasError as error:
            answers = dict.fromkeys(stamped, error)
        for topic_partition, (state, stamp) in stamped.items():
            if state.stamp == stamp and state.phase is Phase.RESETTING:
                self._apply_reset(state, answers[topic_partition])
        self.on_position()

    def _apply_reset(
        self, state: PartitionState, answer: OffsetAndTimestamp | BarnabasError
    ) -> None:
        reset: OffsetReset = state.reset or self._settings.reset
        if isinstance(answer, BarnabasError):
            self._failed(state, answer)
        elif answer.offset < 0:
            # No record is that young: the records to come are.
            with self._subscription.lock:
                state.ask_for(LATEST)
        else:
            logger.debug("%s: position %d (%s)", state.partition, answer.offset, reset.name)
            with self._subscription.lock:
                state.move_to(answer.offset, answer.leader_epoch)

    async def _validate(self, node_id: int, stamped: Stamped) -> None:
        connection = await self._client.connection(node_id)
        if OffsetForLeaderEpochRequest.API_KEY not in connection.versions:
            self._accept(stamped)
            return
        queries = {}
        for topic_partition, (state, _) in stamped.items():
            found = self._client.metadata.leader_of(topic_partition)
            queries[topic_partition] = EpochQuery(state.epoch, found[1] if found else -1)
        try:
            response = await connection.send(offset_for_leader_epoch_request(queries))
            answers: dict[TopicPartition, EpochEnd | BarnabasError] = {
                **read_offset_for_leader_epoch(response)
            }
        except BarnabasError as error:
            answers = dict.fromkeys(stamped, error)
        missing = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no answer")
        for topic_partition, (state, stamp) in stamped.items():
            if state.stamp == stamp and state.phase is Phase.VALIDATING:
                self._apply_epoch(state, answers.get(topic_partition, missing))
        self.on_position()

    def _accept(self, stamped: Stamped) -> None:
        """A broker without epochs cannot say; positions are taken as they are."""
        with self._subscription.lock:
            for state, stamp in stamped.values():
                if state.stamp == stamp and state.phase is Phase.VALIDATING:
                    state.phase = Phase.FETCHING
        self.on_position()

    def _apply_epoch(self, state: PartitionState, answer: EpochEnd | BarnabasError) -> None:
        if isinstance(answer, BarnabasError):
            self._failed(state, answer)
            return
        epoch, end = answer
        if epoch < 0 or end < 0:
            self._truncated(state, None, -1)
        elif end < state.offset:
            self._truncated(state, end, epoch)
        else:
            with self._subscription.lock:
                state.phase = Phase.FETCHING

    def _truncated(self, state: PartitionState, divergent: int | None, epoch: int) -> None:
        error = LogTruncationError(state.partition, state.offset, divergent)
        if self._settings.reset_out_of_range.is_none:
            self._rest(state)
            self._buffer.fail(state, state.stamp, error)
            return
        logger.warning("%s", error)
        with self._subscription.lock:
            if divergent is None:
                state.ask_for(self._settings.reset_out_of_range)
            else:
                state.move_to(divergent, epoch)

    def _failed(self, state: PartitionState, error: BarnabasError) -> None:
        self._look_up(state)
        if not error.retriable:
            self._buffer.fail(state, state.stamp, error)

    def _look_up(self, state: PartitionState) -> None:
        metadata = self._client.metadata
        if state.partition.topic in metadata.topics:
            self._rest(state)
            if metadata.leader_of(state.partition) is None:
                self._client.note_no_leader(state.partition)
        topics = {state.partition.topic}
        self._work.start("metadata", lambda: self._client.refresh(topics))

    def _rest(self, state: PartitionState) -> None:
        state.retry_at_ms = self._clock.monotonic_ms() + self._backoff_ms
