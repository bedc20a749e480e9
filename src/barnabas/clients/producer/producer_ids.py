"""Asking the cluster for a producer id outside transactions: any broker gives one."""

from barnabas.clients.core.client import KafkaClient
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

NO_TRANSACTION_TIMEOUT = 2**31 - 1


async def fetch_producer_id(client: KafkaClient) -> tuple[int, int]:
    """A new producer id and its first epoch."""
    request = InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=NO_TRANSACTION_TIMEOUT
    )
    response: InitProducerIdResponse = await client.send_to_any(request)
    if response.error_code:
        raise BrokerError(ErrorCode.of(response.error_code))
    return response.producer_id, response.producer_epoch
