"""The client's side of one connection, without IO: encodes requests and decodes responses.

A broker responds to the requests of a connection in their order, so the only state is a queue of
pending requests. A driver fills `FrameReceiver` with received bytes: small responses share one
scratch buffer, a large one is received directly into separate memory. The version of each request
is the highest that client and broker support.
"""

import mmap
import sys
from collections import deque
from struct import Struct
from typing import Any, NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ProtocolError
from barnabas.model.version import VERSION
from barnabas.net.connection_options import Address
from barnabas.runtime.freed_memory import keep_freed_memory
from barnabas.wire._produce_hot import decode_single_response
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
ROOMS = 3
"""Number of rooms that are kept: for a response that is read, one that waits, and the next."""
RECORDS_FACTOR = 4
"""Records of several responses exist at the same time, as copies: malloc keeps their memory."""
SMALL_RESPONSES = 64
"""Number of consecutive small responses after which the rooms are freed."""
_SMALLEST_STEP = 16  # bits: 64 KiB
_STEPS_PER_DOUBLING = 3  # bits: a room is up to an eighth larger than the requested size
_CAN_RESIZE = sys.platform == "linux"
SCRATCH_BYTES = 64 * 1024
DEFAULT_MAX_RESPONSE_BYTES = 1024**3
MAX_CORRELATION_ID = 2**31 - 1
_INT32 = Struct(">i")
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


# --- Memory of responses --------------------------------------------------------------------------


class ResponseMemory:
    """The rooms of one connection; owned by its driver. Any thread may release views.

    The system must clear new memory page by page, which takes longer than receiving into it. Also,
    an allocator keeps a varying number of freed 16 MB buffers, so the resident size of a consumer
    would vary. Therefore a connection keeps three buffers ("rooms") of the largest sizes needed:
    for the response that is read, one that waits, and the next. If no room is free, a response gets
    separate memory, which is freed after use. After a number of small responses the rooms are
    freed.
    """

    __slots__ = ("_largest", "_rooms", "_small")

    def __init__(self) -> None:
        self._rooms: list[mmap.mmap] = []
        self._largest = 0
        self._small = 0  # responses since the last large one

    def take(self, size: int) -> memoryview:
        """Returns memory of `size` bytes with undefined contents and no other views."""
        self._small = 0
        if size > self._largest:
            self._largest = size
            keep_freed_memory(RECORDS_FACTOR * size)
        if not _CAN_RESIZE:
            return memoryview(bytearray(size))
        # The smallest room that is large enough, otherwise the largest, which grows least.
        self._rooms.sort(key=lambda room: (len(room) < size, abs(len(room) - size)))
        for room in self._rooms:
            if _make_fit(room, size):
                return memoryview(room)[:size]
        room = mmap.mmap(-1, _rounded(size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if len(self._rooms) < ROOMS:
            self._rooms.append(room)
        return memoryview(room)[:size]

    def small_response(self) -> None:
        """Counts a response that needed no room."""
        if self._rooms:
            self._small += 1
            if self._small >= SMALL_RESPONSES:
                self._rooms.clear()  # memory with views is freed with the last view


def _make_fit(room: mmap.mmap, size: int) -> bool:
    """Enlarges a room if necessary; returns False if it has views and cannot be resized."""
    try:
        room.resize(max(len(room), _rounded(size)))
    except BufferError:
        return False
    return True


def _rounded(size: int) -> int:
    """Rounds up, so that a slightly larger response fits into the same room."""
    step = 1 << max(size.bit_length() - 1 - _STEPS_PER_DOUBLING, _SMALLEST_STEP)
    return -(-size // step) * step


# --- Requests and responses -----------------------------------------------------------------------


class FrameReceiver:
    """Cuts a byte stream into frames: get `buffer()`, fill a part of it, call `filled(n)`.

    A returned frame owns its memory: bytes received later do not overwrite it while a view of it
    exists.
    """

    __slots__ = ("_frame", "_frame_filled", "_max_bytes", "_memory", "_scratch", "_scratch_end")

    def __init__(self, max_bytes: int = DEFAULT_MAX_RESPONSE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._scratch = bytearray(SCRATCH_BYTES)
        self._scratch_end = 0
        self._frame: memoryview | None = None
        self._memory = ResponseMemory()
        self._frame_filled = 0

    @property
    def missing_bytes(self) -> int:
        """Bytes of a large frame that have not arrived; 0 if none was begun."""
        return 0 if self._frame is None else len(self._frame) - self._frame_filled

    @property
    def large(self) -> bool:
        """Whether `buffer()` is the rest of one frame, so that it can be filled completely."""
        return self._frame is not None

    def buffer(self) -> memoryview:
        """Returns the buffer for the next bytes of the stream; never empty."""
        if self._frame is not None:
            return self._frame[self._frame_filled :]
        return memoryview(self._scratch)[self._scratch_end :]

    def filled(self, count: int) -> list[memoryview]:
        """Accepts `count` bytes in the last `buffer()`; returns the frames that are complete."""
        if self._frame is not None:
            self._frame_filled += count
            if self._frame_filled < len(self._frame):
                return []
            frame, self._frame = self._frame, None
            return [frame]
        self._scratch_end += count
        return self._cut_scratch()

    def _cut_scratch(self) -> list[memoryview]:
        frames: list[memoryview] = []
        position, end = 0, self._scratch_end
        while end - position >= 4:
            size = self._checked_size(position)
            if end - position - 4 < size:
                self._begin_large(position + 4, size)
                return frames
            frames.append(memoryview(self._scratch[position + 4 : position + 4 + size]))
            self._memory.small_response()
            position += 4 + size
        if end > position:
            self._scratch[: end - position] = self._scratch[position:end]
        self._scratch_end = end - position
        return frames

    def _checked_size(self, position: int) -> int:
        size: int
        (size,) = _INT32.unpack_from(self._scratch, position)
        if not 4 <= size <= self._max_bytes:
            raise ProtocolError(
                f"a response of {size} bytes: the peer does not use Kafka's protocol"
            )
        return size

    def _begin_large(self, start: int, size: int) -> None:
        have = self._scratch_end - start
        self._frame = self._memory.take(size)
        self._frame[:have] = self._scratch[start : self._scratch_end]
        self._frame_filled = have
        self._scratch_end = 0


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
        self._awaited: deque[tuple[int, RequestForm]] = deque()  # correlation id and form

    @property
    def in_flight(self) -> int:
        return len(self._awaited)

    def send(self, request: Message, version: int, *, expects_response: bool = True) -> list[Part]:
        """Returns the bytes of a request; some requests have no response."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & MAX_CORRELATION_ID
        form = self._forms.get((request.API_KEY, version))
        if form is None:
            form = self._new_form(request.API_KEY, version)
        body = request.encode(version)
        parts = frame_request(form.api_key, version, correlation_id, form.header_end, body)
        if expects_response:
            self._awaited.append((correlation_id, form))
        return parts

    def receive(self, frame: memoryview) -> Any:
        """Returns the decoded response of a frame, which must belong to the oldest request."""
        if not self._awaited:
            raise ProtocolError("received a response without a pending request")
        expected_id, form = self._awaited.popleft()
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

    def _new_form(self, api_key: int, version: int) -> RequestForm:
        end = request_header_end(api_key, version, self._client_id)
        form = RequestForm(api_key, version, end, response_header_version(api_key, version))
        self._forms[api_key, version] = form
        return form
