"""EndTxn: commit or abort, for one transactional id.

What each state answers; "same" and "other" compare the request's result with the stored one.

state           this epoch                       the epoch before (version 2)
EMPTY           48; v2 abort: abort nothing      90
ONGOING         decide                           90 (KAFKA-17754)
PREPARE_*       same 51, other 48; v2: 51        same 51, other 48
COMPLETE_*      same OK, other 48;               same OK, other 48
                v2 abort: abort nothing

Under version 2 a decision bumps the epoch. A request with the epoch before is therefore the
repetition of the EndTxn that made the decision, and one with the current epoch belongs to the next
transaction. Without the bump the two cannot be told apart, which is why a late EndTxn could decide
a later transaction.
"""

from barnabas.transactions.config import TransactionGuards
from barnabas.transactions.decision import (
    CONCURRENT,
    FENCED,
    WRONG_PRODUCER_ID,
    WRONG_STATE,
    Change,
    Decision,
    NeedProducerId,
    Unchanged,
)
from barnabas.transactions.metadata import (
    TransactionMetadata,
    Transition,
    epoch_exhausted,
    prepare_end,
)
from barnabas.transactions.requests import NO_PRODUCER_ID, EndTxn
from barnabas.transactions.states import TransactionState

_COMMITTED = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT})


def decide_end(
    metadata: TransactionMetadata,
    request: EndTxn,
    new_producer_id: int | None,
    guards: TransactionGuards,
    now_ms: int,
) -> Decision:
    """`request.transaction_version` is already limited to what the broker serves."""
    if metadata.pending is not None:
        return CONCURRENT
    current = metadata.current
    if _repeats_last(current, request):
        return _answer_repetition(current, request)
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
    return current.state is TransactionState.ONGOING and not guards.end_txn_bound_to_epoch


def _repeats_last(current: Transition, request: EndTxn) -> bool:
    """Whether the request is the one that made the decision now stored, sent again."""
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


def _answer_repetition(current: Transition, request: EndTxn) -> Decision:
    if (current.state in _COMMITTED) is not request.commit:
        return WRONG_STATE
    return CONCURRENT if current.state.is_prepared else Unchanged()


def _end_without_transaction(
    current: Transition, request: EndTxn, new_producer_id: int | None, now_ms: int
) -> Decision:
    if current.state.is_prepared:
        return CONCURRENT if current.bumps_epoch else _answer_repetition(current, request)
    if request.transaction_version >= 2 and not request.commit:
        # Under version 2 partitions join through the partition leaders; a producer whose produce
        # failed cannot know whether one did, so it must be able to abort nothing.
        return _end(current, request, new_producer_id, now_ms)
    if current.state is TransactionState.EMPTY or current.bumps_epoch:
        return WRONG_STATE
    return _answer_repetition(current, request)


def _end(
    current: Transition, request: EndTxn, new_producer_id: int | None, now_ms: int
) -> Decision:
    version = request.transaction_version
    next_id = NO_PRODUCER_ID
    if version >= 2 and current.exhausted:
        if new_producer_id is None:
            return NeedProducerId()
        next_id = new_producer_id
    return Change(prepare_end(current, request.commit, version, next_id, now_ms))
