"""What a member of a KIP-848 group told about itself.

Generated from schemas/consumer_group_member_metadata_value.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    bad_tag,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_compact_strings,
    read_long_string_length,
    read_long_uvarint,
    read_tag,
    read_tag_count,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
    write_tags,
)

_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from


class ClassicProtocol(WireStruct):
    __slots__ = (
        "name",
        "metadata",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 0, False),
        ("metadata", "bytes", 0, 0, False),
    )

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


class ClassicMemberMetadata(WireStruct):
    __slots__ = (
        "session_timeout_ms",
        "supported_protocols",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("session_timeout_ms", "int32", 0, 0, False),
        ("supported_protocols", "[ClassicProtocol]", 0, 0, False),
    )

    def __init__(
        self,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = EMPTY,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = [] if supported_protocols is EMPTY else supported_protocols


class ConsumerGroupMemberMetadataValue(Message):
    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "rebalance_timeout_ms",
        "server_assignor",
        "classic_member_metadata",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("instance_id", "string", 0, 0, True),
        ("rack_id", "string", 0, 0, True),
        ("client_id", "string", 0, 0, False),
        ("client_host", "string", 0, 0, False),
        ("subscribed_topic_names", "[string]", 0, 0, False),
        ("subscribed_topic_regex", "string", 0, 0, True),
        ("rebalance_timeout_ms", "int32", 0, 0, False),
        ("server_assignor", "string", 0, 0, True),
        ("classic_member_metadata", "ClassicMemberMetadata", 0, 0, True),
    )

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = EMPTY,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = None,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = classic_member_metadata  # of a member that still speaks the classic protocol


def _read_classic_protocol_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ClassicProtocol], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ClassicProtocol] = []
    for _ in range(count):
        o = new(ClassicProtocol)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "metadata")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.metadata = bytes(buf[pos:q])
        pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_classic_member_metadata_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ClassicMemberMetadata], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ClassicMemberMetadata] = []
    for _ in range(count):
        o = new(ClassicMemberMetadata)
        (o.session_timeout_ms,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "supported_protocols")
        o.supported_protocols, pos = _read_classic_protocol_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_consumer_group_member_metadata_value_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerGroupMemberMetadataValue:
    o = new(ConsumerGroupMemberMetadataValue)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.instance_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.instance_id = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.rack_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.rack_id = str(buf[pos:q], "utf-8")
        pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "client_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.client_id = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "client_host")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.client_host = str(buf[pos:q], "utf-8")
    pos = q
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "subscribed_topic_names")
    o.subscribed_topic_names, pos = read_compact_strings(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.subscribed_topic_regex = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.subscribed_topic_regex = str(buf[pos:q], "utf-8")
        pos = q
    (o.rebalance_timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        o.server_assignor = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.server_assignor = str(buf[pos:q], "utf-8")
        pos = q
    o.classic_member_metadata = None
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n == 0:
                    o.classic_member_metadata = None
                else:
                    (o.classic_member_metadata,), pos = _read_classic_member_metadata_v0(buf, pos, stop, 1, budget)
                if pos != stop:
                    raise bad_tag(stop, "classic_member_metadata")
            else:
                pos = stop
    return o


def _write_classic_protocol_v0(
    out: bytearray, items: Sequence[ClassicProtocol]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.metadata) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += o.metadata
        out.append(0)


def _write_classic_member_metadata_v0(
    out: bytearray, items: Sequence[ClassicMemberMetadata]
) -> None:
    for o in items:
        out += _pack_i(o.session_timeout_ms)
        n = len(o.supported_protocols) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_classic_protocol_v0(out, o.supported_protocols)
        out.append(0)


def _encode_consumer_group_member_metadata_value_v0(o: ConsumerGroupMemberMetadataValue) -> list[Part]:
    out = bytearray()
    if o.instance_id is None:
        out.append(0)
    else:
        s = o.instance_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.rack_id is None:
        out.append(0)
    else:
        s = o.rack_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    s = o.client_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    s = o.client_host.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    n = len(o.subscribed_topic_names) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.subscribed_topic_names)
    if o.subscribed_topic_regex is None:
        out.append(0)
    else:
        s = o.subscribed_topic_regex.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    out += _pack_i(o.rebalance_timeout_ms)
    if o.server_assignor is None:
        out.append(0)
    else:
        s = o.server_assignor.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
    if o.classic_member_metadata is not None:
        t = bytearray()
        t.append(1)
        _write_classic_member_metadata_v0(t, (o.classic_member_metadata,))
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


ConsumerGroupMemberMetadataValue.DECODERS = {
    0: _decode_consumer_group_member_metadata_value_v0,
}
ConsumerGroupMemberMetadataValue.ENCODERS = {
    0: _encode_consumer_group_member_metadata_value_v0,
}
