"""Hypothesis drives one transactional id through the shard and compares with a small model.

The model knows who owns the id, whether a transaction is open, with which partitions, and what was
decided; every reply follows from that. Appends succeed or fail, markers come back or are lost, and
the coordinator restarts at any point.
"""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from support.transactions.harness import P0, P1, P2, Harness

from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.metadata import NO_TIMESTAMP
from barnabas.transactions.requests import InitProducerIdReply

PARTITIONS = st.sets(st.sampled_from([P0, P1, P2]), min_size=1)


class TransactionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.h = Harness()
        self.owner: Any = None
        self.zombies: list[Any] = []
        self.open: set[Any] = set()
        self.decided: str | None = None
        self.last: tuple[Any, bool] | None = None

    # ---------------------------------------------------------------- producers

    @rule()
    def init(self) -> None:
        reply = self.h.init()
        if self.decided is not None:
            assert reply.error is E.CONCURRENT_TRANSACTIONS
        elif self.open:
            assert reply.error is E.CONCURRENT_TRANSACTIONS
            self._retire()
            self.decided, self.last = "Abort", None
        else:
            assert reply.error is E.NONE
            self._retire()
            self.owner, self.last = reply, None

    @rule()
    def failed_init(self) -> None:
        before = (self.h.state, self.h.producer)
        self.h.hold = True
        if self.h.init() is None:
            assert self.h.fail().error is E.COORDINATOR_NOT_AVAILABLE
        self.h.hold = False
        assert (self.h.state, self.h.producer) == before

    @precondition(lambda self: self.owner is not None)
    @rule(partitions=PARTITIONS)
    def add(self, partitions: set[Any]) -> None:
        reply = self.h.add(self.owner, *partitions)
        if self.decided is not None:
            assert reply.error is E.CONCURRENT_TRANSACTIONS
            return
        assert reply.error is E.NONE
        self.open |= partitions
        self.last = None

    @precondition(lambda self: self.owner is not None)
    @rule(partitions=PARTITIONS)
    def verify(self, partitions: set[Any]) -> None:
        reply = self.h.add(self.owner, *partitions, verify=True)
        for partition, error in reply.partitions.items():
            if self.decided is not None:
                assert error is E.CONCURRENT_TRANSACTIONS
            else:
                inside = partition in self.open
                assert error is (E.NONE if inside else E.TRANSACTION_ABORTABLE)

    @precondition(lambda self: self.owner is not None)
    @rule(commit=st.booleans())
    def end(self, commit: bool) -> None:
        reply = self.h.end(self.owner, commit=commit)
        if self.decided is not None:
            assert reply.error is E.CONCURRENT_TRANSACTIONS
        elif commit and not self.open:
            assert reply.error is E.INVALID_TXN_STATE
        else:
            self._decided(reply, commit)

    def _decided(self, reply: Any, commit: bool) -> None:
        assert reply.error is E.NONE
        assert (reply.producer_id, reply.producer_epoch) == (
            self.owner.producer_id,
            self.owner.producer_epoch + 1,
        )
        self.last = (self.owner, commit)
        self.owner = InitProducerIdReply(E.NONE, reply.producer_id, reply.producer_epoch)
        self.decided = ("Commit" if commit else "Abort") if self.open else None

    @precondition(lambda self: self.last is not None)
    @rule(commit=st.booleans())
    def repeat_end(self, commit: bool) -> None:
        assert self.last is not None
        owner, decision = self.last
        reply = self.h.end(owner, commit=commit)
        if commit is not decision:
            assert reply.error is E.INVALID_TXN_STATE
        elif self.decided is not None:
            assert reply.error is E.CONCURRENT_TRANSACTIONS
        else:
            assert (reply.error, reply.producer_epoch) == (E.NONE, self.owner.producer_epoch)

    @precondition(lambda self: self.zombies)
    @rule(data=st.data(), partitions=PARTITIONS, commit=st.booleans())
    def zombie(self, data: st.DataObject, partitions: set[Any], commit: bool) -> None:
        zombie = data.draw(st.sampled_from(self.zombies))
        assert self.h.add(zombie, *partitions).error is E.PRODUCER_FENCED
        assert self.h.end(zombie, commit=commit).error is E.PRODUCER_FENCED

    def _retire(self) -> None:
        if self.owner is not None:
            self.zombies.append(self.owner)
        self.owner = None

    # ---------------------------------------------------------------- the coordinator's side

    @precondition(lambda self: self.h.sent)
    @rule(error=st.sampled_from([E.NONE, E.NONE, E.REQUEST_TIMED_OUT, E.NOT_LEADER_OR_FOLLOWER]))
    def markers(self, error: E) -> None:
        self.h.answer(self.h.sent.pop(0), error)
        if error is E.NONE:
            self.open, self.decided = set(), None

    @rule()
    def retry_markers(self) -> None:
        self.h.tick(100)

    @rule()
    def restart(self) -> None:
        self.h = self.h.reload()

    # ---------------------------------------------------------------- invariants

    @invariant()
    def the_state_is_the_models(self) -> None:
        state = self.h.state
        if self.decided is not None:
            assert state == f"Prepare{self.decided}"
        elif self.open:
            assert state == "Ongoing"
        else:
            assert state in {
                "Empty",
                "CompleteCommit",
                "CompleteAbort",
                "TRANSACTIONAL_ID_NOT_FOUND",
            }

    @invariant()
    def the_log_tells_the_same(self) -> None:
        if self.h.log:
            record = self.h.last_record()
            assert record.state.label == self.h.state
            assert (record.producer_id, record.producer_epoch) == self.h.producer
            assert (record.start_ms == NO_TIMESTAMP) == (self.h.state == "Empty")

    @invariant()
    def a_decided_transaction_is_being_finished(self) -> None:
        if self.decided is not None:
            assert self.h.shard.next_timer_ms is not None


TransactionMachine.TestCase.settings = settings(
    max_examples=200, stateful_step_count=40, deadline=None
)
TestTransactionMachine = TransactionMachine.TestCase
