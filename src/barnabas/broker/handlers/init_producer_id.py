"""InitProducerId: an id for an idempotent producer.

v2 flexible; v3 carries the id and epoch to bump (KIP-360); v4 PRODUCER_FENCED; v5 the error of
aborted transactions. A transactional id belongs to the transaction coordinator.
"""

from collections.abc import Awaitable

from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.zk.tree import TreeError


def handle_init_producer_id(ctx: RequestContext, request: InitProducerIdRequest) -> Result:
    if request.transactional_id is not None:
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        if not request.transactional_id:
            code = ErrorCode.INVALID_REQUEST
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)
    producer_id = ctx.services.producer_ids.try_next()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _claim_and_answer(ctx)


def _claim_and_answer(ctx: RequestContext) -> Awaitable[InitProducerIdResponse]:
    async def claim() -> InitProducerIdResponse:
        try:
            producer_id = await ctx.services.producer_ids.next()
        except BrokerError as error:
            return InitProducerIdResponse(error_code=error.code, producer_epoch=-1)
        except TreeError:
            code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # retriable for every client
            return InitProducerIdResponse(error_code=code, producer_epoch=-1)
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)

    return claim()


HANDLER = Handler(ApiKey.INIT_PRODUCER_ID, (0, 5), handle_init_producer_id)
