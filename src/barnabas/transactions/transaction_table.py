"""The transactional ids of one partition, and each change from record to marker to completion.

`begin` creates the records of a change; the driver writes them, and then `commit` applies or `undo`
reverts the change. A committed decision creates markers. After all markers are written, the table
begins the change that completes the transaction. `decisions` and `scans` decide the changes, and
`shard` whether the coordinator serves requests. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Set

from barnabas.coordination.outcome import CoordinatorOutcome, CoordinatorRecord, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions import scans
from barnabas.transactions.config import TransactionConfig, TransactionGuards, TransactionStats
from barnabas.transactions.decisions import ReplyT, TransactionAppend
from barnabas.transactions.markers import MarkerTracker
from barnabas.transactions.metadata import (
    TransactionMetadata,
    TransactionState,
    Transition,
    new_producer,
    prepare_complete,
)
from barnabas.transactions.records import decode_key, decode_value, encode_key, encode_value
from barnabas.transactions.requests import InitProducerId, InitProducerIdReply, Reply

Work = tuple[tuple[TransactionAppend[Reply], ...], tuple[SendMarkers, ...]]
"""Appends for which no client waits, and markers to send."""


class TransactionTable:
    """Owned by a shard, for its coordinator epoch. Iterates over the metadata of all ids.

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
        self, planned: Iterable[scans.Planned], reply: ReplyT | None = None
    ) -> TransactionAppend[ReplyT]:
        """Stores the changes as pending and returns their records."""
        changes: dict[str, Transition] = {}
        for metadata, target in planned:
            # Pending until the record is committed: readers of the table still see the old state,
            # and every other change of the id is refused meanwhile.
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
        return [self.begin([planned]) for planned in scans.timed_out(self, now_ms)]

    def forget_idle(self, now_ms: int) -> list[TransactionAppend[Reply]]:
        """Deletes expired ids in batches."""
        planned = scans.expired(self, self._config.id_expiration_ms, now_ms)
        size = self._config.expiry_batch_size
        return [self.begin(planned[at : at + size]) for at in range(0, len(planned), size)]
