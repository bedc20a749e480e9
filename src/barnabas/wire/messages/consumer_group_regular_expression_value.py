"""Topics that a regular expression of a KIP-848 group resolved to.

Generated from schemas/consumer_group_regular_expression_value.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    new,
    read_compact_strings,
    read_long_uvarint,
    skip_tags,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_qq = Struct(">qq").pack
_unpack_qq = Struct(">qq").unpack_from


class ConsumerGroupRegularExpressionValue(Message):
    __slots__ = (
        "topics",
        "version",
        "timestamp",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[string]", 0, 0, False),
        ("version", "int64", 0, 0, False),
        ("timestamp", "int64", 0, 0, False),
    )

    def __init__(
        self,
        topics: list[str] = EMPTY,
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.version = version  # of the metadata it was resolved against
        self.timestamp = timestamp


def _decode_consumer_group_regular_expression_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupRegularExpressionValue:
    o = new(ConsumerGroupRegularExpressionValue)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = read_compact_strings(buf, pos, end, n, budget)
    o.version, o.timestamp = _unpack_qq(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_consumer_group_regular_expression_value_v0(o: ConsumerGroupRegularExpressionValue) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.topics)
    out += _pack_qq(o.version, o.timestamp)
    out.append(0)
    return [out]


ConsumerGroupRegularExpressionValue.DECODERS = {
    0: _decode_consumer_group_regular_expression_value_v0,
}
ConsumerGroupRegularExpressionValue.ENCODERS = {
    0: _encode_consumer_group_regular_expression_value_v0,
}
