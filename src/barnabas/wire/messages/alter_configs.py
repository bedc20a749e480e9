"""Replaces the whole dynamic configuration of resources; IncrementalAlterConfigs is the better one.

Generated from schemas/alter_configs.msg by codegen; edit that and run it again.
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
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_t = Struct(">?").pack
_pack_b = Struct(">b").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_b = Struct(">b").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class AlterableConfig(WireStruct):
    __slots__ = (
        "name",
        "value",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 2, False),
        ("value", "string", 0, 2, True),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class AlterConfigsResource(WireStruct):
    __slots__ = (
        "resource_type",
        "resource_name",
        "configs",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_type", "int8", 0, 2, False),
        ("resource_name", "string", 0, 2, False),
        ("configs", "[AlterableConfig]", 0, 2, False),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is EMPTY else configs


class AlterConfigsResourceResponse(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 2, False),
        ("error_message", "string", 0, 2, True),
        ("resource_type", "int8", 0, 2, False),
        ("resource_name", "string", 0, 2, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name


class AlterConfigsRequest(Request["AlterConfigsResponse"]):
    __slots__ = (
        "resources",
        "validate_only",
    )
    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("resources", "[AlterConfigsResource]", 0, 2, False),
        ("validate_only", "bool", 0, 2, False),
    )

    def __init__(
        self,
        resources: list[AlterConfigsResource] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.resources = [] if resources is EMPTY else resources
        self.validate_only = validate_only  # check, but change nothing


class AlterConfigsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "responses",
    )
    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("responses", "[AlterConfigsResourceResponse]", 0, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is EMPTY else responses


def _read_alterable_config_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterableConfig], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterableConfig] = []
    for _ in range(count):
        o = new(AlterableConfig)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.value = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_alter_configs_resource_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterConfigsResource], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        o = new(AlterConfigsResource)
        o.resource_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_alterable_config_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_alter_configs_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterConfigsRequest:
    o = new(AlterConfigsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_alter_configs_resource_v0(buf, pos, end, n, budget)
    o.validate_only = buf[pos] != 0
    pos += 1
    return o


def _write_alterable_config_v0(
    out: bytearray, items: Sequence[AlterableConfig]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.value is None:
            n = -1
            s = b""
        else:
            s = o.value.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _write_alter_configs_resource_v0(
    out: bytearray, items: Sequence[AlterConfigsResource]
) -> None:
    for o in items:
        s = o.resource_name.encode()
        n = len(s)
        out += _pack_bh(o.resource_type, n)
        out += s
        n = len(o.configs)
        out += _pack_i(n)
        _write_alterable_config_v0(out, o.configs)


def _encode_alter_configs_request_v0(o: AlterConfigsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.resources)
    out += _pack_i(n)
    _write_alter_configs_resource_v0(out, o.resources)
    out += _pack_t(o.validate_only)
    return [out]


def _read_alterable_config_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterableConfig], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterableConfig] = []
    for _ in range(count):
        o = new(AlterableConfig)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.value = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.value = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_alter_configs_resource_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterConfigsResource], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterConfigsResource] = []
    for _ in range(count):
        o = new(AlterConfigsResource)
        (o.resource_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_alterable_config_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_configs_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterConfigsRequest:
    o = new(AlterConfigsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_alter_configs_resource_v2(buf, pos, end, n, budget)
    o.validate_only = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_alterable_config_v2(
    out: bytearray, items: Sequence[AlterableConfig]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.value is None:
            out.append(0)
        else:
            s = o.value.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_alter_configs_resource_v2(
    out: bytearray, items: Sequence[AlterConfigsResource]
) -> None:
    for o in items:
        out += _pack_b(o.resource_type)
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.configs) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_alterable_config_v2(out, o.configs)
        out.append(0)


def _encode_alter_configs_request_v2(o: AlterConfigsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.resources) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_alter_configs_resource_v2(out, o.resources)
    out += _pack_t(o.validate_only)
    out.append(0)
    return [out]


def _read_alter_configs_resource_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterConfigsResourceResponse], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterConfigsResourceResponse] = []
    for _ in range(count):
        o = new(AlterConfigsResourceResponse)
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        o.resource_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        items.append(o)
    return items, pos


def _decode_alter_configs_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterConfigsResponse:
    o = new(AlterConfigsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_alter_configs_resource_response_v0(buf, pos, end, n, budget)
    return o


def _write_alter_configs_resource_response_v0(
    out: bytearray, items: Sequence[AlterConfigsResourceResponse]
) -> None:
    for o in items:
        if o.error_message is None:
            n = -1
            s = b""
        else:
            s = o.error_message.encode()
            n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s
        s = o.resource_name.encode()
        n = len(s)
        out += _pack_bh(o.resource_type, n)
        out += s


def _encode_alter_configs_response_v0(o: AlterConfigsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.responses)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_alter_configs_resource_response_v0(out, o.responses)
    return [out]


def _read_alter_configs_resource_response_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AlterConfigsResourceResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AlterConfigsResourceResponse] = []
    for _ in range(count):
        o = new(AlterConfigsResourceResponse)
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
        (o.resource_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "resource_name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.resource_name = str(buf[pos:q], "utf-8")
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_configs_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterConfigsResponse:
    o = new(AlterConfigsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_alter_configs_resource_response_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_alter_configs_resource_response_v2(
    out: bytearray, items: Sequence[AlterConfigsResourceResponse]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_b(o.resource_type)
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_alter_configs_response_v2(o: AlterConfigsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_alter_configs_resource_response_v2(out, o.responses)
    out.append(0)
    return [out]


AlterConfigsRequest.DECODERS = {
    0: _decode_alter_configs_request_v0,
    1: _decode_alter_configs_request_v0,
    2: _decode_alter_configs_request_v2,
}
AlterConfigsRequest.ENCODERS = {
    0: _encode_alter_configs_request_v0,
    1: _encode_alter_configs_request_v0,
    2: _encode_alter_configs_request_v2,
}
AlterConfigsResponse.DECODERS = {
    0: _decode_alter_configs_response_v0,
    1: _decode_alter_configs_response_v0,
    2: _decode_alter_configs_response_v2,
}
AlterConfigsResponse.ENCODERS = {
    0: _encode_alter_configs_response_v0,
    1: _encode_alter_configs_response_v0,
    2: _encode_alter_configs_response_v2,
}
