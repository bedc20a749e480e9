"""ControlledShutdown: the controller moves the leaderships away from a broker that will stop.

v2 broker epochs; v3 flexible.
"""

from typing import Protocol

from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
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


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_controlled_shutdown(
    ctx: HandlerContext[Ports], request: ControlledShutdownRequest
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


HANDLER = ApiHandler(ApiKey.CONTROLLED_SHUTDOWN, (2, 3), handle_controlled_shutdown)
