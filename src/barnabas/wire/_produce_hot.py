"""Produce requests and responses of one partition: a short path beside the generated code.

A synchronous producer and a producer at a low rate send one batch to one partition per request.
For these, decoding and encoding by the generated functions was a fifth of the instructions that the
broker executes per request. The functions return None for any other request or response, also for
an invalid one; the caller then uses the generated code, which decides about errors.

Versions 9 to 13 have this layout: flexible, with topics by name and, from version 13, by id.
`single_fields` and `encode_appended` are for a broker that serves such a request without message
objects: they use the frame and plain values. `SingleBatchForm` is for a producer: it makes the
frame of a request around a batch, and reads the response.
Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from struct import Struct

from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.wire.primitives import new, uvarint

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import put_i32, put_i64
    from cython.cimports.barnabas.wire._request_start_hot import body_start
    from cython.cimports.cpython.bytearray import PyByteArray_AS_STRING
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.libc.string import memcpy, memset
else:
    from barnabas.wire._request_start_hot import body_start

COMPILED: bool = cython.compiled

FIRST_VERSION = 9
LAST_VERSION = 13
_IDS_FROM = cython.declare(cython.int, 13)
_ID_BYTES = cython.declare(cython.Py_ssize_t, 16)

# Null transactional id, acks, timeout, one topic.
_START = Struct(">BhiB").unpack_from
_START_BYTES = cython.declare(cython.Py_ssize_t, 8)
# One partition, its index, and the first byte of the batch's length.
_PARTITION = Struct(">BiB").unpack_from
_PARTITION_BYTES = cython.declare(cython.Py_ssize_t, 6)
_ONE = cython.declare(cython.int, 2)  # a compact array of one element
_LONG = cython.declare(cython.int, 0x80)
_TAG_SECTIONS = cython.declare(cython.Py_ssize_t, 3)  # of partition, topic and request
_NO_TAGS = b"\0\0\0"

# Correlation id, no tags, one topic.
_pack_head = Struct(">iiBB").pack
# One partition: index, error code, offsets; no record errors, no message, no tags; no tags of the
# topic; throttle time; no tags of the response.
_TAIL = Struct(">BihqqqBBBBiB")
_pack_tail = _TAIL.pack
_unpack_tail = _TAIL.unpack_from
_SIZE_BYTES = cython.declare(cython.Py_ssize_t, 4)
_HEAD_BYTES = cython.declare(cython.Py_ssize_t, 6)
_TAIL_BYTES = cython.declare(cython.Py_ssize_t, 40)


@cython.cfunc
@cython.exceptval(-1, check=False)
def _end_of_topic(
    view: memoryview, pos: cython.Py_ssize_t, size: cython.Py_ssize_t, version: cython.int
) -> cython.Py_ssize_t:
    """Returns the end of the topic's id or name at `pos`; 0 if it is longer than the view."""
    end: cython.Py_ssize_t = pos + _ID_BYTES
    if version < _IDS_FROM:
        if pos >= size:
            return 0
        length: cython.int = view[pos]
        if not 1 < length < _LONG:
            return 0
        end = pos + length
    return end if end <= size else 0


@cython.cfunc
def _set_topic(
    topic: object,
    view: memoryview,
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    version: cython.int,
) -> None:
    """Sets the id or the name; raises UnicodeDecodeError."""
    if version < _IDS_FROM:
        topic.name = str(view[pos + 1 : end], "utf-8")  # type: ignore[attr-defined]
        topic.topic_id = ZERO_UUID  # type: ignore[attr-defined]
    else:
        topic.name = ""  # type: ignore[attr-defined]
        topic.topic_id = Uuid(view[pos:end])  # type: ignore[attr-defined]


def decode_single(
    view: memoryview, start: cython.Py_ssize_t, version: cython.int
) -> ProduceRequest | None:
    """Returns the request whose body is at `start`, if it has one batch and no transaction."""
    size: cython.Py_ssize_t = len(view)
    least: cython.Py_ssize_t = start + _START_BYTES + _PARTITION_BYTES + _TAG_SECTIONS
    if not FIRST_VERSION <= version <= LAST_VERSION or size < least:
        return None
    null_id, acks, timeout_ms, topics = _START(view, start)
    pos: cython.Py_ssize_t = start + _START_BYTES
    if null_id or topics != _ONE:
        return None
    end: cython.Py_ssize_t = _end_of_topic(view, pos, size, version)
    if end == 0 or end + _PARTITION_BYTES + _TAG_SECTIONS > size:
        return None
    partitions, index, first = _PARTITION(view, end)
    if partitions != _ONE or first == 0:
        return None
    begin: cython.Py_ssize_t = end + _PARTITION_BYTES
    length: cython.Py_ssize_t = first
    if length >= _LONG:
        length &= 0x7F
        shift: cython.int = 7
        more: cython.int = _LONG
        while more >= _LONG:
            if shift == 35 or begin >= size:
                return None
            more = view[begin]
            length |= cython.cast(cython.Py_ssize_t, more & 0x7F) << shift
            shift += 7
            begin += 1
    stop: cython.Py_ssize_t = begin + length - 1
    if stop + _TAG_SECTIONS > size or view[stop : stop + _TAG_SECTIONS] != _NO_TAGS:
        return None
    topic = new(TopicProduceData)
    try:
        _set_topic(topic, view, pos, end, version)
    except UnicodeDecodeError:
        return None
    partition = new(PartitionProduceData)
    partition.index = index
    partition.records = view[begin:stop]
    topic.partition_data = [partition]
    request = new(ProduceRequest)
    request.transactional_id = None
    request.acks = acks
    request.timeout_ms = timeout_ms
    request.topic_data = [topic]
    return request


_API_KEY = cython.declare(cython.int, 0)
_VERSION_AT = cython.declare(cython.Py_ssize_t, 2)
_CLIENT_ID_AT = cython.declare(cython.Py_ssize_t, 8)
_CORRELATION_AT = cython.declare(cython.Py_ssize_t, 4)


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _u16(data: bytearray, at: cython.Py_ssize_t) -> cython.longlong:
    return (data[at] << 8) | data[at + 1]


def single_fields(frame: memoryview) -> tuple | None:
    """Returns the fields of a request of one batch without a transaction, otherwise None.

    The fields are version, correlation id, acks, the topic as it is encoded, the partition, and
    begin and end of the batch in the frame.
    """
    data = frame.obj
    size: cython.Py_ssize_t = len(frame)
    if type(data) is not bytearray or len(data) != size or size < _CLIENT_ID_AT + 2:
        return None
    return _fields(data, size, frame)


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=False)
def _i32(data: bytearray, at: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = (_u16(data, at) << 16) | _u16(data, at + 2)
    return value - 0x100000000 if value >= 0x80000000 else value


@cython.cfunc
def _fields(data: bytearray, size: cython.Py_ssize_t, frame: memoryview) -> object:
    version: cython.int = _u16(data, _VERSION_AT)
    if _u16(data, 0) != _API_KEY or not FIRST_VERSION <= version <= LAST_VERSION:
        return None
    start: cython.Py_ssize_t = body_start(data, size)
    if start == 0 or start + _START_BYTES + _PARTITION_BYTES + _TAG_SECTIONS > size:
        return None
    pos: cython.Py_ssize_t = start + _START_BYTES
    if data[start] != 0 or data[pos - 1] != _ONE:
        return None
    end: cython.Py_ssize_t = _end_of_topic(frame, pos, size, version)
    if end == 0 or end + _PARTITION_BYTES + _TAG_SECTIONS > size or data[end] != _ONE:
        return None
    begin: cython.Py_ssize_t = end + _PARTITION_BYTES - 1
    length: cython.Py_ssize_t = 0
    shift: cython.int = 0
    more: cython.int = _LONG
    while more >= _LONG:
        if shift == 35 or begin >= size:
            return None
        more = data[begin]
        length |= cython.cast(cython.Py_ssize_t, more & 0x7F) << shift
        shift += 7
        begin += 1
    stop: cython.Py_ssize_t = begin + length - 1
    if length == 0 or stop + _TAG_SECTIONS > size:
        return None
    if data[stop] or data[stop + 1] or data[stop + 2]:
        return None
    correlation_id: cython.longlong = _i32(data, _CORRELATION_AT)
    acks: cython.int = _u16(data, start + 1)
    if acks >= 0x8000:
        acks -= 0x10000
    index: cython.longlong = _i32(data, end + 1)
    return version, correlation_id, acks, _copied(data, pos, end), index, begin, stop


@cython.cfunc
def _copied(data: bytearray, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
    if cython.compiled:
        return PyBytes_FromStringAndSize(cython.cast(cython.p_char, data) + start, end - start)
    return bytes(data[start:end])


def encode_appended(
    correlation_id: cython.int,
    topic: bytes,
    index: cython.int,
    base_offset: cython.longlong,
    log_start_offset: cython.longlong,
) -> bytes:
    """Returns the frame of the response to an append; `topic` is encoded as in the request."""
    size: cython.Py_ssize_t = _HEAD_BYTES + len(topic) + _TAIL_BYTES
    if cython.compiled:
        at: cython.Py_ssize_t = _SIZE_BYTES + _HEAD_BYTES + len(topic)
        frame: bytes = PyBytes_FromStringAndSize(cython.NULL, _SIZE_BYTES + size)
        out: cython.p_uchar = cython.cast(cython.p_uchar, frame)
        put_i32(out, 0, size)
        put_i32(out, 4, correlation_id)
        out[8] = 0
        out[9] = _ONE
        memcpy(out + 10, cython.cast(cython.p_uchar, topic), len(topic))
        out[at] = _ONE
        put_i32(out, at + 1, index)
        out[at + 5] = out[at + 6] = 0
        put_i64(out, at + 7, base_offset)
        put_i64(out, at + 15, -1)
        put_i64(out, at + 23, log_start_offset)
        out[at + 31] = 1
        memset(out + at + 32, 0, 8)
        return frame
    head: bytes = _pack_head(size, correlation_id, 0, _ONE)
    tail: bytes = _pack_tail(_ONE, index, 0, base_offset, -1, log_start_offset, 1, 0, 0, 0, 0, 0)
    return head + topic + tail


def encode_single(
    correlation_id: int, response: ProduceResponse, version: cython.int
) -> list[bytes] | None:
    """Returns the frame of a response for one partition without an error."""
    if not FIRST_VERSION <= version <= LAST_VERSION or len(response.responses) != 1:
        return None
    topic: TopicProduceResponse = response.responses[0]
    if len(topic.partition_responses) != 1 or response.node_endpoints != []:
        return None
    partition: PartitionProduceResponse = topic.partition_responses[0]
    # A field that is wrongly None differs from 0 and []: the general encoder reports it.
    if (
        partition.error_code != 0
        or partition.record_errors != []
        or partition.error_message is not None
    ):
        return None
    if partition.current_leader is not None:
        return None
    if version < _IDS_FROM:
        name = topic.name.encode()
        if len(name) + 1 >= _LONG:
            return None
        topic_bytes = bytes((len(name) + 1,)) + name
    elif len(topic.topic_id) == _ID_BYTES:
        topic_bytes = bytes(topic.topic_id)
    else:
        return None
    size: cython.Py_ssize_t = _HEAD_BYTES + len(topic_bytes) + _TAIL_BYTES
    head = _pack_head(size, correlation_id, 0, _ONE)
    tail = _pack_tail(
        _ONE,
        partition.index,
        0,
        partition.base_offset,
        partition.log_append_time_ms,
        partition.log_start_offset,
        1,
        0,
        0,
        0,
        response.throttle_time_ms,
        0,
    )
    return [head + topic_bytes + tail]


def decode_single_response(
    view: memoryview, start: cython.Py_ssize_t, version: cython.int
) -> ProduceResponse | None:
    """Returns the response whose body is at `start`, if it is for one partition without error."""
    size: cython.Py_ssize_t = len(view)
    if not FIRST_VERSION <= version <= LAST_VERSION or size <= start or view[start] != _ONE:
        return None
    pos: cython.Py_ssize_t = start + 1
    end: cython.Py_ssize_t = _end_of_topic(view, pos, size, version)
    if end == 0 or end + _TAIL_BYTES > size:
        return None
    partitions, index, code, base, appended, first, *rest = _unpack_tail(view, end)
    no_errors, no_message, partition_tags, topic_tags, throttle_ms, tags = rest
    if partitions != _ONE or code or no_errors != 1 or no_message:
        return None
    if partition_tags or topic_tags or tags:
        return None
    topic = new(TopicProduceResponse)
    try:
        _set_topic(topic, view, pos, end, version)
    except UnicodeDecodeError:
        return None
    partition = new(PartitionProduceResponse)
    partition.index = index
    partition.error_code = 0
    partition.base_offset = base
    partition.log_append_time_ms = appended
    partition.log_start_offset = first
    partition.record_errors = []
    partition.error_message = None
    partition.current_leader = None
    topic.partition_responses = [partition]
    response = new(ProduceResponse)
    response.responses = [topic]
    response.throttle_time_ms = throttle_ms
    response.node_endpoints = []
    return response


_FRAME_START = Struct(">ihhi")
_pack_frame_start = _FRAME_START.pack
_FRAME_START_BYTES = cython.declare(cython.Py_ssize_t, 12)
_PRODUCE = cython.declare(cython.int, 0)
_TOPIC_AT = cython.declare(cython.Py_ssize_t, 8)  # in the body of a request without a transaction
_INDEX_BYTES = cython.declare(cython.Py_ssize_t, 5)  # one partition, its index
_unpack_response_head = Struct(">iB").unpack_from
# The fields of `_TAIL` after the error code.
_unpack_appended = Struct(">qqqBBBBiB").unpack_from
_CORRELATION_BYTES = cython.declare(cython.Py_ssize_t, 4)


@cython.final
@cython.cclass
class AppendedBatch:
    """The response to a request of one batch that the broker has appended."""

    def __init__(
        self,
        base_offset: cython.longlong,
        log_append_time_ms: cython.longlong,
        throttle_time_ms: cython.int,
    ) -> None:
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.throttle_time_ms = throttle_time_ms


@cython.final
@cython.cclass
class SingleBatchForm:
    """Makes the frames of requests with one batch for one partition, and reads the responses.

    All such requests of a partition on one connection differ only in correlation id and batch.
    `header_end` is the request header after the correlation id; `head` and `tail` are the body
    before the length of the batch and after the batch. For versions 9 to 13, no transaction.
    """

    def __init__(self, version: int, header_end: bytes, head: bytes, tail: bytes) -> None:
        self.version = version
        self._start = header_end + head
        self._tail = tail
        # One topic, its name or id, one partition, its index, no error: as in the request.
        self._response = bytes(head[_TOPIC_AT - 1 :]) + b"\0\0"

    def frame(self, correlation_id: cython.int, batch: bytearray) -> bytes:
        """Returns the frame of the request with this batch."""
        start: cython.Py_ssize_t = len(self._start)
        size: cython.Py_ssize_t = len(batch)
        rest: cython.Py_ssize_t = size + 1
        prefix: cython.Py_ssize_t = 1
        while rest >= _LONG:
            rest >>= 7
            prefix += 1
        tail: cython.Py_ssize_t = len(self._tail)
        total: cython.Py_ssize_t = _FRAME_START_BYTES - 4 + start + prefix + size + tail
        if not cython.compiled:
            head: bytes = _pack_frame_start(total, _PRODUCE, self.version, correlation_id)
            return b"".join((head, self._start, uvarint(size + 1), batch, self._tail))
        frame: bytes = PyBytes_FromStringAndSize(cython.NULL, 4 + total)
        out: cython.p_uchar = cython.cast(cython.p_uchar, frame)
        put_i32(out, 0, total)
        put_i32(out, 4, self.version)  # after the api key, which is 0
        put_i32(out, 8, correlation_id)
        out += _FRAME_START_BYTES
        memcpy(out, cython.cast(cython.p_uchar, self._start), start)
        out += start
        rest = size + 1
        while rest >= _LONG:
            out[0] = rest & 0x7F | _LONG
            rest >>= 7
            out += 1
        out[0] = rest
        out += 1
        memcpy(out, PyByteArray_AS_STRING(batch), size)
        memcpy(out + size, cython.cast(cython.p_uchar, self._tail), tail)
        return frame

    def read(self, frame: memoryview, correlation_id: cython.int) -> AppendedBatch | None:
        """Returns the response for the partition, None if it has an error or is another one."""
        same: cython.Py_ssize_t = len(self._response)
        at: cython.Py_ssize_t = _CORRELATION_BYTES + 1
        rest: cython.Py_ssize_t = _TAIL_BYTES - _INDEX_BYTES - 2
        if len(frame) != at + same + rest:
            return None
        found_id, tags = _unpack_response_head(frame)
        if found_id != correlation_id or tags or frame[at : at + same] != self._response:
            return None
        base, appended, _, errors, message, partition_tags, topic_tags, throttle_ms, end = (
            _unpack_appended(frame, at + same)
        )
        if errors != 1 or message or partition_tags or topic_tags or end:
            return None
        return AppendedBatch(base, appended, throttle_ms)
