"""Key of a committed position in __consumer_offsets. Version 1 is the one written.

Generated from schemas/offset_commit_key.msg by codegen; edit that and run it again.
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
_pack_i = Struct(">i").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from


class OffsetCommitKey(Message):
    __slots__ = (
        "group",
        "topic",
        "partition",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("group", "string", 0, 1, False),
        ("topic", "string", 0, 1, False),
        ("partition", "int32", 0, 1, False),
    )

    def __init__(
        self,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition


def _decode_offset_commit_key_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitKey:
    o = new(OffsetCommitKey)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "group")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.group = str(buf[pos:q], "utf-8")
    pos = q
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "topic")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.topic = str(buf[pos:q], "utf-8")
    pos = q
    (o.partition,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_offset_commit_key_v0(o: OffsetCommitKey) -> list[Part]:
    out = bytearray()
    s = o.group.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    s = o.topic.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    out += _pack_i(o.partition)
    return [out]


OffsetCommitKey.DECODERS = {
    0: _decode_offset_commit_key_v0,
    1: _decode_offset_commit_key_v0,
}
OffsetCommitKey.ENCODERS = {
    0: _encode_offset_commit_key_v0,
    1: _encode_offset_commit_key_v0,
}
