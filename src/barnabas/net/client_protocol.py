"""The client's side of one connection, without IO: encodes requests and decodes responses.

A broker responds to the requests of a connection in their order, so the only state is a queue of
pending requests. A driver fills `FrameReceiver` with received bytes: small responses share one
scratch buffer, a large one is received directly into separate memory.
"""

from collections import deque
from struct import Struct
from typing import Any, NamedTuple

from barnabas.model.errors import ProtocolError
from barnabas.net.response_memory import ResponseMemory
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request
from barnabas.wire.message import Message
from barnabas.wire.primitives import Part
from barnabas.wire.registry import response_class

SCRATCH_BYTES = 64 * 1024
DEFAULT_MAX_RESPONSE_BYTES = 1024**3
MAX_CORRELATION_ID = 2**31 - 1
_INT32 = Struct(">i")


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
            raise ProtocolError(f"a response of {size} bytes: the peer does not speak Kafka")
        return size

    def _begin_large(self, start: int, size: int) -> None:
        have = self._scratch_end - start
        self._frame = self._memory.take(size)
        self._frame[:have] = self._scratch[start : self._scratch_end]
        self._frame_filled = have
        self._scratch_end = 0


class Awaited(NamedTuple):
    """A sent request without a response yet."""

    correlation_id: int
    api_key: int
    version: int


class ClientProtocol:
    """Matches responses to requests of one connection; owned by the connection's driver."""

    __slots__ = ("_awaited", "_client_id", "_next_correlation_id")

    def __init__(self, client_id: str | None) -> None:
        self._client_id = client_id
        self._next_correlation_id = 0
        self._awaited: deque[Awaited] = deque()

    @property
    def in_flight(self) -> int:
        return len(self._awaited)

    def send(self, request: Message, version: int, *, answered: bool = True) -> list[Part]:
        """Returns the bytes of a request; `answered=False` for a request without a response."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & MAX_CORRELATION_ID
        header = RequestHeader(request.API_KEY, version, correlation_id, self._client_id)
        parts = encode_request(header, request)
        if answered:
            self._awaited.append(Awaited(correlation_id, request.API_KEY, version))
        return parts

    def receive(self, frame: memoryview) -> Any:
        """Returns the decoded response of a frame, which must belong to the oldest request."""
        if not self._awaited:
            raise ProtocolError("received a response without a pending request")
        awaited = self._awaited.popleft()
        correlation_id, offset = decode_response_header(frame, awaited.api_key, awaited.version)
        if correlation_id != awaited.correlation_id:
            raise ProtocolError(
                f"a response to request {correlation_id} where {awaited.correlation_id} was due"
            )
        return response_class(awaited.api_key).decode(frame, awaited.version, offset)
