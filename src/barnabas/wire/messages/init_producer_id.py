"""Gives an idempotent or transactional producer its id and epoch, fencing earlier owners.

Generated from schemas/init_producer_id.msg by codegen; edit that and run it again.
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
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ihqh = Struct(">ihqh").pack
_pack_iqh = Struct(">iqh").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ihqh = Struct(">ihqh").unpack_from
_unpack_iqh = Struct(">iqh").unpack_from


class InitProducerIdRequest(Request["InitProducerIdResponse"]):
    __slots__ = (
        "transactional_id",
        "transaction_timeout_ms",
        "producer_id",
        "producer_epoch",
    )
    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 0, 5, True),
        ("transaction_timeout_ms", "int32", 0, 5, False),
        ("producer_id", "int64", 3, 5, False),
        ("producer_epoch", "int16", 3, 5, False),
    )

    def __init__(
        self,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.transactional_id = transactional_id  # null for an idempotent producer
        self.transaction_timeout_ms = transaction_timeout_ms  # after which the coordinator aborts
        self.producer_id = producer_id  # of an earlier call, to have its epoch bumped (KIP-360)
        self.producer_epoch = producer_epoch


class InitProducerIdResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
    )
    API_KEY: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 5, False),
        ("error_code", "int16", 0, 5, False),
        ("producer_id", "int64", 0, 5, False),
        ("producer_epoch", "int16", 0, 5, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch


def _decode_init_producer_id_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> InitProducerIdRequest:
    o = new(InitProducerIdRequest)
    o.producer_id = -1
    o.producer_epoch = -1
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.transactional_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.transaction_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_init_producer_id_request_v0(o: InitProducerIdRequest) -> list[Part]:
    out = bytearray()
    if o.transactional_id is None:
        n = -1
        s = b""
    else:
        s = o.transactional_id.encode()
        n = len(s)
    out += _pack_h(n)
    out += s
    out += _pack_i(o.transaction_timeout_ms)
    return [out]


def _decode_init_producer_id_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> InitProducerIdRequest:
    o = new(InitProducerIdRequest)
    o.producer_id = -1
    o.producer_epoch = -1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.transactional_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
    (o.transaction_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_init_producer_id_request_v2(o: InitProducerIdRequest) -> list[Part]:
    out = bytearray()
    if o.transactional_id is None:
        out.append(0)
    else:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.transaction_timeout_ms)
    out.append(0)
    return [out]


def _decode_init_producer_id_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> InitProducerIdRequest:
    o = new(InitProducerIdRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.transactional_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
    o.transaction_timeout_ms, o.producer_id, o.producer_epoch = _unpack_iqh(buf, pos)
    pos += 14
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_init_producer_id_request_v3(o: InitProducerIdRequest) -> list[Part]:
    out = bytearray()
    if o.transactional_id is None:
        out.append(0)
    else:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_iqh(o.transaction_timeout_ms, o.producer_id, o.producer_epoch)
    out.append(0)
    return [out]


def _decode_init_producer_id_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> InitProducerIdResponse:
    o = new(InitProducerIdResponse)
    o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = _unpack_ihqh(buf, pos)
    pos += 16
    return o


def _encode_init_producer_id_response_v0(o: InitProducerIdResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
    return [out]


def _decode_init_producer_id_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> InitProducerIdResponse:
    o = new(InitProducerIdResponse)
    o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch = _unpack_ihqh(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_init_producer_id_response_v2(o: InitProducerIdResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihqh(o.throttle_time_ms, o.error_code, o.producer_id, o.producer_epoch)
    out.append(0)
    return [out]


InitProducerIdRequest.DECODERS = {
    0: _decode_init_producer_id_request_v0,
    1: _decode_init_producer_id_request_v0,
    2: _decode_init_producer_id_request_v2,
    3: _decode_init_producer_id_request_v3,
    4: _decode_init_producer_id_request_v3,
    5: _decode_init_producer_id_request_v3,
}
InitProducerIdRequest.ENCODERS = {
    0: _encode_init_producer_id_request_v0,
    1: _encode_init_producer_id_request_v0,
    2: _encode_init_producer_id_request_v2,
    3: _encode_init_producer_id_request_v3,
    4: _encode_init_producer_id_request_v3,
    5: _encode_init_producer_id_request_v3,
}
InitProducerIdResponse.DECODERS = {
    0: _decode_init_producer_id_response_v0,
    1: _decode_init_producer_id_response_v0,
    2: _decode_init_producer_id_response_v2,
    3: _decode_init_producer_id_response_v2,
    4: _decode_init_producer_id_response_v2,
    5: _decode_init_producer_id_response_v2,
}
InitProducerIdResponse.ENCODERS = {
    0: _encode_init_producer_id_response_v0,
    1: _encode_init_producer_id_response_v0,
    2: _encode_init_producer_id_response_v2,
    3: _encode_init_producer_id_response_v2,
    4: _encode_init_producer_id_response_v2,
    5: _encode_init_producer_id_response_v2,
}
