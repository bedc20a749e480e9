"""Configuration values of topics, brokers and other resources, with where each comes from.

Generated from schemas/describe_configs.msg by codegen; edit that and run it again.
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
    read_strings,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
    write_strings,
)

_pack_t = Struct(">?").pack
_pack_tt = Struct(">??").pack
_pack_tbt = Struct(">?b?").pack
_pack_tbti = Struct(">?b?i").pack
_pack_b = Struct(">b").pack
_pack_bh = Struct(">bh").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_ii = Struct(">ii").pack
_unpack_tt = Struct(">??").unpack_from
_unpack_tbt = Struct(">?b?").unpack_from
_unpack_tbti = Struct(">?b?i").unpack_from
_unpack_b = Struct(">b").unpack_from
_unpack_bh = Struct(">bh").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class DescribeConfigsResource(WireStruct):
    __slots__ = (
        "resource_type",
        "resource_name",
        "configuration_keys",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("resource_type", "int8", 1, 4, False),
        ("resource_name", "string", 1, 4, False),
        ("configuration_keys", "[string]", 1, 4, True),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is EMPTY else configuration_keys  # null for all


class DescribeConfigsSynonym(WireStruct):
    __slots__ = (
        "name",
        "value",
        "source",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 4, False),
        ("value", "string", 1, 4, True),
        ("source", "int8", 1, 4, False),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source


class DescribeConfigsResourceResult(WireStruct):
    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "synonyms",
        "config_type",
        "documentation",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 1, 4, False),
        ("value", "string", 1, 4, True),
        ("read_only", "bool", 1, 4, False),
        ("config_source", "int8", 1, 4, False),
        ("is_sensitive", "bool", 1, 4, False),
        ("synonyms", "[DescribeConfigsSynonym]", 1, 4, False),
        ("config_type", "int8", 3, 4, False),
        ("documentation", "string", 3, 4, True),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = EMPTY,
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source  # 1 topic, 2 broker, 3 default broker, 4 static, 5 default, 6 logger
        self.is_sensitive = is_sensitive  # the value is withheld
        self.synonyms = [] if synonyms is EMPTY else synonyms  # the values it could take, strongest first
        self.config_type = config_type  # 1 bool, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password
        self.documentation = documentation


class DescribeConfigsResult(WireStruct):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "configs",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 1, 4, False),
        ("error_message", "string", 1, 4, True),
        ("resource_type", "int8", 1, 4, False),
        ("resource_name", "string", 1, 4, False),
        ("configs", "[DescribeConfigsResourceResult]", 1, 4, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is EMPTY else configs


class DescribeConfigsRequest(Request["DescribeConfigsResponse"]):
    __slots__ = (
        "resources",
        "include_synonyms",
        "include_documentation",
    )
    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("resources", "[DescribeConfigsResource]", 1, 4, False),
        ("include_synonyms", "bool", 1, 4, False),
        ("include_documentation", "bool", 3, 4, False),
    )

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = EMPTY,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = [] if resources is EMPTY else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation


class DescribeConfigsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "results",
    )
    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 1, 4, False),
        ("results", "[DescribeConfigsResult]", 1, 4, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def _read_describe_configs_resource_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResource], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResource] = []
    for _ in range(count):
        o = new(DescribeConfigsResource)
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
            o.configuration_keys = None
        else:
            o.configuration_keys, pos = read_strings(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_configs_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeConfigsRequest:
    o = new(DescribeConfigsRequest)
    o.include_documentation = False
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_describe_configs_resource_v1(buf, pos, end, n, budget)
    o.include_synonyms = buf[pos] != 0
    pos += 1
    return o


def _write_describe_configs_resource_v1(
    out: bytearray, items: Sequence[DescribeConfigsResource]
) -> None:
    for o in items:
        s = o.resource_name.encode()
        n = len(s)
        out += _pack_bh(o.resource_type, n)
        out += s
        if o.configuration_keys is None:
            n = -1
        else:
            n = len(o.configuration_keys)
        out += _pack_i(n)
        if o.configuration_keys is not None:
            write_strings(out, o.configuration_keys)


def _encode_describe_configs_request_v1(o: DescribeConfigsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.resources)
    out += _pack_i(n)
    _write_describe_configs_resource_v1(out, o.resources)
    out += _pack_t(o.include_synonyms)
    return [out]


def _decode_describe_configs_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeConfigsRequest:
    o = new(DescribeConfigsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_describe_configs_resource_v1(buf, pos, end, n, budget)
    o.include_synonyms, o.include_documentation = _unpack_tt(buf, pos)
    pos += 2
    return o


def _encode_describe_configs_request_v3(o: DescribeConfigsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.resources)
    out += _pack_i(n)
    _write_describe_configs_resource_v1(out, o.resources)
    out += _pack_tt(o.include_synonyms, o.include_documentation)
    return [out]


def _read_describe_configs_resource_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResource], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResource] = []
    for _ in range(count):
        o = new(DescribeConfigsResource)
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
            o.configuration_keys = None
        else:
            o.configuration_keys, pos = read_compact_strings(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_configs_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeConfigsRequest:
    o = new(DescribeConfigsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "resources")
    o.resources, pos = _read_describe_configs_resource_v4(buf, pos, end, n, budget)
    o.include_synonyms, o.include_documentation = _unpack_tt(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_configs_resource_v4(
    out: bytearray, items: Sequence[DescribeConfigsResource]
) -> None:
    for o in items:
        out += _pack_b(o.resource_type)
        s = o.resource_name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.configuration_keys is None:
            out.append(0)
        else:
            n = len(o.configuration_keys) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            write_compact_strings(out, o.configuration_keys)
        out.append(0)


def _encode_describe_configs_request_v4(o: DescribeConfigsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.resources) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_configs_resource_v4(out, o.resources)
    out += _pack_tt(o.include_synonyms, o.include_documentation)
    out.append(0)
    return [out]


def _read_describe_configs_synonym_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsSynonym], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsSynonym] = []
    for _ in range(count):
        o = new(DescribeConfigsSynonym)
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
        (o.source,) = _unpack_b(buf, pos)
        pos += 1
        items.append(o)
    return items, pos


def _read_describe_configs_resource_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResourceResult], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 288
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = new(DescribeConfigsResourceResult)
        o.config_type = 0
        o.documentation = ""
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
        o.read_only, o.config_source, o.is_sensitive, n = _unpack_tbti(buf, pos)
        pos += 7
        if n < 0:
            raise unexpected_null(pos, "synonyms")
        o.synonyms, pos = _read_describe_configs_synonym_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_describe_configs_result_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResult], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 296
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = new(DescribeConfigsResult)
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
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_describe_configs_resource_result_v1(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_configs_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeConfigsResponse:
    o = new(DescribeConfigsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_configs_result_v1(buf, pos, end, n, budget)
    return o


def _write_describe_configs_synonym_v1(
    out: bytearray, items: Sequence[DescribeConfigsSynonym]
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
        out += _pack_b(o.source)


def _write_describe_configs_resource_result_v1(
    out: bytearray, items: Sequence[DescribeConfigsResourceResult]
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
        n = len(o.synonyms)
        out += _pack_tbti(o.read_only, o.config_source, o.is_sensitive, n)
        _write_describe_configs_synonym_v1(out, o.synonyms)


def _write_describe_configs_result_v1(
    out: bytearray, items: Sequence[DescribeConfigsResult]
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
        n = len(o.configs)
        out += _pack_i(n)
        _write_describe_configs_resource_result_v1(out, o.configs)


def _encode_describe_configs_response_v1(o: DescribeConfigsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_describe_configs_result_v1(out, o.results)
    return [out]


def _read_describe_configs_resource_result_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResourceResult], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 344
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = new(DescribeConfigsResourceResult)
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
        o.read_only, o.config_source, o.is_sensitive, n = _unpack_tbti(buf, pos)
        pos += 7
        if n < 0:
            raise unexpected_null(pos, "synonyms")
        o.synonyms, pos = _read_describe_configs_synonym_v1(buf, pos, end, n, budget)
        o.config_type, n = _unpack_bh(buf, pos)
        pos += 3
        if n < 0:
            o.documentation = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.documentation = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_describe_configs_result_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResult], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 296
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = new(DescribeConfigsResult)
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
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_describe_configs_resource_result_v3(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_describe_configs_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeConfigsResponse:
    o = new(DescribeConfigsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_configs_result_v3(buf, pos, end, n, budget)
    return o


def _write_describe_configs_resource_result_v3(
    out: bytearray, items: Sequence[DescribeConfigsResourceResult]
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
        n = len(o.synonyms)
        out += _pack_tbti(o.read_only, o.config_source, o.is_sensitive, n)
        _write_describe_configs_synonym_v1(out, o.synonyms)
        if o.documentation is None:
            n = -1
            s = b""
        else:
            s = o.documentation.encode()
            n = len(s)
        out += _pack_bh(o.config_type, n)
        out += s


def _write_describe_configs_result_v3(
    out: bytearray, items: Sequence[DescribeConfigsResult]
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
        n = len(o.configs)
        out += _pack_i(n)
        _write_describe_configs_resource_result_v3(out, o.configs)


def _encode_describe_configs_response_v3(o: DescribeConfigsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_describe_configs_result_v3(out, o.results)
    return [out]


def _read_describe_configs_synonym_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsSynonym], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsSynonym] = []
    for _ in range(count):
        o = new(DescribeConfigsSynonym)
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
        (o.source,) = _unpack_b(buf, pos)
        pos += 1
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_describe_configs_resource_result_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResourceResult], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 344
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        o = new(DescribeConfigsResourceResult)
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
        o.read_only, o.config_source, o.is_sensitive = _unpack_tbt(buf, pos)
        pos += 3
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "synonyms")
        o.synonyms, pos = _read_describe_configs_synonym_v4(buf, pos, end, n, budget)
        (o.config_type,) = _unpack_b(buf, pos)
        pos += 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.documentation = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.documentation = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_describe_configs_result_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[DescribeConfigsResult], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 296
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        o = new(DescribeConfigsResult)
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
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_describe_configs_resource_result_v4(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_configs_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeConfigsResponse:
    o = new(DescribeConfigsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results")
    o.results, pos = _read_describe_configs_result_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_describe_configs_synonym_v4(
    out: bytearray, items: Sequence[DescribeConfigsSynonym]
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
        out += _pack_b(o.source)
        out.append(0)


def _write_describe_configs_resource_result_v4(
    out: bytearray, items: Sequence[DescribeConfigsResourceResult]
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
        out += _pack_tbt(o.read_only, o.config_source, o.is_sensitive)
        n = len(o.synonyms) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_configs_synonym_v4(out, o.synonyms)
        out += _pack_b(o.config_type)
        if o.documentation is None:
            out.append(0)
        else:
            s = o.documentation.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_describe_configs_result_v4(
    out: bytearray, items: Sequence[DescribeConfigsResult]
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
        n = len(o.configs) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_describe_configs_resource_result_v4(out, o.configs)
        out.append(0)


def _encode_describe_configs_response_v4(o: DescribeConfigsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_describe_configs_result_v4(out, o.results)
    out.append(0)
    return [out]


DescribeConfigsRequest.DECODERS = {
    1: _decode_describe_configs_request_v1,
    2: _decode_describe_configs_request_v1,
    3: _decode_describe_configs_request_v3,
    4: _decode_describe_configs_request_v4,
}
DescribeConfigsRequest.ENCODERS = {
    1: _encode_describe_configs_request_v1,
    2: _encode_describe_configs_request_v1,
    3: _encode_describe_configs_request_v3,
    4: _encode_describe_configs_request_v4,
}
DescribeConfigsResponse.DECODERS = {
    1: _decode_describe_configs_response_v1,
    2: _decode_describe_configs_response_v1,
    3: _decode_describe_configs_response_v3,
    4: _decode_describe_configs_response_v4,
}
DescribeConfigsResponse.ENCODERS = {
    1: _encode_describe_configs_response_v1,
    2: _encode_describe_configs_response_v1,
    3: _encode_describe_configs_response_v3,
    4: _encode_describe_configs_response_v4,
}
