"""Key of a classic group in __consumer_offsets.

Generated from schemas/group_metadata_key.msg by codegen; edit that and run it again.
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


class GroupMetadataKey(Message):
    __slots__ = (
        "group",
    )
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("group", "string", 2, 2, False),
    )

    def __init__(
        self,
        group: str = "",
    ) -> None:
        self.group = group


def _decode_group_metadata_key_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> GroupMetadataKey:
    o = new(GroupMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_group_metadata_key_v2(o: GroupMetadataKey) -> list[Part]:
    out = bytearray()
    s = o.group.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


GroupMetadataKey.DECODERS = {
    2: _decode_group_metadata_key_v2,
}
GroupMetadataKey.ENCODERS = {
    2: _encode_group_metadata_key_v2,
}
