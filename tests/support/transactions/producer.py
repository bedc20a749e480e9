"""A transactional producer as Kafka's client behaves, written as a generator of calls.

It retries what may be retried, aborts what must be aborted, dies when it is fenced, and notes what
it knows of every transaction. A dead producer is followed by a new one with the same transactional
id; one that merely pauses for too long comes back as a zombie.
"""

import itertools
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from support.transactions.leader import PartitionLeader, Produce
from support.transactions.node import CoordinatorNode
from support.transactions.partition import Batch
from support.transactions.world import Respond, World

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.requests import (
    AddPartitions,
    AddPartitionsReply,
    EndTxn,
    EndTxnReply,
    InitProducerId,
    InitProducerIdReply,
)

Serve = Callable[[Respond], None]
Steps = Generator[Serve | int, Any, Any]
RETRY_MS = 20


class Died(Exception):
    """The producer met a fatal error."""


@dataclass
class Transaction:
    """The state that its producer has; `fate` is None while the result is unknown."""

    name: str
    written: dict[TopicPartition, list[object]] = field(default_factory=dict)
    commit_sent: bool = False
    fate: str | None = None


class Journal:
    """All transactions of all producers of a run."""

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []
        self._numbers = itertools.count()

    def begin(self, transactional_id: str) -> Transaction:
        transaction = Transaction(f"{transactional_id}#{next(self._numbers)}")
        self.transactions.append(transaction)
        return transaction


class ProducerProcess:
    """One incarnation of a producer. `version` is the transaction version of its client."""

    def __init__(
        self,
        transactional_id: str,
        version: int,
        node: CoordinatorNode,
        leaders: dict[TopicPartition, PartitionLeader],
        journal: Journal,
    ) -> None:
        self.transactional_id = transactional_id
        self.version = version
        self.node = node
        self.leaders = leaders
        self.journal = journal
        self.rng = node.world.rng
        self.producer_id = -1
        self.epoch = -1
        self.sequences: dict[TopicPartition, int] = {}

    # ---------------------------------------------------------------- script

    def run(self, transactions: int, timeout_ms: int) -> Steps:
        yield from self._init(timeout_ms)
        for _ in range(transactions):
            yield from self._transaction(timeout_ms)

    def _transaction(self, timeout_ms: int) -> Steps:
        transaction = self.journal.begin(self.transactional_id)
        targets = self.rng.sample(
            sorted(self.leaders), self.rng.randrange(1, len(self.leaders) + 1)
        )
        commit = self.rng.random() < 0.7
        for partition in targets:
            for number in range(self.rng.randrange(1, 3)):
                if self.node.world.chance(0.3):
                    yield self.rng.randrange(1, 2 * timeout_ms)
                written = yield from self._write(transaction, partition, number)
                commit = commit and written
        transaction.commit_sent = commit
        yield from self._end(transaction, commit)

    def _init(self, timeout_ms: int) -> Steps:
        request = InitProducerId(self.transactional_id, timeout_ms)
        refused = InitProducerIdReply(ErrorCode.NOT_COORDINATOR)
        reply = yield from self._until_final("init_producer_id", request, refused)
        if reply.error:
            raise Died(reply.error.name)
        self._adopt(reply.producer_id, reply.producer_epoch)

    def _adopt(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self.sequences.clear()
        self.producer_id, self.epoch = producer_id, epoch

    def _write(self, transaction: Transaction, partition: TopicPartition, number: int) -> Steps:
        if self.version < 2:
            yield from self._add(partition)
        sequence = self.sequences.get(partition, 0)
        value = (transaction.name, partition.partition, number)
        batch = Batch(self.producer_id, self.epoch, sequence, value)
        produce = Produce(self.transactional_id, batch, 12 if self.version >= 2 else 11)
        leader = self.leaders[partition]
        error = yield from self._retry(lambda respond: leader.serve(produce, respond))
        if error is ErrorCode.TRANSACTION_ABORTABLE:
            return False
        if error:
            raise Died(error.name)
        self.sequences[partition] = sequence + 1
        transaction.written.setdefault(partition, []).append(value)
        return True

    def _add(self, partition: TopicPartition) -> Steps:
        request = AddPartitions(
            self.transactional_id, self.producer_id, self.epoch, frozenset({partition})
        )
        away = ErrorCode.NOT_COORDINATOR
        refused = AddPartitionsReply(away, {partition: away})
        while True:
            reply = yield self._to_coordinator("add_partitions", request, refused)
            error = away if reply is None else reply.partitions[partition]
            if not error:
                return
            if not error.retriable:
                raise Died(error.name)
            yield RETRY_MS

    def _end(self, transaction: Transaction, commit: bool) -> Steps:
        if not transaction.written and self.version < 2 and not commit:
            transaction.fate = "aborted"
        request = EndTxn(self.transactional_id, self.producer_id, self.epoch, commit, self.version)
        refused = EndTxnReply(ErrorCode.NOT_COORDINATOR)
        reply = yield from self._until_final("end_txn", request, refused)
        if reply.error:
            raise Died(reply.error.name)
        transaction.fate = "committed" if commit else "aborted"
        if self.version >= 2:
            self._adopt(reply.producer_id, reply.producer_epoch)

    # ---------------------------------------------------------------- calls

    def _to_coordinator(self, operation: str, request: Any, refused: Any) -> Serve:
        return lambda respond: self.node.serve(operation, request, respond, refused)

    def _until_final(self, operation: str, request: Any, refused: Any) -> Steps:
        while True:
            reply = yield self._to_coordinator(operation, request, refused)
            if reply is not None and not reply.error.retriable:
                return reply
            yield RETRY_MS

    def _retry(self, serve: Serve) -> Steps:
        while True:
            error = yield serve
            if error is not None and not error.retriable:
                return error
            yield RETRY_MS


class ProducerHost:
    """Runs incarnations one after the other; sometimes starts one while another is still
    running.
    """

    def __init__(self, world: World, make: Callable[[], ProducerProcess], timeout_ms: int) -> None:
        self.world = world
        self.make = make
        self.timeout_ms = timeout_ms
        self.deaths: list[str] = []
        self.stopping = False

    def spawn(self, transactions: int) -> None:
        self._step(self.make().run(transactions, self.timeout_ms), None)

    def _step(self, steps: Steps, reply: Any) -> None:
        try:
            asked = steps.send(reply)
        except StopIteration:
            self._again()
            return
        except Died as death:
            self.deaths.append(str(death))
            self._again()
            return
        if isinstance(asked, int):
            self.world.after(asked, lambda: self._step(steps, None))
        else:
            self.world.call(asked, lambda answer: self._step(steps, answer))

    def _again(self) -> None:
        if not self.stopping:
            pause_ms = self.world.rng.randrange(1, 500)
            self.world.after(pause_ms, lambda: self.spawn(self.world.rng.randrange(1, 4)))
