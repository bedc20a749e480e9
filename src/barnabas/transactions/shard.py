"""The coordinator of one `__transaction_state` partition, for one leadership of it.

Pure: it is told the time, the ends of appends and of marker requests, and returns what to do.
The decisions are in `init_producer`, `add_partitions`, `end_txn` and `expiry`; this module serves
while it may and turns decisions into outcomes. The ids, and each change from record to marker to
completion, are in `transaction_table`.
"""

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from barnabas.coordination.append_errors import coordinator_error
from barnabas.coordination.outcome import CoordinatorOutcome, SendMarkers
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions import expiry, queries
from barnabas.transactions.add_partitions import decide_add, verify
from barnabas.transactions.config import TransactionConfig, TransactionGuards
from barnabas.transactions.decision import (
    Change,
    Decision,
    NeedProducerId,
    Refuse,
    ReplyT,
    TransactionAppend,
)
from barnabas.transactions.end_txn import decide_end
from barnabas.transactions.init_producer import check_init, decide_init
from barnabas.transactions.metadata import TransactionMetadata, prepare_complete
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
from barnabas.transactions.transaction_table import TransactionTable


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
        guards: TransactionGuards | None = None,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self._config = config or TransactionConfig()
        self._guards = guards or TransactionGuards()
        self._table = TransactionTable(coordinator_epoch, self._config, self._guards)
        self._schedule: expiry.ScanSchedule | None = None
        self._unavailable = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    # ------------------------------------------------------------------ loading and leaving

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Take one record of the log while loading. ProtocolError if it cannot be read."""
        self._table.replay(key, value)

    def load_complete(self, now_ms: int) -> CoordinatorOutcome[Any]:
        """Begin to serve: transactions decided by an earlier coordinator are finished."""
        self._unavailable = ErrorCode.NONE
        self._schedule = expiry.ScanSchedule(self._config, now_ms)
        return self._table.finish_decided(now_ms)

    def resign(self) -> None:
        """Stop serving; appends and markers still under way change nothing any more."""
        self._unavailable = ErrorCode.NOT_COORDINATOR

    @property
    def next_timer_ms(self) -> int | None:
        """When `on_timer` is due; None while not serving."""
        if self._schedule is None or self._unavailable is not ErrorCode.NONE:
            return None
        marker_ms = self._table.wake_at_ms
        scan_ms = self._schedule.wake_at_ms
        return scan_ms if marker_ms is None else min(scan_ms, marker_ms)

    # ------------------------------------------------------------------ requests

    def init_producer_id(
        self, request: InitProducerId, now_ms: int, new_producer_id: int | None = None
    ) -> CoordinatorOutcome[InitProducerIdReply]:
        """A producer starts, restarts, or goes on after an error (KIP-360)."""
        error = self._unavailable or check_init(request, self._config.max_timeout_ms)
        if error:
            return CoordinatorOutcome(InitProducerIdReply(error))
        metadata = self._table.get(request.transactional_id)
        if metadata is None:
            if new_producer_id is None:
                return CoordinatorOutcome(need_producer_id=True)
            metadata = self._table.create(request, new_producer_id, now_ms)
        if metadata.pending is not None:
            return CoordinatorOutcome(InitProducerIdReply(ErrorCode.CONCURRENT_TRANSACTIONS))
        decision = decide_init(metadata.current, request, new_producer_id, now_ms)
        return self._follow(metadata, decision, _init_reply(decision))

    def add_partitions(
        self, request: AddPartitions, now_ms: int
    ) -> CoordinatorOutcome[AddPartitionsReply]:
        """Partitions, or the offsets of a group, join the transaction; or are verified."""
        all_in = AddPartitionsReply(
            ErrorCode.NONE, dict.fromkeys(request.partitions, ErrorCode.NONE)
        )
        metadata = self._table.get(request.transactional_id)
        error = self._lookup_error(request.transactional_id, metadata)
        if error or metadata is None:
            return CoordinatorOutcome(all_in.failed(error))
        request = replace(request, transaction_version=self._served(request.transaction_version))
        if request.verify_only:
            return CoordinatorOutcome(AddPartitionsReply(ErrorCode.NONE, verify(metadata, request)))
        return self._follow(metadata, decide_add(metadata, request, now_ms), all_in)

    def end_txn(
        self, request: EndTxn, now_ms: int, new_producer_id: int | None = None
    ) -> CoordinatorOutcome[EndTxnReply]:
        """Commit or abort; answered when the decision is committed, before the markers."""
        metadata = self._table.get(request.transactional_id)
        error = self._lookup_error(request.transactional_id, metadata)
        if error or metadata is None:
            return CoordinatorOutcome(EndTxnReply(error))
        request = replace(request, transaction_version=self._served(request.transaction_version))
        decision = decide_end(metadata, request, new_producer_id, self._guards, now_ms)
        return self._follow(metadata, decision, _end_reply(metadata, decision))

    def list_transactions(self, request: ListTransactions, now_ms: int) -> ListTransactionsReply:
        if self._unavailable:
            return ListTransactionsReply(self._unavailable)
        return queries.list_transactions(self._table, request, now_ms)

    def describe_transaction(self, transactional_id: str) -> DescribeTransactionReply:
        if self._unavailable:
            return DescribeTransactionReply(self._unavailable, transactional_id)
        return queries.describe_transaction(self._table.get(transactional_id), transactional_id)

    # ------------------------------------------------------------------ what the driver reports

    def settle(
        self, append: TransactionAppend[ReplyT], code: ErrorCode, now_ms: int
    ) -> CoordinatorOutcome[ReplyT]:
        """Applies the changes of an append when `code` is NONE, else reverts them.

        NONE means that the records are committed. After an error the records may still be in the
        log, and a later leader may replay them. That is safe: each record is a step that its client
        requested and whose result the client does not know.
        """
        reply = append.reply
        if self._unavailable:
            # The new leader of the partition decides from its log whether the records count.
            return CoordinatorOutcome(None if reply is None else reply.failed(self._unavailable))
        if code is ErrorCode.NONE:
            return self._table.commit(append, now_ms)
        self._table.undo(append, now_ms)
        return CoordinatorOutcome(None if reply is None else reply.failed(coordinator_error(code)))

    def markers_written(
        self,
        send: SendMarkers,
        results: Mapping[TopicPartition, ErrorCode],
        now_ms: int,
        deleted: Set[TopicPartition] = frozenset(),
    ) -> CoordinatorOutcome[Any]:
        """Some partitions of `send` have answered, or are known to exist no more."""
        if self._unavailable:
            return CoordinatorOutcome()
        return CoordinatorOutcome(
            background=self._table.markers_written(send, results, deleted, now_ms)
        )

    def on_timer(self, now_ms: int) -> CoordinatorOutcome[Any]:
        """Abort what has timed out, forget idle ids, ask again for markers."""
        if self._schedule is None or self._unavailable:
            return CoordinatorOutcome()
        completions, markers = self._table.markers_due(now_ms)
        appends = list(completions)
        if self._schedule.take_abort(now_ms):
            appends += self._table.abort_overdue(now_ms)
        if self._schedule.take_expiry(now_ms):
            appends += self._table.forget_idle(now_ms)
        return CoordinatorOutcome(background=tuple(appends), markers=markers)

    # ------------------------------------------------------------------ inside

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
    ) -> CoordinatorOutcome[ReplyT]:
        match decision:
            case Refuse(error):
                return CoordinatorOutcome(success.failed(error))
            case NeedProducerId():
                return CoordinatorOutcome(need_producer_id=True)
            case Change(to):
                return CoordinatorOutcome(append=self._table.begin([(metadata, to)], success))
            case _:
                return CoordinatorOutcome(success)


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
