"""ControlledShutdown: a broker about to stop asks the controller to move its leaderships.

v2 broker epochs; v3 flexible.
"""

from barnabas.broker.handler import Handler, RequestContext
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from barnabas.zk.tree import TreeError


async def handle_controlled_shutdown(
    ctx: RequestContext, request: ControlledShutdownRequest
) -> ControlledShutdownResponse:
    controller = ctx.services.cluster.controller
    try:
        remaining = await controller.controlled_shutdown(
            BrokerId(request.broker_id), request.broker_epoch
        )
    except BrokerError as error:
        return ControlledShutdownResponse(error.code)
    except TreeError:
        return ControlledShutdownResponse(ErrorCode.NOT_CONTROLLER)
    return ControlledShutdownResponse(
        0, [RemainingPartition(place.topic, place.partition) for place in remaining]
    )


HANDLER = Handler(ApiKey.CONTROLLED_SHUTDOWN, (2, 3), handle_controlled_shutdown)
