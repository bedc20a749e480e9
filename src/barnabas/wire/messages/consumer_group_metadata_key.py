"""Key of a KIP-848 group.

Generated from schemas/consumer_group_metadata_key.msg by codegen; edit that and run it again.
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


class ConsumerGroupMetadataKey(Message):
    __slots__ = (
        "group_id",
    )
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 3, 3, False),
    )

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _decode_consumer_group_metadata_key_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupMetadataKey:
    o = new(ConsumerGroupMetadataKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group_id = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_consumer_group_metadata_key_v3(o: ConsumerGroupMetadataKey) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


ConsumerGroupMetadataKey.DECODERS = {
    3: _decode_consumer_group_metadata_key_v3,
}
ConsumerGroupMetadataKey.ENCODERS = {
    3: _encode_consumer_group_metadata_key_v3,
}
