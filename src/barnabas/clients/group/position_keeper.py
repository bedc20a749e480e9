"""Determines the position of every assigned partition: committed offset, reset, validation.

Runs as one task on the client's loop. A partition starts at its committed offset; without one,
auto.offset.reset decides, and with `none` the application gets an error. For a position that is not
in the log auto.offset.reset.out.of.range decides. After a leader change the position is compared
with the new leader's epochs before the next fetch (KIP-320). An invalid response never sets a
position.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial

from barnabas.clients.core.apis.list_offsets import (
    EpochEnd,
    EpochQuery,
    OffsetAndTimestamp,
    OffsetQuery,
    offset_for_leader_epoch_request,
    read_offset_for_leader_epoch,
)
from barnabas.clients.core.background import Background, run_steps
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.group.errors import LogTruncationError, NoOffsetError, OffsetOutOfRangeError
from barnabas.clients.group.fetch_buffer import FetchBuffer
from barnabas.clients.group.offsets import Offsets
from barnabas.clients.group.settings import ConsumerSettings
from barnabas.clients.group.subscription import (
    LATEST,
    AssignedPartition,
    OffsetReset,
    Phase,
    SubscriptionState,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import Clock
from barnabas.wire.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest

logger = logging.getLogger(__name__)

CHECK_MS = 1000
Stamped = dict[TopicPartition, tuple[AssignedPartition, int]]


class PositionKeeper:
    """Determines and validates the position of every assigned partition.

    Owned by the client's event loop; calls `on_position` when a partition may be fetched.
    """

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
        self._work = Background(self._backoff_ms / 1000, self._woken.set)

    async def run(self) -> None:
        """Runs until cancelled."""
        await run_steps(self._step, self._woken, self._clock)

    def wake(self) -> None:
        self._woken.set()

    async def close(self) -> None:
        await self._work.close()

    def look_up_topics(self) -> None:
        """Refreshes the metadata of the subscribed topics after they have changed."""
        self._work.run("metadata", self._client.refresh)

    def out_of_range(self, state: AssignedPartition) -> None:
        """Resets a position that the leader does not have, or reports the error to poll()."""
        offset = state.offset
        if self._settings.reset_out_of_range.is_none:
            self._back_off(state)
            error = OffsetOutOfRangeError(state.partition, offset)
            self._buffer.fail(state, state.stamp, error)
            return
        logger.warning(
            "%s: offset %d is out of range, resetting to %s",
            state.partition,
            offset,
            self._settings.reset_out_of_range.name,
        )
        with self._subscription.lock:
            state.request_reset(self._settings.reset_out_of_range)
        self._woken.set()

    # -- one round -----------------------------------------------------------------------------

    def _step(self, now_ms: int) -> int:
        """Starts requests that are due; returns the milliseconds until the next check."""
        self._keep_metadata_fresh()
        due = {phase: self._subscription.in_phase(phase, now_ms) for phase in Phase}
        if due[Phase.UNPOSITIONED]:
            self._begin(due[Phase.UNPOSITIONED])
        self._start_by_leader(due[Phase.RESETTING], "reset", self._reset)
        self._start_by_leader(due[Phase.VALIDATING], "validate", self._validate)
        backing_off = [
            state.retry_at_ms
            for state in self._subscription.states()
            if state.phase is not Phase.FETCHING and state.retry_at_ms > now_ms
        ]
        return max(min(backing_off, default=now_ms + CHECK_MS) - now_ms, 1)

    def _keep_metadata_fresh(self) -> None:
        if self._client.metadata_is_stale and self._subscription.assigned():
            self.look_up_topics()

    def _begin(self, states: list[AssignedPartition]) -> None:
        """Starts new partitions at their committed offsets, if there is a group."""
        if self.offsets.member() is None:
            for state in states:
                self._without_committed(state)
            self._woken.set()
            return
        stamped = {state.partition: (state, state.stamp) for state in states}
        self._work.run("committed", lambda: self._from_committed(stamped))

    async def _from_committed(self, stamped: Stamped) -> None:
        deadline_s = asyncio.get_running_loop().time() + self._settings.api_timeout_s
        try:
            found = await self.offsets.committed(list(stamped), deadline_s)
        except BarnabasError as error:
            for state, stamp in stamped.values():
                self._back_off(
                    state
                )  # the partition stays without a position, so the fetch is repeated
                if not error.retriable:
                    self._buffer.fail(state, stamp, error)
            raise
        for topic_partition, (state, stamp) in stamped.items():
            position = found[topic_partition]
            # A seek() or a new assignment during the request changed the stamp: its position wins.
            if state.stamp != stamp or state.phase is not Phase.UNPOSITIONED:
                continue
            if position is None:
                self._without_committed(state)
            else:
                with self._subscription.lock:
                    state.move_to_checked(position.offset, position.leader_epoch)
        self.on_position()

    def _without_committed(self, state: AssignedPartition) -> None:
        if self._settings.reset.is_none:
            self._back_off(state)
            self._buffer.fail(state, state.stamp, NoOffsetError(state.partition))
            return
        with self._subscription.lock:
            state.request_reset(self._settings.reset)

    # -- by leader -----------------------------------------------------------------------------

    def _start_by_leader(
        self,
        states: list[AssignedPartition],
        what: str,
        work: Callable[[int, Stamped], Coroutine[object, object, None]],
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
            self._work.run((what, node_id), partial(work, node_id, stamped))

    async def _reset(self, node_id: int, stamped: Stamped) -> None:
        now_ms = self._clock.now_ms()
        queries = {}
        for topic_partition, (state, _) in stamped.items():
            reset = state.reset or self._settings.reset
            found = self._client.metadata.leader_of(topic_partition)
            # With the leader epoch of our metadata, a broker that is not the leader in
            # this epoch rejects the query instead of answering from an old log (KIP-320).
            queries[topic_partition] = OffsetQuery(
                reset.timestamp_at(now_ms), found[1] if found else -1
            )
        try:
            responses = await self.offsets.list_offsets(node_id, queries)
        except BarnabasError as error:
            responses = dict.fromkeys(stamped, error)
        for topic_partition, (state, stamp) in stamped.items():
            if state.stamp == stamp and state.phase is Phase.RESETTING:
                self._apply_reset(state, responses[topic_partition])
        self.on_position()

    def _apply_reset(
        self, state: AssignedPartition, response: OffsetAndTimestamp | BarnabasError
    ) -> None:
        reset: OffsetReset = state.reset or self._settings.reset
        if isinstance(response, BarnabasError):
            self._failed(state, response)
        elif response.offset < 0:
            # No record has the timestamp or a later one: start at the end.
            with self._subscription.lock:
                state.request_reset(LATEST)
        else:
            logger.debug("%s: position %d (%s)", state.partition, response.offset, reset.name)
            with self._subscription.lock:
                state.move_to(response.offset, response.leader_epoch)

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
            responses: dict[TopicPartition, EpochEnd | BarnabasError] = {
                **read_offset_for_leader_epoch(response)
            }
        except BarnabasError as error:
            responses = dict.fromkeys(stamped, error)
        missing = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no response")
        for topic_partition, (state, stamp) in stamped.items():
            if state.stamp == stamp and state.phase is Phase.VALIDATING:
                self._apply_epoch(state, responses.get(topic_partition, missing))
        self.on_position()

    def _accept(self, stamped: Stamped) -> None:
        """Accepts the positions without validation: this broker does not support leader epochs."""
        with self._subscription.lock:
            for state, stamp in stamped.values():
                if state.stamp == stamp and state.phase is Phase.VALIDATING:
                    state.phase = Phase.FETCHING
        self.on_position()

    def _apply_epoch(self, state: AssignedPartition, response: EpochEnd | BarnabasError) -> None:
        if isinstance(response, BarnabasError):
            self._failed(state, response)
            return
        # `end` is where the log of the position's epoch ends on the current leader. An end below
        # the position means that the records between were lost in an unclean election (KIP-320).
        epoch, end = response
        if epoch < 0 or end < 0:
            self._truncated(state, None, -1)
        elif end < state.offset:
            self._truncated(state, end, epoch)
        else:
            with self._subscription.lock:
                state.phase = Phase.FETCHING

    def _truncated(self, state: AssignedPartition, divergent: int | None, epoch: int) -> None:
        error = LogTruncationError(state.partition, state.offset, divergent)
        if self._settings.reset_out_of_range.is_none:
            self._back_off(state)
            self._buffer.fail(state, state.stamp, error)
            return
        logger.warning("%s", error)
        with self._subscription.lock:
            if divergent is None:
                state.request_reset(self._settings.reset_out_of_range)
            else:
                state.move_to(divergent, epoch)

    def _failed(self, state: AssignedPartition, error: BarnabasError) -> None:
        # Most errors mean that the leader has moved, so the metadata is refreshed in any case.
        self._look_up(state)
        if not error.retriable:
            self._buffer.fail(state, state.stamp, error)

    def _look_up(self, state: AssignedPartition) -> None:
        metadata = self._client.metadata
        if state.partition.topic in metadata.topics:
            self._back_off(state)
            if metadata.leader_of(state.partition) is None:
                self._client.note_no_leader(state.partition)
        topics = {state.partition.topic}
        self._work.run("metadata", lambda: self._client.refresh(topics))

    def _back_off(self, state: AssignedPartition) -> None:
        state.retry_at_ms = self._clock.monotonic_ms() + self._backoff_ms
