"""The transactional ids of one partition, and each change from record to marker to completion.

A change is begun here, which makes its records; the driver writes them, and the change is then
committed or undone. A committed decision opens markers, and once they are all written the record
that completes the transaction is begun in its turn. What to change is decided elsewhere; whether
the coordinator serves at all is `shard`'s business. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from barnabas.coordination.outcome import CoordinatorOutcome, CoordinatorRecord, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions import expiry
from barnabas.transactions.config import TransactionConfig, TransactionGuards
from barnabas.transactions.decision import ReplyT, TransactionAppend
from barnabas.transactions.markers import MarkerTracker
from barnabas.transactions.metadata import (
    TransactionMetadata,
    Transition,
    new_producer,
    prepare_complete,
)
from barnabas.transactions.records import decode_key, decode_value, encode_key, encode_value
from barnabas.transactions.requests import InitProducerId
from barnabas.transactions.states import TransactionState

Work = tuple[tuple[TransactionAppend[Any], ...], tuple[SendMarkers, ...]]
"""Appends for which no client waits, and markers to send."""


class TransactionTable:
    """Part of a shard, under its coordinator epoch. Iterates over the metadata of all ids.

    An id has at most one change pending; it can be begun again only after `commit` or `undo`.
    """

    def __init__(
        self, coordinator_epoch: int, config: TransactionConfig, guards: TransactionGuards
    ) -> None:
        self._config = config
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
        """Take one record of the log. ProtocolError if it cannot be read."""
        transactional_id = decode_key(key)
        if transactional_id is None:
            return
        if value is None:
            self._ids.pop(transactional_id, None)
            return
        self._ids[transactional_id] = TransactionMetadata(
            transactional_id, decode_value(value), persisted=True
        )

    def create(self, request: InitProducerId, producer_id: int, now_ms: int) -> TransactionMetadata:
        """An id that was not known; gone again if its first change is undone."""
        first = new_producer(producer_id, request.transaction_timeout_ms, now_ms)
        metadata = TransactionMetadata(request.transactional_id, first, persisted=False)
        self._ids[request.transactional_id] = metadata
        return metadata

    # ------------------------------------------------------------------ a change and its records

    def begin(
        self, planned: Iterable[expiry.Planned], reply: ReplyT | None = None
    ) -> TransactionAppend[ReplyT]:
        """Note the changes as pending and make their records."""
        changes: dict[str, Transition] = {}
        for metadata, target in planned:
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
            self._drop_ended(metadata)
        appends, markers = self._open_markers(changed, now_ms)
        return CoordinatorOutcome(append.reply, background=appends, markers=markers)

    def undo(self, append: TransactionAppend[Any], now_ms: int) -> None:
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
            self._markers.retry_completion(metadata.transactional_id, now_ms)

    # ------------------------------------------------------------------ markers and completion

    def finish_decided(self, now_ms: int) -> CoordinatorOutcome[Any]:
        """After loading: markers for transactions that an earlier coordinator decided."""
        appends, markers = self._open_markers(self._ids.values(), now_ms)
        return CoordinatorOutcome(background=appends, markers=markers)

    def markers_written(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        deleted: Set[TopicPartition],
        now_ms: int,
    ) -> tuple[TransactionAppend[Any], ...]:
        """Take answers to a request for markers; returns the completion they were waited for."""
        self._markers.record(send, results, deleted, now_ms)
        return self._completions([send.transactional_id], now_ms)

    def markers_due(self, now_ms: int) -> Work:
        """Markers to ask for again, and completions to try again."""
        markers = tuple(self._markers.due(now_ms))
        return self._completions(self._markers.transactional_ids, now_ms), markers

    def _open_markers(self, changed: Iterable[TransactionMetadata], now_ms: int) -> Work:
        """For those of the transactions that are decided; some have no partition to mark."""
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
    ) -> tuple[TransactionAppend[Any], ...]:
        """Complete records for those that have all their markers."""
        finished = [self._ids[name] for name in self._markers.take_finished(transactional_ids)]
        return tuple(
            self.begin([(metadata, prepare_complete(metadata.current, now_ms))])
            for metadata in finished
        )

    # ------------------------------------------------------------------ timeouts and expiry

    def abort_overdue(self, now_ms: int) -> list[TransactionAppend[Any]]:
        """Aborts the transactions that exceeded their timeout."""
        return [self.begin([planned]) for planned in expiry.timed_out(self, now_ms)]

    def forget_idle(self, now_ms: int) -> list[TransactionAppend[Any]]:
        """Deletes expired ids in batches."""
        planned = expiry.expired(self, self._config.id_expiration_ms, now_ms)
        size = self._config.expiry_batch_size
        return [self.begin(planned[at : at + size]) for at in range(0, len(planned), size)]
