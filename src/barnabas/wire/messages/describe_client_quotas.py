"""Quota values of users, client ids and addresses (KIP-546).

Generated from schemas/describe_client_quotas.msg by codegen; edit that and run it again.
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
_pack_d = Struct(">d").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihh = Struct(">ihh").pack
_unpack_b = Struct(">b").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_d = Struct(">d").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from


class ComponentData(WireStruct):
    __slots__ = (
        "entity_type",
        "match_type",
        "match",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("entity_type", "string", 0, 1, False),
        ("match_type", "int8", 0, 1, False),
        ("match", "string", 0, 1, True),
    )

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type  # 0 exact, 1 default, 2 any named
        self.match = match


class EntityData(WireStruct):
    __slots__ = (
        "entity_type",
        "entity_name",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("entity_type", "string", 0, 1, False),
        ("entity_name", "string", 0, 1, True),
    )

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name  # null for the default entity


class ValueData(WireStruct):
    __slots__ = (
        "key",
        "value",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("key", "string", 0, 1, False),
        ("value", "float64", 0, 1, False),
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value


class EntryData(WireStruct):
    __slots__ = (
        "entity",
        "values",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("entity", "[EntityData]", 0, 1, False),
        ("values", "[ValueData]", 0, 1, False),
    )

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        values: list[ValueData] = EMPTY,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.values = [] if values is EMPTY else values


class DescribeClientQuotasRequest(Request["DescribeClientQuotasResponse"]):
    __slots__ = (
        "components",
        "strict",
    )
    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("components", "[ComponentData]", 0, 1, False),
        ("strict", "bool", 0, 1, False),
    )

    def __init__(
        self,
        components: list[ComponentData] = EMPTY,
        strict: bool = False,
    ) -> None:
        self.components = [] if components is EMPTY else components
        self.strict = strict  # only entities with exactly these components


class DescribeClientQuotasResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "entries",
    )
    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 1, False),
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
        ("entries", "[EntryData]", 0, 1, True),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = [] if entries is EMPTY else entries


def _read_component_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ComponentData], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ComponentData] = []
    for _ in range(count):
        o = new(ComponentData)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "entity_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.entity_type = str(buf[pos:q], "utf-8")
        pos = q
        o.match_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.match = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.match = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _decode_describe_client_quotas_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClientQuotasRequest:
    o = new(DescribeClientQuotasRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "components")
    o.components, pos = _read_component_data_v0(buf, pos, end, n, budget)
    o.strict = buf[pos] != 0
    pos += 1
    return o


def _write_component_data_v0(
    out: bytearray, items: Sequence[ComponentData]
) -> None:
    for o in items:
        s = o.entity_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.match is None:
            n = -1
            s = b""
        else:
            s = o.match.encode()
            n = len(s)
        out += _pack_bh(o.match_type, n)
        out += s


def _encode_describe_client_quotas_request_v0(o: DescribeClientQuotasRequest) -> list[Part]:
    out = bytearray()
    n = len(o.components)
    out += _pack_i(n)
    _write_component_data_v0(out, o.components)
    out += _pack_t(o.strict)
    return [out]


def _read_component_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ComponentData], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ComponentData] = []
    for _ in range(count):
        o = new(ComponentData)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "entity_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.entity_type = str(buf[pos:q], "utf-8")
        pos = q
        (o.match_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.match = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.match = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_client_quotas_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClientQuotasRequest:
    o = new(DescribeClientQuotasRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "components")
    o.components, pos = _read_component_data_v1(buf, pos, end, n, budget)
    o.strict = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_component_data_v1(
    out: bytearray, items: Sequence[ComponentData]
) -> None:
    for o in items:
        s = o.entity_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_b(o.match_type)
        if o.match is None:
            out.append(0)
        else:
            s = o.match.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_describe_client_quotas_request_v1(o: DescribeClientQuotasRequest) -> list[Part]:
    out = bytearray()
    n = len(o.components) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_component_data_v1(out, o.components)
    out += _pack_t(o.strict)
    out.append(0)
    return [out]


def _read_entity_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EntityData], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EntityData] = []
    for _ in range(count):
        o = new(EntityData)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "entity_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.entity_type = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.entity_name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.entity_name = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_value_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ValueData], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 144
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ValueData] = []
    for _ in range(count):
        o = new(ValueData)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "key")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.key = str(buf[pos:q], "utf-8")
        pos = q
        (o.value,) = _unpack_d(buf, pos)
        pos += 8
        items.append(o)
    return items, pos


def _read_entry_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EntryData], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EntryData] = []
    for _ in range(count):
        o = new(EntryData)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "entity")
        o.entity, pos = _read_entity_data_v0(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "values")
        o.values, pos = _read_value_data_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_client_quotas_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClientQuotasResponse:
    o = new(DescribeClientQuotasResponse)
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
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.entries = None
    else:
        o.entries, pos = _read_entry_data_v0(buf, pos, end, n, budget)
    return o


def _write_entity_data_v0(
    out: bytearray, items: Sequence[EntityData]
) -> None:
    for o in items:
        s = o.entity_type.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.entity_name is None:
            n = -1
            s = b""
        else:
            s = o.entity_name.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _write_value_data_v0(
    out: bytearray, items: Sequence[ValueData]
) -> None:
    for o in items:
        s = o.key.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_d(o.value)


def _write_entry_data_v0(
    out: bytearray, items: Sequence[EntryData]
) -> None:
    for o in items:
        n = len(o.entity)
        out += _pack_i(n)
        _write_entity_data_v0(out, o.entity)
        n = len(o.values)
        out += _pack_i(n)
        _write_value_data_v0(out, o.values)


def _encode_describe_client_quotas_response_v0(o: DescribeClientQuotasResponse) -> list[Part]:
    out = bytearray()
    if o.error_message is None:
        n = -1
        s = b""
    else:
        s = o.error_message.encode()
        n = len(s)
    out += _pack_ihh(o.throttle_time_ms, o.error_code, n)
    out += s
    if o.entries is None:
        n = -1
    else:
        n = len(o.entries)
    out += _pack_i(n)
    if o.entries is not None:
        _write_entry_data_v0(out, o.entries)
    return [out]


def _read_entity_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EntityData], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EntityData] = []
    for _ in range(count):
        o = new(EntityData)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "entity_type")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.entity_type = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.entity_name = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.entity_name = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_value_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ValueData], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 144
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ValueData] = []
    for _ in range(count):
        o = new(ValueData)
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
        (o.value,) = _unpack_d(buf, pos)
        pos += 8
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_entry_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EntryData], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EntryData] = []
    for _ in range(count):
        o = new(EntryData)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "entity")
        o.entity, pos = _read_entity_data_v1(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "values")
        o.values, pos = _read_value_data_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_client_quotas_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeClientQuotasResponse:
    o = new(DescribeClientQuotasResponse)
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.entries = None
    else:
        o.entries, pos = _read_entry_data_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_entity_data_v1(
    out: bytearray, items: Sequence[EntityData]
) -> None:
    for o in items:
        s = o.entity_type.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.entity_name is None:
            out.append(0)
        else:
            s = o.entity_name.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_value_data_v1(
    out: bytearray, items: Sequence[ValueData]
) -> None:
    for o in items:
        s = o.key.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_d(o.value)
        out.append(0)


def _write_entry_data_v1(
    out: bytearray, items: Sequence[EntryData]
) -> None:
    for o in items:
        n = len(o.entity) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_entity_data_v1(out, o.entity)
        n = len(o.values) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_value_data_v1(out, o.values)
        out.append(0)


def _encode_describe_client_quotas_response_v1(o: DescribeClientQuotasResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.entries is None:
        out.append(0)
    else:
        n = len(o.entries) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_entry_data_v1(out, o.entries)
    out.append(0)
    return [out]


DescribeClientQuotasRequest.DECODERS = {
    0: _decode_describe_client_quotas_request_v0,
    1: _decode_describe_client_quotas_request_v1,
}
DescribeClientQuotasRequest.ENCODERS = {
    0: _encode_describe_client_quotas_request_v0,
    1: _encode_describe_client_quotas_request_v1,
}
DescribeClientQuotasResponse.DECODERS = {
    0: _decode_describe_client_quotas_response_v0,
    1: _decode_describe_client_quotas_response_v1,
}
DescribeClientQuotasResponse.ENCODERS = {
    0: _encode_describe_client_quotas_response_v0,
    1: _encode_describe_client_quotas_response_v1,
}
