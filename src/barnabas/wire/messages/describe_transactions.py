"""State of transactional ids at their coordinator.

Generated from schemas/describe_transactions.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    UVARINTS,
    int32_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_compact_strings,
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_compact_strings,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_iqqh = Struct(">iqqh").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_iqqh = Struct(">iqqh").unpack_from


class TopicData(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 0, 0, False),
        ("partitions", "[int32]", 0, 0, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class TransactionState(WireStruct):
    __slots__ = (
        "error_code",
        "transactional_id",
        "transaction_state",
        "transaction_timeout_ms",
        "transaction_start_time_ms",
        "producer_id",
        "producer_epoch",
        "topics",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("error_code", "int16", 0, 0, False),
        ("transactional_id", "string", 0, 0, False),
        ("transaction_state", "string", 0, 0, False),
        ("transaction_timeout_ms", "int32", 0, 0, False),
        ("transaction_start_time_ms", "int64", 0, 0, False),
        ("producer_id", "int64", 0, 0, False),
        ("producer_epoch", "int16", 0, 0, False),
        ("topics", "[TopicData]", 0, 0, False),
    )

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms  # -1 when none is open
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = [] if topics is EMPTY else topics


class DescribeTransactionsRequest(Request["DescribeTransactionsResponse"]):
    __slots__ = (
        "transactional_ids",
    )
    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_ids", "[string]", 0, 0, False),
    )

    def __init__(
        self,
        transactional_ids: list[str] = EMPTY,
    ) -> None:
        self.transactional_ids = [] if transactional_ids is EMPTY else transactional_ids


class DescribeTransactionsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "transaction_states",
    )
    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int] = 0
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 0, False),
        ("transaction_states", "[TransactionState]", 0, 0, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: list[TransactionState] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = [] if transaction_states is EMPTY else transaction_states


def _decode_describe_transactions_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeTransactionsRequest:
    o = new(DescribeTransactionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "transactional_ids")
    o.transactional_ids, pos = read_compact_strings(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _encode_describe_transactions_request_v0(o: DescribeTransactionsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.transactional_ids) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    write_compact_strings(out, o.transactional_ids)
    out.append(0)
    return [out]


def _read_topic_data_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicData], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicData] = []
    for _ in range(count):
        o = new(TopicData)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topic")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.topic = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_transaction_state_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TransactionState], int]:
    if count * 28 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 448
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TransactionState] = []
    for _ in range(count):
        o = new(TransactionState)
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "transactional_id")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transactional_id = str(buf[pos:q], "utf-8")
        pos = q
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "transaction_state")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.transaction_state = str(buf[pos:q], "utf-8")
        pos = q
        o.transaction_timeout_ms, o.transaction_start_time_ms, o.producer_id, o.producer_epoch = _unpack_iqqh(buf, pos)
        pos += 22
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_topic_data_v0(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_describe_transactions_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> DescribeTransactionsResponse:
    o = new(DescribeTransactionsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "transaction_states")
    o.transaction_states, pos = _read_transaction_state_v0(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_data_v0(
    out: bytearray, items: Sequence[TopicData]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _write_transaction_state_v0(
    out: bytearray, items: Sequence[TransactionState]
) -> None:
    for o in items:
        out += _pack_h(o.error_code)
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        s = o.transaction_state.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_iqqh(o.transaction_timeout_ms, o.transaction_start_time_ms, o.producer_id, o.producer_epoch)
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_topic_data_v0(out, o.topics)
        out.append(0)


def _encode_describe_transactions_response_v0(o: DescribeTransactionsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.transaction_states) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_transaction_state_v0(out, o.transaction_states)
    out.append(0)
    return [out]


DescribeTransactionsRequest.DECODERS = {
    0: _decode_describe_transactions_request_v0,
}
DescribeTransactionsRequest.ENCODERS = {
    0: _encode_describe_transactions_request_v0,
}
DescribeTransactionsResponse.DECODERS = {
    0: _decode_describe_transactions_response_v0,
}
DescribeTransactionsResponse.ENCODERS = {
    0: _encode_describe_transactions_response_v0,
}
