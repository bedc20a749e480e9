"""Epoch of the target assignment of a KIP-848 group.

Generated from schemas/consumer_group_target_assignment_metadata_value.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    new,
    skip_tags,
)

_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    __slots__ = (
        "assignment_epoch",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("assignment_epoch", "int32", 0, 0, False),
    )

    def __init__(
        self,
        assignment_epoch: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch


def _decode_consumer_group_target_assignment_metadata_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupTargetAssignmentMetadataValue:
    o = new(ConsumerGroupTargetAssignmentMetadataValue)
    (o.assignment_epoch,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_consumer_group_target_assignment_metadata_value_v0(o: ConsumerGroupTargetAssignmentMetadataValue) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.assignment_epoch)
    out.append(0)
    return [out]


ConsumerGroupTargetAssignmentMetadataValue.DECODERS = {
    0: _decode_consumer_group_target_assignment_metadata_value_v0,
}
ConsumerGroupTargetAssignmentMetadataValue.ENCODERS = {
    0: _encode_consumer_group_target_assignment_metadata_value_v0,
}
