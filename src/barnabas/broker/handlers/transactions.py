"""Handlers of the transaction requests of producers.

They serve InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn and EndTxn.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.responses import (
    PendingResponse,
    TransactionPorts,
    run_on_transaction,
)
from barnabas.broker.coordinators.transaction_coordinator import ProducerIds
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import INTERNAL_TOPICS, OFFSETS_TOPIC, TopicPartition
from barnabas.transactions.requests import (
    AddPartitions,
    AddPartitionsReply,
    EndTxn,
    EndTxnReply,
    InitProducerId,
    InitProducerIdReply,
    client_error,
)
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.zk.tree import TreeError


class InitProducerIdPorts(TransactionPorts, Protocol):
    """Parts of the broker that InitProducerId uses."""

    producer_ids: ProducerIds


class AddPartitionsPorts(TransactionPorts, Protocol):
    """Parts of the broker that AddPartitionsToTxn uses."""

    coordinators: Coordinators


class AddOffsetsPorts(TransactionPorts, Protocol):
    """Parts of the broker that AddOffsetsToTxn uses."""

    internal_topics: InternalTopics


# --- InitProducerId -------------------------------------------------------------------------------


_INIT_PRODUCER_ID = "InitProducerId"


def handle_init_producer_id(
    ctx: HandlerContext[InitProducerIdPorts], request: InitProducerIdRequest
) -> Result:
    """Returns id and epoch for an idempotent or transactional producer.

    v2 flexible; v3 the id and epoch to bump (KIP-360); v4 PRODUCER_FENCED; v5 the error of aborted
    transactions. With a transactional id, the transaction coordinator serves the request; without
    one, any broker does.
    """
    if request.transactional_id is not None:
        return _init_transactional(ctx, request.transactional_id, request)
    producer_id = ctx.services.producer_ids.try_next()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _claim_id_and_respond(ctx)


def _init_transactional(
    ctx: HandlerContext[InitProducerIdPorts], transactional_id: str, request: InitProducerIdRequest
) -> Result:
    requested = InitProducerId(
        transactional_id,
        request.transaction_timeout_ms,
        request.producer_id,
        request.producer_epoch,
    )
    if not transactional_id or (requested.producer_id < 0) != (requested.producer_epoch < 0):
        return _failed_init(ErrorCode.INVALID_REQUEST)

    def encode(reply: InitProducerIdReply) -> InitProducerIdResponse:
        if reply.error is not ErrorCode.NONE:
            return _failed_init(client_error(_INIT_PRODUCER_ID, ctx.version, reply.error))
        return InitProducerIdResponse(
            producer_id=reply.producer_id, producer_epoch=reply.producer_epoch
        )

    return run_on_transaction(
        ctx,
        transactional_id,
        lambda shard, now_ms, new_id: shard.init_producer_id(requested, now_ms, new_id),
        PendingResponse(ctx, encode, _failed_init),
    )


def _failed_init(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=-1)


async def _claim_id_and_respond(ctx: HandlerContext[InitProducerIdPorts]) -> InitProducerIdResponse:
    try:
        producer_id = await ctx.services.producer_ids.next()
    except BrokerError as error:
        return _failed_init(error.code)
    except TreeError:
        return _failed_init(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)  # retriable for every client
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


# --- AddPartitionsToTxn ---------------------------------------------------------------------------


_ADD_PARTITIONS = "AddPartitionsToTxn"
_BATCHED_FROM = 4
_ADD_PARTITIONS_V2_FROM = 5

_PartitionErrors = Mapping[TopicPartition, ErrorCode]


def handle_add_partitions_to_txn(
    ctx: HandlerContext[AddPartitionsPorts], request: AddPartitionsToTxnRequest
) -> Result:
    """Adds partitions to a transaction, or verifies that it contains them.

    Clients send v0-v3, for one transaction; v2 PRODUCER_FENCED; v3 flexible. Partition leaders send
    v4 and v5, for several transactions, to verify or (v5, transaction version 2) to add.
    """
    if ctx.version >= _BATCHED_FROM:
        return _AddPartitionsBatch(ctx, request).result()
    return _client_request(ctx, request)


def _client_request(
    ctx: HandlerContext[AddPartitionsPorts], request: AddPartitionsToTxnRequest
) -> Result:
    partitions = _partitions(request.v3_and_below_topics)
    adding = AddPartitions(
        request.v3_and_below_transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        frozenset(partitions),
    )

    def respond(errors: _PartitionErrors) -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(errors))

    def encode(reply: AddPartitionsReply) -> AddPartitionsToTxnResponse:
        return respond(
            {
                topic_partition: client_error(
                    _ADD_PARTITIONS, ctx.version, reply.partitions[topic_partition]
                )
                for topic_partition in partitions
            }
        )

    wrong = _wrong_partitions(ctx, partitions)
    if wrong:
        return respond(
            {
                topic_partition: wrong.get(topic_partition, ErrorCode.OPERATION_NOT_ATTEMPTED)
                for topic_partition in partitions
            }
        )
    return run_on_transaction(
        ctx,
        adding.transactional_id,
        lambda shard, now_ms, _new_id: shard.add_partitions(adding, now_ms),
        PendingResponse(ctx, encode, lambda code: respond(dict.fromkeys(partitions, code))),
    )


def _wrong_partitions(
    ctx: HandlerContext[AddPartitionsPorts], partitions: Iterable[TopicPartition]
) -> _PartitionErrors:
    wrong = {}
    for topic_partition in partitions:
        if topic_partition.topic in INTERNAL_TOPICS:
            wrong[topic_partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif ctx.services.metadata.partition(topic_partition) is None:
            wrong[topic_partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return wrong


class _AddPartitionsBatch:
    """Collects the results for the transactions of one broker's request.

    Requests of one broker are independent of each other: its connection handles the next one while
    the records of this one are replicated.
    """

    def __init__(
        self, ctx: HandlerContext[AddPartitionsPorts], request: AddPartitionsToTxnRequest
    ) -> None:
        self._ctx = ctx
        self._request = request
        self._errors: dict[int, _PartitionErrors] = {}
        self._pending_response: PendingResponse[None] = PendingResponse(
            ctx, self._response, lambda _code: self._response(), pipelined=True
        )

    def result(self) -> Result:
        if not self._request.transactions:
            self._pending_response.complete(None)
        for index, transaction in enumerate(self._request.transactions):
            adding = AddPartitions(
                transaction.transactional_id,
                transaction.producer_id,
                transaction.producer_epoch,
                frozenset(_partitions(transaction.topics)),
                transaction.verify_only,
                2 if self._ctx.version >= _ADD_PARTITIONS_V2_FROM else 0,
            )
            self._send(index, adding)
        return self._pending_response.result()

    def _send(self, index: int, adding: AddPartitions) -> None:
        def on_results(errors: _PartitionErrors) -> None:
            self._errors[index] = errors
            if len(self._errors) == len(self._request.transactions):
                self._pending_response.complete(None)

        self._ctx.services.coordinators.local_add_partitions.add_or_verify(adding, on_results)

    def _response(self, _: None = None) -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(
                    transaction.transactional_id, _results(self._errors[index])
                )
                for index, transaction in enumerate(self._request.transactions)
            ]
        )


def _partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    return [
        TopicPartition(topic.name, partition) for topic in topics for partition in topic.partitions
    ]


def _results(errors: _PartitionErrors) -> list[AddPartitionsToTxnTopicResult]:
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for topic_partition, code in errors.items():
        topic = topics.setdefault(
            topic_partition.topic, AddPartitionsToTxnTopicResult(topic_partition.topic, [])
        )
        topic.results_by_partition.append(
            AddPartitionsToTxnPartitionResult(topic_partition.partition, code)
        )
    return list(topics.values())


# --- AddOffsetsToTxn ------------------------------------------------------------------------------


_ADD_OFFSETS = "AddOffsetsToTxn"


def handle_add_offsets_to_txn(
    ctx: HandlerContext[AddOffsetsPorts], request: AddOffsetsToTxnRequest
) -> Result:
    """Adds the offsets partition of a group to a transaction.

    v2 PRODUCER_FENCED; v3 flexible; v4 an error for transactions that can only be aborted.
    """
    topics = ctx.services.internal_topics
    if not request.group_id:
        return _add_offsets_response(ErrorCode.INVALID_GROUP_ID)
    if not topics.exists(OFFSETS_TOPIC):
        return _create_offsets_topic(ctx)
    topic_partition = topics.partition_of(OFFSETS_TOPIC, request.group_id)
    adding = AddPartitions(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        frozenset({topic_partition}),
    )

    def encode(reply: AddPartitionsReply) -> AddOffsetsToTxnResponse:
        return _add_offsets_response(
            client_error(_ADD_OFFSETS, ctx.version, reply.partitions[topic_partition])
        )

    return run_on_transaction(
        ctx,
        request.transactional_id,
        lambda shard, now_ms, _new_id: shard.add_partitions(adding, now_ms),
        PendingResponse(ctx, encode, _add_offsets_response),
    )


async def _create_offsets_topic(ctx: HandlerContext[AddOffsetsPorts]) -> AddOffsetsToTxnResponse:
    """Creates the offsets topic, which determines the group's partition; the client retries."""
    try:
        await ctx.services.internal_topics.ensure(OFFSETS_TOPIC)
    except (BrokerError, TreeError):
        return _add_offsets_response(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return _add_offsets_response(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _add_offsets_response(code: ErrorCode) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=code)


# --- EndTxn ---------------------------------------------------------------------------------------


_END_TXN = "EndTxn"
_END_TXN_V2_FROM = 5


def handle_end_txn(ctx: HandlerContext[TransactionPorts], request: EndTxnRequest) -> Result:
    """Commits or aborts a transaction.

    v2 PRODUCER_FENCED; v3 flexible; v4 an error for transactions that can only be aborted; v5 the
    epoch of the next transaction (transaction version 2, KIP-890).
    """
    ending = EndTxn(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        request.committed,
        2 if ctx.version >= _END_TXN_V2_FROM else 0,
    )

    def encode(reply: EndTxnReply) -> EndTxnResponse:
        if reply.error is not ErrorCode.NONE:
            return _failed_end(client_error(_END_TXN, ctx.version, reply.error))
        return EndTxnResponse(producer_id=reply.producer_id, producer_epoch=reply.producer_epoch)

    return run_on_transaction(
        ctx,
        request.transactional_id,
        lambda shard, now_ms, new_id: shard.end_txn(ending, now_ms, new_id),
        PendingResponse(ctx, encode, _failed_end),
    )


def _failed_end(code: ErrorCode) -> EndTxnResponse:
    return EndTxnResponse(error_code=code)


HANDLERS = (
    ApiHandler(ApiKey.INIT_PRODUCER_ID, (0, 5), handle_init_producer_id),
    ApiHandler(ApiKey.ADD_PARTITIONS_TO_TXN, (0, 5), handle_add_partitions_to_txn),
    ApiHandler(ApiKey.ADD_OFFSETS_TO_TXN, (0, 4), handle_add_offsets_to_txn),
    ApiHandler(ApiKey.END_TXN, (0, 5), handle_end_txn),
)
