"""The coordinator of one `__transaction_state` partition, for one leader epoch.

Pure: calls pass the time and the results of appends and marker requests; an outcome returns the
next actions. `decisions` decides what clients request, `transaction_table` what the scans change;
this module accepts requests while the shard is loaded and turns decisions into outcomes. The ids,
and each change from record to marker to completion, are in `transaction_table`.
"""

from collections.abc import Mapping, Set
from dataclasses import replace

from barnabas.coordination import CoordinatorOutcome, SendMarkers, coordinator_error
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.transactions.decisions import (
    Change,
    Decision,
    NeedProducerId,
    Reject,
    ReplyT,
    TransactionAppend,
    check_init,
    decide_add,
    decide_end,
    decide_init,
    verify,
)
from barnabas.transactions.metadata import TransactionMetadata, TransactionState, prepare_complete
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
    Reply,
    TransactionConfig,
    TransactionGuards,
    TransactionStats,
)
from barnabas.transactions.transaction_table import (
    ScanSchedule,
    TransactionTable,
    describe_transaction,
    list_transactions,
)


class TransactionCoordinatorShard:
    """The transactional ids of one partition, under one coordinator epoch.

    Lifecycle: the driver creates a shard when this broker becomes leader of the partition
    (`coordinator_epoch` is the leader epoch), passes every record of the log to `replay` in order,
    calls `load_complete`, runs operations, and calls `resign` when the broker loses leadership.
    During loading, requests get COORDINATOR_LOAD_IN_PROGRESS; after `resign`, NOT_COORDINATOR. All
    calls are made on the loop that owns the partition.

    The driver, for each operation:

    1. Calls it. If `need_producer_id`, gets an id and calls again with `new_producer_id=`; an
       unused id is lost.
    2. If `reply` is set, responds. Otherwise writes `append.records` as one batch with acks=all and
       calls `append_succeeded` when they are committed, `append_failed` with the error otherwise;
       the outcome of that call carries the reply.
    3. For every outcome, those of step 2 included: starts each append of `background` in the same
       way, and sends `markers`, reporting with `markers_written`.
    4. Calls `on_timer` at `next_timer_ms`, and reads `next_timer_ms` again after every call.

    Appends of one shard must reach the log in the order the outcomes were returned.
    """

    def __init__(
        self,
        coordinator_epoch: int,
        config: TransactionConfig | None = None,
        guards: TransactionGuards | None = None,
        stats: TransactionStats | None = None,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch
        self._config = config or TransactionConfig()
        self._guards = guards or TransactionGuards()
        self._table = TransactionTable(coordinator_epoch, self._config, self._guards, stats)
        self._schedule: ScanSchedule | None = None
        self._unavailable = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    # ------------------------------------------------------------------ loading and leaving

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Applies one record of the log while loading; raises ProtocolError if it is invalid."""
        self._table.replay(key, value)

    def load_complete(self, now_ms: int) -> CoordinatorOutcome[Reply]:
        """Starts to serve; completes transactions that an earlier coordinator decided."""
        self._unavailable = ErrorCode.NONE
        self._schedule = ScanSchedule(self._config, now_ms)
        return self._table.finish_decided(now_ms)

    def resign(self) -> None:
        """Stops serving; results of appends and markers in progress are ignored from now on."""
        self._unavailable = ErrorCode.NOT_COORDINATOR

    @property
    def next_timer_ms(self) -> int | None:
        """The time of the next call of `on_timer`; None while the shard does not serve."""
        if self._schedule is None or self._unavailable is not ErrorCode.NONE:
            return None
        marker_ms = self._table.wake_at_ms
        scan_ms = self._schedule.wake_at_ms
        return scan_ms if marker_ms is None else min(scan_ms, marker_ms)

    # ------------------------------------------------------------------ requests

    def init_producer_id(
        self, request: InitProducerId, now_ms: int, new_producer_id: int | None = None
    ) -> CoordinatorOutcome[InitProducerIdReply]:
        """Assigns producer id and epoch: at a start, a restart, or after an error (KIP-360)."""
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
        """Adds partitions, or the offsets of a group, to the transaction; or verifies them."""
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
        """Commits or aborts; the reply follows the committed decision, before the markers."""
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
        return list_transactions(self._table, request, now_ms)

    def describe_transaction(self, transactional_id: str) -> DescribeTransactionReply:
        if self._unavailable:
            return DescribeTransactionReply(self._unavailable, transactional_id)
        return describe_transaction(self._table.get(transactional_id), transactional_id)

    # ------------------------------------------------------------------ calls of the driver

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
    ) -> CoordinatorOutcome[Reply]:
        """Stores the results of some partitions of `send`; deleted partitions count as written."""
        if self._unavailable:
            return CoordinatorOutcome()
        return CoordinatorOutcome(
            background=self._table.markers_written(send, results, deleted, now_ms)
        )

    def on_timer(self, now_ms: int) -> CoordinatorOutcome[object]:
        """Aborts transactions after their timeout, removes expired ids, sends markers again."""
        if self._schedule is None or self._unavailable:
            return CoordinatorOutcome()
        completions, markers = self._table.markers_due(now_ms)
        appends = list(completions)
        if self._schedule.take_abort(now_ms):
            appends += self._table.abort_overdue(now_ms)
        if self._schedule.take_expiry(now_ms):
            appends += self._table.forget_idle(now_ms)
        return CoordinatorOutcome(background=tuple(appends), markers=markers)

    # ------------------------------------------------------------------ private

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
            case Reject(error):
                return CoordinatorOutcome(success.failed(error))
            case NeedProducerId():
                return CoordinatorOutcome(need_producer_id=True)
            case Change(to):
                return CoordinatorOutcome(append=self._table.begin([(metadata, to)], success))
            case _:
                return CoordinatorOutcome(success)


def _init_reply(decision: Decision) -> InitProducerIdReply:
    """Returns id and epoch; after the abort of another producer, the client must retry."""
    if not isinstance(decision, Change):
        return InitProducerIdReply(ErrorCode.NONE)
    if decision.to.state is TransactionState.PREPARE_ABORT:
        return InitProducerIdReply(ErrorCode.CONCURRENT_TRANSACTIONS)
    return InitProducerIdReply(ErrorCode.NONE, decision.to.producer_id, decision.to.producer_epoch)


def _end_reply(metadata: TransactionMetadata, decision: Decision) -> EndTxnReply:
    """Returns the producer id and epoch of the next transaction."""
    after = metadata.current
    if isinstance(decision, Change):
        after = prepare_complete(decision.to, decision.to.update_ms)
    return EndTxnReply(ErrorCode.NONE, after.producer_id, after.producer_epoch)
