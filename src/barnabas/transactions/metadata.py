"""One transactional id: what is known of it, and the changes that can be made to it.

A `Transition` is a full picture of the id after a change, as it will be written to the log. The
`prepare_*` functions compute one and change nothing; `TransactionMetadata.apply` makes it true,
which the shard does only when the record is committed (KAFKA-9666, 14880: an epoch must not be
burnt by a write that failed).

Epochs run from 0 to 32766; 32767 is kept so that a producer at the last epoch can still be fenced.
"""

from dataclasses import dataclass, replace

from barnabas.model.ids import TopicPartition
from barnabas.transactions.requests import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from barnabas.transactions.states import TransactionState

MAX_EPOCH = 32767
NO_TIMESTAMP = -1


def epoch_exhausted(epoch: int) -> bool:
    """Whether a client may not be given a higher epoch with the same producer id."""
    return epoch >= MAX_EPOCH - 1


@dataclass(frozen=True, slots=True)
class Transition:
    """A transactional id as it is, or will be, in the log.

    `last_producer_epoch` recognizes a repeated InitProducerId (KIP-360) and is not in Kafka's
    record: after a reload such a repetition is answered PRODUCER_FENCED, as Kafka does.
    `previous_producer_id` and `next_producer_id` carry the change of producer id when epochs run
    out (KIP-890); `transaction_version` is that of the client in this transaction.
    """

    state: TransactionState
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    update_ms: int
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NO_TIMESTAMP
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    transaction_version: int = 0

    @property
    def exhausted(self) -> bool:
        return epoch_exhausted(self.producer_epoch)

    @property
    def bumps_epoch(self) -> bool:
        """Whether the transaction runs under version 2, with an epoch of its own."""
        return self.transaction_version >= 2


class TransactionMetadata:
    """The current picture of one transactional id, and the change on its way to the log.

    Owned by one shard, changed on its loop only. At most one change is pending; while it is, no
    other may be prepared.
    """

    __slots__ = ("current", "pending", "persisted", "transactional_id")

    def __init__(self, transactional_id: str, current: Transition, *, persisted: bool) -> None:
        self.transactional_id = transactional_id
        self.current = current
        self.pending: Transition | None = None
        self.persisted = persisted
        """False until the first record is committed; such an id vanishes if its append fails."""

    def begin(self, target: Transition) -> None:
        """Note that `target` is on its way to the log."""
        if self.pending is not None:
            raise AssertionError(f"{self.transactional_id}: a change is pending already")
        if not self.current.state.may_become(target.state):
            raise AssertionError(
                f"{self.transactional_id}: {self.current.state} cannot become {target.state}"
            )
        self.pending = target

    def complete(self) -> None:
        """The pending change is committed: it is the current state now."""
        if self.pending is None:
            raise AssertionError(f"{self.transactional_id}: no change is pending")
        self.current, self.pending, self.persisted = self.pending, None, True

    def cancel(self) -> None:
        """The pending change was not written: nothing has happened."""
        self.pending = None


def new_producer(producer_id: int, timeout_ms: int, now_ms: int) -> Transition:
    """A transactional id never seen before; its first InitProducerId makes the epoch 0."""
    return Transition(
        TransactionState.EMPTY, producer_id, NO_PRODUCER_EPOCH, timeout_ms, update_ms=now_ms
    )


def prepare_epoch_bump(
    current: Transition, timeout_ms: int, last_epoch: int, now_ms: int
) -> Transition:
    """InitProducerId on an idle id: the next epoch, fencing whoever used the last one."""
    return Transition(
        TransactionState.EMPTY,
        current.producer_id,
        current.producer_epoch + 1,
        timeout_ms,
        now_ms,
        last_producer_epoch=last_epoch,
        previous_producer_id=current.previous_producer_id,
    )


def prepare_rotation(
    current: Transition, new_producer_id: int, timeout_ms: int, last_epoch: int, now_ms: int
) -> Transition:
    """InitProducerId when the epochs are used up: a new producer id at epoch 0."""
    return Transition(
        TransactionState.EMPTY,
        new_producer_id,
        0,
        timeout_ms,
        now_ms,
        last_producer_epoch=last_epoch,
        previous_producer_id=current.producer_id,
    )


def prepare_repeat(current: Transition, timeout_ms: int, now_ms: int) -> Transition:
    """InitProducerId sent again by the producer that was answered: the same epoch."""
    return replace(
        current,
        state=TransactionState.EMPTY,
        timeout_ms=timeout_ms,
        update_ms=now_ms,
        start_ms=NO_TIMESTAMP,
    )


def prepare_add_partitions(
    current: Transition,
    partitions: frozenset[TopicPartition],
    transaction_version: int,
    now_ms: int,
) -> Transition:
    """More partitions; on an idle id this opens a transaction."""
    opens = current.state is not TransactionState.ONGOING
    return replace(
        current,
        state=TransactionState.ONGOING,
        partitions=current.partitions | partitions,
        start_ms=now_ms if opens else current.start_ms,
        update_ms=now_ms,
        transaction_version=transaction_version,
    )


def prepare_end(
    current: Transition,
    commit: bool,
    transaction_version: int,
    next_producer_id: int,
    now_ms: int,
) -> Transition:
    """EndTxn: the decision. Under version 2 the epoch goes up with it, so nothing sent under the
    old epoch, late EndTxn or late produce, can touch the next transaction (KIP-890)."""
    ended = replace(
        current,
        state=TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT,
        start_ms=current.start_ms if current.state is TransactionState.ONGOING else now_ms,
        update_ms=now_ms,
        transaction_version=transaction_version,
    )
    if not ended.bumps_epoch:
        return ended
    return replace(
        ended,
        producer_epoch=current.producer_epoch + 1,
        last_producer_epoch=current.producer_epoch,
        next_producer_id=next_producer_id,
    )


def prepare_fence(current: Transition, transaction_version: int, now_ms: int) -> Transition:
    """Abort with the next epoch, so that the producer that opened the transaction is fenced
    (KAFKA-6119). Fencing and aborting are one record: both happen or neither."""
    return replace(
        current,
        state=TransactionState.PREPARE_ABORT,
        producer_epoch=current.producer_epoch + 1,
        last_producer_epoch=NO_PRODUCER_EPOCH,
        update_ms=now_ms,
        transaction_version=transaction_version,
    )


def prepare_complete(current: Transition, now_ms: int) -> Transition:
    """All markers are written; the new producer id of an exhausted one takes effect."""
    commit = current.state is TransactionState.PREPARE_COMMIT
    done = replace(
        current,
        state=TransactionState.COMPLETE_COMMIT if commit else TransactionState.COMPLETE_ABORT,
        partitions=frozenset(),
        update_ms=now_ms,
    )
    if current.next_producer_id == NO_PRODUCER_ID:
        return done
    return replace(
        done,
        producer_id=current.next_producer_id,
        producer_epoch=0,
        previous_producer_id=current.producer_id,
        next_producer_id=NO_PRODUCER_ID,
    )


def prepare_dead(current: Transition, now_ms: int) -> Transition:
    """The id is idle for too long and is about to be forgotten."""
    return replace(current, state=TransactionState.DEAD, update_ms=now_ms)
