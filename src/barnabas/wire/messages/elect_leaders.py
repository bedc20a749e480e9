"""Elects preferred, or uncleanly any live, leaders.

Generated from schemas/elect_leaders.msg by codegen; edit that and run it again.
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

_pack_b = Struct(">b").pack
_pack_bi = Struct(">bi").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ih = Struct(">ih").pack
_pack_ihh = Struct(">ihh").pack
_pack_ihi = Struct(">ihi").pack
_pack_ii = Struct(">ii").pack
_unpack_b = Struct(">b").unpack_from
_unpack_bi = Struct(">bi").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihh = Struct(">ihh").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class TopicPartitions(WireStruct):
    __slots__ = (
        "topic",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 0, 2, False),
        ("partitions", "[int32]", 0, 2, False),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class PartitionResult(WireStruct):
    __slots__ = (
        "partition_id",
        "error_code",
        "error_message",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_id", "int32", 0, 2, False),
        ("error_code", "int16", 0, 2, False),
        ("error_message", "string", 0, 2, True),
    )

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class ReplicaElectionResult(WireStruct):
    __slots__ = (
        "topic",
        "partition_result",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 0, 2, False),
        ("partition_result", "[PartitionResult]", 0, 2, False),
    )

    def __init__(
        self,
        topic: str = "",
        partition_result: list[PartitionResult] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is EMPTY else partition_result


class ElectLeadersRequest(Request["ElectLeadersResponse"]):
    __slots__ = (
        "election_type",
        "topic_partitions",
        "timeout_ms",
    )
    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("election_type", "int8", 1, 2, False),
        ("topic_partitions", "[TopicPartitions]", 0, 2, True),
        ("timeout_ms", "int32", 0, 2, False),
    )

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = EMPTY,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type  # 0 preferred, 1 unclean
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions  # null for all
        self.timeout_ms = timeout_ms


class ElectLeadersResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "replica_election_results",
    )
    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int] = 2
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 0, 2, False),
        ("error_code", "int16", 1, 2, False),
        ("replica_election_results", "[ReplicaElectionResult]", 0, 2, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is EMPTY else replica_election_results


def _read_topic_partitions_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartitions], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = new(TopicPartitions)
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


def _decode_elect_leaders_request_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ElectLeadersRequest:
    o = new(ElectLeadersRequest)
    o.election_type = 0
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topic_partitions = None
    else:
        o.topic_partitions, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _write_topic_partitions_v0(
    out: bytearray, items: Sequence[TopicPartitions]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _encode_elect_leaders_request_v0(o: ElectLeadersRequest) -> list[Part]:
    out = bytearray()
    if o.topic_partitions is None:
        n = -1
    else:
        n = len(o.topic_partitions)
    out += _pack_i(n)
    if o.topic_partitions is not None:
        _write_topic_partitions_v0(out, o.topic_partitions)
    out += _pack_i(o.timeout_ms)
    return [out]


def _decode_elect_leaders_request_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ElectLeadersRequest:
    o = new(ElectLeadersRequest)
    o.election_type, n = _unpack_bi(buf, pos)
    pos += 5
    if n < 0:
        o.topic_partitions = None
    else:
        o.topic_partitions, pos = _read_topic_partitions_v0(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    return o


def _encode_elect_leaders_request_v1(o: ElectLeadersRequest) -> list[Part]:
    out = bytearray()
    if o.topic_partitions is None:
        n = -1
    else:
        n = len(o.topic_partitions)
    out += _pack_bi(o.election_type, n)
    if o.topic_partitions is not None:
        _write_topic_partitions_v0(out, o.topic_partitions)
    out += _pack_i(o.timeout_ms)
    return [out]


def _read_topic_partitions_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[TopicPartitions], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[TopicPartitions] = []
    for _ in range(count):
        o = new(TopicPartitions)
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


def _decode_elect_leaders_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ElectLeadersRequest:
    o = new(ElectLeadersRequest)
    (o.election_type,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        o.topic_partitions = None
    else:
        o.topic_partitions, pos = _read_topic_partitions_v2(buf, pos, end, n, budget)
    (o.timeout_ms,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_topic_partitions_v2(
    out: bytearray, items: Sequence[TopicPartitions]
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


def _encode_elect_leaders_request_v2(o: ElectLeadersRequest) -> list[Part]:
    out = bytearray()
    out += _pack_b(o.election_type)
    if o.topic_partitions is None:
        out.append(0)
    else:
        n = len(o.topic_partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_topic_partitions_v2(out, o.topic_partitions)
    out += _pack_i(o.timeout_ms)
    out.append(0)
    return [out]


def _read_partition_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionResult], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionResult] = []
    for _ in range(count):
        o = new(PartitionResult)
        o.partition_id, o.error_code, n = _unpack_ihh(buf, pos)
        pos += 8
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_replica_election_result_v0(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReplicaElectionResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReplicaElectionResult] = []
    for _ in range(count):
        o = new(ReplicaElectionResult)
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
            raise unexpected_null(pos, "partition_result")
        o.partition_result, pos = _read_partition_result_v0(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_elect_leaders_response_v0(buf: memoryview, pos: int, end: int, budget: list[int]) -> ElectLeadersResponse:
    o = new(ElectLeadersResponse)
    o.error_code = 0
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "replica_election_results")
    o.replica_election_results, pos = _read_replica_election_result_v0(buf, pos, end, n, budget)
    return o


def _write_partition_result_v0(
    out: bytearray, items: Sequence[PartitionResult]
) -> None:
    for o in items:
        if o.error_message is None:
            n = -1
            s = b""
        else:
            s = o.error_message.encode()
            n = len(s)
        out += _pack_ihh(o.partition_id, o.error_code, n)
        out += s


def _write_replica_election_result_v0(
    out: bytearray, items: Sequence[ReplicaElectionResult]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partition_result)
        out += _pack_i(n)
        _write_partition_result_v0(out, o.partition_result)


def _encode_elect_leaders_response_v0(o: ElectLeadersResponse) -> list[Part]:
    out = bytearray()
    n = len(o.replica_election_results)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_replica_election_result_v0(out, o.replica_election_results)
    return [out]


def _decode_elect_leaders_response_v1(buf: memoryview, pos: int, end: int, budget: list[int]) -> ElectLeadersResponse:
    o = new(ElectLeadersResponse)
    o.throttle_time_ms, o.error_code, n = _unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise unexpected_null(pos, "replica_election_results")
    o.replica_election_results, pos = _read_replica_election_result_v0(buf, pos, end, n, budget)
    return o


def _encode_elect_leaders_response_v1(o: ElectLeadersResponse) -> list[Part]:
    out = bytearray()
    n = len(o.replica_election_results)
    out += _pack_ihi(o.throttle_time_ms, o.error_code, n)
    _write_replica_election_result_v0(out, o.replica_election_results)
    return [out]


def _read_partition_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionResult], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionResult] = []
    for _ in range(count):
        o = new(PartitionResult)
        o.partition_id, o.error_code = _unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.error_message = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.error_message = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_replica_election_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReplicaElectionResult], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 184
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReplicaElectionResult] = []
    for _ in range(count):
        o = new(ReplicaElectionResult)
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
            raise unexpected_null(pos, "partition_result")
        o.partition_result, pos = _read_partition_result_v2(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_elect_leaders_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> ElectLeadersResponse:
    o = new(ElectLeadersResponse)
    o.throttle_time_ms, o.error_code = _unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "replica_election_results")
    o.replica_election_results, pos = _read_replica_election_result_v2(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_partition_result_v2(
    out: bytearray, items: Sequence[PartitionResult]
) -> None:
    for o in items:
        out += _pack_ih(o.partition_id, o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_replica_election_result_v2(
    out: bytearray, items: Sequence[ReplicaElectionResult]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partition_result) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_partition_result_v2(out, o.partition_result)
        out.append(0)


def _encode_elect_leaders_response_v2(o: ElectLeadersResponse) -> list[Part]:
    out = bytearray()
    out += _pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.replica_election_results) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_replica_election_result_v2(out, o.replica_election_results)
    out.append(0)
    return [out]


ElectLeadersRequest.DECODERS = {
    0: _decode_elect_leaders_request_v0,
    1: _decode_elect_leaders_request_v1,
    2: _decode_elect_leaders_request_v2,
}
ElectLeadersRequest.ENCODERS = {
    0: _encode_elect_leaders_request_v0,
    1: _encode_elect_leaders_request_v1,
    2: _encode_elect_leaders_request_v2,
}
ElectLeadersResponse.DECODERS = {
    0: _decode_elect_leaders_response_v0,
    1: _decode_elect_leaders_response_v1,
    2: _decode_elect_leaders_response_v2,
}
ElectLeadersResponse.ENCODERS = {
    0: _encode_elect_leaders_response_v0,
    1: _encode_elect_leaders_response_v1,
    2: _encode_elect_leaders_response_v2,
}
