"""A broker takes a block of producer ids from the controller.

Generated from schemas/allocate_producer_ids.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request
from barnabas.wire.primitives import (
    Part,
    new,
    skip_tags,
)

_pack_ihqi = Struct(">ihqi").pack
_pack_iq = Struct(">iq").pack
_unpack_ihqi = Struct(">ihqi").unpack_from
_unpack_iq = Struct(">iq").unpack_from


class AllocateProducerIdsRequest(Request["AllocateProducerIdsResponse"]):
    __slots__ = (
        "broker_id",
        "broker_epoch",
    )
    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("broker_id", "int32", 0, 0, False),
        ("broker_epoch", "int64", 0, 0, False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class AllocateProducerIdsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id_start",
        "producer_id_len",
    )
    API_KEY: ClassVar[int] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("error_code", "int16", 0, 0, False),
        ("producer_id_start", "int64", 0, 0, False),
        ("producer_id_len", "int32", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start  # first id of the block
        self.producer_id_len = producer_id_len


def _decode_allocate_producer_ids_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AllocateProducerIdsRequest:
    o = new(AllocateProducerIdsRequest)
    o.broker_id, o.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_allocate_producer_ids_request_v0(o: AllocateProducerIdsRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iq(o.broker_id, o.broker_epoch)
    out.append(0)
    return [out]


def _decode_allocate_producer_ids_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AllocateProducerIdsResponse:
    o = new(AllocateProducerIdsResponse)
    o.throttle_time_ms, o.error_code, o.producer_id_start, o.producer_id_len = _unpack_ihqi(buf, pos)
    pos += 18
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_allocate_producer_ids_response_v0(o: AllocateProducerIdsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ihqi(o.throttle_time_ms, o.error_code, o.producer_id_start, o.producer_id_len)
    out.append(0)
    return [out]


AllocateProducerIdsRequest.DECODERS = {
    0: _decode_allocate_producer_ids_request_v0,
}
AllocateProducerIdsRequest.ENCODERS = {
    0: _encode_allocate_producer_ids_request_v0,
}
AllocateProducerIdsResponse.DECODERS = {
    0: _decode_allocate_producer_ids_response_v0,
}
AllocateProducerIdsResponse.ENCODERS = {
    0: _encode_allocate_producer_ids_response_v0,
}
