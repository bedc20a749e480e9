"""InitProducerId: decides which producer gets a transactional id, and its epoch.

A new producer (no expected id) always wins: an open transaction of the old one is aborted under a
higher epoch first, the new one is told to try again. A producer that names what it has (KIP-360)
wins only if that is the current pair, or the pair before it when its own bump went unanswered.
"""

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.decision import (
    CONCURRENT,
    FENCED,
    Change,
    Decision,
    NeedProducerId,
    Refuse,
)
from barnabas.transactions.metadata import (
    Transition,
    epoch_exhausted,
    prepare_epoch_bump,
    prepare_fence,
    prepare_repeat,
    prepare_rotation,
)
from barnabas.transactions.requests import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, InitProducerId
from barnabas.transactions.states import TransactionState


def check_init(request: InitProducerId, max_timeout_ms: int) -> ErrorCode:
    """What is wrong with the request itself."""
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if not 0 < request.transaction_timeout_ms <= max_timeout_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NONE


def decide_init(
    current: Transition, request: InitProducerId, new_producer_id: int | None, now_ms: int
) -> Decision:
    """For an id with no change pending."""
    expected = request.producer_id != NO_PRODUCER_ID
    if expected and not _knows_producer_id(current, request):
        return FENCED
    if current.state.is_prepared:
        return CONCURRENT
    if current.state is TransactionState.ONGOING:
        return _take_over(current, request, expected, now_ms)
    if current.state.is_idle:
        return _next_epoch(current, request, new_producer_id, now_ms)
    return Refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def _knows_producer_id(current: Transition, request: InitProducerId) -> bool:
    if current.producer_epoch == NO_PRODUCER_EPOCH or request.producer_id == current.producer_id:
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
    # Version 0 in the record: no EndTxn of the fenced producer may pass for a repetition.
    return Change(prepare_fence(current, 0, now_ms))


def _next_epoch(
    current: Transition, request: InitProducerId, new_producer_id: int | None, now_ms: int
) -> Decision:
    timeout_ms = request.transaction_timeout_ms
    fresh = current.producer_epoch == NO_PRODUCER_EPOCH
    if request.producer_id == NO_PRODUCER_ID or fresh:
        last_epoch = NO_PRODUCER_EPOCH
    elif request.producer_epoch == current.producer_epoch:
        last_epoch = current.producer_epoch
    elif request.producer_epoch == current.last_producer_epoch:
        return Change(prepare_repeat(current, timeout_ms, now_ms))
    else:
        return FENCED
    if not current.exhausted:
        return Change(prepare_epoch_bump(current, timeout_ms, last_epoch, now_ms))
    if new_producer_id is None:
        return NeedProducerId()
    return Change(prepare_rotation(current, new_producer_id, timeout_ms, last_epoch, now_ms))
