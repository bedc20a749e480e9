"""What a classic consumer sends as join metadata. Bytes begin with the int16 version.

Generated from schemas/consumer_protocol_subscription.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    int32_elements,
    new,
    over_budget,
    overrun,
    read_int32s,
    read_strings,
    too_many,
    unexpected_null,
    write_strings,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from


class TopicPartition(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 1, 3, False),
        ("partitions", "[int32]", 1, 3, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class ConsumerProtocolSubscription(Message):
    __slots__ = (
        "topics",
        "user_data",
        "owned_partitions",
        "generation_id",
        "rack_id",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int] = 32767
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[string]", 0, 3, False),
        ("user_data", "bytes", 0, 3, True),
        ("owned_partitions", "[TopicPartition]", 1, 3, False),
        ("generation_id", "int32", 2, 3, False),
        ("rack_id", "string", 3, 3, True),
    )

    def __init__(
        self,
        topics: list[str] = EMPTY,
        user_data: bytes | None = None,
        owned_partitions: list[TopicPartition] = EMPTY,
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is EMPTY else owned_partitions  # kept over a cooperative rebalance (KIP-429)
        self.generation_id = generation_id  # of the owned partitions (KIP-792)
        self.rack_id = rack_id


def _decode_consumer_protocol_subscription_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerProtocolSubscription:
    o = new(ConsumerProtocolSubscription)
    o.owned_partitions = []
    o.generation_id = -1
    o.rack_id = None
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = read_strings(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.user_data = bytes(buf[pos:q])
        pos = q
    return o


def _encode_consumer_protocol_subscription_v0(o: ConsumerProtocolSubscription) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    write_strings(out, o.topics)
    if o.user_data is None:
        n = -1
    else:
        n = len(o.user_data)
    out += _pack_i(n)
    if o.user_data is not None:
        out += o.user_data
    return [out]


def _read_topic_partition_v1(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartition], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartition] = []
    for _ in range(count):
        o = new(TopicPartition)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "topic")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_consumer_protocol_subscription_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerProtocolSubscription:
    o = new(ConsumerProtocolSubscription)
    o.generation_id = -1
    o.rack_id = None
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = read_strings(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.user_data = bytes(buf[pos:q])
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "owned_partitions")
    o.owned_partitions, pos = _read_topic_partition_v1(buf, pos, end, n, budget)
    return o


def _write_topic_partition_v1(
    out: bytearray, items: Sequence[TopicPartition]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _encode_consumer_protocol_subscription_v1(o: ConsumerProtocolSubscription) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    write_strings(out, o.topics)
    if o.user_data is None:
        n = -1
    else:
        n = len(o.user_data)
    out += _pack_i(n)
    if o.user_data is not None:
        out += o.user_data
    n = len(o.owned_partitions)
    out += _pack_i(n)
    _write_topic_partition_v1(out, o.owned_partitions)
    return [out]


def _decode_consumer_protocol_subscription_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerProtocolSubscription:
    o = new(ConsumerProtocolSubscription)
    o.rack_id = None
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = read_strings(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.user_data = bytes(buf[pos:q])
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "owned_partitions")
    o.owned_partitions, pos = _read_topic_partition_v1(buf, pos, end, n, budget)
    (o.generation_id,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_consumer_protocol_subscription_v2(o: ConsumerProtocolSubscription) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    write_strings(out, o.topics)
    if o.user_data is None:
        n = -1
    else:
        n = len(o.user_data)
    out += _pack_i(n)
    if o.user_data is not None:
        out += o.user_data
    n = len(o.owned_partitions)
    out += _pack_i(n)
    _write_topic_partition_v1(out, o.owned_partitions)
    out += _pack_i(o.generation_id)
    return [out]


def _decode_consumer_protocol_subscription_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> ConsumerProtocolSubscription:
    o = new(ConsumerProtocolSubscription)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = read_strings(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.user_data = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.user_data = bytes(buf[pos:q])
        pos = q
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "owned_partitions")
    o.owned_partitions, pos = _read_topic_partition_v1(buf, pos, end, n, budget)
    o.generation_id, n = _unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        o.rack_id = None
    else:
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.rack_id = str(buf[pos:q], "utf-8")
        pos = q
    return o


def _encode_consumer_protocol_subscription_v3(o: ConsumerProtocolSubscription) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    write_strings(out, o.topics)
    if o.user_data is None:
        n = -1
    else:
        n = len(o.user_data)
    out += _pack_i(n)
    if o.user_data is not None:
        out += o.user_data
    n = len(o.owned_partitions)
    out += _pack_i(n)
    _write_topic_partition_v1(out, o.owned_partitions)
    if o.rack_id is None:
        n = -1
        s = b""
    else:
        s = o.rack_id.encode()
        n = len(s)
    out += _pack_ih(o.generation_id, n)
    out += s
    return [out]


ConsumerProtocolSubscription.DECODERS = {
    0: _decode_consumer_protocol_subscription_v0,
    1: _decode_consumer_protocol_subscription_v1,
    2: _decode_consumer_protocol_subscription_v2,
    3: _decode_consumer_protocol_subscription_v3,
}
ConsumerProtocolSubscription.ENCODERS = {
    0: _encode_consumer_protocol_subscription_v0,
    1: _encode_consumer_protocol_subscription_v1,
    2: _encode_consumer_protocol_subscription_v2,
    3: _encode_consumer_protocol_subscription_v3,
}
