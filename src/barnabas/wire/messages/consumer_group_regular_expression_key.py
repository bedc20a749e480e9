"""Key of a resolved regular expression of a KIP-848 group.

Generated from schemas/consumer_group_regular_expression_key.msg by codegen; edit that and run it again.
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


class ConsumerGroupRegularExpressionKey(Message):
    __slots__ = (
        "group_id",
        "regular_expression",
    )
    MIN_VERSION: ClassVar[int] = 16
    MAX_VERSION: ClassVar[int] = 16
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("group_id", "string", 16, 16, False),
        ("regular_expression", "string", 16, 16, False),
    )

    def __init__(
        self,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression


def _decode_consumer_group_regular_expression_key_v16(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupRegularExpressionKey:
    o = new(ConsumerGroupRegularExpressionKey)
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
        raise unexpected_null(pos, "regular_expression")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.regular_expression = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_consumer_group_regular_expression_key_v16(o: ConsumerGroupRegularExpressionKey) -> list[Part]:
    out = bytearray()
    s = o.group_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.regular_expression.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


ConsumerGroupRegularExpressionKey.DECODERS = {
    16: _decode_consumer_group_regular_expression_key_v16,
}
ConsumerGroupRegularExpressionKey.ENCODERS = {
    16: _encode_consumer_group_regular_expression_key_v16,
}
