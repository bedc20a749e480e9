"""Changes finalized feature levels of the cluster.

Generated from schemas/update_features.msg by codegen; edit that and run it again.
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
_pack_h = Struct(">h").pack
_pack_ht = Struct(">h?").pack
_pack_hb = Struct(">hb").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_unpack_h = Struct(">h").unpack_from
_unpack_ht = Struct(">h?").unpack_from
_unpack_hb = Struct(">hb").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class FeatureUpdateKey(WireStruct):
    __slots__ = (
        "feature",
        "max_version_level",
        "allow_downgrade",
        "upgrade_type",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("feature", "string", 0, 2, False),
        ("max_version_level", "int16", 0, 2, False),
        ("allow_downgrade", "bool", 0, 0, False),
        ("upgrade_type", "int8", 1, 2, False),
    )

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level  # below 1 deletes the feature
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type  # 1 upgrade, 2 safe downgrade, 3 unsafe downgrade


class UpdatableFeatureResult(WireStruct):
    __slots__ = (
        "feature",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("feature", "string", 0, 1, False),
        ("error_code", "int16", 0, 1, False),
        ("error_message", "string", 0, 1, True),
    )

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message


class UpdateFeaturesRequest(Request["UpdateFeaturesResponse"]):
    __slots__ = (
        "timeout_ms",
        "feature_updates",
        "validate_only",
    )
    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("timeout_ms", "int32", 0, 2, False),
        ("feature_updates", "[FeatureUpdateKey]", 0, 2, False),
        ("validate_only", "bool", 1, 2, False),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is EMPTY else feature_updates
        self.validate_only = validate_only  # check, but change nothing


class UpdateFeaturesResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
    )
    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("error_code", "int16", 0, 2, False),
        ("error_message", "string", 0, 2, True),
        ("results", "[UpdatableFeatureResult]", 0, 1, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


def _read_feature_update_key_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FeatureUpdateKey], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FeatureUpdateKey] = []
    for _ in range(count):
        o = new(FeatureUpdateKey)
        o.upgrade_type = 1
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "feature")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.feature = str(buf[pos:q], "utf-8")
        pos = q
        o.max_version_level, o.allow_downgrade = _unpack_ht(buf, pos)
        pos += 3
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_update_features_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateFeaturesRequest:
    o = new(UpdateFeaturesRequest)
    o.validate_only = False
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "feature_updates")
    o.feature_updates, pos = _read_feature_update_key_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_feature_update_key_v0(
    out: bytearray, items: Sequence[FeatureUpdateKey]
) -> None:
    for o in items:
        s = o.feature.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_ht(o.max_version_level, o.allow_downgrade)
        out.append(0)


def _encode_update_features_request_v0(o: UpdateFeaturesRequest) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.timeout_ms)
    n = len(o.feature_updates) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_feature_update_key_v0(out, o.feature_updates)
    out.append(0)
    return [out]


def _read_feature_update_key_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FeatureUpdateKey], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 168
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FeatureUpdateKey] = []
    for _ in range(count):
        o = new(FeatureUpdateKey)
        o.allow_downgrade = False
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "feature")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.feature = str(buf[pos:q], "utf-8")
        pos = q
        o.max_version_level, o.upgrade_type = _unpack_hb(buf, pos)
        pos += 3
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_update_features_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateFeaturesRequest:
    o = new(UpdateFeaturesRequest)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "feature_updates")
    o.feature_updates, pos = _read_feature_update_key_v1(buf, pos, end, n, budget)
    o.validate_only = buf[pos] != 0
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_feature_update_key_v1(
    out: bytearray, items: Sequence[FeatureUpdateKey]
) -> None:
    for o in items:
        s = o.feature.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_hb(o.max_version_level, o.upgrade_type)
        out.append(0)


def _encode_update_features_request_v1(o: UpdateFeaturesRequest) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.timeout_ms)
    n = len(o.feature_updates) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_feature_update_key_v1(out, o.feature_updates)
    out += _pack_t(o.validate_only)
    out.append(0)
    return [out]


def _read_updatable_feature_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[UpdatableFeatureResult], int]:
    if count * 5 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 216
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[UpdatableFeatureResult] = []
    for _ in range(count):
        o = new(UpdatableFeatureResult)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "feature")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.feature = str(buf[pos:q], "utf-8")
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


def _decode_update_features_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateFeaturesResponse:
    o = new(UpdateFeaturesResponse)
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
        raise unexpected_null(pos, "results")
    o.results, pos = _read_updatable_feature_result_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_updatable_feature_result_v0(
    out: bytearray, items: Sequence[UpdatableFeatureResult]
) -> None:
    for o in items:
        s = o.feature.encode()
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


def _encode_update_features_response_v0(o: UpdateFeaturesResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    n = len(o.results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_updatable_feature_result_v0(out, o.results)
    out.append(0)
    return [out]


def _decode_update_features_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> UpdateFeaturesResponse:
    o = new(UpdateFeaturesResponse)
    o.results = []
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
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_update_features_response_v2(o: UpdateFeaturesResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    if o.error_message is None:
        out.append(0)
    else:
        s = o.error_message.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out.append(0)
    return [out]


UpdateFeaturesRequest.DECODERS = {
    0: _decode_update_features_request_v0,
    1: _decode_update_features_request_v1,
    2: _decode_update_features_request_v1,
}
UpdateFeaturesRequest.ENCODERS = {
    0: _encode_update_features_request_v0,
    1: _encode_update_features_request_v1,
    2: _encode_update_features_request_v1,
}
UpdateFeaturesResponse.DECODERS = {
    0: _decode_update_features_response_v0,
    1: _decode_update_features_response_v0,
    2: _decode_update_features_response_v2,
}
UpdateFeaturesResponse.ENCODERS = {
    0: _encode_update_features_response_v0,
    1: _encode_update_features_response_v0,
    2: _encode_update_features_response_v2,
}
