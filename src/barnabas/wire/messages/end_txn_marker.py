"""Value of a COMMIT or ABORT control record. Bytes begin with the int16 version.

Generated from schemas/end_txn_marker.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    new,
)

_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class EndTxnMarker(Message):
    __slots__ = (
        "coordinator_epoch",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("coordinator_epoch", "int32", 0, 0, False),
    )

    def __init__(
        self,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch


def _decode_end_txn_marker_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> EndTxnMarker:
    o = new(EndTxnMarker)
    (o.coordinator_epoch,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_end_txn_marker_v0(o: EndTxnMarker) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.coordinator_epoch)
    return [out]


EndTxnMarker.DECODERS = {
    0: _decode_end_txn_marker_v0,
}
EndTxnMarker.ENCODERS = {
    0: _encode_end_txn_marker_v0,
}
