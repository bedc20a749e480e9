"""Chooses the version of each request: the highest that client and broker support."""

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.version import VERSION
from barnabas.net.connection_options import Address
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

SOFTWARE_NAME = "barnabas"
FIRST_API_VERSIONS = 3

VersionRanges = dict[int, tuple[int, int]]


def versions_request() -> ApiVersionsRequest:
    """Returns the first request of every connection."""
    return ApiVersionsRequest(client_software_name=SOFTWARE_NAME, client_software_version=VERSION)


def version_ranges(response: ApiVersionsResponse) -> VersionRanges:
    """Returns the version ranges of the broker; raises BrokerError if the response has an error."""
    if response.error_code:
        raise BrokerError(ErrorCode.of(response.error_code))
    return {item.api_key: (item.min_version, item.max_version) for item in response.api_keys}


def choose_version(request: type[Message], served: VersionRanges, address: Address) -> int:
    """Returns the version to send; raises UNSUPPORTED_VERSION with the ranges of both sides."""
    low, high = served.get(request.API_KEY, (0, -1))
    version = min(high, request.MAX_VERSION)
    if version < max(low, request.MIN_VERSION):
        name = ApiKey(request.API_KEY).name
        offer = f"serves {name} {low} to {high}" if high >= 0 else f"does not serve {name}"
        raise BrokerError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"{address} {offer}, this client has {request.MIN_VERSION} to {request.MAX_VERSION}",
        )
    return version
