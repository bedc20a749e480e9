"""Handlers that inspect and repair transactions.

They serve DescribeTransactions, ListTransactions, DescribeProducers and WriteTxnMarkers.
"""

from typing import Protocol

from barnabas.broker.coordinators.markers import EndOfTransaction, Results
from barnabas.broker.coordinators.responses import PendingResponse, TransactionPorts
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.handler import (
    NO_RESPONSE,
    ApiHandler,
    HandlerContext,
    RequestPorts,
    Result,
)
from barnabas.broker.purgatory import Purgatory
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, topic_name_problem
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.storage.log_manager import LogManager
from barnabas.storage.producer_state import ProducerEntry
from barnabas.transactions.requests import DescribeTransactionReply, ListTransactions
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from barnabas.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
)
from barnabas.wire.messages.describe_transactions import TransactionState as DescribedTransaction
from barnabas.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from barnabas.wire.messages.list_transactions import TransactionState as ListedTransaction
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


class DescribeProducersPorts(RequestPorts, Protocol):
    """Parts of the broker that DescribeProducers uses."""

    logs: LogManager
    replicas: ReplicaManager


class WriteTxnMarkersPorts(RequestPorts, Protocol):
    """Parts of the broker that WriteTxnMarkers uses."""

    coordinators: Coordinators
    produce_purgatory: Purgatory


# --- DescribeTransactions -------------------------------------------------------------------------


def handle_describe_transactions(
    ctx: HandlerContext[TransactionPorts], request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    """Returns state, producer and partitions of transactional ids."""
    return DescribeTransactionsResponse(
        transaction_states=[_describe_transaction(ctx, one) for one in request.transactional_ids]
    )


def _describe_transaction(
    ctx: HandlerContext[TransactionPorts], transactional_id: str
) -> DescribedTransaction:
    try:
        shard = ctx.services.transactions.shard_of(transactional_id).shard
    except BrokerError as error:
        return DescribedTransaction(error.code, transactional_id)
    return _described_transaction(shard.describe_transaction(transactional_id))


def _described_transaction(reply: DescribeTransactionReply) -> DescribedTransaction:
    topics: dict[str, TopicData] = {}
    for topic, number in reply.partitions:
        topics.setdefault(topic, TopicData(topic, [])).partitions.append(number)
    return DescribedTransaction(
        reply.error,
        reply.transactional_id,
        "" if reply.state is None else reply.state.label,
        reply.timeout_ms,
        reply.start_ms,
        reply.producer_id,
        reply.producer_epoch,
        list(topics.values()),
    )


# --- ListTransactions -----------------------------------------------------------------------------


def handle_list_transactions(
    ctx: HandlerContext[TransactionPorts], request: ListTransactionsRequest
) -> ListTransactionsResponse:
    """Returns the transactional ids that this broker coordinates.

    v1 filter by duration; v2 filter by a regular expression for the id.
    """
    requested = ListTransactions(
        frozenset(request.state_filters),
        frozenset(request.producer_id_filters),
        request.duration_filter,
        request.transactional_id_pattern,
    )
    transactions = ctx.services.transactions
    try:
        shards = list(transactions.all_shards())
    except BrokerError as error:
        return ListTransactionsResponse(error_code=error.code)
    response = ListTransactionsResponse(unknown_state_filters=[], transaction_states=[])
    for driver in shards:
        reply = driver.shard.list_transactions(requested, transactions.now_ms())
        if reply.error is not ErrorCode.NONE:
            return ListTransactionsResponse(error_code=reply.error)
        response.unknown_state_filters = list(reply.unknown_states)
        response.transaction_states += [
            ListedTransaction(one.transactional_id, one.producer_id, one.state.label)
            for one in reply.transactions
        ]
    return response


# --- DescribeProducers ----------------------------------------------------------------------------


def handle_describe_producers(
    ctx: HandlerContext[DescribeProducersPorts], request: DescribeProducersRequest
) -> DescribeProducersResponse:
    """Returns the active producers and open transactions of partitions.

    It serves to find hanging transactions (KIP-664): an administrator compares the result with the
    coordinator's state and aborts a hanging transaction with WriteTxnMarkers.
    """
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                topic.name,
                [
                    _describe_partition(ctx, TopicPartition(topic.name, partition))
                    for partition in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def _describe_partition(
    ctx: HandlerContext[DescribeProducersPorts], topic_partition: TopicPartition
) -> PartitionResponse:
    partition = ctx.services.replicas.partition(topic_partition)
    log = ctx.services.logs.get(topic_partition)
    if partition is None or log is None:  # followers respond too, from their log
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if ctx.services.metadata.partition(topic_partition) is not None:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif topic_name_problem(topic_partition.topic) is not None:
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
        return PartitionResponse(topic_partition.partition, code, code.explanation)
    states = [_producer_state(entry) for entry in log.producer_states()]
    return PartitionResponse(topic_partition.partition, active_producers=states)


def _producer_state(entry: ProducerEntry) -> ProducerState:
    return ProducerState(
        entry.producer_id,
        entry.epoch,
        entry.last_sequence,
        entry.last_timestamp,
        entry.coordinator_epoch,
        entry.txn_first_offset,
    )


# --- WriteTxnMarkers ------------------------------------------------------------------------------


def handle_write_txn_markers(
    ctx: HandlerContext[WriteTxnMarkersPorts], request: WriteTxnMarkersRequest
) -> Result:
    """Writes commit and abort markers to partitions that this broker leads.

    A transaction coordinator or an administrator sends it. v1 flexible; v2 the transaction version,
    which allows to distinguish a repeated marker from a new one.

    Before transaction version 2 a repeated marker has the epoch of the producer's next transaction
    and can end it. A coordinator repeats a marker on a new connection after a timeout, so a request
    whose connection the coordinator has closed is dropped. Markers are appended before the response
    waits for the followers, so the connection does not hold back the markers of other transactions.
    """
    if ctx.connection.stream.peer_is_gone():
        ctx.connection.close()
        return NO_RESPONSE
    written: dict[int, Results] = {}

    def encode(_: object) -> WriteTxnMarkersResponse:
        return WriteTxnMarkersResponse(
            [_marker_result(marker, written[index]) for index, marker in enumerate(request.markers)]
        )

    response: PendingResponse[None] = PendingResponse(ctx, encode, encode, pipelined=True)

    def write(index: int, marker: WritableTxnMarker) -> None:
        def done(results: Results) -> None:
            written[index] = results
            if len(written) == len(request.markers):
                response.complete(None)

        services = ctx.services
        services.coordinators.marker_writer.write(
            _end_of_transaction(marker),
            _marker_partitions(marker),
            services.produce_purgatory,
            services.config["request.timeout.ms"],
            done,
        )

    if not request.markers:
        response.complete(None)
    for index, marker in enumerate(request.markers):
        write(index, marker)
    return response.result()


def _end_of_transaction(marker: WritableTxnMarker) -> EndOfTransaction:
    return EndOfTransaction(
        marker.producer_id,
        marker.producer_epoch,
        marker.transaction_result,
        marker.coordinator_epoch,
        marker.transaction_version,
    )


def _marker_partitions(marker: WritableTxnMarker) -> list[TopicPartition]:
    """Returns every partition once, however often the request names it."""
    named = (
        TopicPartition(topic.name, partition)
        for topic in marker.topics
        for partition in topic.partition_indexes
    )
    return list(dict.fromkeys(named))


def _marker_result(marker: WritableTxnMarker, results: Results) -> WritableTxnMarkerResult:
    return WritableTxnMarkerResult(
        marker.producer_id,
        [
            WritableTxnMarkerTopicResult(
                topic.name,
                [
                    WritableTxnMarkerPartitionResult(
                        partition, results[TopicPartition(topic.name, partition)]
                    )
                    for partition in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ],
    )


HANDLERS = (
    ApiHandler(ApiKey.DESCRIBE_TRANSACTIONS, (0, 0), handle_describe_transactions),
    ApiHandler(ApiKey.LIST_TRANSACTIONS, (0, 2), handle_list_transactions),
    ApiHandler(ApiKey.DESCRIBE_PRODUCERS, (0, 0), handle_describe_producers),
    ApiHandler(ApiKey.WRITE_TXN_MARKERS, (1, 2), handle_write_txn_markers),
)
