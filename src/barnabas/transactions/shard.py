"""The coordinator of one `__transaction_state` partition, for one leadership of it.

Pure: it is told the time, the ends of appends and of marker requests, and returns what to do.
The decisions are in `init_producer`, `add_partitions`, `end_txn` and `expiry`; this module keeps
the ids, turns decisions into outcomes and follows each change from record to marker to completion.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions import expiry, queries
from barnabas.transactions.add_partitions import decide_add, verify
from barnabas.transactions.config import Guards, TransactionConfig
from barnabas.transactions.decision import Change, Decision, NeedProducerId, Refuse
from barnabas.transactions.end_txn import decide_end
from barnabas.transactions.error_versions import coordinator_error
from barnabas.transactions.init_producer import check_init, decide_init
from barnabas.transactions.markers import MarkerLedger
from barnabas.transactions.metadata import (
    TransactionMetadata,
    Transition,
    new_producer,
    prepare_complete,
)
from barnabas.transactions.outcome import Outcome, PendingAppend, ReplyT, SendMarkers
from barnabas.transactions.records import decode_key, decode_value, encode_key, encode_value
from barnabas.transactions.requests import (
    AddPartitions,
    AddPartitionsReply,
    DescribeTransactionReply,
    EndTxn,
    EndTxnReply,
    InitProducerId,
    InitProducerIdReply,
    ListTransactions,
    ListTransactionsReply,
)
from barnabas.transactions.states import TransactionState


class TransactionCoordinatorShard:
    """The transactional ids of one partition, under one coordinator epoch.

    Life: make one when this broker becomes leader of the partition (`coordinator_epoch` is the
    leader epoch); `replay` every record of the log in order; act on `load_complete`; serve; on
    losing leadership `resign` and drop it. While it loads, requests are answered
    COORDINATOR_LOAD_IN_PROGRESS; after `resign`, NOT_COORDINATOR. All calls come from the loop
    that owns the partition.

    The driver, for each operation:

    1. Calls it. If `need_producer_id`, gets an id and calls again with `new_producer_id=`; an id
       that turns out not to be needed is simply lost.
    2. If `reply` is given, answers. Else writes `append.records` as one batch with acks=all and
       calls `append_succeeded` when they are committed, `append_failed` with the error otherwise;
       the outcome of that call carries the reply.
    3. For every outcome, those of step 2 included: starts each append of `background` in the same
       way, and sends `markers`, reporting with `markers_written`.
    4. Calls `on_timer` when `next_timer_ms` has come, and looks at `next_timer_ms` again after
       every call.

    Appends of one shard must reach the log in the order the outcomes were returned.
    """

    def __init__(
        self,
        coordinator_epoch: int,
        config: TransactionConfig | None = None,
        guards: Guards | None = None,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self._config = config or TransactionConfig()
        self._guards = guards or Guards()
        self._ids: dict[str, TransactionMetadata] = {}
        self._markers = MarkerLedger(coordinator_epoch, self._config, self._guards)
        self._schedule: expiry.ScanSchedule | None = None
        self._unavailable = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    # ------------------------------------------------------------------ loading and leaving

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Take one record of the log while loading. ProtocolError if it cannot be read."""
        transactional_id = decode_key(key)
        if transactional_id is None:
            return
        if value is None:
            self._ids.pop(transactional_id, None)
            return
        self._ids[transactional_id] = TransactionMetadata(
            transactional_id, decode_value(value), persisted=True
        )

    def load_complete(self, now_ms: int) -> Outcome[Any]:
        """Begin to serve: transactions decided by an earlier coordinator are finished."""
        self._unavailable = ErrorCode.NONE
        self._schedule = expiry.ScanSchedule(self._config, now_ms)
        decided = [m for m in self._ids.values() if m.current.state.is_prepared]
        return self._finish(decided, now_ms)

    def resign(self) -> None:
        """Stop serving; appends and markers still under way change nothing any more."""
        self._unavailable = ErrorCode.NOT_COORDINATOR

    @property
    def next_timer_ms(self) -> int | None:
        """When `on_timer` is due; None while not serving."""
        if self._schedule is None or self._unavailable is not ErrorCode.NONE:
            return None
        marker_ms = self._markers.wake_at_ms
        scan_ms = self._schedule.wake_at_ms
        return scan_ms if marker_ms is None else min(scan_ms, marker_ms)

    # ------------------------------------------------------------------ requests

    def init_producer_id(
        self, request: InitProducerId, now_ms: int, new_producer_id: int | None = None
    ) -> Outcome[InitProducerIdReply]:
        """A producer starts, restarts, or goes on after an error (KIP-360)."""
        error = self._unavailable or check_init(request, self._config.max_timeout_ms)
        if error:
            return Outcome(InitProducerIdReply(error))
        metadata = self._ids.get(request.transactional_id)
        if metadata is None:
            if new_producer_id is None:
                return Outcome(need_producer_id=True)
            metadata = self._create(request, new_producer_id, now_ms)
        if metadata.pending is not None:
            return Outcome(InitProducerIdReply(ErrorCode.CONCURRENT_TRANSACTIONS))
        decision = decide_init(metadata.current, request, new_producer_id, now_ms)
        return self._follow(metadata, decision, _init_reply(decision))

    def add_partitions(self, request: AddPartitions, now_ms: int) -> Outcome[AddPartitionsReply]:
        """Partitions, or the offsets of a group, join the transaction; or are verified."""
        all_in = AddPartitionsReply(
            ErrorCode.NONE, dict.fromkeys(request.partitions, ErrorCode.NONE)
        )
        metadata = self._ids.get(request.transactional_id)
        error = self._lookup_error(request.transactional_id, metadata)
        if error or metadata is None:
            return Outcome(all_in.failed(error))
        request = replace(request, transaction_version=self._served(request.transaction_version))
        if request.verify_only:
            return Outcome(AddPartitionsReply(ErrorCode.NONE, verify(metadata, request)))
        return self._follow(metadata, decide_add(metadata, request, now_ms), all_in)

    def end_txn(
        self, request: EndTxn, now_ms: int, new_producer_id: int | None = None
    ) -> Outcome[EndTxnReply]:
        """Commit or abort; answered when the decision is committed, before the markers."""
        metadata = self._ids.get(request.transactional_id)
        error = self._lookup_error(request.transactional_id, metadata)
        if error or metadata is None:
            return Outcome(EndTxnReply(error))
        request = replace(request, transaction_version=self._served(request.transaction_version))
        decision = decide_end(metadata, request, new_producer_id, self._guards, now_ms)
        return self._follow(metadata, decision, _end_reply(metadata, decision))

    def list_transactions(self, request: ListTransactions, now_ms: int) -> ListTransactionsReply:
        if self._unavailable:
            return ListTransactionsReply(self._unavailable)
        return queries.list_transactions(self._ids.values(), request, now_ms)

    def describe_transaction(self, transactional_id: str) -> DescribeTransactionReply:
        if self._unavailable:
            return DescribeTransactionReply(self._unavailable, transactional_id)
        return queries.describe_transaction(self._ids.get(transactional_id), transactional_id)

    # ------------------------------------------------------------------ what the driver reports

    def append_succeeded(self, append: PendingAppend[ReplyT], now_ms: int) -> Outcome[ReplyT]:
        """The records are committed: the changes are true now, and their reply may go out."""
        if self._unavailable:
            return self._disowned(append)
        changed = [self._ids[transactional_id] for transactional_id in append.changes]
        for metadata in changed:
            metadata.complete()
            self._settle(metadata)
        work = self._finish([m for m in changed if m.current.state.is_prepared], now_ms)
        return Outcome(append.reply, background=work.background, markers=work.markers)

    def append_failed(
        self, append: PendingAppend[ReplyT], error: ErrorCode, now_ms: int
    ) -> Outcome[ReplyT]:
        """The records were not committed: it is as if the request had never come.

        They may still be in the log, and a later leader may replay them; that is safe, because
        each is a step its client asked for and was not told the end of.
        """
        if self._unavailable:
            return self._disowned(append)
        for transactional_id in append.changes:
            self._undo(self._ids[transactional_id], now_ms)
        reply = append.reply
        return Outcome(None if reply is None else reply.failed(coordinator_error(error)))

    def markers_written(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        now_ms: int,
        deleted: Set[TopicPartition] = frozenset(),
    ) -> Outcome[Any]:
        """Some partitions of `send` have answered, or are known to exist no more."""
        if self._unavailable:
            return Outcome()
        self._markers.record(send, results, deleted, now_ms)
        return Outcome(background=self._completions([send.transactional_id], now_ms))

    def on_timer(self, now_ms: int) -> Outcome[Any]:
        """Abort what has timed out, forget idle ids, ask again for markers."""
        if self._schedule is None or self._unavailable:
            return Outcome()
        markers = tuple(self._markers.due(now_ms))
        appends = list(self._completions(self._markers.transactional_ids, now_ms))
        if self._schedule.take_abort(now_ms):
            overdue = expiry.timed_out(self._ids.values(), now_ms)
            appends += [self._begin([planned]) for planned in overdue]
        if self._schedule.take_expiry(now_ms):
            appends += self._expire(now_ms)
        return Outcome(background=tuple(appends), markers=markers)

    # ------------------------------------------------------------------ following a change

    def _create(
        self, request: InitProducerId, producer_id: int, now_ms: int
    ) -> TransactionMetadata:
        first = new_producer(producer_id, request.transaction_timeout_ms, now_ms)
        metadata = TransactionMetadata(request.transactional_id, first, persisted=False)
        self._ids[request.transactional_id] = metadata
        return metadata

    def _lookup_error(
        self, transactional_id: str, metadata: TransactionMetadata | None
    ) -> ErrorCode:
        if self._unavailable:
            return self._unavailable
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        return ErrorCode.NONE if metadata else ErrorCode.INVALID_PRODUCER_ID_MAPPING

    def _served(self, transaction_version: int) -> int:
        return min(transaction_version, self._config.transaction_version)

    def _follow(
        self, metadata: TransactionMetadata, decision: Decision, success: ReplyT
    ) -> Outcome[ReplyT]:
        match decision:
            case Refuse(error):
                return Outcome(success.failed(error))
            case NeedProducerId():
                return Outcome(need_producer_id=True)
            case Change(to):
                return Outcome(append=self._begin([(metadata, to)], success))
            case _:
                return Outcome(success)

    def _begin(
        self, planned: Iterable[expiry.Planned], reply: ReplyT | None = None
    ) -> PendingAppend[ReplyT]:
        """Note the changes as pending and make their records."""
        changes: dict[str, Transition] = {}
        for metadata, target in planned:
            metadata.begin(target)
            changes[metadata.transactional_id] = target
        version = self._config.transaction_version
        records = tuple(
            (encode_key(transactional_id), encode_value(target, version))
            for transactional_id, target in changes.items()
        )
        return PendingAppend(records, changes, reply)

    def _settle(self, metadata: TransactionMetadata) -> None:
        """Drop what a committed change has ended."""
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

    def _disowned(self, append: PendingAppend[ReplyT]) -> Outcome[ReplyT]:
        """The partition has moved on: whoever leads it now knows what became of the records."""
        reply = append.reply
        return Outcome(None if reply is None else reply.failed(self._unavailable))

    def _finish(self, decided: Iterable[TransactionMetadata], now_ms: int) -> Outcome[Any]:
        """Markers for transactions whose decision is committed."""
        opened = {
            metadata.transactional_id: self._markers.open(
                metadata.transactional_id, metadata.current, now_ms
            )
            for metadata in decided
        }
        markers = tuple(send for send in opened.values() if send is not None)
        return Outcome(background=self._completions(opened, now_ms), markers=markers)

    def _completions(
        self, transactional_ids: Iterable[str], now_ms: int
    ) -> tuple[PendingAppend[Any], ...]:
        """Complete records for those that have all their markers."""
        finished = [self._ids[name] for name in self._markers.take_finished(transactional_ids)]
        return tuple(
            self._begin([(metadata, prepare_complete(metadata.current, now_ms))])
            for metadata in finished
        )

    def _expire(self, now_ms: int) -> list[PendingAppend[Any]]:
        planned = expiry.expired(self._ids.values(), self._config.id_expiration_ms, now_ms)
        size = self._config.expiry_batch_size
        return [self._begin(planned[at : at + size]) for at in range(0, len(planned), size)]


def _init_reply(decision: Decision) -> InitProducerIdReply:
    """The pair the producer gets; a takeover aborts first, so the producer must come again."""
    if not isinstance(decision, Change):
        return InitProducerIdReply(ErrorCode.NONE)
    if decision.to.state is TransactionState.PREPARE_ABORT:
        return InitProducerIdReply(ErrorCode.CONCURRENT_TRANSACTIONS)
    return InitProducerIdReply(ErrorCode.NONE, decision.to.producer_id, decision.to.producer_epoch)


def _end_reply(metadata: TransactionMetadata, decision: Decision) -> EndTxnReply:
    """The pair of the next transaction: the one in force when this one is complete."""
    after = metadata.current
    if isinstance(decision, Change):
        after = prepare_complete(decision.to, decision.to.update_ms)
    return EndTxnReply(ErrorCode.NONE, after.producer_id, after.producer_epoch)
