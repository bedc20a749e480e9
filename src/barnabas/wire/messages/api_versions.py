"""What the peer speaks. Its response header is version 0 whatever the body is,
so that a client can read the answer to a version that the broker does not know.

Generated from schemas/api_versions.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    bad_tag,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_long_string_length,
    read_long_uvarint,
    read_tag,
    read_tag_count,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_tags,
)

_pack_t = Struct(">?").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_hhh = Struct(">hhh").pack
_pack_hi = Struct(">hi").pack
_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_hhh = Struct(">hhh").unpack_from
_unpack_hi = Struct(">hi").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from


class ApiVersion(WireStruct):
    __slots__ = (
        "api_key",
        "min_version",
        "max_version",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("api_key", "int16", 0, 4, False),
        ("min_version", "int16", 0, 4, False),
        ("max_version", "int16", 0, 4, False),
    )

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version


class SupportedFeatureKey(WireStruct):
    __slots__ = (
        "name",
        "min_version",
        "max_version",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 3, 4, False),
        ("min_version", "int16", 3, 4, False),
        ("max_version", "int16", 3, 4, False),
    )

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version


class FinalizedFeatureKey(WireStruct):
    __slots__ = (
        "name",
        "max_version_level",
        "min_version_level",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 3, 4, False),
        ("max_version_level", "int16", 3, 4, False),
        ("min_version_level", "int16", 3, 4, False),
    )

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level


class ApiVersionsRequest(Request["ApiVersionsResponse"]):
    __slots__ = (
        "client_software_name",
        "client_software_version",
    )
    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("client_software_name", "string", 3, 4, False),
        ("client_software_version", "string", 3, 4, False),
    )

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name = client_software_name  # KIP-511
        self.client_software_version = client_software_version


class ApiVersionsResponse(Message):
    __slots__ = (
        "error_code",
        "api_keys",
        "throttle_time_ms",
        "supported_features",
        "finalized_features_epoch",
        "finalized_features",
        "zk_migration_ready",
    )
    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 4, False),
        ("api_keys", "[ApiVersion]", 0, 4, False),
        ("throttle_time_ms", "int32", 1, 4, False),
        ("supported_features", "[SupportedFeatureKey]", 3, 4, False),
        ("finalized_features_epoch", "int64", 3, 4, False),
        ("finalized_features", "[FinalizedFeatureKey]", 3, 4, False),
        ("zk_migration_ready", "bool", 3, 4, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        api_keys: list[ApiVersion] = EMPTY,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = EMPTY,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = EMPTY,
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = [] if api_keys is EMPTY else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = [] if supported_features is EMPTY else supported_features
        self.finalized_features_epoch = finalized_features_epoch  # -1 when unknown
        self.finalized_features = [] if finalized_features is EMPTY else finalized_features
        self.zk_migration_ready = zk_migration_ready  # of a KRaft controller


def _decode_api_versions_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ApiVersionsRequest:
    o = new(ApiVersionsRequest)
    o.client_software_name = ""
    o.client_software_version = ""
    return o


def _encode_api_versions_request_v0(o: ApiVersionsRequest) -> list[Part]:
    out = bytearray()
    pass
    return [out]


def _decode_api_versions_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ApiVersionsRequest:
    o = new(ApiVersionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "client_software_name")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.client_software_name = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "client_software_version")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.client_software_version = str(buf[pos:q], "utf-8")
    pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_api_versions_request_v3(o: ApiVersionsRequest) -> list[Part]:
    out = bytearray()
    s = o.client_software_name.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.client_software_version.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out.append(0)
    return [out]


def _read_api_version_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ApiVersion], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ApiVersion] = []
    for _ in range(count):
        o = new(ApiVersion)
        o.api_key, o.min_version, o.max_version = _unpack_hhh(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _decode_api_versions_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ApiVersionsResponse:
    o = new(ApiVersionsResponse)
    o.throttle_time_ms = 0
    o.supported_features = []
    o.finalized_features_epoch = -1
    o.finalized_features = []
    o.zk_migration_ready = False
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "api_keys")
    o.api_keys, pos = _read_api_version_v0(buf, pos, end, n, budget)
    return o


def _write_api_version_v0(
    out: bytearray, items: Sequence[ApiVersion]
) -> None:
    for o in items:
        out += _pack_hhh(o.api_key, o.min_version, o.max_version)


def _encode_api_versions_response_v0(o: ApiVersionsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.api_keys)
    out += _pack_hi(o.error_code, n)
    _write_api_version_v0(out, o.api_keys)
    return [out]


def _decode_api_versions_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ApiVersionsResponse:
    o = new(ApiVersionsResponse)
    o.supported_features = []
    o.finalized_features_epoch = -1
    o.finalized_features = []
    o.zk_migration_ready = False
    o.error_code, n = _unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise unexpected_null(pos, "api_keys")
    o.api_keys, pos = _read_api_version_v0(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_api_versions_response_v1(o: ApiVersionsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.api_keys)
    out += _pack_hi(o.error_code, n)
    _write_api_version_v0(out, o.api_keys)
    out += _pack_i(o.throttle_time_ms)
    return [out]


def _read_api_version_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ApiVersion], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ApiVersion] = []
    for _ in range(count):
        o = new(ApiVersion)
        o.api_key, o.min_version, o.max_version = _unpack_hhh(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_supported_feature_key_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[SupportedFeatureKey], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[SupportedFeatureKey] = []
    for _ in range(count):
        o = new(SupportedFeatureKey)
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
        o.min_version, o.max_version = _unpack_hh(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_finalized_feature_key_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FinalizedFeatureKey], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FinalizedFeatureKey] = []
    for _ in range(count):
        o = new(FinalizedFeatureKey)
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
        o.max_version_level, o.min_version_level = _unpack_hh(buf, pos)
        pos += 4
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_api_versions_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ApiVersionsResponse:
    o = new(ApiVersionsResponse)
    (o.error_code,) = _unpack_h(buf, pos)
    pos += 2
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "api_keys")
    o.api_keys, pos = _read_api_version_v3(buf, pos, end, n, budget)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    o.supported_features = []
    o.finalized_features_epoch = -1
    o.finalized_features = []
    o.zk_migration_ready = False
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_uvarint(buf, pos)
                n -= 1
                if n < 0:
                    raise unexpected_null(pos, "supported_features")
                o.supported_features, pos = _read_supported_feature_key_v3(buf, pos, stop, n, budget)
                if pos != stop:
                    raise bad_tag(stop, "supported_features")
            elif tag == 1:
                (o.finalized_features_epoch,) = _unpack_q(buf, pos)
                pos += 8
                if pos != stop:
                    raise bad_tag(stop, "finalized_features_epoch")
            elif tag == 2:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_uvarint(buf, pos)
                n -= 1
                if n < 0:
                    raise unexpected_null(pos, "finalized_features")
                o.finalized_features, pos = _read_finalized_feature_key_v3(buf, pos, stop, n, budget)
                if pos != stop:
                    raise bad_tag(stop, "finalized_features")
            elif tag == 3:
                o.zk_migration_ready = buf[pos] != 0
                pos += 1
                if pos != stop:
                    raise bad_tag(stop, "zk_migration_ready")
            else:
                pos = stop
    return o


def _write_api_version_v3(
    out: bytearray, items: Sequence[ApiVersion]
) -> None:
    for o in items:
        out += _pack_hhh(o.api_key, o.min_version, o.max_version)
        out.append(0)


def _write_supported_feature_key_v3(
    out: bytearray, items: Sequence[SupportedFeatureKey]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_hh(o.min_version, o.max_version)
        out.append(0)


def _write_finalized_feature_key_v3(
    out: bytearray, items: Sequence[FinalizedFeatureKey]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_hh(o.max_version_level, o.min_version_level)
        out.append(0)


def _encode_api_versions_response_v3(o: ApiVersionsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.error_code)
    n = len(o.api_keys) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_api_version_v3(out, o.api_keys)
    out += _pack_i(o.throttle_time_ms)
    if not o.supported_features and o.finalized_features_epoch == -1 and not o.finalized_features and o.zk_migration_ready == False:
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if o.supported_features:
            t = bytearray()
            n = len(o.supported_features) + 1
            t += UVARINTS[n] if n < 128 else uvarint(n)
            _write_supported_feature_key_v3(t, o.supported_features)
            tags.append((0, t))
        if o.finalized_features_epoch != -1:
            t = bytearray()
            t += _pack_q(o.finalized_features_epoch)
            tags.append((1, t))
        if o.finalized_features:
            t = bytearray()
            n = len(o.finalized_features) + 1
            t += UVARINTS[n] if n < 128 else uvarint(n)
            _write_finalized_feature_key_v3(t, o.finalized_features)
            tags.append((2, t))
        if o.zk_migration_ready != False:
            t = bytearray()
            t += _pack_t(o.zk_migration_ready)
            tags.append((3, t))
        write_tags(out, tags)
    return [out]


ApiVersionsRequest.DECODERS = {
    0: _decode_api_versions_request_v0,
    1: _decode_api_versions_request_v0,
    2: _decode_api_versions_request_v0,
    3: _decode_api_versions_request_v3,
    4: _decode_api_versions_request_v3,
}
ApiVersionsRequest.ENCODERS = {
    0: _encode_api_versions_request_v0,
    1: _encode_api_versions_request_v0,
    2: _encode_api_versions_request_v0,
    3: _encode_api_versions_request_v3,
    4: _encode_api_versions_request_v3,
}
ApiVersionsResponse.DECODERS = {
    0: _decode_api_versions_response_v0,
    1: _decode_api_versions_response_v1,
    2: _decode_api_versions_response_v1,
    3: _decode_api_versions_response_v3,
    4: _decode_api_versions_response_v3,
}
ApiVersionsResponse.ENCODERS = {
    0: _encode_api_versions_response_v0,
    1: _encode_api_versions_response_v1,
    2: _encode_api_versions_response_v1,
    3: _encode_api_versions_response_v3,
    4: _encode_api_versions_response_v3,
}
