"""Deletes topics by name, or from version 6 by id.

Generated from schemas/delete_topics.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_compact_strings,
    read_long_string_length,
    read_long_uvarint,
    read_strings,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
    write_strings,
)

_pack_u = Struct(">16s").pack
_pack_uh = Struct(">16sh").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_uh = Struct(">16sh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class DeleteTopicState(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 6, 6, True),
        ("topic_id", "uuid", 6, 6, False),
    )

    def __init__(
        self,
        name: str | None = None,
        topic_id: Uuid = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class DeletableTopicResult(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 6, True),
        ("topic_id", "uuid", 6, 6, False),
        ("error_code", "int16", 1, 6, False),
        ("error_message", "string", 5, 6, True),
    )

    def __init__(
        self,
        name: str | None = "",
        topic_id: Uuid = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteTopicsRequest(Request["DeleteTopicsResponse"]):
    __slots__ = (
        "topics",
        "topic_names",
        "timeout_ms",
    )
    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[DeleteTopicState]", 6, 6, False),
        ("topic_names", "[string]", 1, 5, False),
        ("timeout_ms", "int32", 1, 6, False),
    )

    def __init__(
        self,
        topics: list[DeleteTopicState] = EMPTY,
        topic_names: list[str] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics  # by name, or by topic_id when the name is null
        self.topic_names = [] if topic_names is EMPTY else topic_names
        self.timeout_ms = timeout_ms


class DeleteTopicsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "responses",
    )
    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 6, False),
        ("responses", "[DeletableTopicResult]", 1, 6, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is EMPTY else responses


def _decode_delete_topics_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsRequest:
    o = new(DeleteTopicsRequest)
    o.topics = []
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topic_names")
    o.topic_names, pos = read_strings(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_delete_topics_request_v1(o: DeleteTopicsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topic_names)
    out += _pack_i(n)
    write_strings(out, o.topic_names)
    out += _pack_i(o.timeout_ms)
    return [out]


def _decode_delete_topics_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsRequest:
    o = new(DeleteTopicsRequest)
    o.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topic_names")
    o.topic_names, pos = read_compact_strings(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_delete_topics_request_v4(o: DeleteTopicsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topic_names) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.topic_names)
    out += _pack_i(o.timeout_ms)
    out.append(0)
    return [out]


def _read_delete_topic_state_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeleteTopicState], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeleteTopicState] = []
    for _ in range(count):
        o = new(DeleteTopicState)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.name = str(buf[pos:q], "utf-8")
            pos = q
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_topics_request_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsRequest:
    o = new(DeleteTopicsRequest)
    o.topic_names = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_delete_topic_state_v6(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_delete_topic_state_v6(
    out: bytearray, items: Sequence[DeleteTopicState]
) -> None:
    for o in items:
        if o.name is None:
            out.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        out.append(0)


def _encode_delete_topics_request_v6(o: DeleteTopicsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_delete_topic_state_v6(out, o.topics)
    out += _pack_i(o.timeout_ms)
    out.append(0)
    return [out]


def _read_deletable_topic_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeletableTopicResult], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = new(DeletableTopicResult)
        o.topic_id = ZERO_UUID
        o.error_message = None
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        items.append(o)
    return items, pos


def _decode_delete_topics_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsResponse:
    o = new(DeleteTopicsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_deletable_topic_result_v1(buf, pos, end, n, budget)
    return o


def _write_deletable_topic_result_v1(
    out: bytearray, items: Sequence[DeletableTopicResult]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_h(o.error_code)


def _encode_delete_topics_response_v1(o: DeleteTopicsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_deletable_topic_result_v1(out, o.responses)
    return [out]


def _read_deletable_topic_result_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeletableTopicResult], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = new(DeletableTopicResult)
        o.topic_id = ZERO_UUID
        o.error_message = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_topics_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsResponse:
    o = new(DeleteTopicsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_deletable_topic_result_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_deletable_topic_result_v4(
    out: bytearray, items: Sequence[DeletableTopicResult]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_h(o.error_code)
        out.append(0)


def _encode_delete_topics_response_v4(o: DeleteTopicsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_deletable_topic_result_v4(out, o.responses)
    out.append(0)
    return [out]


def _read_deletable_topic_result_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeletableTopicResult], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = new(DeletableTopicResult)
        o.topic_id = ZERO_UUID
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_topics_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsResponse:
    o = new(DeleteTopicsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_deletable_topic_result_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_deletable_topic_result_v5(
    out: bytearray, items: Sequence[DeletableTopicResult]
) -> None:
    for o in items:
        if o.name is None:
            raise LocalError("name must not be None in this version")
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_h(o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_delete_topics_response_v5(o: DeleteTopicsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_deletable_topic_result_v5(out, o.responses)
    out.append(0)
    return [out]


def _read_deletable_topic_result_v6(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DeletableTopicResult], int]:
    if count * 21 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 280
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = new(DeletableTopicResult)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.name = str(buf[pos:q], "utf-8")
            pos = q
        raw_topic_id, o.error_code = _unpack_uh(buf, pos)
        pos += 18
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_delete_topics_response_v6(buf: memoryview, pos: int, end: int, budget: list[int]) -> DeleteTopicsResponse:
    o = new(DeleteTopicsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_deletable_topic_result_v6(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_deletable_topic_result_v6(
    out: bytearray, items: Sequence[DeletableTopicResult]
) -> None:
    for o in items:
        if o.name is None:
            out.append(0)
        else:
            s = o.name.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_uh(o.topic_id, o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_delete_topics_response_v6(o: DeleteTopicsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_deletable_topic_result_v6(out, o.responses)
    out.append(0)
    return [out]


DeleteTopicsRequest.DECODERS = {
    1: _decode_delete_topics_request_v1,
    2: _decode_delete_topics_request_v1,
    3: _decode_delete_topics_request_v1,
    4: _decode_delete_topics_request_v4,
    5: _decode_delete_topics_request_v4,
    6: _decode_delete_topics_request_v6,
}
DeleteTopicsRequest.ENCODERS = {
    1: _encode_delete_topics_request_v1,
    2: _encode_delete_topics_request_v1,
    3: _encode_delete_topics_request_v1,
    4: _encode_delete_topics_request_v4,
    5: _encode_delete_topics_request_v4,
    6: _encode_delete_topics_request_v6,
}
DeleteTopicsResponse.DECODERS = {
    1: _decode_delete_topics_response_v1,
    2: _decode_delete_topics_response_v1,
    3: _decode_delete_topics_response_v1,
    4: _decode_delete_topics_response_v4,
    5: _decode_delete_topics_response_v5,
    6: _decode_delete_topics_response_v6,
}
DeleteTopicsResponse.ENCODERS = {
    1: _encode_delete_topics_response_v1,
    2: _encode_delete_topics_response_v1,
    3: _encode_delete_topics_response_v1,
    4: _encode_delete_topics_response_v4,
    5: _encode_delete_topics_response_v5,
    6: _encode_delete_topics_response_v6,
}
