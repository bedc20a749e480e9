"""UpdateMetadata: the controller sends live brokers and partition states.

v7 topic ids; v8 full or incremental update.
"""

from typing import Protocol

from barnabas.broker.cluster.control_commands import (
    update_metadata_command,
    update_metadata_response,
)
from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_update_metadata(
    ctx: HandlerContext[Ports], request: UpdateMetadataRequest
) -> UpdateMetadataResponse:
    command = update_metadata_command(request)
    return update_metadata_response(await ctx.services.cluster.receiver.apply(command))


HANDLER = ApiHandler(ApiKey.UPDATE_METADATA, (7, 8), handle_update_metadata)
