"""Registers a consumer group in a transaction before its offsets are sent with TxnOffsetCommit.

Generated from schemas/add_offsets_to_txn.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    Part,
    UVARINTS,
    long_string_length,
    new,
    overrun,
    read_long_string_length,
    skip_tags,
    unexpected_null,
)

_pack_h = Struct(">h").pack
_pack_ih = Struct(">ih").pack
_pack_qh = Struct(">qh").pack
_pack_qhh = Struct(">qhh").pack
_unpack_h = Struct(">h").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_qh = Struct(">qh").unpack_from
_unpack_qhh = Struct(">qhh").unpack_from


class AddOffsetsToTxnRequest(Request["AddOffsetsToTxnResponse"]):
    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "group_id",
    )
    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 0, 4, False),
        ("producer_id", "int64", 0, 4, False),
        ("producer_epoch", "int16", 0, 4, False),
        ("group_id", "string", 0, 4, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id


class AddOffsetsToTxnResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
    )
    API_KEY: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 4, False),
        ("error_code", "int16", 0, 4, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def _decode_add_offsets_to_txn_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddOffsetsToTxnRequest:
    o = new(AddOffsetsToTxnRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    o.producer_id, o.producer_epoch, n = _unpack_qhh(buf, pos)
    pos += 12
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_add_offsets_to_txn_request_v0(o: AddOffsetsToTxnRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.group_id.encode()
    n = len(s)
    out += _pack_qhh(o.producer_id, o.producer_epoch, n)
    out += s
    return [out]


def _decode_add_offsets_to_txn_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddOffsetsToTxnRequest:
    o = new(AddOffsetsToTxnRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    o.producer_id, o.producer_epoch = _unpack_qh(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_add_offsets_to_txn_request_v3(o: AddOffsetsToTxnRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_qh(o.producer_id, o.producer_epoch)
    s = o.group_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out.append(0)
    return [out]


def _decode_add_offsets_to_txn_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddOffsetsToTxnResponse:
    o = new(AddOffsetsToTxnResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    return o


def _encode_add_offsets_to_txn_response_v0(o: AddOffsetsToTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    return [out]


def _decode_add_offsets_to_txn_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddOffsetsToTxnResponse:
    o = new(AddOffsetsToTxnResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_add_offsets_to_txn_response_v3(o: AddOffsetsToTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    out.append(0)
    return [out]


AddOffsetsToTxnRequest.DECODERS = {
    0: _decode_add_offsets_to_txn_request_v0,
    1: _decode_add_offsets_to_txn_request_v0,
    2: _decode_add_offsets_to_txn_request_v0,
    3: _decode_add_offsets_to_txn_request_v3,
    4: _decode_add_offsets_to_txn_request_v3,
}
AddOffsetsToTxnRequest.ENCODERS = {
    0: _encode_add_offsets_to_txn_request_v0,
    1: _encode_add_offsets_to_txn_request_v0,
    2: _encode_add_offsets_to_txn_request_v0,
    3: _encode_add_offsets_to_txn_request_v3,
    4: _encode_add_offsets_to_txn_request_v3,
}
AddOffsetsToTxnResponse.DECODERS = {
    0: _decode_add_offsets_to_txn_response_v0,
    1: _decode_add_offsets_to_txn_response_v0,
    2: _decode_add_offsets_to_txn_response_v0,
    3: _decode_add_offsets_to_txn_response_v3,
    4: _decode_add_offsets_to_txn_response_v3,
}
AddOffsetsToTxnResponse.ENCODERS = {
    0: _encode_add_offsets_to_txn_response_v0,
    1: _encode_add_offsets_to_txn_response_v0,
    2: _encode_add_offsets_to_txn_response_v0,
    3: _encode_add_offsets_to_txn_response_v3,
    4: _encode_add_offsets_to_txn_response_v3,
}
