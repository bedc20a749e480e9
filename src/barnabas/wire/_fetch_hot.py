"""Fetch requests and responses of at most one partition: a short path beside the generated code.

A consumer of one partition, and each fetch in a session in which one partition has moved, has such
requests. Decoding and encoding by the generated functions was a fifth of the bytecodes that the
broker executes per request. Both functions return None for any other request or response, also for
an invalid one; the caller then uses the generated code, which decides about errors.

Versions 12 to 18 have this layout if there are no tagged fields: flexible, topics by name (12) or
by id, without the replica id from 15 on. `single_fields` and `encode_read` are for a broker that
serves such a request without message objects: they use the frame and plain values. Compiled by
Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from struct import Struct, error
from typing import Any

from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire._request_start_hot import CLIENT_ID_AT
from barnabas.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.wire.primitives import Part, new

if cython.compiled:
    from cython.cimports.barnabas.model._big_endian import put_i32, put_i64
    from cython.cimports.barnabas.wire._request_start_hot import body_start
    from cython.cimports.cpython.bytes import PyBytes_FromStringAndSize
    from cython.cimports.libc.string import memcpy, memset
else:
    from barnabas.wire._request_start_hot import body_start

COMPILED: bool = cython.compiled

FIRST_VERSION = 12
_IDS_FROM = cython.declare(cython.int, 13)
_NO_REPLICA_ID_FROM = cython.declare(cython.int, 15)
_LAST_VERSION = cython.declare(cython.int, 18)

_NO_OFFSET = 2**63 - 1  # the default of a field that only v18 has
_REPLICA_ID_BYTES = cython.declare(cython.Py_ssize_t, 4)
# Maximum wait, least and most bytes, isolation level, session, its epoch, number of topics.
_START = Struct(">iiibiiB").unpack_from
_START_BYTES = cython.declare(cython.Py_ssize_t, 22)
# Number of partitions and the only one of them, the tags of partition and topic.
_PARTITION = Struct(">BiiqiqiBB").unpack_from
_PARTITION_BYTES = cython.declare(cython.Py_ssize_t, 35)
_UUID_BYTES = cython.declare(cython.Py_ssize_t, 16)
_EMPTY = cython.declare(cython.int, 1)  # a compact array without elements
_ONE = cython.declare(cython.int, 2)  # a compact array of one element
_LONG = cython.declare(cython.int, 0x80)
# No forgotten topics, no rack, no tags.
_END = b"\1\1\0"
_END_BYTES = cython.declare(cython.Py_ssize_t, 3)

# Size of the frame, correlation id, no tags; throttle time, error code, session, number of topics.
_pack_head = Struct(">iiBihiB").pack
_HEAD_BYTES = cython.declare(cython.Py_ssize_t, 16)
# Number of partitions; index, error code and offsets; aborted transactions; preferred replica.
_pack_partition = Struct(">BihqqqBi").pack
_NO_TAGS = b"\0\0\0"


def decode_single(
    view: memoryview, start: cython.Py_ssize_t, version: cython.int
) -> FetchRequest | None:
    """Returns the request whose body is at `start`, if it has no topic or one of one partition."""
    if not FIRST_VERSION <= version <= _LAST_VERSION:
        return None
    pos: cython.Py_ssize_t = start
    size: cython.Py_ssize_t = len(view)
    replica_id = -1
    if version < _NO_REPLICA_ID_FROM:
        pos += _REPLICA_ID_BYTES
        if pos > size:
            return None
        replica_id = int.from_bytes(view[start:pos], "big", signed=True)
    if pos + _START_BYTES + _END_BYTES > size:
        return None
    wait_ms, min_bytes, max_bytes, isolation, session_id, epoch, count = _START(view, pos)
    pos += _START_BYTES
    topics: list[FetchTopic] = []
    if count == _ONE:
        topic = _topic(view, pos, version)
        if topic is None:
            return None
        topics.append(topic)
        pos += _PARTITION_BYTES
        pos += _UUID_BYTES if version >= _IDS_FROM else view[pos - _PARTITION_BYTES]
    elif count != _EMPTY:
        return None
    if view[pos : pos + _END_BYTES] != _END:
        return None
    request = new(FetchRequest)
    request.cluster_id = None
    request.replica_id = replica_id
    request.replica_state = None
    request.max_wait_ms = wait_ms
    request.min_bytes = min_bytes
    request.max_bytes = max_bytes
    request.isolation_level = isolation
    request.session_id = session_id
    request.session_epoch = epoch
    request.topics = topics
    request.forgotten_topics_data = []
    request.rack_id = ""
    return request


@cython.cfunc
def _topic(view: memoryview, pos: cython.Py_ssize_t, version: cython.int) -> Any:
    """Returns the topic at `pos`; None unless it has one partition and no tags."""
    end: cython.Py_ssize_t
    name, topic_id = "", ZERO_UUID
    end = pos + (_UUID_BYTES if version >= _IDS_FROM else view[pos])
    if end + _PARTITION_BYTES > len(view):
        return None
    if version >= _IDS_FROM:
        topic_id = Uuid(bytes(view[pos:end]))
    else:
        if not 1 < view[pos] < _LONG:
            return None
        try:
            name = str(view[pos + 1 : end], "utf-8")
        except UnicodeDecodeError:
            return None
    fields = _PARTITION(view, end)
    if fields[0] != _ONE or fields[7] != 0 or fields[8] != 0:
        return None
    partition = new(FetchPartition)
    partition.partition = fields[1]
    partition.current_leader_epoch = fields[2]
    partition.fetch_offset = fields[3]
    partition.last_fetched_epoch = fields[4]
    partition.log_start_offset = fields[5]
    partition.partition_max_bytes = fields[6]
    partition.replica_directory_id = ZERO_UUID
    partition.high_watermark = _NO_OFFSET
    topic = new(FetchTopic)
    topic.topic = name
    topic.topic_id = topic_id
    topic.partitions = [partition]
    return topic


_API_KEY = cython.declare(cython.int, 1)
_VERSION_AT = cython.declare(cython.Py_ssize_t, 2)
_CORRELATION_AT = cython.declare(cython.Py_ssize_t, 4)


@cython.final
@cython.cclass
class SingleFetch:
    """The fields of a request of a consumer for one partition; `topic` as it is encoded."""

    __slots__ = (
        "correlation_id",
        "current_leader_epoch",
        "fetch_offset",
        "isolation_level",
        "last_fetched_epoch",
        "max_bytes",
        "min_bytes",
        "partition",
        "partition_max_bytes",
        "session_epoch",
        "session_id",
        "topic",
        "version",
    )

    def __init__(self) -> None:
        self.version = self.correlation_id = 0
        self.min_bytes = self.max_bytes = self.partition_max_bytes = 0
        self.isolation_level = self.session_id = self.session_epoch = 0
        self.topic = b""
        self.partition = 0
        self.current_leader_epoch = self.last_fetched_epoch = -1
        self.fetch_offset = 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _i32(data: bytearray, at: cython.Py_ssize_t) -> cython.longlong:
    """Returns the number at a position; the caller has checked that its bytes exist."""
    value: cython.longlong = (data[at] << 8) | data[at + 1]
    value = (value << 16) | (data[at + 2] << 8) | data[at + 3]
    return value - 0x100000000 if value >= 0x80000000 else value


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _i64(data: bytearray, at: cython.Py_ssize_t) -> cython.longlong:
    return _i32(data, at) * 0x100000000 + (_i32(data, at + 4) & 0xFFFFFFFF)


def single_fields(frame: memoryview) -> SingleFetch | None:
    """Returns the fields of a consumer's request for one partition, otherwise None."""
    data = frame.obj
    size: cython.Py_ssize_t = len(frame)
    if type(data) is not bytearray or len(data) != size or size < CLIENT_ID_AT + 2:
        return None
    return _fields(data, size)


@cython.cfunc
def _fields(data: bytearray, size: cython.Py_ssize_t) -> Any:
    version: cython.int = (data[_VERSION_AT] << 8) | data[_VERSION_AT + 1]
    key: cython.int = (data[0] << 8) | data[1]
    if key != _API_KEY or not FIRST_VERSION <= version <= _LAST_VERSION:
        return None
    pos: cython.Py_ssize_t = body_start(data, size)
    if pos == 0:
        return None
    if version < _NO_REPLICA_ID_FROM:
        if pos + _REPLICA_ID_BYTES > size or _i32(data, pos) != -1:
            return None
        pos += _REPLICA_ID_BYTES
    topic: cython.Py_ssize_t = pos + _START_BYTES
    if topic >= size or data[topic - 1] != _ONE:
        return None
    end: cython.Py_ssize_t = topic + _UUID_BYTES
    if version < _IDS_FROM:
        if not 1 < data[topic] < _LONG:
            return None
        end = topic + data[topic]
    last: cython.Py_ssize_t = end + _PARTITION_BYTES
    if last + _END_BYTES > size or not _is_plain(data, end, last):
        return None
    request: SingleFetch = SingleFetch()
    request.version = version
    request.topic = _copied(data, topic, end)
    _read_numbers(request, data, pos, end)
    return request


@cython.cfunc
def _is_plain(data: bytearray, end: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.bint:
    """Whether there is one partition after the topic's `end`, and nothing uncommon."""
    if data[end] != _ONE or data[last - 2] != 0 or data[last - 1] != 0:
        return False
    # No forgotten topics, no rack, no tags.
    return data[last] == _EMPTY and data[last + 1] == _EMPTY and data[last + 2] == 0


@cython.cfunc
def _read_numbers(
    request: SingleFetch, data: bytearray, start: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> None:
    """Sets the numbers from `start`, where the maximum wait is, and after the topic's `end`."""
    request.correlation_id = _i32(data, _CORRELATION_AT)
    request.min_bytes = _i32(data, start + 4)
    request.max_bytes = _i32(data, start + 8)
    request.isolation_level = data[start + 12]
    request.session_id = _i32(data, start + 13)
    request.session_epoch = _i32(data, start + 17)
    request.partition = _i32(data, end + 1)
    request.current_leader_epoch = _i32(data, end + 5)
    request.fetch_offset = _i64(data, end + 9)
    request.last_fetched_epoch = _i32(data, end + 17)
    request.partition_max_bytes = _i32(data, end + 29)


@cython.cfunc
def _copied(data: bytearray, start: cython.Py_ssize_t, end: cython.Py_ssize_t) -> bytes:
    if cython.compiled:
        return PyBytes_FromStringAndSize(cython.cast(cython.p_char, data) + start, end - start)
    return bytes(data[start:end])


def encode_read(
    request: SingleFetch,
    high_watermark: cython.longlong,
    last_stable_offset: cython.longlong,
    log_start_offset: cython.longlong,
    records: bytes,
) -> bytes:
    """Returns the frame of a response with records, without a session."""
    size: cython.Py_ssize_t = len(records)
    if cython.compiled:
        length: cython.Py_ssize_t = _uvarint_size(size + 1)
        named: cython.Py_ssize_t = len(request.topic)
        whole: cython.Py_ssize_t = 4 + _HEAD_BYTES + named + 36 + length + size + 3
        frame: bytes = PyBytes_FromStringAndSize(cython.NULL, whole)
        out: cython.p_uchar = cython.cast(cython.p_uchar, frame)
        put_i32(out, 0, whole - 4)
        put_i32(out, 4, request.correlation_id)
        memset(out + 8, 0, 11)
        out[19] = _ONE
        memcpy(out + 20, cython.cast(cython.p_uchar, request.topic), named)
        out += 20 + named
        out[0] = _ONE
        put_i32(out, 1, request.partition)
        out[5] = out[6] = 0
        put_i64(out, 7, high_watermark)
        put_i64(out, 15, last_stable_offset)
        put_i64(out, 23, log_start_offset)
        out[31] = _EMPTY if request.isolation_level else 0
        put_i32(out, 32, -1)
        out += 36
        _put_uvarint(out, size + 1)
        memcpy(out + length, cython.cast(cython.p_uchar, records), size)
        memset(out + length + size, 0, 3)
        return frame
    partition: bytes = _pack_partition(
        _ONE,
        request.partition,
        0,
        high_watermark,
        last_stable_offset,
        log_start_offset,
        _EMPTY if request.isolation_level else 0,
        -1,
    )
    body: bytes = request.topic + partition + _uvarint(size + 1)
    rest: cython.Py_ssize_t = _HEAD_BYTES + len(body) + size + len(_NO_TAGS)
    head: bytes = _pack_head(rest, request.correlation_id, 0, 0, 0, 0, _ONE)
    return b"".join((head, body, records, _NO_TAGS))


@cython.cfunc
@cython.exceptval(check=False)
def _uvarint_size(value: cython.Py_ssize_t) -> cython.Py_ssize_t:
    size: cython.Py_ssize_t = 1
    while value >= _LONG:
        value >>= 7
        size += 1
    return size


@cython.cfunc
@cython.exceptval(check=False)
def _put_uvarint(out: cython.p_uchar, value: cython.Py_ssize_t) -> cython.void:
    at: cython.Py_ssize_t = 0
    while value >= _LONG:
        out[at] = (value & 0x7F) | _LONG
        value >>= 7
        at += 1
    out[at] = value


def encode_single(
    correlation_id: int, response: FetchResponse, version: cython.int
) -> list[Part] | None:
    """Returns the frame of a response without errors for no partition or one."""
    if not FIRST_VERSION <= version <= _LAST_VERSION or response.error_code != 0:
        return None
    if response.node_endpoints != []:
        return None
    try:
        return _encode(correlation_id, response, version)
    except (error, TypeError, AttributeError):  # the general encoder names the wrong field
        return None


@cython.cfunc
def _encode(correlation_id: object, response: FetchResponse, version: cython.int) -> Any:
    count: cython.Py_ssize_t = len(response.responses)
    if count == 0:
        return [_head(correlation_id, response, _EMPTY, 1) + b"\0"]
    if count != 1:
        return None
    topic: FetchableTopicResponse = response.responses[0]
    if len(topic.partitions) != 1:
        return None
    data: PartitionData = topic.partitions[0]
    if data.error_code != 0 or data.records is None or data.aborted_transactions:
        return None
    if data.snapshot_id is not None:
        return None
    if data.diverging_epoch is not None or data.current_leader is not None:
        return None
    if version >= _IDS_FROM:
        name = bytes(topic.topic_id)
    else:
        name = topic.topic.encode()
        if len(name) >= _LONG - 1:
            return None
        name = bytes((len(name) + 1,)) + name
    body = name + _pack_partition(
        _ONE,
        data.partition_index,
        0,
        data.high_watermark,
        data.last_stable_offset,
        data.log_start_offset,
        0 if data.aborted_transactions is None else _EMPTY,
        data.preferred_read_replica,
    )
    records = data.records
    size: cython.Py_ssize_t = len(records)
    body += _uvarint(size + 1)
    head = _head(correlation_id, response, _ONE, len(body) + size + len(_NO_TAGS)) + body
    return [head, records, _NO_TAGS] if size else [head + _NO_TAGS]


@cython.cfunc
def _head(
    correlation_id: object, response: object, topics: cython.int, rest: cython.Py_ssize_t
) -> bytes:
    """Returns the frame up to the number of topics; `rest` bytes follow."""
    found: Any = response
    return _pack_head(
        _HEAD_BYTES + rest,
        correlation_id,
        0,
        found.throttle_time_ms,
        found.error_code,
        found.session_id,
        topics,
    )


@cython.cfunc
def _uvarint(value: cython.Py_ssize_t) -> bytes:
    out = bytearray()
    while value >= _LONG:
        out.append((value & 0x7F) | _LONG)
        value >>= 7
    out.append(value)
    return bytes(out)
