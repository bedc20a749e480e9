"""ListTransactions: returns the transactional ids that this broker coordinates.

v1 filter by duration; v2 filter by a regular expression for the id.
"""

from typing import Protocol

from barnabas.broker.coordinators.transaction_coordinator import TransactionCoordinator
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.transactions.requests import ListTransactions
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    transactions: TransactionCoordinator


def handle_list_transactions(
    ctx: HandlerContext[Ports], request: ListTransactionsRequest
) -> ListTransactionsResponse:
    asked = ListTransactions(
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
        reply = driver.shard.list_transactions(asked, transactions.now_ms())
        if reply.error is not ErrorCode.NONE:
            return ListTransactionsResponse(error_code=reply.error)
        response.unknown_state_filters = list(reply.unknown_states)
        response.transaction_states += [
            TransactionState(one.transactional_id, one.producer_id, one.state.label)
            for one in reply.transactions
        ]
    return response


HANDLER = ApiHandler(ApiKey.LIST_TRANSACTIONS, (0, 2), handle_list_transactions)
