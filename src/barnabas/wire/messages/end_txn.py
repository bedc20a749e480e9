"""Commits or aborts a transaction; version 5 answers with the epoch of the next one (KIP-890).

Generated from schemas/end_txn.msg by codegen; edit that and run it again.
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
_pack_ihqh = Struct(">ihqh").pack
_pack_qht = Struct(">qh?").pack
_unpack_h = Struct(">h").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihqh = Struct(">ihqh").unpack_from
_unpack_qht = Struct(">qh?").unpack_from


class EndTxnRequest(Request["EndTxnResponse"]):
    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "committed",
    )
    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 0, 5, False),
        ("producer_id", "int64", 0, 5, False),
        ("producer_epoch", "int16", 0, 5, False),
        ("committed", "bool", 0, 5, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed  # false aborts


class EndTxnResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
    )
    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 5, False),
        ("error_code", "int16", 0, 5, False),
        ("producer_id", "int64", 5, 5, False),
        ("producer_epoch", "int16", 5, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch


def _decode_end_txn_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> EndTxnRequest:
    o = new(EndTxnRequest)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    o.producer_id, o.producer_epoch, o.committed = _unpack_qht(buf, pos)
    pos += 11
    return o


def _encode_end_txn_request_v0(o: EndTxnRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    out += _pack_qht(o.producer_id, o.producer_epoch, o.committed)
    return [out]


def _decode_end_txn_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> EndTxnRequest:
    o = new(EndTxnRequest)
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
    o.producer_id, o.producer_epoch, o.committed = _unpack_qht(buf, pos)
    pos += 11
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_end_txn_request_v3(o: EndTxnRequest) -> list[Part]:
    out = bytearray()
    s = o.transactional_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_qht(o.producer_id, o.producer_epoch, o.committed)
    out.append(0)
    return [out]


def _decode_end_txn_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> EndTxnResponse:
    o = new(EndTxnResponse)
    o.producer_id = -1
    o.producer_epoch = -1
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    return o


def _encode_end_txn_response_v0(o: EndTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    return [out]


def _decode_end_txn_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> EndTxnResponse:
    o = new(EndTxnResponse)
    o.producer_id = -1
    o.producer_epoch = -1
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_end_txn_response_v3(o: EndTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    out.append(0)
    return [out]


def _decode_end_txn_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> EndTxnResponse:
    o = new(EndTxnResponse)
    o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = _unpack_ihqh(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_end_txn_response_v5(o: EndTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
    out.append(0)
    return [out]


EndTxnRequest.DECODERS = {
    0: _decode_end_txn_request_v0,
    1: _decode_end_txn_request_v0,
    2: _decode_end_txn_request_v0,
    3: _decode_end_txn_request_v3,
    4: _decode_end_txn_request_v3,
    5: _decode_end_txn_request_v3,
}
EndTxnRequest.ENCODERS = {
    0: _encode_end_txn_request_v0,
    1: _encode_end_txn_request_v0,
    2: _encode_end_txn_request_v0,
    3: _encode_end_txn_request_v3,
    4: _encode_end_txn_request_v3,
    5: _encode_end_txn_request_v3,
}
EndTxnResponse.DECODERS = {
    0: _decode_end_txn_response_v0,
    1: _decode_end_txn_response_v0,
    2: _decode_end_txn_response_v0,
    3: _decode_end_txn_response_v3,
    4: _decode_end_txn_response_v3,
    5: _decode_end_txn_response_v5,
}
EndTxnResponse.ENCODERS = {
    0: _encode_end_txn_response_v0,
    1: _encode_end_txn_response_v0,
    2: _encode_end_txn_response_v0,
    3: _encode_end_txn_response_v3,
    4: _encode_end_txn_response_v3,
    5: _encode_end_txn_response_v5,
}
