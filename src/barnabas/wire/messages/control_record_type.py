"""Key of a control record. Bytes begin with the int16 version.

Generated from schemas/control_record_type.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    new,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from


class ControlRecordType(Message):
    __slots__ = (
        "type",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("type", "int16", 0, 0, False),
    )

    def __init__(
        self,
        type: int = 0,
    ) -> None:
        self.type = type  # 0 ABORT, 1 COMMIT; readers skip others


def _decode_control_record_type_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ControlRecordType:
    o = new(ControlRecordType)
    (o.type,) = _unpack_h(buf, pos)
    pos += 2
    return o


def _encode_control_record_type_v0(o: ControlRecordType) -> list[Part]:
    out = bytearray()
    out += _pack_h(o.type)
    return [out]


ControlRecordType.DECODERS = {
    0: _decode_control_record_type_v0,
}
ControlRecordType.ENCODERS = {
    0: _encode_control_record_type_v0,
}
