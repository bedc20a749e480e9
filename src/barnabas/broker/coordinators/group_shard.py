"""Runs one shard of the group coordinator: appends, settles, sets timers, answers.

See `barnabas.groups.outcome` for what is owed to a shard.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from barnabas.broker.coordinators.commit_gate import CallSoon, CommitGate
from barnabas.broker.coordinators.log_writer import NOBODY, BatchOwner, append_records
from barnabas.broker.coordinators.steady_clock import SteadyClock
from barnabas.broker.coordinators.timers import Timers
from barnabas.broker.purgatory import Schedule
from barnabas.groups.outcome import CoordinatorRecord, Outcome, SetTimer, TimerKey
from barnabas.groups.replies import Reply
from barnabas.groups.step import membership_error
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.records import Codec
from barnabas.replication.partition import Partition

if TYPE_CHECKING:
    from barnabas.groups.coordinator import GroupCoordinatorShard

_logger = logging.getLogger("barnabas.broker")


class GroupAnswer(Protocol):
    """Whoever waits for the reply to one request; told exactly once.

    The step that is run decides the type of its reply.
    """

    def give(self, reply: Any) -> None: ...

    def fail(self, code: ErrorCode) -> None: ...


Step = Callable[["GroupCoordinatorShard", int], Outcome]
"""One operation of the shard, at a time."""


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """What all shards of a broker share."""

    clock: Clock
    steady: SteadyClock
    schedule: Schedule
    call_soon: CallSoon
    commit_timeout_ms: int
    max_batch_bytes: Callable[[], int]
    codec: Codec = Codec.NONE


class GroupShardDriver:
    """One shard on one leadership of its partition; owned by the broker's loop.

    A step runs from decision to settlement without anything in between: replies that the high
    watermark lets go are sent in turns of their own (see `CommitGate`).
    """

    def __init__(
        self, shard: "GroupCoordinatorShard", partition: Partition, settings: GroupSettings
    ) -> None:
        self.shard = shard
        self._partition = partition
        self._settings = settings
        self._gate = CommitGate(
            partition, settings.commit_timeout_ms, settings.schedule, settings.call_soon
        )
        self._timers: Timers[TimerKey] = Timers(settings.clock, settings.schedule, self._on_timer)
        self._parked: dict[int, GroupAnswer] = {}

    # --- loading and leaving (ShardDriver) ---

    def replay(self, key: bytes, value: bytes | None, producer_id: int) -> None:
        self.shard.replay(CoordinatorRecord(key, value), producer_id)

    def replay_marker(self, producer_id: int, *, commit: bool) -> None:
        self.shard.end_transaction(producer_id, commit=commit)

    def activate(self) -> None:
        self.run(lambda shard, now_ms: shard.loaded(now_ms))

    def resign(self) -> None:
        self._timers.clear()
        self._gate.close(ErrorCode.NOT_COORDINATOR)
        self._answer(self.shard.unload(), None)
        for answer in self._parked.values():
            answer.fail(ErrorCode.NOT_COORDINATOR)
        self._parked.clear()

    # --- serving ---

    def run(self, step: Step, answer: GroupAnswer | None = None) -> bool:
        """Take one step; `answer` is told its reply, now or later. Whether the step wrote."""
        before = self._gate.required_offset
        outcome = step(self.shard, self._settings.steady.now_ms())
        if outcome.records:
            outcome = self._append(outcome, limited=answer is not None)
        for change in outcome.timers:
            if isinstance(change, SetTimer):
                self._timers.set(change.key, change.delay_ms)
            else:
                self._timers.cancel(change.key)
        self._answer(outcome, answer)
        return self._gate.required_offset > before

    def read(self, release: Callable[[ErrorCode], None]) -> None:
        """Run `release` once all that this shard knows is committed."""
        self._gate.pass_when_committed(release)

    def marker_appended(self, producer_id: int, end_offset: int, *, commit: bool) -> None:
        """A transaction marker is in this partition's log."""
        self._gate.wrote_up_to(end_offset)
        self.shard.end_transaction(producer_id, commit=commit)

    def _append(self, outcome: Outcome, *, limited: bool) -> Outcome:
        owner = NOBODY if outcome.producer is None else BatchOwner(*outcome.producer)
        now_ms = self._settings.steady.now_ms()
        max_bytes = self._settings.max_batch_bytes() if limited else None
        try:
            end = append_records(
                self._partition, outcome.records, now_ms, owner, max_bytes, self._settings.codec
            )
        except BrokerError as error:
            _logger.warning("%s: append failed: %s", self._partition.topic_partition, error)
            return self.shard.append_failed(outcome, error.code, now_ms)
        self._gate.wrote_up_to(end)
        return self.shard.appended(outcome, now_ms)

    def _answer(self, outcome: Outcome, answer: GroupAnswer | None) -> None:
        if outcome.parked is not None and answer is not None:
            self._parked[outcome.parked] = answer
        elif outcome.reply is not None and answer is not None:
            self._hold(answer, outcome.reply)
        for token, reply in outcome.completions:
            waiting = self._parked.pop(token, None)
            if waiting is not None:
                self._hold(waiting, reply)

    def _hold(self, answer: GroupAnswer, reply: Reply) -> None:
        def release(code: ErrorCode) -> None:
            if code is ErrorCode.NONE:
                answer.give(reply)
            else:
                answer.fail(membership_error(code))

        self._gate.pass_when_committed(release)

    def _on_timer(self, key: TimerKey) -> None:
        self.run(lambda shard, now_ms: shard.on_timer(key, now_ms))
