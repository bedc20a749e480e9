"""AddPartitionsToTxn, AddOffsetsToTxn and the verification of KIP-890, for one transactional id."""

from collections.abc import Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.decision import (
    CONCURRENT,
    FENCED,
    WRONG_PRODUCER_ID,
    Change,
    Decision,
    Refuse,
    Unchanged,
)
from barnabas.transactions.metadata import (
    TransactionMetadata,
    Transition,
    prepare_add_partitions,
)
from barnabas.transactions.requests import AddPartitions
from barnabas.transactions.states import TransactionState


def decide_add(metadata: TransactionMetadata, request: AddPartitions, now_ms: int) -> Decision:
    """Whether the partitions may join, opening a transaction if none is open."""
    # A pending change comes first: a producer whose epochs ran out may use the id that is still on
    # its way to the log, and must retry rather than fail.
    if metadata.pending is not None:
        return CONCURRENT
    current = metadata.current
    refusal = check_producer(current, request.producer_id, request.producer_epoch)
    if refusal is not None:
        return refusal
    joined = current.state is TransactionState.ONGOING and request.partitions <= current.partitions
    if joined or not request.partitions:
        return Unchanged()
    return Change(
        prepare_add_partitions(current, request.partitions, request.transaction_version, now_ms)
    )


def verify(
    metadata: TransactionMetadata, request: AddPartitions
) -> Mapping[TopicPartition, ErrorCode]:
    """Whether each partition is in the open transaction of this producer; changes nothing."""
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
    refusal = check_producer(metadata.current, request.producer_id, request.producer_epoch)
    if refusal is not None:
        return refusal.error
    if pending is not None and not request.partitions <= metadata.current.partitions:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return None


def check_producer(current: Transition, producer_id: int, producer_epoch: int) -> Refuse | None:
    """Whether this producer holds the id now, and no decided transaction is being finished."""
    if current.state.is_prepared and producer_id == current.next_producer_id:
        return CONCURRENT
    if producer_id != current.producer_id:
        return WRONG_PRODUCER_ID
    if producer_epoch != current.producer_epoch:
        return FENCED
    if current.state.is_prepared:
        return CONCURRENT
    return None
