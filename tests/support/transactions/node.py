"""A broker's driver around the real shard, in a simulated world: log, crashes, marker channel.

It implements only what `TransactionCoordinatorShard` requires of a driver. Appends are written in
order; each may fail before or after the write. A crash loses the shard and the appends that are not
written yet; marker requests in flight still arrive. The next shard replays the log.
"""

import itertools
from typing import Any

from support.transactions.partition import ModelPartition
from support.transactions.world import Respond, World

from barnabas.coordination import CoordinatorOutcome, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.decisions import TransactionAppend
from barnabas.transactions.metadata import TransactionState, decode_key, decode_value
from barnabas.transactions.requests import InitProducerIdReply, TransactionConfig, TransactionGuards
from barnabas.transactions.shard import TransactionCoordinatorShard

RESTART_MS = 150
_COMPLETE = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
_PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)


class CoordinatorNode:
    def __init__(
        self,
        world: World,
        partitions: dict[TopicPartition, ModelPartition],
        config: TransactionConfig,
        guards: TransactionGuards | None = None,
    ) -> None:
        self.world = world
        self.partitions = partitions
        self.config = config
        self.guards = guards or TransactionGuards()
        self.log: list[tuple[bytes, bytes | None]] = []
        self.shard: TransactionCoordinatorShard | None = None
        self.zombie_commits = 0
        """Commits accepted from a producer after its successor was given its epoch."""
        self.crashes = 0
        self._newest: dict[str, tuple[int, int]] = {}
        self._states: dict[str, TransactionState] = {}
        self._finished: dict[str, int] = {}
        self._epoch = 0
        self._last_append_ms = 0
        self._timer_ms: int | None = None
        self._producer_ids = itertools.count(1000)

    # ---------------------------------------------------------------- life

    def start(self) -> None:
        if self.shard is not None:
            return
        self._epoch += 1
        self.shard = TransactionCoordinatorShard(self._epoch, self.config, self.guards)
        for key, value, *_ in self.log:
            self.shard.replay(key, value)
        self._act(self.shard.load_complete(self.world.now_ms), None)

    def crash(self) -> None:
        if self.shard is None:
            return
        self.crashes += 1
        self.shard.resign()
        self.shard = None
        self._timer_ms = None
        self.world.after(RESTART_MS, self.start)

    # ---------------------------------------------------------------- requests

    def serve(self, operation: str, request: Any, respond: Respond, refused: Any) -> None:
        """Runs one request; `refused` is the reply while there is no coordinator."""
        shard = self.shard
        if shard is None:
            respond(refused)
            return
        self._step(operation, request, respond, None)

    def _step(self, operation: str, request: Any, respond: Respond, new_id: int | None) -> None:
        shard = self.shard
        if shard is None:
            return
        extra = {} if new_id is None else {"new_producer_id": new_id}
        outcome = getattr(shard, operation)(request, self.world.now_ms, **extra)
        if outcome.need_producer_id:
            fresh = next(self._producer_ids)
            self.world.after(5, lambda: self._step(operation, request, respond, fresh))
            return
        if operation == "end_txn" and outcome.append is not None and request.commit:
            newest = self._newest.get(request.transactional_id, (0, 0))
            self.zombie_commits += (request.producer_id, request.producer_epoch) < newest
        self._act(outcome, respond)

    # ---------------------------------------------------------------- effects

    def _act(self, outcome: CoordinatorOutcome[Any], respond: Respond | None) -> None:
        if outcome.reply is not None and respond is not None:
            respond(outcome.reply)
        if outcome.append is not None:
            self._append(outcome.append, respond)
        for append in outcome.background:
            self._append(append, None)
        for send in outcome.markers:
            for partition in send.partitions:
                self._send_marker(send, partition)
        self._arm_timer()

    def _append(self, append: TransactionAppend[Any], respond: Respond | None) -> None:
        shard = self.shard
        at_ms = max(self._last_append_ms, self.world.now_ms + self.world.rng.randrange(1, 15))
        self._last_append_ms = at_ms
        landed = not self.world.chance(0.5)
        reported = landed and not self.world.chance(0.5)

        def land() -> None:
            if self.shard is shard and landed:
                self._land(append)

        def report() -> None:
            if shard is None or self.shard is not shard:
                return
            now_ms = self.world.now_ms
            if reported:
                self._note_owner(append)
                self._act(shard.settle(append, ErrorCode.NONE, now_ms), respond)
            else:
                error = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
                self._act(shard.settle(append, error, now_ms), respond)

        self.world.after(at_ms - self.world.now_ms, land)
        self.world.after(at_ms - self.world.now_ms + 1, report)

    def _note_owner(self, append: TransactionAppend[Any]) -> None:
        reply = append.reply
        if isinstance(reply, InitProducerIdReply) and not reply.error:
            (transactional_id,) = append.changes
            self._newest[transactional_id] = (reply.producer_id, reply.producer_epoch)

    def _land(self, append: TransactionAppend[Any]) -> None:
        self.log.extend(append.records)
        for key, value, _ in append.records:
            transactional_id = decode_key(key)
            assert transactional_id is not None
            if value is None:
                continue
            state = decode_value(value).state
            before = self._states.get(transactional_id)
            self._states[transactional_id] = state
            if state in _COMPLETE and before in _PREPARED:
                self._finished[transactional_id] = self._finished.get(transactional_id, 0) + 1

    def _send_marker(self, send: SendMarkers, partition: TopicPartition) -> None:
        shard = self.shard

        def serve(respond: Respond) -> None:
            if self.world.chance(0.5):
                respond(ErrorCode.NOT_LEADER_OR_FOLLOWER)
                return
            transaction = self._finished.get(send.transactional_id, 0)
            respond(self.partitions[partition].write_marker(send, transaction))

        def answered(error: ErrorCode | None) -> None:
            if shard is not None and self.shard is shard:
                result = {partition: ErrorCode.REQUEST_TIMED_OUT if error is None else error}
                self._act(shard.markers_written(send, result, self.world.now_ms), None)

        self.world.call(serve, answered, every_answer=True)

    def _arm_timer(self) -> None:
        at_ms = self.shard.next_timer_ms if self.shard is not None else None
        if at_ms is None or (self._timer_ms is not None and self._timer_ms <= at_ms):
            return
        shard, self._timer_ms = self.shard, at_ms

        def fire() -> None:
            if shard is not None and self.shard is shard and self._timer_ms == at_ms:
                self._timer_ms = None
                self._act(shard.on_timer(self.world.now_ms), None)

        self.world.after(max(0, at_ms - self.world.now_ms), fire)
