"""Reads record batches: consumers up to the high watermark, followers up to the log end.
From version 13 topics go by id; an incremental session (KIP-227) names only what changed.

Generated from schemas/fetch.msg by codegen; edit that and run it again.
"""

from collections.abc import Sequence
from struct import Struct
from typing import ClassVar

from barnabas.model.errors import LocalError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.message import FieldSpecs, Message, Request, WireStruct
from barnabas.wire.primitives import (
    EMPTY,
    Part,
    Records,
    UVARINTS,
    bad_tag,
    int32_elements,
    long_string_length,
    new,
    over_budget,
    overrun,
    read_int32s,
    read_long_string_length,
    read_long_uvarint,
    read_tag,
    read_tag_count,
    skip_tags,
    too_many,
    unexpected_null,
    uvarint,
    write_tags,
)

_pack_u = Struct(">16s").pack
_pack_h = Struct(">h").pack
_pack_i = Struct(">i").pack
_pack_ihi = Struct(">ihi").pack
_pack_ihii = Struct(">ihii").pack
_pack_ihqqi = Struct(">ihqqi").pack
_pack_ihqqq = Struct(">ihqqq").pack
_pack_ihqqqi = Struct(">ihqqqi").pack
_pack_ii = Struct(">ii").pack
_pack_iiibii = Struct(">iiibii").pack
_pack_iiiibi = Struct(">iiiibi").pack
_pack_iiiibii = Struct(">iiiibii").pack
_pack_iiiibiii = Struct(">iiiibiii").pack
_pack_iiqiqi = Struct(">iiqiqi").pack
_pack_iiqqi = Struct(">iiqqi").pack
_pack_iq = Struct(">iq").pack
_pack_iqi = Struct(">iqi").pack
_pack_iqqi = Struct(">iqqi").pack
_pack_q = Struct(">q").pack
_pack_qi = Struct(">qi").pack
_pack_qq = Struct(">qq").pack
_unpack_u = Struct(">16s").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_unpack_ihii = Struct(">ihii").unpack_from
_unpack_ihqqi = Struct(">ihqqi").unpack_from
_unpack_ihqqq = Struct(">ihqqq").unpack_from
_unpack_ihqqqi = Struct(">ihqqqi").unpack_from
_unpack_ii = Struct(">ii").unpack_from
_unpack_iiibii = Struct(">iiibii").unpack_from
_unpack_iiiibi = Struct(">iiiibi").unpack_from
_unpack_iiiibii = Struct(">iiiibii").unpack_from
_unpack_iiiibiii = Struct(">iiiibiii").unpack_from
_unpack_iiqiqi = Struct(">iiqiqi").unpack_from
_unpack_iiqqi = Struct(">iiqqi").unpack_from
_unpack_iq = Struct(">iq").unpack_from
_unpack_iqi = Struct(">iqi").unpack_from
_unpack_iqqi = Struct(">iqqi").unpack_from
_unpack_q = Struct(">q").unpack_from
_unpack_qi = Struct(">qi").unpack_from
_unpack_qq = Struct(">qq").unpack_from


class ReplicaState(WireStruct):
    __slots__ = (
        "replica_id",
        "replica_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("replica_id", "int32", 15, 18, False),
        ("replica_epoch", "int64", 15, 18, False),
    )

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id  # the follower; -1 for a consumer
        self.replica_epoch = replica_epoch  # broker epoch of the follower; -1 unknown


class FetchPartition(WireStruct):
    __slots__ = (
        "partition",
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_max_bytes",
        "replica_directory_id",
        "high_watermark",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition", "int32", 4, 18, False),
        ("current_leader_epoch", "int32", 9, 18, False),
        ("fetch_offset", "int64", 4, 18, False),
        ("last_fetched_epoch", "int32", 12, 18, False),
        ("log_start_offset", "int64", 5, 18, False),
        ("partition_max_bytes", "int32", 4, 18, False),
        ("replica_directory_id", "uuid", 17, 18, False),
        ("high_watermark", "int64", 18, 18, False),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: Uuid = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch  # -1 skips the check for a stale caller (KIP-320)
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch  # -1 skips the check for divergence (KIP-595)
        self.log_start_offset = log_start_offset  # of the follower; -1 from a consumer
        self.partition_max_bytes = partition_max_bytes  # as soft as max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark  # of the follower (KIP-1166)


class FetchTopic(WireStruct):
    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 4, 12, False),
        ("topic_id", "uuid", 13, 18, False),
        ("partitions", "[FetchPartition]", 4, 18, False),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[FetchPartition] = EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ForgottenTopic(WireStruct):
    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 7, 12, False),
        ("topic_id", "uuid", 13, 18, False),
        ("partitions", "[int32]", 7, 18, False),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class EpochEndOffset(WireStruct):
    __slots__ = (
        "epoch",
        "end_offset",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("epoch", "int32", 12, 18, False),
        ("end_offset", "int64", 12, 18, False),
    )

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset


class LeaderIdAndEpoch(WireStruct):
    __slots__ = (
        "leader_id",
        "leader_epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("leader_id", "int32", 12, 18, False),
        ("leader_epoch", "int32", 12, 18, False),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class SnapshotId(WireStruct):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("end_offset", "int64", 12, 18, False),
        ("epoch", "int32", 12, 18, False),
    )

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class AbortedTransaction(WireStruct):
    __slots__ = (
        "producer_id",
        "first_offset",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("producer_id", "int64", 4, 18, False),
        ("first_offset", "int64", 4, 18, False),
    )

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset


class PartitionData(WireStruct):
    __slots__ = (
        "partition_index",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "diverging_epoch",
        "current_leader",
        "snapshot_id",
        "aborted_transactions",
        "preferred_read_replica",
        "records",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 4, 18, False),
        ("error_code", "int16", 4, 18, False),
        ("high_watermark", "int64", 4, 18, False),
        ("last_stable_offset", "int64", 4, 18, False),
        ("log_start_offset", "int64", 5, 18, False),
        ("diverging_epoch", "EpochEndOffset", 12, 18, True),
        ("current_leader", "LeaderIdAndEpoch", 12, 18, True),
        ("snapshot_id", "SnapshotId", 12, 18, True),
        ("aborted_transactions", "[AbortedTransaction]", 4, 18, True),
        ("preferred_read_replica", "int32", 11, 18, False),
        ("records", "records", 4, 18, True),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = EMPTY,
        preferred_read_replica: int = -1,
        records: Records = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset  # all transactions below it are decided
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch  # where the log of the fetcher left ours (KIP-595)
        self.current_leader = current_leader  # where to go instead (KIP-951)
        self.snapshot_id = snapshot_id  # used by KRaft only
        self.aborted_transactions = [] if aborted_transactions is EMPTY else aborted_transactions  # null unless committed records were asked for
        self.preferred_read_replica = preferred_read_replica  # -1 for the leader (KIP-392)
        self.records = records  # whole batches, the last maybe cut off


class FetchableTopicResponse(WireStruct):
    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("topic", "string", 4, 12, False),
        ("topic_id", "uuid", 13, 18, False),
        ("partitions", "[PartitionData]", 4, 18, False),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: Uuid = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class NodeEndpoint(WireStruct):
    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("node_id", "int32", 16, 18, False),
        ("host", "string", 16, 18, False),
        ("port", "int32", 16, 18, False),
        ("rack", "string", 16, 18, True),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class FetchRequest(Request["FetchResponse"]):
    __slots__ = (
        "cluster_id",
        "replica_id",
        "replica_state",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "isolation_level",
        "session_id",
        "session_epoch",
        "topics",
        "forgotten_topics_data",
        "rack_id",
    )
    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int] = 12
    FIELDS: ClassVar[FieldSpecs] = (
        ("cluster_id", "string", 12, 18, True),
        ("replica_id", "int32", 4, 14, False),
        ("replica_state", "ReplicaState", 15, 18, True),
        ("max_wait_ms", "int32", 4, 18, False),
        ("min_bytes", "int32", 4, 18, False),
        ("max_bytes", "int32", 4, 18, False),
        ("isolation_level", "int8", 4, 18, False),
        ("session_id", "int32", 7, 18, False),
        ("session_epoch", "int32", 7, 18, False),
        ("topics", "[FetchTopic]", 4, 18, False),
        ("forgotten_topics_data", "[ForgottenTopic]", 7, 18, False),
        ("rack_id", "string", 11, 18, False),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = EMPTY,
        rack_id: str = "",
    ) -> None:
        self.cluster_id = cluster_id  # checked by the peer when given
        self.replica_id = replica_id  # the follower; -1 for a consumer
        self.replica_state = replica_state  # takes the place of replica_id (KIP-903)
        self.max_wait_ms = max_wait_ms  # how long to wait for min_bytes
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes  # soft: the first batch is sent even if larger (KIP-74)
        self.isolation_level = isolation_level  # 0 read uncommitted, 1 read committed
        self.session_id = session_id  # 0 asks for a full fetch or a new session
        self.session_epoch = session_epoch  # -1 no session, 0 new session, then 1, 2, ...
        self.topics = [] if topics is EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is EMPTY else forgotten_topics_data  # partitions to drop from the session
        self.rack_id = rack_id  # for reading from the closest replica (KIP-392)


class FetchResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "session_id",
        "responses",
        "node_endpoints",
    )
    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int] = 12
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 4, 18, False),
        ("error_code", "int16", 7, 18, False),
        ("session_id", "int32", 7, 18, False),
        ("responses", "[FetchableTopicResponse]", 4, 18, False),
        ("node_endpoints", "[NodeEndpoint]", 16, 18, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id  # 0 asks for a full fetch or a new session
        self.responses = [] if responses is EMPTY else responses
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints  # of the leaders named in current_leader


def _read_fetch_partition_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchPartition], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 208
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchPartition] = []
    for _ in range(count):
        o = new(FetchPartition)
        o.current_leader_epoch = -1
        o.last_fetched_epoch = -1
        o.log_start_offset = -1
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.partition, o.fetch_offset, o.partition_max_bytes = _unpack_iqi(buf, pos)
        pos += 16
        items.append(o)
    return items, pos


def _read_fetch_topic_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_fetch_partition_v4(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_fetch_request_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.cluster_id = None
    o.replica_state = None
    o.session_id = 0
    o.session_epoch = -1
    o.forgotten_topics_data = []
    o.rack_id = ""
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, n = _unpack_iiiibi(buf, pos)
    pos += 21
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v4(buf, pos, end, n, budget)
    return o


def _write_fetch_partition_v4(
    out: bytearray, items: Sequence[FetchPartition]
) -> None:
    for o in items:
        out += _pack_iqi(o.partition, o.fetch_offset, o.partition_max_bytes)


def _write_fetch_topic_v4(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_fetch_partition_v4(out, o.partitions)


def _encode_fetch_request_v4(o: FetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_iiiibi(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, n)
    _write_fetch_topic_v4(out, o.topics)
    return [out]


def _read_fetch_partition_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchPartition], int]:
    if count * 24 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 240
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchPartition] = []
    for _ in range(count):
        o = new(FetchPartition)
        o.current_leader_epoch = -1
        o.last_fetched_epoch = -1
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.partition, o.fetch_offset, o.log_start_offset, o.partition_max_bytes = _unpack_iqqi(buf, pos)
        pos += 24
        items.append(o)
    return items, pos


def _read_fetch_topic_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_fetch_partition_v5(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_fetch_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.cluster_id = None
    o.replica_state = None
    o.session_id = 0
    o.session_epoch = -1
    o.forgotten_topics_data = []
    o.rack_id = ""
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, n = _unpack_iiiibi(buf, pos)
    pos += 21
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v5(buf, pos, end, n, budget)
    return o


def _write_fetch_partition_v5(
    out: bytearray, items: Sequence[FetchPartition]
) -> None:
    for o in items:
        out += _pack_iqqi(o.partition, o.fetch_offset, o.log_start_offset, o.partition_max_bytes)


def _write_fetch_topic_v5(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_fetch_partition_v5(out, o.partitions)


def _encode_fetch_request_v5(o: FetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_iiiibi(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, n)
    _write_fetch_topic_v5(out, o.topics)
    return [out]


def _read_forgotten_topic_v7(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ForgottenTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ForgottenTopic] = []
    for _ in range(count):
        o = new(ForgottenTopic)
        o.topic_id = ZERO_UUID
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


def _decode_fetch_request_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.cluster_id = None
    o.replica_state = None
    o.rack_id = ""
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n = _unpack_iiiibiii(buf, pos)
    pos += 29
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v5(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v7(buf, pos, end, n, budget)
    return o


def _write_forgotten_topic_v7(
    out: bytearray, items: Sequence[ForgottenTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out += int32_elements(o.partitions)


def _encode_fetch_request_v7(o: FetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_iiiibiii(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n)
    _write_fetch_topic_v5(out, o.topics)
    n = len(o.forgotten_topics_data)
    out += _pack_i(n)
    _write_forgotten_topic_v7(out, o.forgotten_topics_data)
    return [out]


def _read_fetch_partition_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchPartition], int]:
    if count * 28 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 272
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchPartition] = []
    for _ in range(count):
        o = new(FetchPartition)
        o.last_fetched_epoch = -1
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.partition, o.current_leader_epoch, o.fetch_offset, o.log_start_offset, o.partition_max_bytes = _unpack_iiqqi(buf, pos)
        pos += 28
        items.append(o)
    return items, pos


def _read_fetch_topic_v9(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_fetch_partition_v9(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_fetch_request_v9(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.cluster_id = None
    o.replica_state = None
    o.rack_id = ""
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n = _unpack_iiiibiii(buf, pos)
    pos += 29
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v9(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v7(buf, pos, end, n, budget)
    return o


def _write_fetch_partition_v9(
    out: bytearray, items: Sequence[FetchPartition]
) -> None:
    for o in items:
        out += _pack_iiqqi(o.partition, o.current_leader_epoch, o.fetch_offset, o.log_start_offset, o.partition_max_bytes)


def _write_fetch_topic_v9(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        _write_fetch_partition_v9(out, o.partitions)


def _encode_fetch_request_v9(o: FetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_iiiibiii(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n)
    _write_fetch_topic_v9(out, o.topics)
    n = len(o.forgotten_topics_data)
    out += _pack_i(n)
    _write_forgotten_topic_v7(out, o.forgotten_topics_data)
    return [out]


def _decode_fetch_request_v11(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.cluster_id = None
    o.replica_state = None
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n = _unpack_iiiibiii(buf, pos)
    pos += 29
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v9(buf, pos, end, n, budget)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v7(buf, pos, end, n, budget)
    (n,) = _unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise unexpected_null(pos, "rack_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.rack_id = str(buf[pos:q], "utf-8")
    pos = q
    return o


def _encode_fetch_request_v11(o: FetchRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_iiiibiii(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch, n)
    _write_fetch_topic_v9(out, o.topics)
    n = len(o.forgotten_topics_data)
    out += _pack_i(n)
    _write_forgotten_topic_v7(out, o.forgotten_topics_data)
    s = o.rack_id.encode()
    n = len(s)
    out += _pack_h(n)
    out += s
    return [out]


def _read_fetch_partition_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchPartition], int]:
    if count * 33 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 304
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchPartition] = []
    for _ in range(count):
        o = new(FetchPartition)
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.partition, o.current_leader_epoch, o.fetch_offset, o.last_fetched_epoch, o.log_start_offset, o.partition_max_bytes = _unpack_iiqiqi(buf, pos)
        pos += 32
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_fetch_topic_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_fetch_partition_v12(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_forgotten_topic_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ForgottenTopic], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ForgottenTopic] = []
    for _ in range(count):
        o = new(ForgottenTopic)
        o.topic_id = ZERO_UUID
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


def _decode_fetch_request_v12(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.replica_state = None
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch = _unpack_iiiibii(buf, pos)
    pos += 25
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v12(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v12(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "rack_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.rack_id = str(buf[pos:q], "utf-8")
    pos = q
    o.cluster_id = None
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_string_length(buf, pos)
                n -= 1
                if n < 0:
                    o.cluster_id = None
                else:
                    q = pos + n
                    if q > stop:
                        raise overrun(pos, n)
                    o.cluster_id = str(buf[pos:q], "utf-8")
                    pos = q
                if pos != stop:
                    raise bad_tag(stop, "cluster_id")
            else:
                pos = stop
    return o


def _write_fetch_partition_v12(
    out: bytearray, items: Sequence[FetchPartition]
) -> None:
    for o in items:
        out += _pack_iiqiqi(o.partition, o.current_leader_epoch, o.fetch_offset, o.last_fetched_epoch, o.log_start_offset, o.partition_max_bytes)
        out.append(0)


def _write_fetch_topic_v12(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_fetch_partition_v12(out, o.partitions)
        out.append(0)


def _write_forgotten_topic_v12(
    out: bytearray, items: Sequence[ForgottenTopic]
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


def _encode_fetch_request_v12(o: FetchRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiiibii(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_fetch_topic_v12(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_forgotten_topic_v12(out, o.forgotten_topics_data)
    s = o.rack_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.cluster_id is not None:
        t = bytearray()
        s = o.cluster_id.encode()
        n = len(s) + 1
        t += UVARINTS[n] if n < 128 else long_string_length(n)
        t += s
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


def _read_fetch_topic_v13(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic = ""
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_fetch_partition_v12(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_forgotten_topic_v13(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ForgottenTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ForgottenTopic] = []
    for _ in range(count):
        o = new(ForgottenTopic)
        o.topic = ""
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
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


def _decode_fetch_request_v13(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.replica_state = None
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch = _unpack_iiiibii(buf, pos)
    pos += 25
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v13(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v13(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "rack_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.rack_id = str(buf[pos:q], "utf-8")
    pos = q
    o.cluster_id = None
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_string_length(buf, pos)
                n -= 1
                if n < 0:
                    o.cluster_id = None
                else:
                    q = pos + n
                    if q > stop:
                        raise overrun(pos, n)
                    o.cluster_id = str(buf[pos:q], "utf-8")
                    pos = q
                if pos != stop:
                    raise bad_tag(stop, "cluster_id")
            else:
                pos = stop
    return o


def _write_fetch_topic_v13(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_fetch_partition_v12(out, o.partitions)
        out.append(0)


def _write_forgotten_topic_v13(
    out: bytearray, items: Sequence[ForgottenTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.partitions)
        out.append(0)


def _encode_fetch_request_v13(o: FetchRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiiibii(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_fetch_topic_v13(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_forgotten_topic_v13(out, o.forgotten_topics_data)
    s = o.rack_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.cluster_id is not None:
        t = bytearray()
        s = o.cluster_id.encode()
        n = len(s) + 1
        t += UVARINTS[n] if n < 128 else long_string_length(n)
        t += s
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    return [out]


def _read_replica_state_v15(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[ReplicaState], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[ReplicaState] = []
    for _ in range(count):
        o = new(ReplicaState)
        o.replica_id, o.replica_epoch = _unpack_iq(buf, pos)
        pos += 12
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_fetch_request_v15(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.replica_id = -1
    o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch = _unpack_iiibii(buf, pos)
    pos += 21
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v13(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v13(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "rack_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.rack_id = str(buf[pos:q], "utf-8")
    pos = q
    o.cluster_id = None
    o.replica_state = None
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_string_length(buf, pos)
                n -= 1
                if n < 0:
                    o.cluster_id = None
                else:
                    q = pos + n
                    if q > stop:
                        raise overrun(pos, n)
                    o.cluster_id = str(buf[pos:q], "utf-8")
                    pos = q
                if pos != stop:
                    raise bad_tag(stop, "cluster_id")
            elif tag == 1:
                (o.replica_state,), pos = _read_replica_state_v15(buf, pos, stop, 1, budget)
                if pos != stop:
                    raise bad_tag(stop, "replica_state")
            else:
                pos = stop
    return o


def _write_replica_state_v15(
    out: bytearray, items: Sequence[ReplicaState]
) -> None:
    for o in items:
        out += _pack_iq(o.replica_id, o.replica_epoch)
        out.append(0)


def _encode_fetch_request_v15(o: FetchRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiibii(o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_fetch_topic_v13(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_forgotten_topic_v13(out, o.forgotten_topics_data)
    s = o.rack_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.cluster_id is None and o.replica_state is None:
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if o.cluster_id is not None:
            t = bytearray()
            s = o.cluster_id.encode()
            n = len(s) + 1
            t += UVARINTS[n] if n < 128 else long_string_length(n)
            t += s
            tags.append((0, t))
        if o.replica_state is not None and o.replica_state != ReplicaState():
            t = bytearray()
            _write_replica_state_v15(t, (o.replica_state,))
            tags.append((1, t))
        write_tags(out, tags)
    return [out]


def _read_fetch_partition_v17(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchPartition], int]:
    if count * 33 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 304
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchPartition] = []
    for _ in range(count):
        o = new(FetchPartition)
        o.high_watermark = 9223372036854775807
        o.partition, o.current_leader_epoch, o.fetch_offset, o.last_fetched_epoch, o.log_start_offset, o.partition_max_bytes = _unpack_iiqiqi(buf, pos)
        pos += 32
        o.replica_directory_id = ZERO_UUID
        if buf[pos] == 0:
            pos += 1
        else:
            tags, pos = read_tag_count(buf, pos, end)
            for _ in range(tags):
                tag, pos, stop = read_tag(buf, pos, end)
                if tag == 0:
                    (raw_replica_directory_id,) = _unpack_u(buf, pos)
                    pos += 16
                    o.replica_directory_id = Uuid(raw_replica_directory_id)
                    if pos != stop:
                        raise bad_tag(stop, "replica_directory_id")
                else:
                    pos = stop
        items.append(o)
    return items, pos


def _read_fetch_topic_v17(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic = ""
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_fetch_partition_v17(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_fetch_request_v17(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.replica_id = -1
    o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch = _unpack_iiibii(buf, pos)
    pos += 21
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v17(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v13(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "rack_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.rack_id = str(buf[pos:q], "utf-8")
    pos = q
    o.cluster_id = None
    o.replica_state = None
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_string_length(buf, pos)
                n -= 1
                if n < 0:
                    o.cluster_id = None
                else:
                    q = pos + n
                    if q > stop:
                        raise overrun(pos, n)
                    o.cluster_id = str(buf[pos:q], "utf-8")
                    pos = q
                if pos != stop:
                    raise bad_tag(stop, "cluster_id")
            elif tag == 1:
                (o.replica_state,), pos = _read_replica_state_v15(buf, pos, stop, 1, budget)
                if pos != stop:
                    raise bad_tag(stop, "replica_state")
            else:
                pos = stop
    return o


def _write_fetch_partition_v17(
    out: bytearray, items: Sequence[FetchPartition]
) -> None:
    for o in items:
        out += _pack_iiqiqi(o.partition, o.current_leader_epoch, o.fetch_offset, o.last_fetched_epoch, o.log_start_offset, o.partition_max_bytes)
        if o.replica_directory_id != ZERO_UUID:
            t = bytearray()
            if len(o.replica_directory_id) != 16:
                raise LocalError("a uuid has 16 bytes")
            t += _pack_u(o.replica_directory_id)
            write_tags(out, [(0, t)])
        else:
            out.append(0)


def _write_fetch_topic_v17(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_fetch_partition_v17(out, o.partitions)
        out.append(0)


def _encode_fetch_request_v17(o: FetchRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiibii(o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_fetch_topic_v17(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_forgotten_topic_v13(out, o.forgotten_topics_data)
    s = o.rack_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.cluster_id is None and o.replica_state is None:
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if o.cluster_id is not None:
            t = bytearray()
            s = o.cluster_id.encode()
            n = len(s) + 1
            t += UVARINTS[n] if n < 128 else long_string_length(n)
            t += s
            tags.append((0, t))
        if o.replica_state is not None and o.replica_state != ReplicaState():
            t = bytearray()
            _write_replica_state_v15(t, (o.replica_state,))
            tags.append((1, t))
        write_tags(out, tags)
    return [out]


def _read_fetch_partition_v18(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchPartition], int]:
    if count * 33 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 304
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchPartition] = []
    for _ in range(count):
        o = new(FetchPartition)
        o.partition, o.current_leader_epoch, o.fetch_offset, o.last_fetched_epoch, o.log_start_offset, o.partition_max_bytes = _unpack_iiqiqi(buf, pos)
        pos += 32
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        if buf[pos] == 0:
            pos += 1
        else:
            tags, pos = read_tag_count(buf, pos, end)
            for _ in range(tags):
                tag, pos, stop = read_tag(buf, pos, end)
                if tag == 0:
                    (raw_replica_directory_id,) = _unpack_u(buf, pos)
                    pos += 16
                    o.replica_directory_id = Uuid(raw_replica_directory_id)
                    if pos != stop:
                        raise bad_tag(stop, "replica_directory_id")
                elif tag == 1:
                    (o.high_watermark,) = _unpack_q(buf, pos)
                    pos += 8
                    if pos != stop:
                        raise bad_tag(stop, "high_watermark")
                else:
                    pos = stop
        items.append(o)
    return items, pos


def _read_fetch_topic_v18(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchTopic], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchTopic] = []
    for _ in range(count):
        o = new(FetchTopic)
        o.topic = ""
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_fetch_partition_v18(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_fetch_request_v18(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchRequest:
    o = new(FetchRequest)
    o.replica_id = -1
    o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch = _unpack_iiibii(buf, pos)
    pos += 21
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_fetch_topic_v18(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "forgotten_topics_data")
    o.forgotten_topics_data, pos = _read_forgotten_topic_v13(buf, pos, end, n, budget)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_string_length(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "rack_id")
    q = pos + n
    if q > end:
        raise overrun(pos, n)
    o.rack_id = str(buf[pos:q], "utf-8")
    pos = q
    o.cluster_id = None
    o.replica_state = None
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_string_length(buf, pos)
                n -= 1
                if n < 0:
                    o.cluster_id = None
                else:
                    q = pos + n
                    if q > stop:
                        raise overrun(pos, n)
                    o.cluster_id = str(buf[pos:q], "utf-8")
                    pos = q
                if pos != stop:
                    raise bad_tag(stop, "cluster_id")
            elif tag == 1:
                (o.replica_state,), pos = _read_replica_state_v15(buf, pos, stop, 1, budget)
                if pos != stop:
                    raise bad_tag(stop, "replica_state")
            else:
                pos = stop
    return o


def _write_fetch_partition_v18(
    out: bytearray, items: Sequence[FetchPartition]
) -> None:
    for o in items:
        out += _pack_iiqiqi(o.partition, o.current_leader_epoch, o.fetch_offset, o.last_fetched_epoch, o.log_start_offset, o.partition_max_bytes)
        if o.replica_directory_id == ZERO_UUID and o.high_watermark == 9223372036854775807:
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if o.replica_directory_id != ZERO_UUID:
                t = bytearray()
                if len(o.replica_directory_id) != 16:
                    raise LocalError("a uuid has 16 bytes")
                t += _pack_u(o.replica_directory_id)
                tags.append((0, t))
            if o.high_watermark != 9223372036854775807:
                t = bytearray()
                t += _pack_q(o.high_watermark)
                tags.append((1, t))
            write_tags(out, tags)


def _write_fetch_topic_v18(
    out: bytearray, items: Sequence[FetchTopic]
) -> None:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_fetch_partition_v18(out, o.partitions)
        out.append(0)


def _encode_fetch_request_v18(o: FetchRequest) -> list[Part]:
    out = bytearray()
    out += _pack_iiibii(o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, o.session_id, o.session_epoch)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_fetch_topic_v18(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_forgotten_topic_v13(out, o.forgotten_topics_data)
    s = o.rack_id.encode()
    n = len(s) + 1
    out += UVARINTS[n] if n < 128 else long_string_length(n)
    out += s
    if o.cluster_id is None and o.replica_state is None:
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if o.cluster_id is not None:
            t = bytearray()
            s = o.cluster_id.encode()
            n = len(s) + 1
            t += UVARINTS[n] if n < 128 else long_string_length(n)
            t += s
            tags.append((0, t))
        if o.replica_state is not None and o.replica_state != ReplicaState():
            t = bytearray()
            _write_replica_state_v15(t, (o.replica_state,))
            tags.append((1, t))
        write_tags(out, tags)
    return [out]


def _read_aborted_transaction_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AbortedTransaction], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AbortedTransaction] = []
    for _ in range(count):
        o = new(AbortedTransaction)
        o.producer_id, o.first_offset = _unpack_qq(buf, pos)
        pos += 16
        items.append(o)
    return items, pos


def _read_partition_data_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 30 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 512
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.log_start_offset = -1
        o.diverging_epoch = None
        o.current_leader = None
        o.snapshot_id = None
        o.preferred_read_replica = -1
        o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, n = _unpack_ihqqi(buf, pos)
        pos += 26
        if n < 0:
            o.aborted_transactions = None
        else:
            o.aborted_transactions, pos = _read_aborted_transaction_v4(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            o.records = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.records = buf[pos:q]
            pos = q
        items.append(o)
    return items, pos


def _read_fetchable_topic_response_v4(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchableTopicResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = new(FetchableTopicResponse)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_data_v4(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_fetch_response_v4(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.error_code = 0
    o.session_id = 0
    o.node_endpoints = []
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v4(buf, pos, end, n, budget)
    return o


def _write_aborted_transaction_v4(
    out: bytearray, items: Sequence[AbortedTransaction]
) -> None:
    for o in items:
        out += _pack_qq(o.producer_id, o.first_offset)


def _write_partition_data_v4(
    parts: list[Part], out: bytearray, items: Sequence[PartitionData]
) -> bytearray:
    for o in items:
        if o.aborted_transactions is None:
            n = -1
        else:
            n = len(o.aborted_transactions)
        out += _pack_ihqqi(o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, n)
        if o.aborted_transactions is not None:
            _write_aborted_transaction_v4(out, o.aborted_transactions)
        if o.records is None:
            n = -1
        else:
            n = len(o.records)
        out += _pack_i(n)
        if o.records is not None:
            if n > 0:
                parts += (out, o.records)
                out = bytearray()
    return out


def _write_fetchable_topic_response_v4(
    parts: list[Part], out: bytearray, items: Sequence[FetchableTopicResponse]
) -> bytearray:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out = _write_partition_data_v4(parts, out, o.partitions)
    return out


def _encode_fetch_response_v4(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    n = len(o.responses)
    out += _pack_ii(o.throttle_time_ms, n)
    out = _write_fetchable_topic_response_v4(parts, out, o.responses)
    if out:
        parts.append(out)
    return parts


def _read_partition_data_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 38 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 544
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.diverging_epoch = None
        o.current_leader = None
        o.snapshot_id = None
        o.preferred_read_replica = -1
        o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, o.log_start_offset, n = _unpack_ihqqqi(buf, pos)
        pos += 34
        if n < 0:
            o.aborted_transactions = None
        else:
            o.aborted_transactions, pos = _read_aborted_transaction_v4(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            o.records = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.records = buf[pos:q]
            pos = q
        items.append(o)
    return items, pos


def _read_fetchable_topic_response_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchableTopicResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = new(FetchableTopicResponse)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_data_v5(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_fetch_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.error_code = 0
    o.session_id = 0
    o.node_endpoints = []
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v5(buf, pos, end, n, budget)
    return o


def _write_partition_data_v5(
    parts: list[Part], out: bytearray, items: Sequence[PartitionData]
) -> bytearray:
    for o in items:
        if o.aborted_transactions is None:
            n = -1
        else:
            n = len(o.aborted_transactions)
        out += _pack_ihqqqi(o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, o.log_start_offset, n)
        if o.aborted_transactions is not None:
            _write_aborted_transaction_v4(out, o.aborted_transactions)
        if o.records is None:
            n = -1
        else:
            n = len(o.records)
        out += _pack_i(n)
        if o.records is not None:
            if n > 0:
                parts += (out, o.records)
                out = bytearray()
    return out


def _write_fetchable_topic_response_v5(
    parts: list[Part], out: bytearray, items: Sequence[FetchableTopicResponse]
) -> bytearray:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out = _write_partition_data_v5(parts, out, o.partitions)
    return out


def _encode_fetch_response_v5(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    n = len(o.responses)
    out += _pack_ii(o.throttle_time_ms, n)
    out = _write_fetchable_topic_response_v5(parts, out, o.responses)
    if out:
        parts.append(out)
    return parts


def _decode_fetch_response_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.node_endpoints = []
    o.throttle_time_ms, o.error_code, o.session_id, n = _unpack_ihii(buf, pos)
    pos += 14
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v5(buf, pos, end, n, budget)
    return o


def _encode_fetch_response_v7(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    n = len(o.responses)
    out += _pack_ihii(o.throttle_time_ms, o.error_code, o.session_id, n)
    out = _write_fetchable_topic_response_v5(parts, out, o.responses)
    if out:
        parts.append(out)
    return parts


def _read_partition_data_v11(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 42 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 576
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.diverging_epoch = None
        o.current_leader = None
        o.snapshot_id = None
        o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, o.log_start_offset, n = _unpack_ihqqqi(buf, pos)
        pos += 34
        if n < 0:
            o.aborted_transactions = None
        else:
            o.aborted_transactions, pos = _read_aborted_transaction_v4(buf, pos, end, n, budget)
        o.preferred_read_replica, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            o.records = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.records = buf[pos:q]
            pos = q
        items.append(o)
    return items, pos


def _read_fetchable_topic_response_v11(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchableTopicResponse], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = new(FetchableTopicResponse)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_data_v11(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_fetch_response_v11(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.node_endpoints = []
    o.throttle_time_ms, o.error_code, o.session_id, n = _unpack_ihii(buf, pos)
    pos += 14
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v11(buf, pos, end, n, budget)
    return o


def _write_partition_data_v11(
    parts: list[Part], out: bytearray, items: Sequence[PartitionData]
) -> bytearray:
    for o in items:
        if o.aborted_transactions is None:
            n = -1
        else:
            n = len(o.aborted_transactions)
        out += _pack_ihqqqi(o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, o.log_start_offset, n)
        if o.aborted_transactions is not None:
            _write_aborted_transaction_v4(out, o.aborted_transactions)
        if o.records is None:
            n = -1
        else:
            n = len(o.records)
        out += _pack_ii(o.preferred_read_replica, n)
        if o.records is not None:
            if n > 0:
                parts += (out, o.records)
                out = bytearray()
    return out


def _write_fetchable_topic_response_v11(
    parts: list[Part], out: bytearray, items: Sequence[FetchableTopicResponse]
) -> bytearray:
    for o in items:
        s = o.topic.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.partitions)
        out += _pack_i(n)
        out = _write_partition_data_v11(parts, out, o.partitions)
    return out


def _encode_fetch_response_v11(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    n = len(o.responses)
    out += _pack_ihii(o.throttle_time_ms, o.error_code, o.session_id, n)
    out = _write_fetchable_topic_response_v11(parts, out, o.responses)
    if out:
        parts.append(out)
    return parts


def _read_aborted_transaction_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[AbortedTransaction], int]:
    if count * 17 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[AbortedTransaction] = []
    for _ in range(count):
        o = new(AbortedTransaction)
        o.producer_id, o.first_offset = _unpack_qq(buf, pos)
        pos += 16
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_epoch_end_offset_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[EpochEndOffset], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[EpochEndOffset] = []
    for _ in range(count):
        o = new(EpochEndOffset)
        o.epoch, o.end_offset = _unpack_iq(buf, pos)
        pos += 12
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_leader_id_and_epoch_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[LeaderIdAndEpoch], int]:
    if count * 9 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[LeaderIdAndEpoch] = []
    for _ in range(count):
        o = new(LeaderIdAndEpoch)
        o.leader_id, o.leader_epoch = _unpack_ii(buf, pos)
        pos += 8
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_snapshot_id_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[SnapshotId], int]:
    if count * 13 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 128
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[SnapshotId] = []
    for _ in range(count):
        o = new(SnapshotId)
        o.end_offset, o.epoch = _unpack_qi(buf, pos)
        pos += 12
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_partition_data_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[PartitionData], int]:
    if count * 37 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 576
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[PartitionData] = []
    for _ in range(count):
        o = new(PartitionData)
        o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, o.log_start_offset = _unpack_ihqqq(buf, pos)
        pos += 30
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.aborted_transactions = None
        else:
            o.aborted_transactions, pos = _read_aborted_transaction_v12(buf, pos, end, n, budget)
        (o.preferred_read_replica,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.records = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.records = buf[pos:q]
            pos = q
        o.diverging_epoch = None
        o.current_leader = None
        o.snapshot_id = None
        if buf[pos] == 0:
            pos += 1
        else:
            tags, pos = read_tag_count(buf, pos, end)
            for _ in range(tags):
                tag, pos, stop = read_tag(buf, pos, end)
                if tag == 0:
                    (o.diverging_epoch,), pos = _read_epoch_end_offset_v12(buf, pos, stop, 1, budget)
                    if pos != stop:
                        raise bad_tag(stop, "diverging_epoch")
                elif tag == 1:
                    (o.current_leader,), pos = _read_leader_id_and_epoch_v12(buf, pos, stop, 1, budget)
                    if pos != stop:
                        raise bad_tag(stop, "current_leader")
                elif tag == 2:
                    (o.snapshot_id,), pos = _read_snapshot_id_v12(buf, pos, stop, 1, budget)
                    if pos != stop:
                        raise bad_tag(stop, "snapshot_id")
                else:
                    pos = stop
        items.append(o)
    return items, pos


def _read_fetchable_topic_response_v12(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchableTopicResponse], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = new(FetchableTopicResponse)
        o.topic_id = ZERO_UUID
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
        o.partitions, pos = _read_partition_data_v12(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_fetch_response_v12(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.node_endpoints = []
    o.throttle_time_ms, o.error_code, o.session_id = _unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v12(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_aborted_transaction_v12(
    out: bytearray, items: Sequence[AbortedTransaction]
) -> None:
    for o in items:
        out += _pack_qq(o.producer_id, o.first_offset)
        out.append(0)


def _write_epoch_end_offset_v12(
    out: bytearray, items: Sequence[EpochEndOffset]
) -> None:
    for o in items:
        out += _pack_iq(o.epoch, o.end_offset)
        out.append(0)


def _write_leader_id_and_epoch_v12(
    out: bytearray, items: Sequence[LeaderIdAndEpoch]
) -> None:
    for o in items:
        out += _pack_ii(o.leader_id, o.leader_epoch)
        out.append(0)


def _write_snapshot_id_v12(
    out: bytearray, items: Sequence[SnapshotId]
) -> None:
    for o in items:
        out += _pack_qi(o.end_offset, o.epoch)
        out.append(0)


def _write_partition_data_v12(
    parts: list[Part], out: bytearray, items: Sequence[PartitionData]
) -> bytearray:
    for o in items:
        out += _pack_ihqqq(o.partition_index, o.error_code, o.high_watermark, o.last_stable_offset, o.log_start_offset)
        if o.aborted_transactions is None:
            out.append(0)
        else:
            n = len(o.aborted_transactions) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_aborted_transaction_v12(out, o.aborted_transactions)
        out += _pack_i(o.preferred_read_replica)
        if o.records is None:
            out.append(0)
        else:
            n = len(o.records) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            if n > 1:
                parts += (out, o.records)
                out = bytearray()
        if o.diverging_epoch is None and o.current_leader is None and o.snapshot_id is None:
            out.append(0)
        else:
            tags: list[tuple[int, bytearray]] = []
            if o.diverging_epoch is not None and o.diverging_epoch != EpochEndOffset():
                t = bytearray()
                _write_epoch_end_offset_v12(t, (o.diverging_epoch,))
                tags.append((0, t))
            if o.current_leader is not None and o.current_leader != LeaderIdAndEpoch():
                t = bytearray()
                _write_leader_id_and_epoch_v12(t, (o.current_leader,))
                tags.append((1, t))
            if o.snapshot_id is not None and o.snapshot_id != SnapshotId():
                t = bytearray()
                _write_snapshot_id_v12(t, (o.snapshot_id,))
                tags.append((2, t))
            write_tags(out, tags)
    return out


def _write_fetchable_topic_response_v12(
    parts: list[Part], out: bytearray, items: Sequence[FetchableTopicResponse]
) -> bytearray:
    for o in items:
        s = o.topic.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out = _write_partition_data_v12(parts, out, o.partitions)
        out.append(0)
    return out


def _encode_fetch_response_v12(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    out += _pack_ihi(o.throttle_time_ms, o.error_code, o.session_id)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out = _write_fetchable_topic_response_v12(parts, out, o.responses)
    out.append(0)
    if out:
        parts.append(out)
    return parts


def _read_fetchable_topic_response_v13(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[FetchableTopicResponse], int]:
    if count * 18 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 192
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[FetchableTopicResponse] = []
    for _ in range(count):
        o = new(FetchableTopicResponse)
        o.topic = ""
        (raw_topic_id,) = _unpack_u(buf, pos)
        pos += 16
        o.topic_id = Uuid(raw_topic_id)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "partitions")
        o.partitions, pos = _read_partition_data_v12(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_fetch_response_v13(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.node_endpoints = []
    o.throttle_time_ms, o.error_code, o.session_id = _unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v13(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_fetchable_topic_response_v13(
    parts: list[Part], out: bytearray, items: Sequence[FetchableTopicResponse]
) -> bytearray:
    for o in items:
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_u(o.topic_id)
        n = len(o.partitions) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out = _write_partition_data_v12(parts, out, o.partitions)
        out.append(0)
    return out


def _encode_fetch_response_v13(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    out += _pack_ihi(o.throttle_time_ms, o.error_code, o.session_id)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out = _write_fetchable_topic_response_v13(parts, out, o.responses)
    out.append(0)
    if out:
        parts.append(out)
    return parts


def _read_node_endpoint_v16(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[NodeEndpoint], int]:
    if count * 11 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 256
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[NodeEndpoint] = []
    for _ in range(count):
        o = new(NodeEndpoint)
        (o.node_id,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "host")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.host = str(buf[pos:q], "utf-8")
        pos = q
        (o.port,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.rack = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.rack = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_fetch_response_v16(buf: memoryview, pos: int, end: int, budget: list[int]) -> FetchResponse:
    o = new(FetchResponse)
    o.throttle_time_ms, o.error_code, o.session_id = _unpack_ihi(buf, pos)
    pos += 10
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "responses")
    o.responses, pos = _read_fetchable_topic_response_v13(buf, pos, end, n, budget)
    o.node_endpoints = []
    if buf[pos] == 0:
        pos += 1
    else:
        tags, pos = read_tag_count(buf, pos, end)
        for _ in range(tags):
            tag, pos, stop = read_tag(buf, pos, end)
            if tag == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = read_long_uvarint(buf, pos)
                n -= 1
                if n < 0:
                    raise unexpected_null(pos, "node_endpoints")
                o.node_endpoints, pos = _read_node_endpoint_v16(buf, pos, stop, n, budget)
                if pos != stop:
                    raise bad_tag(stop, "node_endpoints")
            else:
                pos = stop
    return o


def _write_node_endpoint_v16(
    out: bytearray, items: Sequence[NodeEndpoint]
) -> None:
    for o in items:
        out += _pack_i(o.node_id)
        s = o.host.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_i(o.port)
        if o.rack is None:
            out.append(0)
        else:
            s = o.rack.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _encode_fetch_response_v16(o: FetchResponse) -> list[Part]:
    parts: list[Part] = []
    out = bytearray()
    out += _pack_ihi(o.throttle_time_ms, o.error_code, o.session_id)
    n = len(o.responses) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    out = _write_fetchable_topic_response_v13(parts, out, o.responses)
    if o.node_endpoints:
        t = bytearray()
        n = len(o.node_endpoints) + 1
        t += UVARINTS[n] if n < 128 else uvarint(n)
        _write_node_endpoint_v16(t, o.node_endpoints)
        write_tags(out, [(0, t)])
    else:
        out.append(0)
    if out:
        parts.append(out)
    return parts


FetchRequest.DECODERS = {
    4: _decode_fetch_request_v4,
    5: _decode_fetch_request_v5,
    6: _decode_fetch_request_v5,
    7: _decode_fetch_request_v7,
    8: _decode_fetch_request_v7,
    9: _decode_fetch_request_v9,
    10: _decode_fetch_request_v9,
    11: _decode_fetch_request_v11,
    12: _decode_fetch_request_v12,
    13: _decode_fetch_request_v13,
    14: _decode_fetch_request_v13,
    15: _decode_fetch_request_v15,
    16: _decode_fetch_request_v15,
    17: _decode_fetch_request_v17,
    18: _decode_fetch_request_v18,
}
FetchRequest.ENCODERS = {
    4: _encode_fetch_request_v4,
    5: _encode_fetch_request_v5,
    6: _encode_fetch_request_v5,
    7: _encode_fetch_request_v7,
    8: _encode_fetch_request_v7,
    9: _encode_fetch_request_v9,
    10: _encode_fetch_request_v9,
    11: _encode_fetch_request_v11,
    12: _encode_fetch_request_v12,
    13: _encode_fetch_request_v13,
    14: _encode_fetch_request_v13,
    15: _encode_fetch_request_v15,
    16: _encode_fetch_request_v15,
    17: _encode_fetch_request_v17,
    18: _encode_fetch_request_v18,
}
FetchResponse.DECODERS = {
    4: _decode_fetch_response_v4,
    5: _decode_fetch_response_v5,
    6: _decode_fetch_response_v5,
    7: _decode_fetch_response_v7,
    8: _decode_fetch_response_v7,
    9: _decode_fetch_response_v7,
    10: _decode_fetch_response_v7,
    11: _decode_fetch_response_v11,
    12: _decode_fetch_response_v12,
    13: _decode_fetch_response_v13,
    14: _decode_fetch_response_v13,
    15: _decode_fetch_response_v13,
    16: _decode_fetch_response_v16,
    17: _decode_fetch_response_v16,
    18: _decode_fetch_response_v16,
}
FetchResponse.ENCODERS = {
    4: _encode_fetch_response_v4,
    5: _encode_fetch_response_v5,
    6: _encode_fetch_response_v5,
    7: _encode_fetch_response_v7,
    8: _encode_fetch_response_v7,
    9: _encode_fetch_response_v7,
    10: _encode_fetch_response_v7,
    11: _encode_fetch_response_v11,
    12: _encode_fetch_response_v12,
    13: _encode_fetch_response_v13,
    14: _encode_fetch_response_v13,
    15: _encode_fetch_response_v13,
    16: _encode_fetch_response_v16,
    17: _encode_fetch_response_v16,
    18: _encode_fetch_response_v16,
}
