"""AddPartitionsToTxn: adds partitions to a transaction, or verifies that it contains them.

Clients send v0-v3, for one transaction; v2 PRODUCER_FENCED; v3 flexible. Partition leaders send v4
and v5, for several transactions, to verify or (v5, transaction version 2) to add.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from barnabas.broker.coordinators.responses import (
    PendingResponse,
    TransactionPorts,
    run_on_transaction,
)
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.topic_names import INTERNAL_TOPICS
from barnabas.transactions.errors import client_error
from barnabas.transactions.requests import AddPartitions, AddPartitionsReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)

_API = "AddPartitionsToTxn"
_BATCHED_FROM = 4
_VERSION_2_FROM = 5

Errors = Mapping[TopicPartition, ErrorCode]


class Ports(TransactionPorts, Protocol):
    """Parts of the broker that this handler uses."""

    coordinators: Coordinators


def handle_add_partitions_to_txn(
    ctx: HandlerContext[Ports], request: AddPartitionsToTxnRequest
) -> Result:
    if ctx.version >= _BATCHED_FROM:
        return _Batch(ctx, request).result()
    return _client_request(ctx, request)


def _client_request(ctx: HandlerContext[Ports], request: AddPartitionsToTxnRequest) -> Result:
    partitions = _partitions(request.v3_and_below_topics)
    adding = AddPartitions(
        request.v3_and_below_transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        frozenset(partitions),
    )

    def respond(errors: Errors) -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(errors))

    def encode(reply: AddPartitionsReply) -> AddPartitionsToTxnResponse:
        return respond(
            {
                place: client_error(_API, ctx.version, reply.partitions[place])
                for place in partitions
            }
        )

    wrong = _wrong_partitions(ctx, partitions)
    if wrong:
        return respond(
            {place: wrong.get(place, ErrorCode.OPERATION_NOT_ATTEMPTED) for place in partitions}
        )
    return run_on_transaction(
        ctx,
        adding.transactional_id,
        lambda shard, now_ms, _new_id: shard.add_partitions(adding, now_ms),
        PendingResponse(ctx, encode, lambda code: respond(dict.fromkeys(partitions, code))),
    )


def _wrong_partitions(ctx: HandlerContext[Ports], partitions: Iterable[TopicPartition]) -> Errors:
    wrong = {}
    for place in partitions:
        if place.topic in INTERNAL_TOPICS:
            wrong[place] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif ctx.services.metadata.partition(place) is None:
            wrong[place] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return wrong


class _Batch:
    """Collects the results for the transactions of one broker's request."""

    def __init__(self, ctx: HandlerContext[Ports], request: AddPartitionsToTxnRequest) -> None:
        self._ctx = ctx
        self._request = request
        self._errors: dict[int, Errors] = {}
        self._answer: PendingResponse[None] = PendingResponse(
            ctx, self._response, lambda _code: self._response()
        )

    def result(self) -> Result:
        if not self._request.transactions:
            self._answer.complete(None)
        for index, transaction in enumerate(self._request.transactions):
            adding = AddPartitions(
                transaction.transactional_id,
                transaction.producer_id,
                transaction.producer_epoch,
                frozenset(_partitions(transaction.topics)),
                transaction.verify_only,
                2 if self._ctx.version >= _VERSION_2_FROM else 0,
            )
            self._ask(index, adding)
        return self._answer.result()

    def _ask(self, index: int, adding: AddPartitions) -> None:
        def answered(errors: Errors) -> None:
            self._errors[index] = errors
            if len(self._errors) == len(self._request.transactions):
                self._answer.complete(None)

        self._ctx.services.coordinators.local_add_partitions.add_or_verify(adding, answered)

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
    return [TopicPartition(topic.name, number) for topic in topics for number in topic.partitions]


def _results(errors: Errors) -> list[AddPartitionsToTxnTopicResult]:
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for place, code in errors.items():
        topic = topics.setdefault(place.topic, AddPartitionsToTxnTopicResult(place.topic, []))
        topic.results_by_partition.append(AddPartitionsToTxnPartitionResult(place.partition, code))
    return list(topics.values())


HANDLER = ApiHandler(ApiKey.ADD_PARTITIONS_TO_TXN, (0, 5), handle_add_partitions_to_txn)
