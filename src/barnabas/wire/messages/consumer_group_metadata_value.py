"""Epoch of a KIP-848 group.

Generated from schemas/consumer_group_metadata_value.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    bad_tag,
    new,
    read_tag,
    read_tag_count,
    write_tags,
)

_pack_i = Struct(">i").pack
_pack_q = Struct(">q").pack
_unpack_i = Struct(">i").unpack_from
_unpack_q = Struct(">q").unpack_from


class ConsumerGroupMetadataValue(Message):
    __slots__ = (
        "epoch",
        "metadata_hash",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("epoch", "int32", 0, 0, False),
        ("metadata_hash", "int64", 0, 0, False),
    )

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash  # of the subscribed topics (KIP-1101)


def _decode_consumer_group_metadata_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupMetadataValue:
    o = new(ConsumerGroupMetadataValue)
    (o.epoch,) = _unpack_i(buf, pos)
    pos += 4
    o.metadata_hash = 0
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                (o.metadata_hash,) = _unpack_q(buf, pos)
                pos += 8
                if pos != stop:
                    raise bad_tag(stop, "metadata_hash")
            else:
                pos = stop
    return o


def _encode_consumer_group_metadata_value_v0(o: ConsumerGroupMetadataValue) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.epoch)
    if o.metadata_hash != 0:
        t = bytearray()
        t += _pack_q(o.metadata_hash)
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


ConsumerGroupMetadataValue.DECODERS = {
    0: _decode_consumer_group_metadata_value_v0,
}
ConsumerGroupMetadataValue.ENCODERS = {
    0: _encode_consumer_group_metadata_value_v0,
}
