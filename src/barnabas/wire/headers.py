"""Request and response headers, and frames of header and body.

Request header: int16 api key, int16 version, int32 correlation id; from v1 the client id as a
nullable string with an int16 length (never compact); v2, used by flexible versions, ends with a
tag section. Only ControlledShutdown v0 has no client id.

Response header: int32 correlation id; v1, for flexible versions, ends with a tag section. An
ApiVersions response always has v0, because its reader does not know the peer's versions yet.

A frame is an int32 size, which does not include its own 4 bytes, then header and body.
"""

from struct import Struct, error

from barnabas.model.errors import LocalError, ProtocolError
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.index import FLEXIBLE_FROM
from barnabas.wire.primitives import Part, overrun, skip_tags

_REQUEST = Struct(">hhi")
_FRAME = Struct(">ihhi")
_CLIENT_ID = Struct(">hhih")
_LENGTH = Struct(">h")
_CORRELATION = Struct(">i")
_SIZE = Struct(">i")
_REQUEST_BYTES = _REQUEST.size
_CLIENT_ID_START = _CLIENT_ID.size
_NEVER = 1 << 15
_NO_TAGS = 0
# Plain numbers, because an enum member lookup costs more than the rest of a header.
_CONTROLLED_SHUTDOWN = int(ApiKey.CONTROLLED_SHUTDOWN)
_API_VERSIONS = int(ApiKey.API_VERSIONS)
_WITHOUT_CLIENT_ID = Struct(">hh").pack(_CONTROLLED_SHUTDOWN, 0)


class RequestHeader:
    """Header of a request. `client_id` is None when the client has no name."""

    __slots__ = ("api_key", "api_version", "client_id", "correlation_id")

    def __init__(
        self, api_key: int, api_version: int, correlation_id: int, client_id: str | None = None
    ) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.client_id = client_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RequestHeader):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        return (
            f"RequestHeader(api_key={self.api_key}, api_version={self.api_version}, "
            f"correlation_id={self.correlation_id}, client_id={self.client_id!r})"
        )


def request_header_version(api_key: int, version: int) -> int:
    """Returns the version of the request header: 0, 1 or 2."""
    if version >= FLEXIBLE_FROM.get(api_key, _NEVER):
        return 2
    return 0 if api_key == _CONTROLLED_SHUTDOWN and version == 0 else 1


def response_header_version(api_key: int, version: int) -> int:
    """Returns the version of the response header: 0 or 1."""
    flexible = version >= FLEXIBLE_FROM.get(api_key, _NEVER)
    return 1 if flexible and api_key != _API_VERSIONS else 0


def decode_request_header(view: memoryview) -> tuple[RequestHeader, int]:
    """Returns the header and the position of the body in a frame without its size.

    The header of an unknown API or version is read as v1, which is sufficient for a response with
    UNSUPPORTED_VERSION.
    """
    try:
        if len(view) < _CLIENT_ID_START or view[:4] == _WITHOUT_CLIENT_ID:
            return _decode_short_header(view)
        api_key, api_version, correlation_id, length = _CLIENT_ID.unpack_from(view)
        client_id, pos = None, _CLIENT_ID_START
        if length >= 0:
            stop = pos + length
            if stop > len(view):
                raise overrun(pos, length)
            client_id, pos = str(view[pos:stop], "utf-8"), stop
        if api_version >= FLEXIBLE_FROM.get(api_key, _NEVER):
            pos = pos + 1 if view[pos] == _NO_TAGS else skip_tags(view, pos, len(view))
    except (error, IndexError, UnicodeDecodeError) as problem:
        raise ProtocolError(f"request header: {problem}") from problem
    return RequestHeader(api_key, api_version, correlation_id, client_id), pos


def _decode_short_header(view: memoryview) -> tuple[RequestHeader, int]:
    """Reads the header of ControlledShutdown v0; any other frame is too short."""
    api_key, api_version, correlation_id = _REQUEST.unpack_from(view)
    if (api_key, api_version) != (_CONTROLLED_SHUTDOWN, 0):
        _LENGTH.unpack_from(view, _REQUEST_BYTES)  # raises: the client id is missing
    return RequestHeader(api_key, api_version, correlation_id), _REQUEST_BYTES


def decode_response_header(view: memoryview, api_key: int, version: int) -> tuple[int, int]:
    """Returns the correlation id and the position of the body in a frame without its size."""
    return read_response_header(view, response_header_version(api_key, version))


def read_response_header(view: memoryview, header_version: int) -> tuple[int, int]:
    """Does the same as `decode_response_header` for a known version of the header."""
    try:
        (correlation_id,) = _CORRELATION.unpack_from(view)
        pos = _CORRELATION.size
        if header_version:
            pos = pos + 1 if view[pos] == _NO_TAGS else skip_tags(view, pos, len(view))
    except (error, IndexError) as problem:
        raise ProtocolError(f"response header: {problem}") from problem
    return correlation_id, pos


def encode_request(header: RequestHeader, message: Message) -> list[Part]:
    """Returns the frame of a request, encoded in the version of the header."""
    parts = message.encode(header.api_version)
    end = request_header_end(header.api_key, header.api_version, header.client_id)
    return frame_request(header.api_key, header.api_version, header.correlation_id, end, parts)


def request_header_end(api_key: int, version: int, client_id: str | None) -> bytes:
    """Returns the part of a request header that follows the correlation id.

    Raises LocalError if the client id cannot be encoded.
    """
    header_version = request_header_version(api_key, version)
    if header_version == 0:
        return b""
    tags = b"\0" if header_version == 2 else b""
    if client_id is None:
        return _LENGTH.pack(-1) + tags
    try:
        name = client_id.encode()
        return _LENGTH.pack(len(name)) + name + tags
    except (error, AttributeError, UnicodeEncodeError) as problem:
        raise LocalError(f"the client id {client_id!r} cannot be encoded: {problem}") from problem


def frame_request(
    api_key: int, version: int, correlation_id: int, header_end: bytes, body: list[Part]
) -> list[Part]:
    """Returns the frame of a request with this header and body.

    Raises LocalError if a number does not fit into its field.
    """
    size = _REQUEST_BYTES + len(header_end) + sum(map(len, body))
    try:
        head = _FRAME.pack(size, api_key, version, correlation_id) + header_end
    except error as problem:
        header = RequestHeader(api_key, version, correlation_id)
        raise LocalError(f"{header!r} cannot be encoded: {problem}") from problem
    return _joined(head, body)


def encode_response(
    correlation_id: int, message: Message, api_key: int, version: int
) -> list[Part]:
    """Returns the frame of a response."""
    head = _CORRELATION.pack(correlation_id)
    if response_header_version(api_key, version):
        head += b"\0"
    parts = message.encode(version)
    return _joined(_SIZE.pack(len(head) + sum(map(len, parts))) + head, parts)


def _joined(head: bytes, parts: list[Part]) -> list[Part]:
    """Returns the parts with `head` before them."""
    first = parts[0] if parts else b""
    return [head + first, *parts[1:]] if isinstance(first, bytearray) else [head, *parts]
