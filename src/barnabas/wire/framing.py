"""Cuts a byte stream into frames, without input or output.

A frame is an int32 size, big-endian, not counting itself, and that many bytes. The size is
checked before anything is allocated for it. A stream that begins like TLS or HTTP gets a reason
a person can act on, because such a first four bytes are otherwise just an absurd size.
"""

from collections.abc import Iterator

from barnabas.model.errors import ProtocolError

SIZE_BYTES = 4
DEFAULT_MAX_SIZE = 104_857_600
_HTTP_STARTS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"HTTP")
_TLS_HANDSHAKE = b"\x16\x03"
_TLS_ALERT = b"\x15\x03"


def frame_size(prefix: bytes | bytearray | memoryview, max_size: int = DEFAULT_MAX_SIZE) -> int:
    """Size from the first four bytes of a frame; ProtocolError when it cannot be one."""
    size = int.from_bytes(prefix[:SIZE_BYTES], "big", signed=True)
    if 0 <= size <= max_size:
        return size
    raise ProtocolError(_why_not(bytes(prefix[:SIZE_BYTES]), size, max_size))


def _why_not(start: bytes, size: int, max_size: int) -> str:
    if start[:2] == _TLS_HANDSHAKE:
        return "the peer speaks TLS, and this listener does not"
    if start[:2] == _TLS_ALERT:
        return "the peer sent a TLS alert: it expects TLS, and this listener has none"
    if start in _HTTP_STARTS:
        return "the peer speaks HTTP; this port speaks Kafka's protocol"
    if size < 0:
        return f"frame size {size} is negative"
    return f"frame of {size} bytes, the most allowed is {max_size}"


class FrameDecoder:
    """Collects bytes as they come and yields whole frames, each in a bytearray of its own.

    After an error the stream cannot be trusted: every later call raises it again.
    Holds at most one incomplete frame, which never grows beyond `max_size`.
    """

    __slots__ = ("_error", "_filled", "_frame", "_max_size", "_prefix")

    def __init__(self, max_size: int = DEFAULT_MAX_SIZE) -> None:
        self._max_size = max_size
        self._prefix = bytearray()
        self._frame: bytearray | None = None
        self._filled = 0
        self._error: ProtocolError | None = None

    @property
    def missing(self) -> int:
        """How many bytes the current frame, or its size, still lacks."""
        if self._frame is None:
            return SIZE_BYTES - len(self._prefix)
        return len(self._frame) - self._filled

    @property
    def is_idle(self) -> bool:
        """Whether the stream may end here without cutting a frame."""
        return self._frame is None and not self._prefix

    def feed(self, data: bytes | bytearray | memoryview) -> Iterator[memoryview]:
        """Take bytes; the frames that they complete, as writable views.

        Iterate to the end before feeding more: frames before a bad size still come out, then
        the error does.
        """
        if self._error is not None:
            raise self._error
        view = memoryview(data)
        while True:
            if self._frame is None:
                view = self._take_prefix(view)
            if self._frame is None:
                return
            view = self._take_content(view)
            if self._filled < len(self._frame):
                return
            frame, self._frame = self._frame, None
            yield memoryview(frame)

    def _take_prefix(self, view: memoryview) -> memoryview:
        needed = SIZE_BYTES - len(self._prefix)
        self._prefix += view[:needed]
        if len(self._prefix) == SIZE_BYTES:
            try:
                size = frame_size(self._prefix, self._max_size)
            except ProtocolError as error:
                self._error = error
                raise
            self._prefix.clear()
            self._frame = bytearray(size)
            self._filled = 0
        return view[needed:]

    def _take_content(self, view: memoryview) -> memoryview:
        assert self._frame is not None
        taken = min(len(view), len(self._frame) - self._filled)
        self._frame[self._filled : self._filled + taken] = view[:taken]
        self._filled += taken
        return view[taken:]
