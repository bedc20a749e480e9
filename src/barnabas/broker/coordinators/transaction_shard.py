"""Runs one shard of the transaction coordinator: appends, markers, producer ids, its timer.

See `barnabas.transactions.shard` for what is owed to a shard.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from barnabas.broker.coordinators.commit_gate import CallSoon, CommitGate
from barnabas.broker.coordinators.log_writer import append_records
from barnabas.broker.coordinators.steady_clock import SteadyClock
from barnabas.broker.coordinators.timers import Timers
from barnabas.broker.producer_ids import ProducerIds
from barnabas.broker.purgatory import Schedule
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.replication.partition import Partition
from barnabas.transactions.outcome import Outcome, PendingAppend, SendMarkers

if TYPE_CHECKING:
    from barnabas.transactions.shard import TransactionCoordinatorShard

_logger = logging.getLogger("barnabas.broker")
_SCAN = "scan"

Operation = Callable[["TransactionCoordinatorShard", int, int | None], Outcome[Any]]
"""`operation(shard, now_ms, new_producer_id)`."""


class TransactionAnswer(Protocol):
    """Whoever waits for the reply to one request; told exactly once."""

    def give(self, reply: Any) -> None: ...

    def fail(self, code: ErrorCode) -> None: ...


MarkersWritten = Callable[[Mapping[TopicPartition, ErrorCode], Set[TopicPartition]], None]
"""Told the errors of some partitions, and which partitions exist no more."""


class MarkerDelivery(Protocol):
    """Brings markers to partition leaders. `written` is told every partition exactly once, in one
    call or several, also during `deliver`."""

    def deliver(self, send: SendMarkers, written: MarkersWritten) -> None: ...


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """What all shards of a broker share."""

    clock: Clock
    steady: SteadyClock
    schedule: Schedule
    call_soon: CallSoon
    commit_timeout_ms: int
    producer_ids: ProducerIds
    markers: MarkerDelivery


class TransactionShardDriver:
    """One shard on one leadership of its partition; owned by the broker's loop."""

    def __init__(
        self,
        shard: "TransactionCoordinatorShard",
        partition: Partition,
        settings: TransactionSettings,
    ) -> None:
        self.shard = shard
        self._partition = partition
        self._settings = settings
        self._gate = CommitGate(
            partition, settings.commit_timeout_ms, settings.schedule, settings.call_soon
        )
        self._timers: Timers[str] = Timers(settings.clock, settings.schedule, self._on_timer)
        self._claims: set[asyncio.Task[None]] = set()
        self._resigned = False

    # --- loading and leaving (ShardDriver) ---

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        self.shard.replay(key, value)

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        """No transaction writes to this topic."""

    def activate(self) -> None:
        self._act(self.shard.load_complete(self._now_ms()), None)

    def resign(self) -> None:
        self._resigned = True
        self.shard.resign()
        self._timers.clear()
        self._gate.close(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    # --- serving ---

    def run(self, operation: Operation, answer: TransactionAnswer) -> None:
        """Take one step; `answer` is told its reply, now or later."""
        outcome = operation(self.shard, self._now_ms(), None)
        if not outcome.need_producer_id:
            self._act(outcome, answer)
            return
        producer_id = self._settings.producer_ids.try_next()
        if producer_id is not None:
            self._act(operation(self.shard, self._now_ms(), producer_id), answer)
        else:
            task = asyncio.get_running_loop().create_task(self._claim(operation, answer))
            self._claims.add(task)
            task.add_done_callback(self._claims.discard)

    async def _claim(self, operation: Operation, answer: TransactionAnswer) -> None:
        try:
            producer_id = await self._settings.producer_ids.next()
        except BarnabasError as error:
            _logger.warning("no producer id to be had: %s", error)
            answer.fail(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        self._act(operation(self.shard, self._now_ms(), producer_id), answer)

    def _now_ms(self) -> int:
        return self._settings.steady.now_ms()

    def _act(self, outcome: Outcome[Any], answer: TransactionAnswer | None) -> None:
        if outcome.reply is not None and answer is not None:
            answer.give(outcome.reply)
        if outcome.append is not None:
            self._append(outcome.append, answer)
        for append in outcome.background:
            self._append(append, None)
        if outcome.markers and outcome.reply is not None:
            # The answer first: nobody has to wait for what has been decided.
            self._settings.call_soon(partial(self._deliver, outcome.markers))
        else:
            self._deliver(outcome.markers)
        self._arm_timer()

    def _append(self, append: PendingAppend[Any], answer: TransactionAnswer | None) -> None:
        now_ms = self._now_ms()
        try:
            end = append_records(self._partition, append.records, now_ms)
        except BrokerError as error:
            _logger.warning("%s: append failed: %s", self._partition.topic_partition, error)
            self._act(self.shard.append_failed(append, error.code, now_ms), answer)
            return
        self._gate.wrote_up_to(end)

        def settle(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                outcome = self.shard.append_succeeded(append, self._now_ms())
            else:
                outcome = self.shard.append_failed(append, code, self._now_ms())
            self._act(outcome, answer)

        self._gate.pass_when_committed(settle)

    def _deliver(self, markers: Iterable[SendMarkers]) -> None:
        if self._resigned:
            return  # whoever coordinates now sends them
        for send in markers:
            self._settings.markers.deliver(send, partial(self._written, send))

    def _written(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        deleted: Set[TopicPartition],
    ) -> None:
        self._act(self.shard.markers_written(send, results, self._now_ms(), deleted), None)

    def _arm_timer(self) -> None:
        at_ms = None if self._resigned else self.shard.next_timer_ms
        if at_ms is not None:
            self._timers.set(_SCAN, at_ms - self._now_ms())

    def _on_timer(self, _key: str) -> None:
        self._act(self.shard.on_timer(self._now_ms()), None)
