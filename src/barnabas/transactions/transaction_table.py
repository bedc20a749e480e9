"""The transactional ids of one partition, and each change from record to marker to completion.

`begin` creates the records of a change; the driver writes them, and then `commit` applies or `undo`
reverts the change. A committed decision creates markers. After all markers are written, the table
begins the change that completes the transaction. `decisions` decides the changes that clients
request, and `shard` whether the coordinator serves requests. Pure.

Operations over all ids are here too: the expiry scans, ListTransactions and descriptions. The scans
run at the intervals that Kafka uses. Between two scans no state is kept per id, so an id costs no
timer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set

from barnabas.coordination import CoordinatorOutcome, CoordinatorRecord, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.decisions import ReplyT, TransactionAppend
from barnabas.transactions.markers import MarkerTracker
from barnabas.transactions.metadata import (
    STATE_LABELS,
    TransactionMetadata,
    TransactionState,
    Transition,
    decode_key,
    decode_value,
    encode_key,
    encode_value,
    new_producer,
    prepare_complete,
    prepare_dead,
    prepare_fence,
)
from barnabas.transactions.requests import (
    DescribeTransactionReply,
    InitProducerId,
    InitProducerIdReply,
    ListedTransaction,
    ListTransactions,
    ListTransactionsReply,
    Reply,
    TransactionConfig,
    TransactionGuards,
    TransactionStats,
)

Work = tuple[tuple[TransactionAppend[Reply], ...], tuple[SendMarkers, ...]]
"""Appends for which no client waits, and markers to send."""
Planned = tuple[TransactionMetadata, Transition]


class TransactionTable:
    """The transactional ids of one partition and their pending changes.

    Owned by a shard, for its coordinator epoch. Iterates over the metadata of all ids.

    An id has at most one change pending; it can be begun again only after `commit` or `undo`.
    """

    def __init__(
        self,
        coordinator_epoch: int,
        config: TransactionConfig,
        guards: TransactionGuards,
        stats: TransactionStats | None = None,
    ) -> None:
        self._config = config
        self._stats = stats or TransactionStats()
        self._guards = guards
        self._ids: dict[str, TransactionMetadata] = {}
        self._markers = MarkerTracker(coordinator_epoch, config, guards)

    def __iter__(self) -> Iterator[TransactionMetadata]:
        return iter(self._ids.values())

    def get(self, transactional_id: str) -> TransactionMetadata | None:
        return self._ids.get(transactional_id)

    @property
    def wake_at_ms(self) -> int | None:
        """The time of the next marker retry."""
        return self._markers.wake_at_ms

    # ------------------------------------------------------------------ loading and creation

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Applies one record of the log; raises ProtocolError if it cannot be decoded."""
        transactional_id = decode_key(key)
        if transactional_id is None:
            return
        if value is None:
            self._ids.pop(transactional_id, None)
            return
        # The last record of an id wins, as after compaction. No markers are opened here: a later
        # record may show that they were written.
        self._ids[transactional_id] = TransactionMetadata(
            transactional_id, decode_value(value), persisted=True
        )

    def create(self, request: InitProducerId, producer_id: int, now_ms: int) -> TransactionMetadata:
        """Adds a new id; it is removed if its first change is reverted."""
        first = new_producer(producer_id, request.transaction_timeout_ms, now_ms)
        metadata = TransactionMetadata(request.transactional_id, first, persisted=False)
        self._ids[request.transactional_id] = metadata
        return metadata

    # ------------------------------------------------------------------ a change and its records

    def begin(
        self, planned: Iterable[Planned], reply: ReplyT | None = None
    ) -> TransactionAppend[ReplyT]:
        """Stores the changes as pending and returns their records."""
        changes: dict[str, Transition] = {}
        for metadata, target in planned:
            # Pending until the record is committed: readers of the table still see the old state,
            # and every other change of the id is rejected meanwhile.
            metadata.begin(target)
            changes[metadata.transactional_id] = target
        version = self._config.transaction_version
        records = tuple(
            CoordinatorRecord(encode_key(transactional_id), encode_value(target, version))
            for transactional_id, target in changes.items()
        )
        return TransactionAppend(records, changes=changes, reply=reply)

    def commit(self, append: TransactionAppend[ReplyT], now_ms: int) -> CoordinatorOutcome[ReplyT]:
        """Applies committed changes; returns the appends and markers that follow."""
        changed = [self._ids[transactional_id] for transactional_id in append.changes]
        for metadata in changed:
            metadata.complete()
            self._count(metadata.current.state, append.reply)
            self._drop_ended(metadata)
        # Only now, after the decision is committed: a marker that is written before could commit a
        # transaction which the next coordinator, without the record, would abort.
        appends, markers = self._open_markers(changed, now_ms)
        return CoordinatorOutcome(append.reply, background=appends, markers=markers)

    def _count(self, state: TransactionState, reply: object) -> None:
        """Counts a committed decision; `reply` goes to the client that requested it, if any."""
        if state is TransactionState.PREPARE_COMMIT:
            self._stats.commits += 1
        elif state is TransactionState.PREPARE_ABORT:
            cause = "new producer" if isinstance(reply, InitProducerIdReply) else "client"
            self._stats.aborts["timeout" if reply is None else cause] += 1

    def undo(self, append: TransactionAppend[ReplyT], now_ms: int) -> None:
        """Reverts changes whose records were not committed."""
        for transactional_id in append.changes:
            self._undo(self._ids[transactional_id], now_ms)

    def _drop_ended(self, metadata: TransactionMetadata) -> None:
        state = metadata.current.state
        if state is TransactionState.DEAD:
            del self._ids[metadata.transactional_id]
        elif state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT):
            self._markers.close(metadata.transactional_id)

    def _undo(self, metadata: TransactionMetadata, now_ms: int) -> None:
        if not self._guards.change_only_after_append:
            metadata.complete()
            return
        metadata.cancel()
        if not metadata.persisted:
            del self._ids[metadata.transactional_id]
        elif metadata.current.state.is_prepared:
            # The markers are written, only the Complete record is missing. Without a retry the
            # transaction would stay in PREPARE, and its producer would get CONCURRENT_TRANSACTIONS
            # forever.
            self._markers.retry_completion(metadata.transactional_id, now_ms)

    # ------------------------------------------------------------------ markers and completion

    def finish_decided(self, now_ms: int) -> CoordinatorOutcome[Reply]:
        """Returns, after loading, the markers of transactions that are already decided."""
        appends, markers = self._open_markers(self._ids.values(), now_ms)
        return CoordinatorOutcome(background=appends, markers=markers)

    def markers_written(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        deleted: Set[TopicPartition],
        now_ms: int,
    ) -> tuple[TransactionAppend[Reply], ...]:
        """Stores results of a marker request; returns the completions that follow."""
        self._markers.record(send, results, deleted, now_ms)
        return self._completions([send.transactional_id], now_ms)

    def markers_due(self, now_ms: int) -> Work:
        """Returns the markers to send again, and the completions to repeat."""
        markers = tuple(self._markers.due(now_ms))
        return self._completions(self._markers.transactional_ids, now_ms), markers

    def _open_markers(self, changed: Iterable[TransactionMetadata], now_ms: int) -> Work:
        """Creates the markers of decided transactions; some have no partition."""
        opened = {
            metadata.transactional_id: self._markers.open(
                metadata.transactional_id, metadata.current, now_ms
            )
            for metadata in changed
            if metadata.current.state.is_prepared
        }
        markers = tuple(send for send in opened.values() if send is not None)
        return self._completions(opened, now_ms), markers

    def _completions(
        self, transactional_ids: Iterable[str], now_ms: int
    ) -> tuple[TransactionAppend[Reply], ...]:
        """Returns the Complete records of transactions with all markers."""
        finished = [self._ids[name] for name in self._markers.take_finished(transactional_ids)]
        return tuple(
            self.begin([(metadata, prepare_complete(metadata.current, now_ms))])
            for metadata in finished
        )

    # ------------------------------------------------------------------ timeouts and expiry

    def abort_overdue(self, now_ms: int) -> list[TransactionAppend[Reply]]:
        """Aborts the transactions that exceeded their timeout."""
        return [self.begin([planned]) for planned in timed_out(self, now_ms)]

    def forget_idle(self, now_ms: int) -> list[TransactionAppend[Reply]]:
        """Deletes expired ids in batches."""
        planned = expired(self, self._config.id_expiration_ms, now_ms)
        size = self._config.expiry_batch_size
        return [self.begin(planned[at : at + size]) for at in range(0, len(planned), size)]


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
