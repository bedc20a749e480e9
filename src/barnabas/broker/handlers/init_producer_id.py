"""InitProducerId: returns id and epoch for an idempotent or transactional producer.

v2 flexible; v3 the id and epoch to bump (KIP-360); v4 PRODUCER_FENCED; v5 the error of aborted
transactions. With a transactional id, the transaction coordinator serves the request; without one,
any broker does.
"""

from typing import Protocol

from barnabas.broker.coordinators.responses import (
    PendingResponse,
    TransactionPorts,
    run_on_transaction,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.broker.producer_ids import ProducerIds
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.transactions.errors import client_error
from barnabas.transactions.requests import InitProducerId, InitProducerIdReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.zk.tree import TreeError

_API = "InitProducerId"


class Ports(TransactionPorts, Protocol):
    """Parts of the broker that this handler uses."""

    producer_ids: ProducerIds


def handle_init_producer_id(ctx: HandlerContext[Ports], request: InitProducerIdRequest) -> Result:
    if request.transactional_id is not None:
        return _transactional(ctx, request.transactional_id, request)
    producer_id = ctx.services.producer_ids.try_next()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _claim_and_answer(ctx)


def _transactional(
    ctx: HandlerContext[Ports], transactional_id: str, request: InitProducerIdRequest
) -> Result:
    asked = InitProducerId(
        transactional_id,
        request.transaction_timeout_ms,
        request.producer_id,
        request.producer_epoch,
    )
    if not transactional_id or (asked.producer_id < 0) != (asked.producer_epoch < 0):
        return _failed(ErrorCode.INVALID_REQUEST)

    def encode(reply: InitProducerIdReply) -> InitProducerIdResponse:
        if reply.error is not ErrorCode.NONE:
            return _failed(client_error(_API, ctx.version, reply.error))
        return InitProducerIdResponse(
            producer_id=reply.producer_id, producer_epoch=reply.producer_epoch
        )

    return run_on_transaction(
        ctx,
        transactional_id,
        lambda shard, now_ms, new_id: shard.init_producer_id(asked, now_ms, new_id),
        PendingResponse(ctx, encode, _failed),
    )


def _failed(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=-1)


async def _claim_and_answer(ctx: HandlerContext[Ports]) -> InitProducerIdResponse:
    try:
        producer_id = await ctx.services.producer_ids.next()
    except BrokerError as error:
        return _failed(error.code)
    except TreeError:
        return _failed(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)  # retriable for every client
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


HANDLER = ApiHandler(ApiKey.INIT_PRODUCER_ID, (0, 5), handle_init_producer_id)
