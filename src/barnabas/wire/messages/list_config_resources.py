"""Names of resources that can carry configuration (ListClientMetricsResources before 4.1).

Generated from schemas/list_config_resources.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_ints,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_b = Struct(">b").pack
_pack_ih = Struct(">ih").pack
_unpack_b = Struct(">b").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class ConfigResource(WireStruct):
    __slots__ = (
        "resource_name",
        "resource_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_name", "string", 0, 1, False),
        ("resource_type", "int8", 1, 1, False),
    )

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type


class ListConfigResourcesRequest(Request["ListConfigResourcesResponse"]):
    __slots__ = (
        "resource_types",
    )
    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_types", "[int8]", 1, 1, False),
    )

    def __init__(
        self,
        resource_types: list[int] = EMPTY,
    ) -> None:
        self.resource_types = [] if resource_types is EMPTY else resource_types  # empty for all


class ListConfigResourcesResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "config_resources",
    )
    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 1, False),
        ("error_code", "int16", 0, 1, False),
        ("config_resources", "[ConfigResource]", 0, 1, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = [] if config_resources is EMPTY else config_resources


def _decode_list_config_resources_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListConfigResourcesRequest:
    o = new(ListConfigResourcesRequest)
    o.resource_types = []
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_config_resources_request_v0(o: ListConfigResourcesRequest) -> list[Part]:
    out = bytearray()
    out.append(0)
    return [out]


def _decode_list_config_resources_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListConfigResourcesRequest:
    o = new(ListConfigResourcesRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "resource_types")
    o.resource_types, pos = read_ints(buf, pos, end, n, "b", budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_list_config_resources_request_v1(o: ListConfigResourcesRequest) -> list[Part]:
    out = bytearray()
    n = len(o.resource_types) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out += int_elements(o.resource_types, "b")
    out.append(0)
    return [out]


def _read_config_resource_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ConfigResource], int]:
    if count * 2 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ConfigResource] = []
    for _ in range(count):
        o = new(ConfigResource)
        o.resource_type = 16
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


def _decode_list_config_resources_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListConfigResourcesResponse:
    o = new(ListConfigResourcesResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "config_resources")
    o.config_resources, pos = _read_config_resource_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_config_resource_v0(
    out: bytearray, items: Sequence[ConfigResource]
) -> None:
    for o in items:
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out.append(0)


def _encode_list_config_resources_response_v0(o: ListConfigResourcesResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.config_resources) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_config_resource_v0(out, o.config_resources)
    out.append(0)
    return [out]


def _read_config_resource_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ConfigResource], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 120
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ConfigResource] = []
    for _ in range(count):
        o = new(ConfigResource)
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
        (o.resource_type,) = _unpack_b(buf, pos)
        pos += 1
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_list_config_resources_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ListConfigResourcesResponse:
    o = new(ListConfigResourcesResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "config_resources")
    o.config_resources, pos = _read_config_resource_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_config_resource_v1(
    out: bytearray, items: Sequence[ConfigResource]
) -> None:
    for o in items:
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_b(o.resource_type)
        out.append(0)


def _encode_list_config_resources_response_v1(o: ListConfigResourcesResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.config_resources) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_config_resource_v1(out, o.config_resources)
    out.append(0)
    return [out]


ListConfigResourcesRequest.DECODERS = {
    0: _decode_list_config_resources_request_v0,
    1: _decode_list_config_resources_request_v1,
}
ListConfigResourcesRequest.ENCODERS = {
    0: _encode_list_config_resources_request_v0,
    1: _encode_list_config_resources_request_v1,
}
ListConfigResourcesResponse.DECODERS = {
    0: _decode_list_config_resources_response_v0,
    1: _decode_list_config_resources_response_v1,
}
ListConfigResourcesResponse.ENCODERS = {
    0: _encode_list_config_resources_response_v0,
    1: _encode_list_config_resources_response_v1,
}
