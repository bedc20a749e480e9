"""AddOffsetsToTxn: adds the offsets partition of a group to a transaction.

v2 PRODUCER_FENCED; v3 flexible; v4 an error for transactions that can only be aborted.
"""

from typing import Protocol

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.responses import (
    PendingResponse,
    TransactionPorts,
    run_on_transaction,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.topic_names import OFFSETS_TOPIC
from barnabas.transactions.errors import client_error
from barnabas.transactions.requests import AddPartitions, AddPartitionsReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from barnabas.zk.tree import TreeError

_API = "AddOffsetsToTxn"


class Ports(TransactionPorts, Protocol):
    """Parts of the broker that this handler uses."""

    internal_topics: InternalTopics


def handle_add_offsets_to_txn(
    ctx: HandlerContext[Ports], request: AddOffsetsToTxnRequest
) -> Result:
    topics = ctx.services.internal_topics
    if not request.group_id:
        return _failed(ErrorCode.INVALID_GROUP_ID)
    if not topics.exists(OFFSETS_TOPIC):
        return _create_first(ctx)
    place = topics.partition_of(OFFSETS_TOPIC, request.group_id)
    adding = AddPartitions(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        frozenset({place}),
    )

    def encode(reply: AddPartitionsReply) -> AddOffsetsToTxnResponse:
        return _failed(client_error(_API, ctx.version, reply.partitions[place]))

    return run_on_transaction(
        ctx,
        request.transactional_id,
        lambda shard, now_ms, _new_id: shard.add_partitions(adding, now_ms),
        PendingResponse(ctx, encode, _failed),
    )


async def _create_first(ctx: HandlerContext[Ports]) -> AddOffsetsToTxnResponse:
    """Creates the offsets topic, which determines the group's partition; the client retries."""
    try:
        await ctx.services.internal_topics.ensure(OFFSETS_TOPIC)
    except (BrokerError, TreeError):
        return _failed(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return _failed(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def _failed(code: ErrorCode) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=code)


HANDLER = ApiHandler(ApiKey.ADD_OFFSETS_TO_TXN, (0, 4), handle_add_offsets_to_txn)
