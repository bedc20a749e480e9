"""Produce requests and responses of one partition: a short path beside the generated code.

A synchronous producer and a producer at a low rate send one batch to one partition per request.
For these, decoding and encoding by the generated functions was a fifth of the instructions that the
broker executes per request. Both functions return None for any other request or response, also for
an invalid one; the caller then uses the generated code, which decides about errors.

Versions 9 to 12 have this layout: flexible, and topics by name. Compiled by Cython as it stands;
works uncompiled too.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

from struct import Struct

from barnabas.model.ids import ZERO_UUID
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from barnabas.wire.primitives import new

COMPILED: bool = cython.compiled

FIRST_VERSION = 9
LAST_VERSION = 12

# Null transactional id, acks, timeout, one topic, the length of its name.
_START = Struct(">BhiBB").unpack_from
_START_BYTES = cython.declare(cython.Py_ssize_t, 9)
# One partition, its index, and the first byte of the batch's length.
_PARTITION = Struct(">BiB").unpack_from
_PARTITION_BYTES = cython.declare(cython.Py_ssize_t, 6)
_ONE = cython.declare(cython.int, 2)  # a compact array of one element
_LONG = cython.declare(cython.int, 0x80)
_TAG_SECTIONS = cython.declare(cython.Py_ssize_t, 3)  # of partition, topic and request
_NO_TAGS = b"\0\0\0"

# Correlation id, no tags, one topic, the length of its name.
_pack_head = Struct(">iiBBB").pack
# One partition: index, error code, offsets; no record errors, no message, no tags; no tags of the
# topic; throttle time; no tags of the response.
_pack_tail = Struct(">BihqqqBBBBiB").pack
_HEAD_BYTES = cython.declare(cython.Py_ssize_t, 7)
_TAIL_BYTES = cython.declare(cython.Py_ssize_t, 40)


def decode_single(
    view: memoryview, start: cython.Py_ssize_t, version: cython.int
) -> ProduceRequest | None:
    """Returns the request whose body is at `start`, if it has one batch and no transaction."""
    size: cython.Py_ssize_t = len(view)
    least: cython.Py_ssize_t = start + _START_BYTES + _PARTITION_BYTES + _TAG_SECTIONS
    if not FIRST_VERSION <= version <= LAST_VERSION or size < least:
        return None
    null_id, acks, timeout_ms, topics, name_size = _START(view, start)
    pos: cython.Py_ssize_t = start + _START_BYTES
    end: cython.Py_ssize_t = pos + name_size - 1
    if null_id or topics != _ONE or not 1 < name_size < _LONG:
        return None
    if end + _PARTITION_BYTES + _TAG_SECTIONS > size:
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
    try:
        name = str(view[pos:end], "utf-8")
    except UnicodeDecodeError:
        return None
    partition = new(PartitionProduceData)
    partition.index = index
    partition.records = view[begin:stop]
    topic = new(TopicProduceData)
    topic.name = name
    topic.topic_id = ZERO_UUID
    topic.partition_data = [partition]
    request = new(ProduceRequest)
    request.transactional_id = None
    request.acks = acks
    request.timeout_ms = timeout_ms
    request.topic_data = [topic]
    return request


def encode_single(
    correlation_id: int, response: ProduceResponse, version: cython.int
) -> list[bytes] | None:
    """Returns the frame of a response for one partition without an error."""
    if not FIRST_VERSION <= version <= LAST_VERSION or len(response.responses) != 1:
        return None
    topic: TopicProduceResponse = response.responses[0]
    if len(topic.partition_responses) != 1 or response.node_endpoints != []:
        return None
    answer: PartitionProduceResponse = topic.partition_responses[0]
    name = topic.name.encode()
    name_size: cython.Py_ssize_t = len(name) + 1
    # A field that is wrongly None differs from 0 and []: the general encoder reports it.
    if answer.error_code != 0 or answer.record_errors != [] or answer.error_message is not None:
        return None
    if answer.current_leader is not None or name_size >= _LONG:
        return None
    size: cython.Py_ssize_t = _HEAD_BYTES + name_size - 1 + _TAIL_BYTES
    head = _pack_head(size, correlation_id, 0, _ONE, name_size)
    tail = _pack_tail(
        _ONE,
        answer.index,
        0,
        answer.base_offset,
        answer.log_append_time_ms,
        answer.log_start_offset,
        1,
        0,
        0,
        0,
        response.throttle_time_ms,
        0,
    )
    return [head + name + tail]
