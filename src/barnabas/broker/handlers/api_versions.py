"""ApiVersions: lists the APIs and versions that this broker serves.

The response header has version 0 in every version.
v1 throttle time; v3 flexible, name and version of the client's software (KIP-511); v4 features
from version 0 on.
"""

import re
from typing import Protocol

from barnabas.broker.api_versions import ApiVersionsResponses
from barnabas.broker.handler import ApiHandler, EncodedBody, HandlerContext, RequestPorts, Result
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.api_versions import ApiVersionsRequest

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_SOFTWARE_FROM = 3


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    api_versions: ApiVersionsResponses


def handle_api_versions(ctx: HandlerContext[Ports], request: ApiVersionsRequest) -> Result:
    answers = ctx.services.api_versions
    if ctx.version >= _SOFTWARE_FROM:
        named = (request.client_software_name, request.client_software_version)
        if not all(_SOFTWARE.fullmatch(text) for text in named):
            return EncodedBody(answers.invalid(ctx.version))
    return EncodedBody(answers.body(ctx.version))


HANDLER = ApiHandler(ApiKey.API_VERSIONS, (0, 4), handle_api_versions)
