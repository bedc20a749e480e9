"""Key of a member's current assignment.

Generated from schemas/consumer_group_current_member_assignment_key.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    new,
    overrun,
    unexpected_null,
)

_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from


class ConsumerGroupCurrentMemberAssignmentKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    MIN_VERSION: ClassVar[int] = 8
    MAX_VERSION: ClassVar[int] = 8
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 8, 8, False),
        ("member_id", "string", 8, 8, False),
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id


def _decode_consumer_group_current_member_assignment_key_v8(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupCurrentMemberAssignmentKey:
    o = new(ConsumerGroupCurrentMemberAssignmentKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "member_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.member_id = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_consumer_group_current_member_assignment_key_v8(o: ConsumerGroupCurrentMemberAssignmentKey) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.member_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


ConsumerGroupCurrentMemberAssignmentKey.DECODERS = {
    8: _decode_consumer_group_current_member_assignment_key_v8,
}
ConsumerGroupCurrentMemberAssignmentKey.ENCODERS = {
    8: _encode_consumer_group_current_member_assignment_key_v8,
}
