"""Decisions about one transactional id, and the append that makes a decision durable.

`decide_init`, `decide_add` and `decide_end` return a `Decision`: reject the request, leave the id
unchanged, change it, or get a producer id first. The shard turns it into an outcome. All functions
are pure and read the state of one id.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from barnabas.coordination import PendingAppend
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import NO_PRODUCER_ID, TopicPartition
from barnabas.model.records import NO_EPOCH
from barnabas.transactions.metadata import (
    TransactionMetadata,
    TransactionState,
    Transition,
    epoch_exhausted,
    prepare_add_partitions,
    prepare_end,
    prepare_epoch_bump,
    prepare_fence,
    prepare_repeat,
    prepare_rotation,
)
from barnabas.transactions.requests import (
    AddPartitions,
    EndTxn,
    InitProducerId,
    Reply,
    TransactionGuards,
)

ReplyT = TypeVar("ReplyT", bound=Reply)
_COMMITTED = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT})


@dataclass(slots=True, eq=False)
class TransactionAppend(PendingAppend, Generic[ReplyT]):
    """Records of changed transactional ids.

    Until the append is settled, every other change of these ids gets CONCURRENT_TRANSACTIONS.
    """

    changes: Mapping[str, Transition] = field(default_factory=dict)
    reply: ReplyT | None = None
    """The reply if the append succeeds; None when no client waits."""


@dataclass(frozen=True, slots=True)
class Reject:
    """Reply with this error; nothing changes."""

    error: ErrorCode


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The id already has the requested state: reply with success and write no record."""


@dataclass(frozen=True, slots=True)
class NeedProducerId:
    """The decision needs a new producer id."""


@dataclass(frozen=True, slots=True)
class Change:
    """Write this transition, then reply."""

    to: Transition


Decision = Reject | Unchanged | NeedProducerId | Change

CONCURRENT = Reject(ErrorCode.CONCURRENT_TRANSACTIONS)
FENCED = Reject(ErrorCode.PRODUCER_FENCED)
WRONG_PRODUCER_ID = Reject(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
WRONG_STATE = Reject(ErrorCode.INVALID_TXN_STATE)


# --- InitProducerId -------------------------------------------------------------------------------


def check_init(request: InitProducerId, max_timeout_ms: int) -> ErrorCode:
    """Returns the error of an invalid request, otherwise NONE."""
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= max_timeout_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NONE


def decide_init(
    current: Transition, request: InitProducerId, new_producer_id: int | None, now_ms: int
) -> Decision:
    """Returns the decision for InitProducerId; no change of the id is pending.

    Decides which producer gets a transactional id, and its epoch. A new producer (no expected id)
    always wins: an open transaction of the previous producer is aborted with a higher epoch first,
    and the new producer must retry. A producer that sends its current id and epoch (KIP-360) wins
    only if they are the stored ones, or the ones before them when the response to its own epoch
    bump was lost.
    """
    expected = request.producer_id != NO_PRODUCER_ID
    # Checked before the state: an outdated producer must be fenced, not asked to retry.
    if expected and not _knows_producer_id(current, request):
        return FENCED
    # The markers carry the current epoch. With a higher epoch assigned before all of them are
    # written, partitions would reject the remaining ones.
    if current.state.is_prepared:
        return CONCURRENT
    if current.state is TransactionState.ONGOING:
        return _take_over(current, request, expected, now_ms)
    # The state is EMPTY or COMPLETE_*: all markers are written, so the epoch may change.
    if current.state.is_idle:
        return _next_epoch(current, request, new_producer_id, now_ms)
    return Reject(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def _knows_producer_id(current: Transition, request: InitProducerId) -> bool:
    if current.producer_epoch == NO_EPOCH or request.producer_id == current.producer_id:
        return True
    return request.producer_id == current.previous_producer_id and epoch_exhausted(
        request.producer_epoch
    )


def _take_over(
    current: Transition, request: InitProducerId, expected: bool, now_ms: int
) -> Decision:
    # A producer with an outdated epoch must not abort the transaction of its successor.
    if expected and request.producer_epoch != current.producer_epoch:
        return FENCED
    # Version 0 in the record: no EndTxn of the fenced producer may count as a repetition.
    return Change(prepare_fence(current, 0, now_ms))


def _next_epoch(
    current: Transition, request: InitProducerId, new_producer_id: int | None, now_ms: int
) -> Decision:
    timeout_ms = request.transaction_timeout_ms
    fresh = current.producer_epoch == NO_EPOCH
    if request.producer_id == NO_PRODUCER_ID or fresh:
        last_epoch = NO_EPOCH
    elif request.producer_epoch == current.producer_epoch:
        last_epoch = current.producer_epoch
    # The response to the producer's own bump was lost. It gets the same epoch again; another bump
    # would fence it.
    elif request.producer_epoch == current.last_producer_epoch:
        return Change(prepare_repeat(current, timeout_ms, now_ms))
    else:
        return FENCED
    if not current.exhausted:
        return Change(prepare_epoch_bump(current, timeout_ms, last_epoch, now_ms))
    if new_producer_id is None:
        return NeedProducerId()
    return Change(prepare_rotation(current, new_producer_id, timeout_ms, last_epoch, now_ms))


# --- AddPartitionsToTxn, AddOffsetsToTxn and their verification -----------------------------------


def decide_add(metadata: TransactionMetadata, request: AddPartitions, now_ms: int) -> Decision:
    """Returns the decision for AddPartitionsToTxn; it may open a transaction."""
    # Checked first: a producer with exhausted epochs may use the id of a pending change, which is
    # not in the log yet, and must retry rather than fail.
    if metadata.pending is not None:
        return CONCURRENT
    current = metadata.current
    rejection = check_producer(current, request.producer_id, request.producer_epoch)
    if rejection is not None:
        return rejection
    joined = current.state is TransactionState.ONGOING and request.partitions <= current.partitions
    if joined or not request.partitions:
        return Unchanged()
    return Change(
        prepare_add_partitions(current, request.partitions, request.transaction_version, now_ms)
    )


def verify(
    metadata: TransactionMetadata, request: AddPartitions
) -> Mapping[TopicPartition, ErrorCode]:
    """Returns, per partition, whether it is in the open transaction of this producer (KIP-890)."""
    error = _verification_error(metadata, request)
    if error is not None:
        return dict.fromkeys(request.partitions, error)
    inside = metadata.current.partitions
    return {
        partition: ErrorCode.NONE if partition in inside else ErrorCode.TRANSACTION_ABORTABLE
        for partition in request.partitions
    }


def _verification_error(metadata: TransactionMetadata, request: AddPartitions) -> ErrorCode | None:
    # While partitions are being added the transaction stays open, so those inside it are certain.
    # Any other pending change may close it.
    pending = metadata.pending
    if pending is not None and pending.state is not TransactionState.ONGOING:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    rejection = check_producer(metadata.current, request.producer_id, request.producer_epoch)
    if rejection is not None:
        return rejection.error
    if pending is not None and not request.partitions <= metadata.current.partitions:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return None


def check_producer(current: Transition, producer_id: int, producer_epoch: int) -> Reject | None:
    """Returns None if this is the current producer and its transaction may change."""
    # The response to EndTxn has given the producer its next id already; that id becomes current
    # when the markers are written.
    if current.state.is_prepared and producer_id == current.next_producer_id:
        return CONCURRENT
    if producer_id != current.producer_id:
        return WRONG_PRODUCER_ID
    if producer_epoch != current.producer_epoch:
        return FENCED
    if current.state.is_prepared:
        return CONCURRENT
    return None


# --- EndTxn ---------------------------------------------------------------------------------------


def decide_end(
    metadata: TransactionMetadata,
    request: EndTxn,
    new_producer_id: int | None,
    guards: TransactionGuards,
    now_ms: int,
) -> Decision:
    """Returns the decision for EndTxn.

    `request.transaction_version` is already limited to the version that the broker serves. The
    codes by state; "same" and "other" compare the result of the request with the stored one. 48 is
    INVALID_TXN_STATE, 51 CONCURRENT_TRANSACTIONS, 90 PRODUCER_FENCED.

    ============ ============================= ==============================
    State        current epoch                 previous epoch (version 2)
    ============ ============================= ==============================
    EMPTY        48; v2 abort: abort nothing   90
    ONGOING      decide                        90 (KAFKA-17754)
    PREPARE_*    same 51, other 48; v2: 51     same 51, other 48
    COMPLETE_*   same OK, other 48;            same OK, other 48
                 v2 abort: abort nothing
    ============ ============================= ==============================

    With version 2 a decision bumps the epoch. A request with the previous epoch is therefore a
    repetition of the EndTxn that was decided, and a request with the current epoch belongs to the
    next transaction. Without the bump the two cannot be distinguished, so a late EndTxn could end
    a later transaction.
    """
    # The pending change decides which epoch is current, so no other check has a meaning yet.
    if metadata.pending is not None:
        return CONCURRENT
    current = metadata.current
    # Before the checks of id and epoch, which a repetition fails: the decision has bumped the
    # epoch.
    if _repeats_last(current, request):
        return _decide_repetition(current, request)
    if current.state.is_prepared and request.producer_id == current.next_producer_id:
        return CONCURRENT
    if request.producer_id != current.producer_id:
        return WRONG_PRODUCER_ID
    if request.producer_epoch != current.producer_epoch and not _unguarded(current, guards):
        return FENCED
    if current.state is TransactionState.ONGOING:
        return _end(current, request, new_producer_id, now_ms)
    return _end_without_transaction(current, request, new_producer_id, now_ms)


def _unguarded(current: Transition, guards: TransactionGuards) -> bool:
    # Kafka's former behaviour, which only tests turn on (KAFKA-17754).
    return current.state is TransactionState.ONGOING and not guards.end_txn_bound_to_epoch


def _repeats_last(current: Transition, request: EndTxn) -> bool:
    """Whether the request repeats the EndTxn whose decision is stored."""
    if not current.bumps_epoch or current.state in (
        TransactionState.EMPTY,
        TransactionState.ONGOING,
    ):
        return False
    if request.producer_id == current.producer_id:
        return request.producer_epoch + 1 == current.producer_epoch
    return (
        request.producer_id == current.previous_producer_id
        and epoch_exhausted(request.producer_epoch)
        and current.producer_epoch == 0
    )


def _decide_repetition(current: Transition, request: EndTxn) -> Decision:
    # A commit that repeats an abort, or the reverse, must fail: the client would believe the
    # opposite of what was decided.
    if (current.state in _COMMITTED) is not request.commit:
        return WRONG_STATE
    return CONCURRENT if current.state.is_prepared else Unchanged()


def _end_without_transaction(
    current: Transition, request: EndTxn, new_producer_id: int | None, now_ms: int
) -> Decision:
    if current.state.is_prepared:
        return CONCURRENT if current.bumps_epoch else _decide_repetition(current, request)
    if request.transaction_version >= 2 and not request.commit:
        # Under version 2 partitions join through the partition leaders; a producer whose produce
        # failed cannot know whether one did, so an abort of an empty transaction must succeed.
        return _end(current, request, new_producer_id, now_ms)
    if current.state is TransactionState.EMPTY or current.bumps_epoch:
        return WRONG_STATE
    return _decide_repetition(current, request)


def _end(
    current: Transition, request: EndTxn, new_producer_id: int | None, now_ms: int
) -> Decision:
    version = request.transaction_version
    next_id: int = NO_PRODUCER_ID
    # The bump of version 2 needs one more epoch. Without one left, the producer continues with a
    # new id and epoch 0; the markers still carry the old id.
    if version >= 2 and current.exhausted:
        if new_producer_id is None:
            return NeedProducerId()
        next_id = new_producer_id
    return Change(prepare_end(current, request.commit, version, next_id, now_ms))
