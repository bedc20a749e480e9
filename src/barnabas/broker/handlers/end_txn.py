"""EndTxn: commits or aborts a transaction.

v2 PRODUCER_FENCED; v3 flexible; v4 an error for transactions that can only be aborted; v5 the epoch
of the next transaction (transaction version 2, KIP-890).
"""

from barnabas.broker.coordinators.responses import (
    PendingResponse,
    TransactionPorts,
    run_on_transaction,
)
from barnabas.broker.handler import ApiHandler, HandlerContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.errors import client_error
from barnabas.transactions.requests import EndTxn, EndTxnReply
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

_API = "EndTxn"
_VERSION_2_FROM = 5


def handle_end_txn(ctx: HandlerContext[TransactionPorts], request: EndTxnRequest) -> Result:
    ending = EndTxn(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        request.committed,
        2 if ctx.version >= _VERSION_2_FROM else 0,
    )

    def encode(reply: EndTxnReply) -> EndTxnResponse:
        if reply.error is not ErrorCode.NONE:
            return _failed(client_error(_API, ctx.version, reply.error))
        return EndTxnResponse(producer_id=reply.producer_id, producer_epoch=reply.producer_epoch)

    return run_on_transaction(
        ctx,
        request.transactional_id,
        lambda shard, now_ms, new_id: shard.end_txn(ending, now_ms, new_id),
        PendingResponse(ctx, encode, _failed),
    )


def _failed(code: ErrorCode) -> EndTxnResponse:
    return EndTxnResponse(error_code=code)


HANDLER = ApiHandler(ApiKey.END_TXN, (0, 5), handle_end_txn)
