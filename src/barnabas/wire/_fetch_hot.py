"""Fetch requests and responses of at most one partition: a short path beside the generated code.

A consumer of one partition, and each fetch in a session in which one partition has moved, has such
requests. Decoding and encoding by the generated functions was a fifth of the bytecodes that the
broker executes per request. Both functions return None for any other request or response, also for
an invalid one; the caller then uses the generated code, which decides about errors.

Versions 12 to 18 have this layout if there are no tagged fields: flexible, topics by name (12) or
by id, without the replica id from 15 on. Compiled by Cython as it stands; works uncompiled too.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from struct import Struct, error
from typing import Any

from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from barnabas.wire.primitives import Part, new

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
