"""A committed position in __consumer_offsets. Version 3 is the one written.

Generated from schemas/offset_commit_value.msg by codegen; edit that and run it again.
"""

from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message
from barnabas.wire.primitives import (
    Part,
    UVARINTS,
    long_string_length,
    new,
    overrun,
    read_long_string_length,
    skip_tags,
    unexpected_null,
)

_pack_q = Struct(">q").pack
_pack_qh = Struct(">qh").pack
_pack_qi = Struct(">qi").pack
_pack_qih = Struct(">qih").pack
_pack_qq = Struct(">qq").pack
_unpack_q = Struct(">q").unpack_from
_unpack_qh = Struct(">qh").unpack_from
_unpack_qi = Struct(">qi").unpack_from
_unpack_qih = Struct(">qih").unpack_from
_unpack_qq = Struct(">qq").unpack_from


class OffsetCommitValue(Message):
    __slots__ = (
        "offset",
        "leader_epoch",
        "metadata",
        "commit_timestamp",
        "expire_timestamp",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int] = 4
    FIELDS: ClassVar[FieldSpecs] = (
        ("offset", "int64", 0, 4, False),
        ("leader_epoch", "int32", 3, 4, False),
        ("metadata", "string", 0, 4, False),
        ("commit_timestamp", "int64", 0, 4, False),
        ("expire_timestamp", "int64", 1, 1, False),
    )

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch  # of the last record consumed; -1 unknown
        self.metadata = metadata  # any text of the client
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp


def _decode_offset_commit_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitValue:
    o = new(OffsetCommitValue)
    o.leader_epoch = -1
    o.expire_timestamp = -1
    o.offset, n = _unpack_qh(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "metadata")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.metadata = str(buf[pos:q], "utf-8")
    pos = q
    (o.commit_timestamp,) = _unpack_q(buf, pos)
    pos += 8
    return o


def _encode_offset_commit_value_v0(o: OffsetCommitValue) -> list[Part]:
    out = bytearray()
    s = o.metadata.encode()
    n = len(s)
    out += _pack_qh(o.offset, n)
    out += s
    out += _pack_q(o.commit_timestamp)
    return [out]


def _decode_offset_commit_value_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitValue:
    o = new(OffsetCommitValue)
    o.leader_epoch = -1
    o.offset, n = _unpack_qh(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "metadata")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.metadata = str(buf[pos:q], "utf-8")
    pos = q
    o.commit_timestamp, o.expire_timestamp = _unpack_qq(buf, pos)
    pos += 16
    return o


def _encode_offset_commit_value_v1(o: OffsetCommitValue) -> list[Part]:
    out = bytearray()
    s = o.metadata.encode()
    n = len(s)
    out += _pack_qh(o.offset, n)
    out += s
    out += _pack_qq(o.commit_timestamp, o.expire_timestamp)
    return [out]


def _decode_offset_commit_value_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitValue:
    o = new(OffsetCommitValue)
    o.expire_timestamp = -1
    o.offset, o.leader_epoch, n = _unpack_qih(buf, pos)
    pos += 14
    if n < 0:
        raise unexpected_null(pos, "metadata")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.metadata = str(buf[pos:q], "utf-8")
    pos = q
    (o.commit_timestamp,) = _unpack_q(buf, pos)
    pos += 8
    return o


def _encode_offset_commit_value_v3(o: OffsetCommitValue) -> list[Part]:
    out = bytearray()
    s = o.metadata.encode()
    n = len(s)
    out += _pack_qih(o.offset, o.leader_epoch, n)
    out += s
    out += _pack_q(o.commit_timestamp)
    return [out]


def _decode_offset_commit_value_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> OffsetCommitValue:
    o = new(OffsetCommitValue)
    o.expire_timestamp = -1
    o.offset, o.leader_epoch = _unpack_qi(buf, pos)
    pos += 12
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "metadata")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.metadata = str(buf[pos:q], "utf-8")
    pos = q
    (o.commit_timestamp,) = _unpack_q(buf, pos)
    pos += 8
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_offset_commit_value_v4(o: OffsetCommitValue) -> list[Part]:
    out = bytearray()
    out += _pack_qi(o.offset, o.leader_epoch)
    s = o.metadata.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_q(o.commit_timestamp)
    out.append(0)
    return [out]


OffsetCommitValue.DECODERS = {
    0: _decode_offset_commit_value_v0,
    1: _decode_offset_commit_value_v1,
    2: _decode_offset_commit_value_v0,
    3: _decode_offset_commit_value_v3,
    4: _decode_offset_commit_value_v4,
}
OffsetCommitValue.ENCODERS = {
    0: _encode_offset_commit_value_v0,
    1: _encode_offset_commit_value_v1,
    2: _encode_offset_commit_value_v0,
    3: _encode_offset_commit_value_v3,
    4: _encode_offset_commit_value_v4,
}
