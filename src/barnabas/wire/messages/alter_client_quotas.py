"""Sets or removes quota values.

Generated from schemas/alter_client_quotas.msg by codegen; edit that and run it again.
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
_pack_dt = Struct(">d?").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_dt = Struct(">d?").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


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


class OpData(WireStruct):
    __slots__ = (
        "key",
        "value",
        "remove",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("key", "string", 0, 1, False),
        ("value", "float64", 0, 1, False),
        ("remove", "bool", 0, 1, False),
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove  # delete the value instead of setting it


class EntryData(WireStruct):
    __slots__ = (
        "entity",
        "ops",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("entity", "[EntityData]", 0, 1, False),
        ("ops", "[OpData]", 0, 1, False),
    )

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        ops: list[OpData] = EMPTY,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.ops = [] if ops is EMPTY else ops


class EntryResponse(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "entity",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
        ("entity", "[EntityData]", 0, 1, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[EntityData] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = [] if entity is EMPTY else entity


class AlterClientQuotasRequest(Request["AlterClientQuotasResponse"]):
    __slots__ = (
        "entries",
        "validate_only",
    )
    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("entries", "[EntryData]", 0, 1, False),
        ("validate_only", "bool", 0, 1, False),
    )

    def __init__(
        self,
        entries: list[EntryData] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.entries = [] if entries is EMPTY else entries
        self.validate_only = validate_only  # check, but change nothing


class AlterClientQuotasResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "entries",
    )
    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 1
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 1, False),
        ("entries", "[EntryResponse]", 0, 1, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: list[EntryResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = [] if entries is EMPTY else entries


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


def _read_op_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OpData], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OpData] = []
    for _ in range(count):
        o = new(OpData)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "key")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.key = str(buf[pos:q], "utf-8")
        pos = q
        o.value, o.remove = _unpack_dt(buf, pos)
        pos += 9
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
            raise unexpected_null(pos, "ops")
        o.ops, pos = _read_op_data_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_alter_client_quotas_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterClientQuotasRequest:
    o = new(AlterClientQuotasRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "entries")
    o.entries, pos = _read_entry_data_v0(buf, pos, end, n, budget)
    o.validate_only = buf[pos] != 0
    pos += 1
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


def _write_op_data_v0(
    out: bytearray, items: Sequence[OpData]
) -> None:
    for o in items:
        s = o.key.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        out += _pack_dt(o.value, o.remove)


def _write_entry_data_v0(
    out: bytearray, items: Sequence[EntryData]
) -> None:
    for o in items:
        n = len(o.entity)
        out += _pack_i(n)
        _write_entity_data_v0(out, o.entity)
        n = len(o.ops)
        out += _pack_i(n)
        _write_op_data_v0(out, o.ops)


def _encode_alter_client_quotas_request_v0(o: AlterClientQuotasRequest) -> list[Part]:
    out = bytearray()
    n = len(o.entries)
    out += _pack_i(n)
    _write_entry_data_v0(out, o.entries)
    out += _pack_t(o.validate_only)
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


def _read_op_data_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[OpData], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 152
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[OpData] = []
    for _ in range(count):
        o = new(OpData)
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
        o.value, o.remove = _unpack_dt(buf, pos)
        pos += 9
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
            raise unexpected_null(pos, "ops")
        o.ops, pos = _read_op_data_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_client_quotas_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterClientQuotasRequest:
    o = new(AlterClientQuotasRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "entries")
    o.entries, pos = _read_entry_data_v1(buf, pos, end, n, budget)
    o.validate_only = buf[pos] != 0
    pos += 1
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


def _write_op_data_v1(
    out: bytearray, items: Sequence[OpData]
) -> None:
    for o in items:
        s = o.key.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_dt(o.value, o.remove)
        out.append(0)


def _write_entry_data_v1(
    out: bytearray, items: Sequence[EntryData]
) -> None:
    for o in items:
        n = len(o.entity) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_entity_data_v1(out, o.entity)
        n = len(o.ops) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_op_data_v1(out, o.ops)
        out.append(0)


def _encode_alter_client_quotas_request_v1(o: AlterClientQuotasRequest) -> list[Part]:
    out = bytearray()
    n = len(o.entries) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_entry_data_v1(out, o.entries)
    out += _pack_t(o.validate_only)
    out.append(0)
    return [out]


def _read_entry_response_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EntryResponse], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EntryResponse] = []
    for _ in range(count):
        o = new(EntryResponse)
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
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "entity")
        o.entity, pos = _read_entity_data_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_alter_client_quotas_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterClientQuotasResponse:
    o = new(AlterClientQuotasResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "entries")
    o.entries, pos = _read_entry_response_v0(buf, pos, end, n, budget)
    return o


def _write_entry_response_v0(
    out: bytearray, items: Sequence[EntryResponse]
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
        n = len(o.entity)
        out += _pack_i(n)
        _write_entity_data_v0(out, o.entity)


def _encode_alter_client_quotas_response_v0(o: AlterClientQuotasResponse) -> list[Part]:
    out = bytearray()
    n = len(o.entries)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_entry_response_v0(out, o.entries)
    return [out]


def _read_entry_response_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EntryResponse], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 224
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EntryResponse] = []
    for _ in range(count):
        o = new(EntryResponse)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "entity")
        o.entity, pos = _read_entity_data_v1(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_alter_client_quotas_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> AlterClientQuotasResponse:
    o = new(AlterClientQuotasResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "entries")
    o.entries, pos = _read_entry_response_v1(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_entry_response_v1(
    out: bytearray, items: Sequence[EntryResponse]
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
        n = len(o.entity) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_entity_data_v1(out, o.entity)
        out.append(0)


def _encode_alter_client_quotas_response_v1(o: AlterClientQuotasResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.entries) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_entry_response_v1(out, o.entries)
    out.append(0)
    return [out]


AlterClientQuotasRequest.DECODERS = {
    0: _decode_alter_client_quotas_request_v0,
    1: _decode_alter_client_quotas_request_v1,
}
AlterClientQuotasRequest.ENCODERS = {
    0: _encode_alter_client_quotas_request_v0,
    1: _encode_alter_client_quotas_request_v1,
}
AlterClientQuotasResponse.DECODERS = {
    0: _decode_alter_client_quotas_response_v0,
    1: _decode_alter_client_quotas_response_v1,
}
AlterClientQuotasResponse.ENCODERS = {
    0: _encode_alter_client_quotas_response_v0,
    1: _encode_alter_client_quotas_response_v1,
}
