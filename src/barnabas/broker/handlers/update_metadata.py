"""UpdateMetadata: the controller tells who is alive and who leads what.

v7 topic ids; v8 whether it is the whole picture.
"""

from barnabas.broker.cluster.control_commands import (
    update_metadata_command,
    update_metadata_response,
)
from barnabas.broker.handler import Handler, RequestContext
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse


async def handle_update_metadata(
    ctx: RequestContext, request: UpdateMetadataRequest
) -> UpdateMetadataResponse:
    command = update_metadata_command(request)
    return update_metadata_response(await ctx.services.cluster.receiver.apply(command))


HANDLER = Handler(ApiKey.UPDATE_METADATA, (7, 8), handle_update_metadata)
