"""Operations over all transactional ids of a shard: expiry scans, ListTransactions, descriptions.

The expiry scans run at the intervals that Kafka uses. Between two scans no state is kept per id, so
an id costs no timer.
"""

import re
from collections.abc import Iterable

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.config import TransactionConfig
from barnabas.transactions.metadata import (
    STATE_LABELS,
    TransactionMetadata,
    TransactionState,
    Transition,
    prepare_dead,
    prepare_fence,
)
from barnabas.transactions.requests import (
    DescribeTransactionReply,
    ListedTransaction,
    ListTransactions,
    ListTransactionsReply,
)

Planned = tuple[TransactionMetadata, Transition]


def timed_out(ids: Iterable[TransactionMetadata], now_ms: int) -> list[Planned]:
    """Returns the open transactions past their timeout, with the abort of each.

    The abort bumps the epoch (KAFKA-6119): requests of the producer that are still in flight must
    not become part of the next transaction.
    """
    return [
        (metadata, prepare_fence(metadata.current, _version_after_timeout(metadata), now_ms))
        for metadata in ids
        if metadata.pending is None
        and metadata.current.state is TransactionState.ONGOING
        and metadata.current.start_ms + metadata.current.timeout_ms < now_ms
    ]


def _version_after_timeout(metadata: TransactionMetadata) -> int:
    """Returns the version to store.

    With version 2 a later abort of the producer itself counts as a repetition, which returns the
    new epoch, so that the producer can continue. The last epoch is reserved for fencing.
    """
    return 0 if metadata.current.exhausted else metadata.current.transaction_version


def expired(ids: Iterable[TransactionMetadata], expiration_ms: int, now_ms: int) -> list[Planned]:
    """Returns ids without an open transaction that were unused for `expiration_ms`."""
    return [
        (metadata, prepare_dead(metadata.current, now_ms))
        for metadata in ids
        if metadata.pending is None
        and metadata.current.state.is_idle
        and metadata.current.update_ms + expiration_ms <= now_ms
    ]


class ScanSchedule:
    """The times of the two scans; the first ones are one interval after loading."""

    __slots__ = ("_config", "next_abort_ms", "next_expiry_ms")

    def __init__(self, config: TransactionConfig, now_ms: int) -> None:
        self._config = config
        self.next_abort_ms = now_ms + config.abort_scan_interval_ms
        self.next_expiry_ms = now_ms + config.expiry_scan_interval_ms

    @property
    def wake_at_ms(self) -> int:
        return min(self.next_abort_ms, self.next_expiry_ms)

    def take_abort(self, now_ms: int) -> bool:
        """Whether the abort scan is due; then sets the time of the next one."""
        if now_ms < self.next_abort_ms:
            return False
        self.next_abort_ms = now_ms + self._config.abort_scan_interval_ms
        return True

    def take_expiry(self, now_ms: int) -> bool:
        """Whether the expiry scan is due; then sets the time of the next one."""
        if now_ms < self.next_expiry_ms:
            return False
        self.next_expiry_ms = now_ms + self._config.expiry_scan_interval_ms
        return True


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
