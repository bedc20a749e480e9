"""The client's side of one connection, without IO: encodes requests and decodes responses.

A broker responds to the requests of a connection in their order, so the only state is a queue of
pending requests. A driver cuts the received bytes into frames with a `FrameReceiver`. The version
of each request is the highest that client and broker support.
"""

from collections import deque
from typing import Any, NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.version import VERSION
from barnabas.net.connection_options import Address
from barnabas.wire._produce_hot import SingleBatchForm, decode_single_response
from barnabas.wire.api_keys import ApiKey, response_class
from barnabas.wire.headers import (
    frame_request,
    read_response_header,
    request_header_end,
    response_header_version,
)
from barnabas.wire.message import Message
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.primitives import Part

SOFTWARE_NAME = "barnabas"
FIRST_API_VERSIONS = 3
VersionRanges = dict[int, tuple[int, int]]
MAX_CORRELATION_ID = 2**31 - 1
_PRODUCE = int(ApiKey.PRODUCE)


# --- Versions -------------------------------------------------------------------------------------


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


# --- Requests and responses -----------------------------------------------------------------------


class RequestForm(NamedTuple):
    """The fields that all requests of one API and version share."""

    api_key: int
    version: int
    header_end: bytes
    """The request header after the correlation id."""
    response_header_version: int


class ClientProtocol:
    """Matches responses to requests of one connection; owned by the connection's driver."""

    __slots__ = ("_awaited", "_client_id", "_forms", "_next_correlation_id")

    def __init__(self, client_id: str | None) -> None:
        self._client_id = client_id
        self._next_correlation_id = 0
        self._forms: dict[tuple[int, int], RequestForm] = {}
        # Correlation ids and forms.
        self._awaited: deque[tuple[int, RequestForm | SingleBatchForm]] = deque()

    @property
    def in_flight(self) -> int:
        return len(self._awaited)

    def send(self, request: Message, version: int, *, expects_response: bool = True) -> list[Part]:
        """Returns the bytes of a request; some requests have no response."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & MAX_CORRELATION_ID
        form = self._form(request.API_KEY, version)
        body = request.encode(version)
        parts = frame_request(form.api_key, version, correlation_id, form.header_end, body)
        if expects_response:
            self._awaited.append((correlation_id, form))
        return parts

    def single_form(self, version: int, head: bytes, tail: bytes) -> SingleBatchForm:
        """Returns the form of Produce requests with one batch between these bytes of the body."""
        form = self._form(_PRODUCE, version)
        return SingleBatchForm(version, form.header_end, head, tail)

    def send_batch(self, form: SingleBatchForm, batch: bytearray) -> bytes:
        """Returns the frame of a Produce request with one batch."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & MAX_CORRELATION_ID
        frame = form.frame(correlation_id, batch)
        self._awaited.append((correlation_id, form))
        return frame

    def receive(self, frame: memoryview) -> Any:
        """Returns the decoded response of a frame, which must belong to the oldest request."""
        if not self._awaited:
            raise ProtocolError("received a response without a pending request")
        expected_id, form = self._awaited.popleft()
        if isinstance(form, SingleBatchForm):
            appended = form.read(frame, expected_id)
            if appended is not None:
                return appended
            form = self._form(_PRODUCE, form.version)
        correlation_id, offset = read_response_header(frame, form.response_header_version)
        if correlation_id != expected_id:
            raise ProtocolError(
                f"a response to request {correlation_id} where {expected_id} was due"
            )
        if form.api_key == _PRODUCE:
            response = decode_single_response(frame, offset, form.version)
            if response is not None:
                return response
        return response_class(form.api_key).decode(frame, form.version, offset)

    def _form(self, api_key: int, version: int) -> RequestForm:
        form = self._forms.get((api_key, version))
        if form is not None:
            return form
        end = request_header_end(api_key, version, self._client_id)
        form = RequestForm(api_key, version, end, response_header_version(api_key, version))
        self._forms[api_key, version] = form
        return form
