"""ListTransactions and DescribeTransactions over the ids of one shard. They change nothing."""

import re
from collections.abc import Iterable

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.metadata import TransactionMetadata
from barnabas.transactions.requests import (
    DescribeTransactionReply,
    ListedTransaction,
    ListTransactions,
    ListTransactionsReply,
)
from barnabas.transactions.states import STATE_LABELS


def list_transactions(
    ids: Iterable[TransactionMetadata], request: ListTransactions, now_ms: int
) -> ListTransactionsReply:
    """Lists the ids that match every filter.

    Unknown state names are returned to the caller instead of being rejected.
    """
    try:
        pattern = re.compile(request.transactional_id_pattern or "")
    except re.error:
        return ListTransactionsReply(ErrorCode.INVALID_REGULAR_EXPRESSION)
    unknown = tuple(sorted(request.states - STATE_LABELS.keys()))
    if request.states and len(unknown) == len(request.states):
        return ListTransactionsReply(ErrorCode.NONE, unknown)
    found = (
        ListedTransaction(
            metadata.transactional_id, metadata.current.producer_id, metadata.current.state
        )
        for metadata in ids
        if _passes(metadata, request, pattern, now_ms)
    )
    return ListTransactionsReply(ErrorCode.NONE, unknown, tuple(found))


def _passes(
    metadata: TransactionMetadata, request: ListTransactions, pattern: re.Pattern[str], now_ms: int
) -> bool:
    current = metadata.current
    if not metadata.persisted:
        return False
    if request.producer_ids and current.producer_id not in request.producer_ids:
        return False
    if request.states and current.state.label not in request.states:
        return False
    if request.duration_ms >= 0 and not 0 <= current.start_ms < now_ms - request.duration_ms:
        return False
    whole = request.transactional_id_pattern
    return not whole or pattern.fullmatch(metadata.transactional_id) is not None


def describe_transaction(
    metadata: TransactionMetadata | None, transactional_id: str
) -> DescribeTransactionReply:
    """Describes the committed state of an id, without a pending change."""
    if not transactional_id:
        return DescribeTransactionReply(ErrorCode.INVALID_REQUEST, transactional_id)
    if metadata is None or not metadata.persisted:
        return DescribeTransactionReply(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    current = metadata.current
    return DescribeTransactionReply(
        ErrorCode.NONE,
        transactional_id,
        current.state,
        current.timeout_ms,
        current.start_ms,
        current.producer_id,
        current.producer_epoch,
        tuple(sorted(current.partitions)),
    )
