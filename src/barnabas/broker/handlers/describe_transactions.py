"""DescribeTransactions: returns state, producer and partitions of transactional ids."""

from typing import Protocol

from barnabas.broker.coordinators.transaction_coordinator import TransactionCoordinator
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.errors import BrokerError
from barnabas.transactions.requests import DescribeTransactionReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    transactions: TransactionCoordinator


def handle_describe_transactions(
    ctx: HandlerContext[Ports], request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_describe(ctx, one) for one in request.transactional_ids]
    )


def _describe(ctx: HandlerContext[Ports], transactional_id: str) -> TransactionState:
    try:
        shard = ctx.services.transactions.shard_of(transactional_id).shard
    except BrokerError as error:
        return TransactionState(error.code, transactional_id)
    return _described(shard.describe_transaction(transactional_id))


def _described(reply: DescribeTransactionReply) -> TransactionState:
    topics: dict[str, TopicData] = {}
    for topic, number in reply.partitions:
        topics.setdefault(topic, TopicData(topic, [])).partitions.append(number)
    return TransactionState(
        reply.error,
        reply.transactional_id,
        "" if reply.state is None else reply.state.label,
        reply.timeout_ms,
        reply.start_ms,
        reply.producer_id,
        reply.producer_epoch,
        list(topics.values()),
    )


HANDLER = ApiHandler(ApiKey.DESCRIBE_TRANSACTIONS, (0, 0), handle_describe_transactions)
