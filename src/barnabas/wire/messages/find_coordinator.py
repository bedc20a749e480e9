"""Which broker coordinates a group or a transactional id; from version 4 for several keys at once.

Generated from schemas/find_coordinator.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

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
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_b = Struct(">b").pack
_pack_h = Struct(">h").pack
_pack_hih = Struct(">hih").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihh = Struct(">ihh").pack
_unpack_b = Struct(">b").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hih = Struct(">hih").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from


class Coordinator(WireStruct):
    __slots__ = (
        "key",
        "node_id",
        "host",
        "port",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("key", "string", 4, 6, False),
        ("node_id", "int32", 4, 6, False),
        ("host", "string", 4, 6, False),
        ("port", "int32", 4, 6, False),
        ("error_code", "int16", 4, 6, False),
        ("error_message", "string", 4, 6, True),
    )

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message


class FindCoordinatorRequest(Request["FindCoordinatorResponse"]):
    __slots__ = (
        "key",
        "key_type",
        "coordinator_keys",
    )
    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("key", "string", 0, 3, False),
        ("key_type", "int8", 1, 6, False),
        ("coordinator_keys", "[string]", 4, 6, False),
    )

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = EMPTY,
    ) -> None:
        self.key = key
        self.key_type = key_type  # 0 group, 1 transactional id, 2 share group
        self.coordinator_keys = [] if coordinator_keys is EMPTY else coordinator_keys


class FindCoordinatorResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "node_id",
        "host",
        "port",
        "coordinators",
    )
    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 6, False),
        ("error_code", "int16", 0, 3, False),
        ("error_message", "string", 1, 3, True),
        ("node_id", "int32", 0, 3, False),
        ("host", "string", 0, 3, False),
        ("port", "int32", 0, 3, False),
        ("coordinators", "[Coordinator]", 4, 6, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is EMPTY else coordinators


def _decode_find_coordinator_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorRequest:
    o = new(FindCoordinatorRequest)
    o.key_type = 0
    o.coordinator_keys = []
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "key")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.key = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_find_coordinator_request_v0(o: FindCoordinatorRequest) -> list[Part]:
    out = bytearray()
    s = o.key.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


def _decode_find_coordinator_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorRequest:
    o = new(FindCoordinatorRequest)
    o.coordinator_keys = []
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "key")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.key = str(buf[pos:q], "utf-8")
    pos = q
    (o.key_type,) = _unpack_b(buf, pos)
    pos += 1
    return o


def _encode_find_coordinator_request_v1(o: FindCoordinatorRequest) -> list[Part]:
    out = bytearray()
    s = o.key.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    out += _pack_b(o.key_type)
    return [out]


def _decode_find_coordinator_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorRequest:
    o = new(FindCoordinatorRequest)
    o.coordinator_keys = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "key")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.key = str(buf[pos:q], "utf-8")
    pos = q
    (o.key_type,) = _unpack_b(buf, pos)
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_find_coordinator_request_v3(o: FindCoordinatorRequest) -> list[Part]:
    out = bytearray()
    s = o.key.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_b(o.key_type)
    out.append(0)
    return [out]


def _decode_find_coordinator_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorRequest:
    o = new(FindCoordinatorRequest)
    o.key = ""
    (o.key_type,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "coordinator_keys")
    o.coordinator_keys, pos = read_compact_strings(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_find_coordinator_request_v4(o: FindCoordinatorRequest) -> list[Part]:
    out = bytearray()
    out += _pack_b(o.key_type)
    n = len(o.coordinator_keys) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.coordinator_keys)
    out.append(0)
    return [out]


def _decode_find_coordinator_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorResponse:
    o = new(FindCoordinatorResponse)
    o.throttle_time_ms = 0
    o.error_message = ""
    o.coordinators = []
    o.error_code, o.node_id, n = _unpack_hih(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "host")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.host = str(buf[pos:q], "utf-8")
    pos = q
    (o.port,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_find_coordinator_response_v0(o: FindCoordinatorResponse) -> list[Part]:
    out = bytearray()
    s = o.host.encode()
    n = len(s)
    out += _pack_hih(o.error_code, o.node_id, n)
    out += s
    out += _pack_i(o.port)
    return [out]


def _decode_find_coordinator_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorResponse:
    o = new(FindCoordinatorResponse)
    o.coordinators = []
    o.throttle_time_ms, o.error_code, n = _unpack_ihh(buf, pos)
    pos += 8
    if n < 0:
        o.error_message = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.error_message = str(buf[pos:q], "utf-8")
        pos = q
    o.node_id, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "host")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.host = str(buf[pos:q], "utf-8")
    pos = q
    (o.port,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_find_coordinator_response_v1(o: FindCoordinatorResponse) -> list[Part]:
    out = bytearray()
    if o.error_message is None:
        n = -1
        s = b""
    else:
        s = o.error_message.encode()
        n = len(s)
    out += _pack_ihh(o.throttle_time_ms, o.error_code, n)
    out += s
    s = o.host.encode()
    n = len(s)
    out += _pack_ih(o.node_id, n)
    out += s
    out += _pack_i(o.port)
    return [out]


def _decode_find_coordinator_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorResponse:
    o = new(FindCoordinatorResponse)
    o.coordinators = []
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
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
    (o.node_id,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "host")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.host = str(buf[pos:q], "utf-8")
    pos = q
    (o.port,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_find_coordinator_response_v3(o: FindCoordinatorResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.node_id)
    s = o.host.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_i(o.port)
    out.append(0)
    return [out]


def _read_coordinator_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[Coordinator], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 360
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[Coordinator] = []
    for _ in range(count):
        o = new(Coordinator)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "key")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.key = str(buf[pos:q], "utf-8")
        pos = q
        (o.node_id,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        o.port, o.error_code = _unpack_ih(buf, pos)
        pos += 6
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


def _decode_find_coordinator_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> FindCoordinatorResponse:
    o = new(FindCoordinatorResponse)
    o.error_code = 0
    o.error_message = ""
    o.node_id = 0
    o.host = ""
    o.port = 0
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "coordinators")
    o.coordinators, pos = _read_coordinator_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_coordinator_v4(
    out: bytearray, items: Sequence[Coordinator]
) -> None:
    for o in items:
        s = o.key.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.node_id)
        s = o.host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_ih(o.port, o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_find_coordinator_response_v4(o: FindCoordinatorResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.coordinators) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_coordinator_v4(out, o.coordinators)
    out.append(0)
    return [out]


FindCoordinatorRequest.DECODERS = {
    0: _decode_find_coordinator_request_v0,
    1: _decode_find_coordinator_request_v1,
    2: _decode_find_coordinator_request_v1,
    3: _decode_find_coordinator_request_v3,
    4: _decode_find_coordinator_request_v4,
    5: _decode_find_coordinator_request_v4,
    6: _decode_find_coordinator_request_v4,
}
FindCoordinatorRequest.ENCODERS = {
    0: _encode_find_coordinator_request_v0,
    1: _encode_find_coordinator_request_v1,
    2: _encode_find_coordinator_request_v1,
    3: _encode_find_coordinator_request_v3,
    4: _encode_find_coordinator_request_v4,
    5: _encode_find_coordinator_request_v4,
    6: _encode_find_coordinator_request_v4,
}
FindCoordinatorResponse.DECODERS = {
    0: _decode_find_coordinator_response_v0,
    1: _decode_find_coordinator_response_v1,
    2: _decode_find_coordinator_response_v1,
    3: _decode_find_coordinator_response_v3,
    4: _decode_find_coordinator_response_v4,
    5: _decode_find_coordinator_response_v4,
    6: _decode_find_coordinator_response_v4,
}
FindCoordinatorResponse.ENCODERS = {
    0: _encode_find_coordinator_response_v0,
    1: _encode_find_coordinator_response_v1,
    2: _encode_find_coordinator_response_v1,
    3: _encode_find_coordinator_response_v3,
    4: _encode_find_coordinator_response_v4,
    5: _encode_find_coordinator_response_v4,
    6: _encode_find_coordinator_response_v4,
}
