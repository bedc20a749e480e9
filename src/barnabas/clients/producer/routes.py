"""The way of one partition's lone batches to its leader: frames made and answers read by pattern.

One request with one batch differs from the next in that batch alone, and the answers that store
them in the offset alone. The patterns are made by the generated codec, so nothing here knows how
a version lays out its fields; an answer that does not fit is decoded like any other.
"""

import struct

from barnabas.clients.producer.requests import Form, LoneProduceRequest, records_length
from barnabas.net.client import ClientConnection
from barnabas.wire.messages.produce import ProduceResponse

_SIZE = struct.Struct(">i")
_OFFSET = struct.Struct(">q")
_SENTINEL = 0x5EA1_0FF5_E7AB_CDEF
_SENTINEL_BYTES = _OFFSET.pack(_SENTINEL)


class Route:
    """Holds as long as its connection and the metadata it was found with."""

    __slots__ = (
        "_after",
        "_before",
        "_generation",
        "_length",
        "_prefix",
        "_size",
        "_tail",
        "connection",
        "node_id",
        "version",
    )

    def __init__(
        self, node_id: int, connection: ClientConnection, form: Form, generation: int
    ) -> None:
        self.node_id = node_id
        self.connection = connection
        self.version = form.version
        self._generation = generation
        empty = connection.frame_of(LoneProduceRequest(form, bytearray()), form.version)
        self._prefix = empty[: -len(records_length(0, form.version)) - len(form.tail)]
        self._tail = form.tail
        self._size = -1  # of the last batch, and how that is written
        self._length = b""
        self._before: bytes | None = None  # an answer up to the offset, once one is known
        self._after = b""

    def holds(self, generation: int) -> bool:
        return generation == self._generation and not self.connection.closed

    def frame(self, payload: bytearray | None) -> bytearray:
        """The request that carries a batch, yet to be numbered."""
        assert payload is not None
        size = len(payload)
        if size != self._size:
            self._size, self._length = size, records_length(size, self.version)
        frame = self._prefix + self._length
        frame += payload
        frame += self._tail
        _SIZE.pack_into(frame, 0, len(frame) - _SIZE.size)
        return frame

    def read(self, frame: memoryview, position: int) -> int | None:
        """The offset in an answer that says: stored, and nothing more."""
        before = self._before
        if before is None:
            return None
        middle = position + len(before)
        if frame[position:middle] != before or frame[middle + _OFFSET.size :] != self._after:
            return None
        offset: int = _OFFSET.unpack_from(frame, middle)[0]
        return offset

    def learn(self, response: ProduceResponse) -> None:
        """Take a decoded answer as the pattern of those to come, if it is a plain one."""
        answers = [item for topic in response.responses for item in topic.partition_responses]
        if len(answers) != 1:
            return
        answer = answers[0]
        if answer.error_code or answer.log_append_time_ms != -1 or response.throttle_time_ms:
            return
        offset, answer.base_offset = answer.base_offset, _SENTINEL
        whole = b"".join(bytes(part) for part in response.encode(self.version))  # type: ignore[arg-type]
        answer.base_offset = offset
        self._before, _, self._after = whole.partition(_SENTINEL_BYTES)
