"""A driver for unit tests: appends succeed at once by default; markers are collected."""

import itertools
from typing import Any

from barnabas.coordination import CoordinatorOutcome, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.decisions import TransactionAppend
from barnabas.transactions.metadata import (
    Transition,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
)
from barnabas.transactions.requests import (
    AddPartitions,
    EndTxn,
    InitProducerId,
    TransactionConfig,
    TransactionGuards,
)
from barnabas.transactions.shard import TransactionCoordinatorShard

ID = "tx"
P0, P1, P2 = (TopicPartition("t", number) for number in range(3))


class Harness:
    """One shard with its log. `hold` keeps appends pending until `release` or `fail`."""

    def __init__(
        self,
        config: TransactionConfig | None = None,
        guards: TransactionGuards | None = None,
        log: list[tuple[bytes, bytes | None]] | None = None,
        coordinator_epoch: int = 7,
    ) -> None:
        self.config = config or TransactionConfig()
        self.log = log if log is not None else []
        self.now_ms = 1_000
        self.hold = False
        self.held: list[TransactionAppend[Any]] = []
        self.sent: list[SendMarkers] = []
        self.new_ids = itertools.count(5000)
        self.shard = TransactionCoordinatorShard(coordinator_epoch, self.config, guards)
        for key, value, *_ in self.log:
            self.shard.replay(key, value)
        self._act(self.shard.load_complete(self.now_ms))

    # ---------------------------------------------------------------- operations

    def init(self, timeout_ms: int = 60_000, expected: tuple[int, int] = (-1, -1)) -> Any:
        request = InitProducerId(ID, timeout_ms, *expected)
        return self._run(self.shard.init_producer_id, request)

    def add(
        self, producer: Any, *partitions: TopicPartition, version: int = 2, verify: bool = False
    ) -> Any:
        request = AddPartitions(
            ID,
            producer.producer_id,
            producer.producer_epoch,
            frozenset(partitions),
            verify,
            version,
        )
        return self._act(self.shard.add_partitions(request, self.now_ms))

    def end(self, producer: Any, *, commit: bool = True, version: int = 2) -> Any:
        request = EndTxn(ID, producer.producer_id, producer.producer_epoch, commit, version)
        return self._run(self.shard.end_txn, request)

    def markers_ok(self) -> None:
        """Reports success for every marker request."""
        while self.sent:
            self.answer(self.sent.pop(0))

    def answer(self, send: SendMarkers, error: ErrorCode = ErrorCode.NONE) -> None:
        results = dict.fromkeys(send.partitions, error)
        self._act(self.shard.markers_written(send, results, self.now_ms))

    def tick(self, ms: int) -> None:
        self.now_ms += ms
        self._act(self.shard.on_timer(self.now_ms))

    def release(self) -> Any:
        """The oldest held append succeeds."""
        append = self.held.pop(0)
        self.log.extend(append.records)
        return self._act(self.shard.settle(append, ErrorCode.NONE, self.now_ms))

    def fail(self, error: ErrorCode = ErrorCode.NOT_ENOUGH_REPLICAS) -> Any:
        """The oldest held append fails."""
        return self._act(self.shard.settle(self.held.pop(0), error, self.now_ms))

    def reload(self) -> "Harness":
        """A new coordinator over the same log."""
        self.shard.resign()
        epoch = self.shard.coordinator_epoch + 1
        return Harness(self.config, log=self.log, coordinator_epoch=epoch)

    # ---------------------------------------------------------------- looking

    @property
    def state(self) -> str:
        described = self.shard.describe_transaction(ID)
        return described.state.label if described.state else described.error.name

    @property
    def producer(self) -> tuple[int, int]:
        described = self.shard.describe_transaction(ID)
        return described.producer_id, described.producer_epoch

    def last_record(self) -> Transition:
        key, value, *_ = self.log[-1]
        assert decode_key(key) == ID
        assert value is not None
        return decode_value(value)

    # ---------------------------------------------------------------- driving

    def _run(self, operation: Any, request: Any) -> Any:
        outcome = operation(request, self.now_ms)
        if outcome.need_producer_id:
            outcome = operation(request, self.now_ms, new_producer_id=next(self.new_ids))
        return self._act(outcome)

    def _act(self, outcome: CoordinatorOutcome[Any]) -> Any:
        self.sent += outcome.markers
        reply = outcome.reply
        pending = [outcome.append] if outcome.append is not None else []
        for append in [*pending, *outcome.background]:
            self.held.append(append)
            if not self.hold:
                answer = self.release()
                reply = answer if append is outcome.append else reply
        return reply


def harness_at(current: Transition, **options: Any) -> Harness:
    """A shard that has loaded this one id."""
    return Harness(log=[(encode_key(ID), encode_value(current, 2))], **options)
