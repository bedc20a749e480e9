"""Registers partitions in a transaction; from version 4 brokers batch and verify through it (KIP-890).

Generated from schemas/add_partitions_to_txn.msg by codegen; edit that and run it again.
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
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
)

_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ii = Struct(">ii").pack
_pack_qh = Struct(">qh").pack
_pack_qht = Struct(">qh?").pack
_pack_qhi = Struct(">qhi").pack
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_qh = Struct(">qh").unpack_from
_unpack_qht = Struct(">qh?").unpack_from
_unpack_qhi = Struct(">qhi").unpack_from


class AddPartitionsToTxnTopic(WireStruct):
    __slots__ = (
        "name",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 5, False),
        ("partitions", "[int32]", 0, 5, False),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AddPartitionsToTxnPartitionResult(WireStruct):
    __slots__ = (
        "partition_index",
        "partition_error_code",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 0, 5, False),
        ("partition_error_code", "int16", 0, 5, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code


class AddPartitionsToTxnTopicResult(WireStruct):
    __slots__ = (
        "name",
        "results_by_partition",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 0, 5, False),
        ("results_by_partition", "[AddPartitionsToTxnPartitionResult]", 0, 5, False),
    )

    def __init__(
        self,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = EMPTY,
    ) -> None:
        self.name = name
        self.results_by_partition = [] if results_by_partition is EMPTY else results_by_partition


class AddPartitionsToTxnTransaction(WireStruct):
    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "verify_only",
        "topics",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 4, 5, False),
        ("producer_id", "int64", 4, 5, False),
        ("producer_epoch", "int16", 4, 5, False),
        ("verify_only", "bool", 4, 5, False),
        ("topics", "[AddPartitionsToTxnTopic]", 4, 5, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only  # check that the partitions are in the transaction, add nothing
        self.topics = [] if topics is EMPTY else topics


class AddPartitionsToTxnResult(WireStruct):
    __slots__ = (
        "transactional_id",
        "topic_results",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactional_id", "string", 4, 5, False),
        ("topic_results", "[AddPartitionsToTxnTopicResult]", 4, 5, False),
    )

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is EMPTY else topic_results


class AddPartitionsToTxnRequest(Request["AddPartitionsToTxnResponse"]):
    __slots__ = (
        "transactions",
        "v3_and_below_transactional_id",
        "v3_and_below_producer_id",
        "v3_and_below_producer_epoch",
        "v3_and_below_topics",
    )
    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("transactions", "[AddPartitionsToTxnTransaction]", 4, 5, False),
        ("v3_and_below_transactional_id", "string", 0, 3, False),
        ("v3_and_below_producer_id", "int64", 0, 3, False),
        ("v3_and_below_producer_epoch", "int16", 0, 3, False),
        ("v3_and_below_topics", "[AddPartitionsToTxnTopic]", 0, 3, False),
    )

    def __init__(
        self,
        transactions: list[AddPartitionsToTxnTransaction] = EMPTY,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = EMPTY,
    ) -> None:
        self.transactions = [] if transactions is EMPTY else transactions  # of several producers, from broker to coordinator
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is EMPTY else v3_and_below_topics


class AddPartitionsToTxnResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results_by_transaction",
        "results_by_topic_v3_and_below",
    )
    API_KEY: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int] = 3
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 5, False),
        ("error_code", "int16", 4, 5, False),
        ("results_by_transaction", "[AddPartitionsToTxnResult]", 4, 5, False),
        ("results_by_topic_v3_and_below", "[AddPartitionsToTxnTopicResult]", 0, 3, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = EMPTY,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is EMPTY else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is EMPTY else results_by_topic_v3_and_below


def _read_add_partitions_to_txn_topic_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnTopic] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnTopic)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_add_partitions_to_txn_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddPartitionsToTxnRequest:
    o = new(AddPartitionsToTxnRequest)
    o.transactions = []
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "v3_and_below_transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.v3_and_below_transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, n = _unpack_qhi(buf, pos)
    pos += 14
    if n < 0:
        raise unexpected_null(pos, "v3_and_below_topics")
    o.v3_and_below_topics, pos = _read_add_partitions_to_txn_topic_v0(buf, pos, end, n, budget)
    return o


def _write_add_partitions_to_txn_topic_v0(
    out: bytearray, items: Sequence[AddPartitionsToTxnTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _encode_add_partitions_to_txn_request_v0(o: AddPartitionsToTxnRequest) -> list[Part]:
    out = bytearray()
    s = o.v3_and_below_transactional_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    n = len(o.v3_and_below_topics)
    out += _pack_qhi(o.v3_and_below_producer_id, o.v3_and_below_producer_epoch, n)
    _write_add_partitions_to_txn_topic_v0(out, o.v3_and_below_topics)
    return [out]


def _read_add_partitions_to_txn_topic_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnTopic] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnTopic)
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
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_add_partitions_to_txn_request_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddPartitionsToTxnRequest:
    o = new(AddPartitionsToTxnRequest)
    o.transactions = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "v3_and_below_transactional_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.v3_and_below_transactional_id = str(buf[pos:q], "utf-8")
    pos = q
    o.v3_and_below_producer_id, o.v3_and_below_producer_epoch = _unpack_qh(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "v3_and_below_topics")
    o.v3_and_below_topics, pos = _read_add_partitions_to_txn_topic_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_add_partitions_to_txn_topic_v3(
    out: bytearray, items: Sequence[AddPartitionsToTxnTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _encode_add_partitions_to_txn_request_v3(o: AddPartitionsToTxnRequest) -> list[Part]:
    out = bytearray()
    s = o.v3_and_below_transactional_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    out += _pack_qh(o.v3_and_below_producer_id, o.v3_and_below_producer_epoch)
    n = len(o.v3_and_below_topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_add_partitions_to_txn_topic_v3(out, o.v3_and_below_topics)
    out.append(0)
    return [out]


def _read_add_partitions_to_txn_transaction_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnTransaction], int]:
    if count * 14 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnTransaction] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnTransaction)
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
        o.producer_id, o.producer_epoch, o.verify_only = _unpack_qht(buf, pos)
        pos += 11
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topics")
        o.topics, pos = _read_add_partitions_to_txn_topic_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_add_partitions_to_txn_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddPartitionsToTxnRequest:
    o = new(AddPartitionsToTxnRequest)
    o.v3_and_below_transactional_id = ""
    o.v3_and_below_producer_id = 0
    o.v3_and_below_producer_epoch = 0
    o.v3_and_below_topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "transactions")
    o.transactions, pos = _read_add_partitions_to_txn_transaction_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_add_partitions_to_txn_transaction_v4(
    out: bytearray, items: Sequence[AddPartitionsToTxnTransaction]
) -> None:
    for o in items:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_qht(o.producer_id, o.producer_epoch, o.verify_only)
        n = len(o.topics) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_add_partitions_to_txn_topic_v3(out, o.topics)
        out.append(0)


def _encode_add_partitions_to_txn_request_v4(o: AddPartitionsToTxnRequest) -> list[Part]:
    out = bytearray()
    n = len(o.transactions) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_add_partitions_to_txn_transaction_v4(out, o.transactions)
    out.append(0)
    return [out]


def _read_add_partitions_to_txn_partition_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnPartitionResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnPartitionResult)
        o.partition_index, o.partition_error_code = _unpack_ih(buf, pos)
        pos += 6
        items.append(o)
    return items, pos


def _read_add_partitions_to_txn_topic_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnTopicResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnTopicResult)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "results_by_partition")
        o.results_by_partition, pos = _read_add_partitions_to_txn_partition_result_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_add_partitions_to_txn_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddPartitionsToTxnResponse:
    o = new(AddPartitionsToTxnResponse)
    o.error_code = 0
    o.results_by_transaction = []
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "results_by_topic_v3_and_below")
    o.results_by_topic_v3_and_below, pos = _read_add_partitions_to_txn_topic_result_v0(buf, pos, end, n, budget)
    return o


def _write_add_partitions_to_txn_partition_result_v0(
    out: bytearray, items: Sequence[AddPartitionsToTxnPartitionResult]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.partition_error_code)


def _write_add_partitions_to_txn_topic_result_v0(
    out: bytearray, items: Sequence[AddPartitionsToTxnTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.results_by_partition)
        out += _pack_i(n)
        _write_add_partitions_to_txn_partition_result_v0(out, o.results_by_partition)


def _encode_add_partitions_to_txn_response_v0(o: AddPartitionsToTxnResponse) -> list[Part]:
    out = bytearray()
    n = len(o.results_by_topic_v3_and_below)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_add_partitions_to_txn_topic_result_v0(out, o.results_by_topic_v3_and_below)
    return [out]


def _read_add_partitions_to_txn_partition_result_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnPartitionResult], int]:
    if count * 7 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnPartitionResult] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnPartitionResult)
        o.partition_index, o.partition_error_code = _unpack_ih(buf, pos)
        pos += 6
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_add_partitions_to_txn_topic_result_v3(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnTopicResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnTopicResult] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnTopicResult)
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
            raise unexpected_null(pos, "results_by_partition")
        o.results_by_partition, pos = _read_add_partitions_to_txn_partition_result_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_add_partitions_to_txn_response_v3(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddPartitionsToTxnResponse:
    o = new(AddPartitionsToTxnResponse)
    o.error_code = 0
    o.results_by_transaction = []
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results_by_topic_v3_and_below")
    o.results_by_topic_v3_and_below, pos = _read_add_partitions_to_txn_topic_result_v3(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_add_partitions_to_txn_partition_result_v3(
    out: bytearray, items: Sequence[AddPartitionsToTxnPartitionResult]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_index, o.partition_error_code)
        out.append(0)


def _write_add_partitions_to_txn_topic_result_v3(
    out: bytearray, items: Sequence[AddPartitionsToTxnTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.results_by_partition) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_add_partitions_to_txn_partition_result_v3(out, o.results_by_partition)
        out.append(0)


def _encode_add_partitions_to_txn_response_v3(o: AddPartitionsToTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.results_by_topic_v3_and_below) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_add_partitions_to_txn_topic_result_v3(out, o.results_by_topic_v3_and_below)
    out.append(0)
    return [out]


def _read_add_partitions_to_txn_result_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AddPartitionsToTxnResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AddPartitionsToTxnResult] = []
    for _ in range(count):
        o = new(AddPartitionsToTxnResult)
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
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "topic_results")
        o.topic_results, pos = _read_add_partitions_to_txn_topic_result_v3(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_add_partitions_to_txn_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> AddPartitionsToTxnResponse:
    o = new(AddPartitionsToTxnResponse)
    o.results_by_topic_v3_and_below = []
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "results_by_transaction")
    o.results_by_transaction, pos = _read_add_partitions_to_txn_result_v4(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_add_partitions_to_txn_result_v4(
    out: bytearray, items: Sequence[AddPartitionsToTxnResult]
) -> None:
    for o in items:
        s = o.transactional_id.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.topic_results) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_add_partitions_to_txn_topic_result_v3(out, o.topic_results)
        out.append(0)


def _encode_add_partitions_to_txn_response_v4(o: AddPartitionsToTxnResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.results_by_transaction) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_add_partitions_to_txn_result_v4(out, o.results_by_transaction)
    out.append(0)
    return [out]


AddPartitionsToTxnRequest.DECODERS = {
    0: _decode_add_partitions_to_txn_request_v0,
    1: _decode_add_partitions_to_txn_request_v0,
    2: _decode_add_partitions_to_txn_request_v0,
    3: _decode_add_partitions_to_txn_request_v3,
    4: _decode_add_partitions_to_txn_request_v4,
    5: _decode_add_partitions_to_txn_request_v4,
}
AddPartitionsToTxnRequest.ENCODERS = {
    0: _encode_add_partitions_to_txn_request_v0,
    1: _encode_add_partitions_to_txn_request_v0,
    2: _encode_add_partitions_to_txn_request_v0,
    3: _encode_add_partitions_to_txn_request_v3,
    4: _encode_add_partitions_to_txn_request_v4,
    5: _encode_add_partitions_to_txn_request_v4,
}
AddPartitionsToTxnResponse.DECODERS = {
    0: _decode_add_partitions_to_txn_response_v0,
    1: _decode_add_partitions_to_txn_response_v0,
    2: _decode_add_partitions_to_txn_response_v0,
    3: _decode_add_partitions_to_txn_response_v3,
    4: _decode_add_partitions_to_txn_response_v4,
    5: _decode_add_partitions_to_txn_response_v4,
}
AddPartitionsToTxnResponse.ENCODERS = {
    0: _encode_add_partitions_to_txn_response_v0,
    1: _encode_add_partitions_to_txn_response_v0,
    2: _encode_add_partitions_to_txn_response_v0,
    3: _encode_add_partitions_to_txn_response_v3,
    4: _encode_add_partitions_to_txn_response_v4,
    5: _encode_add_partitions_to_txn_response_v4,
}
