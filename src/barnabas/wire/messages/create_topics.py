"""Creates topics with placement and configuration.

Generated from schemas/create_topics.msg by codegen; edit that and run it again.
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

_pack_uh = Struct(">16sh").pack
_pack_tbt = Struct(">?b?").pack
_pack_h = Struct(">h").pack
_pack_hh = Struct(">hh").pack
_pack_i = Struct(">i").pack
_pack_it = Struct(">i?").pack
_pack_ih = Struct(">ih").pack
_pack_ihi = Struct(">ihi").pack
_pack_ii = Struct(">ii").pack
_unpack_uh = Struct(">16sh").unpack_from
_unpack_tbt = Struct(">?b?").unpack_from
_unpack_h = Struct(">h").unpack_from
_unpack_hh = Struct(">hh").unpack_from
_unpack_i = Struct(">i").unpack_from
_unpack_it = Struct(">i?").unpack_from
_unpack_ih = Struct(">ih").unpack_from
_unpack_ihi = Struct(">ihi").unpack_from
_unpack_ii = Struct(">ii").unpack_from


class CreatableReplicaAssignment(WireStruct):
    __slots__ = (
        "partition_index",
        "broker_ids",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("partition_index", "int32", 2, 7, False),
        ("broker_ids", "[int32]", 2, 7, False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids  # the first is the preferred leader


class CreatableTopicConfig(WireStruct):
    __slots__ = (
        "name",
        "value",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 2, 7, False),
        ("value", "string", 2, 7, True),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class CreatableTopic(WireStruct):
    __slots__ = (
        "name",
        "num_partitions",
        "replication_factor",
        "assignments",
        "configs",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 2, 7, False),
        ("num_partitions", "int32", 2, 7, False),
        ("replication_factor", "int16", 2, 7, False),
        ("assignments", "[CreatableReplicaAssignment]", 2, 7, False),
        ("configs", "[CreatableTopicConfig]", 2, 7, False),
    )

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = EMPTY,
        configs: list[CreatableTopicConfig] = EMPTY,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions  # -1 for the default, or when assignments are given
        self.replication_factor = replication_factor  # -1 for the default, or when assignments are given
        self.assignments = [] if assignments is EMPTY else assignments  # manual placement; empty for automatic
        self.configs = [] if configs is EMPTY else configs


class CreatableTopicConfigs(WireStruct):
    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 5, 7, False),
        ("value", "string", 5, 7, True),
        ("read_only", "bool", 5, 7, False),
        ("config_source", "int8", 5, 7, False),
        ("is_sensitive", "bool", 5, 7, False),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source  # 1 topic, 2 broker, 3 default broker, 4 static, 5 default, 6 logger
        self.is_sensitive = is_sensitive  # the value is withheld


class CreatableTopicResult(WireStruct):
    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "topic_config_error_code",
        "num_partitions",
        "replication_factor",
        "configs",
    )
    FIELDS: ClassVar[FieldSpecs] = (
        ("name", "string", 2, 7, False),
        ("topic_id", "uuid", 7, 7, False),
        ("error_code", "int16", 2, 7, False),
        ("error_message", "string", 2, 7, True),
        ("topic_config_error_code", "int16", 5, 7, False),
        ("num_partitions", "int32", 5, 7, False),
        ("replication_factor", "int16", 5, 7, False),
        ("configs", "[CreatableTopicConfigs]", 5, 7, True),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: Uuid = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code  # when the configs may not be seen
        self.num_partitions = num_partitions  # -1 after an error
        self.replication_factor = replication_factor  # -1 after an error
        self.configs = [] if configs is EMPTY else configs


class CreateTopicsRequest(Request["CreateTopicsResponse"]):
    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
    )
    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int] = 5
    FIELDS: ClassVar[FieldSpecs] = (
        ("topics", "[CreatableTopic]", 2, 7, False),
        ("timeout_ms", "int32", 2, 7, False),
        ("validate_only", "bool", 2, 7, False),
    )

    def __init__(
        self,
        topics: list[CreatableTopic] = EMPTY,
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only  # check, but change nothing


class CreateTopicsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int] = 5
    FIELDS: ClassVar[FieldSpecs] = (
        ("throttle_time_ms", "int32", 2, 7, False),
        ("topics", "[CreatableTopicResult]", 2, 7, False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def _read_creatable_replica_assignment_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableReplicaAssignment], int]:
    if count * 8 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableReplicaAssignment] = []
    for _ in range(count):
        o = new(CreatableReplicaAssignment)
        o.partition_index, n = _unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise unexpected_null(pos, "broker_ids")
        o.broker_ids, pos = read_int32s(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _read_creatable_topic_config_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopicConfig], int]:
    if count * 4 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopicConfig] = []
    for _ in range(count):
        o = new(CreatableTopicConfig)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.value = str(buf[pos:q], "utf-8")
            pos = q
        items.append(o)
    return items, pos


def _read_creatable_topic_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopic], int]:
    if count * 16 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 336
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopic] = []
    for _ in range(count):
        o = new(CreatableTopic)
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.num_partitions, o.replication_factor, n = _unpack_ihi(buf, pos)
        pos += 10
        if n < 0:
            raise unexpected_null(pos, "assignments")
        o.assignments, pos = _read_creatable_replica_assignment_v2(buf, pos, end, n, budget)
        (n,) = _unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_creatable_topic_config_v2(buf, pos, end, n, budget)
        items.append(o)
    return items, pos


def _decode_create_topics_request_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateTopicsRequest:
    o = new(CreateTopicsRequest)
    (n,) = _unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_creatable_topic_v2(buf, pos, end, n, budget)
    o.timeout_ms, o.validate_only = _unpack_it(buf, pos)
    pos += 5
    return o


def _write_creatable_replica_assignment_v2(
    out: bytearray, items: Sequence[CreatableReplicaAssignment]
) -> None:
    for o in items:
        n = len(o.broker_ids)
        out += _pack_ii(o.partition_index, n)
        out += int32_elements(o.broker_ids)


def _write_creatable_topic_config_v2(
    out: bytearray, items: Sequence[CreatableTopicConfig]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.value is None:
            n = -1
            s = b""
        else:
            s = o.value.encode()
            n = len(s)
        out += _pack_h(n)
        out += s


def _write_creatable_topic_v2(
    out: bytearray, items: Sequence[CreatableTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        n = len(o.assignments)
        out += _pack_ihi(o.num_partitions, o.replication_factor, n)
        _write_creatable_replica_assignment_v2(out, o.assignments)
        n = len(o.configs)
        out += _pack_i(n)
        _write_creatable_topic_config_v2(out, o.configs)


def _encode_create_topics_request_v2(o: CreateTopicsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_i(n)
    _write_creatable_topic_v2(out, o.topics)
    out += _pack_it(o.timeout_ms, o.validate_only)
    return [out]


def _read_creatable_replica_assignment_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableReplicaAssignment], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 160
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableReplicaAssignment] = []
    for _ in range(count):
        o = new(CreatableReplicaAssignment)
        (o.partition_index,) = _unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "broker_ids")
        o.broker_ids, pos = read_int32s(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_creatable_topic_config_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopicConfig], int]:
    if count * 3 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 176
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopicConfig] = []
    for _ in range(count):
        o = new(CreatableTopicConfig)
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
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.value = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.value = str(buf[pos:q], "utf-8")
            pos = q
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_creatable_topic_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopic], int]:
    if count * 10 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 336
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopic] = []
    for _ in range(count):
        o = new(CreatableTopic)
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
        o.num_partitions, o.replication_factor = _unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "assignments")
        o.assignments, pos = _read_creatable_replica_assignment_v5(buf, pos, end, n, budget)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            raise unexpected_null(pos, "configs")
        o.configs, pos = _read_creatable_topic_config_v5(buf, pos, end, n, budget)
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _decode_create_topics_request_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateTopicsRequest:
    o = new(CreateTopicsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_creatable_topic_v5(buf, pos, end, n, budget)
    o.timeout_ms, o.validate_only = _unpack_it(buf, pos)
    pos += 5
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_creatable_replica_assignment_v5(
    out: bytearray, items: Sequence[CreatableReplicaAssignment]
) -> None:
    for o in items:
        out += _pack_i(o.partition_index)
        n = len(o.broker_ids) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        out += int32_elements(o.broker_ids)
        out.append(0)


def _write_creatable_topic_config_v5(
    out: bytearray, items: Sequence[CreatableTopicConfig]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.value is None:
            out.append(0)
        else:
            s = o.value.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out.append(0)


def _write_creatable_topic_v5(
    out: bytearray, items: Sequence[CreatableTopic]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_ih(o.num_partitions, o.replication_factor)
        n = len(o.assignments) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_creatable_replica_assignment_v5(out, o.assignments)
        n = len(o.configs) + 1
        out += UVARINTS[n] if n < 128 else uvarint(n)
        _write_creatable_topic_config_v5(out, o.configs)
        out.append(0)


def _encode_create_topics_request_v5(o: CreateTopicsRequest) -> list[Part]:
    out = bytearray()
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_creatable_topic_v5(out, o.topics)
    out += _pack_it(o.timeout_ms, o.validate_only)
    out.append(0)
    return [out]


def _read_creatable_topic_result_v2(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopicResult], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 320
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = new(CreatableTopicResult)
        o.topic_id = ZERO_UUID
        o.topic_config_error_code = 0
        o.num_partitions = -1
        o.replication_factor = -1
        o.configs = []
        (n,) = _unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise unexpected_null(pos, "name")
        q = pos + n
        if q > end:
            raise overrun(pos, n)
        o.name = str(buf[pos:q], "utf-8")
        pos = q
        o.error_code, n = _unpack_hh(buf, pos)
        pos += 4
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


def _decode_create_topics_response_v2(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateTopicsResponse:
    o = new(CreateTopicsResponse)
    o.throttle_time_ms, n = _unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_creatable_topic_result_v2(buf, pos, end, n, budget)
    return o


def _write_creatable_topic_result_v2(
    out: bytearray, items: Sequence[CreatableTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s)
        out += _pack_h(n)
        out += s
        if o.error_message is None:
            n = -1
            s = b""
        else:
            s = o.error_message.encode()
            n = len(s)
        out += _pack_hh(o.error_code, n)
        out += s


def _encode_create_topics_response_v2(o: CreateTopicsResponse) -> list[Part]:
    out = bytearray()
    n = len(o.topics)
    out += _pack_ii(o.throttle_time_ms, n)
    _write_creatable_topic_result_v2(out, o.topics)
    return [out]


def _read_creatable_topic_configs_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopicConfigs], int]:
    if count * 6 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 200
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopicConfigs] = []
    for _ in range(count):
        o = new(CreatableTopicConfigs)
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
            n, pos = read_long_string_length(buf, pos)
        n -= 1
        if n < 0:
            o.value = None
        else:
            q = pos + n
            if q > end:
                raise overrun(pos, n)
            o.value = str(buf[pos:q], "utf-8")
            pos = q
        o.read_only, o.config_source, o.is_sensitive = _unpack_tbt(buf, pos)
        pos += 3
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tags(buf, pos, end)
        items.append(o)
    return items, pos


def _read_creatable_topic_result_v5(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopicResult], int]:
    if count * 12 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 384
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = new(CreatableTopicResult)
        o.topic_id = ZERO_UUID
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
        (o.error_code,) = _unpack_h(buf, pos)
        pos += 2
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
        o.num_partitions, o.replication_factor = _unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.configs = None
        else:
            o.configs, pos = _read_creatable_topic_configs_v5(buf, pos, end, n, budget)
        o.topic_config_error_code = 0
        if buf[pos] == 0:
            pos += 1
        else:
            tags, pos = read_tag_count(buf, pos, end)
            for _ in range(tags):
                tag, pos, stop = read_tag(buf, pos, end)
                if tag == 0:
                    (o.topic_config_error_code,) = _unpack_h(buf, pos)
                    pos += 2
                    if pos != stop:
                        raise bad_tag(stop, "topic_config_error_code")
                else:
                    pos = stop
        items.append(o)
    return items, pos


def _decode_create_topics_response_v5(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateTopicsResponse:
    o = new(CreateTopicsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_creatable_topic_result_v5(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_creatable_topic_configs_v5(
    out: bytearray, items: Sequence[CreatableTopicConfigs]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if o.value is None:
            out.append(0)
        else:
            s = o.value.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_tbt(o.read_only, o.config_source, o.is_sensitive)
        out.append(0)


def _write_creatable_topic_result_v5(
    out: bytearray, items: Sequence[CreatableTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        out += _pack_h(o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_ih(o.num_partitions, o.replication_factor)
        if o.configs is None:
            out.append(0)
        else:
            n = len(o.configs) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_creatable_topic_configs_v5(out, o.configs)
        if o.topic_config_error_code != 0:
            t = bytearray()
            t += _pack_h(o.topic_config_error_code)
            write_tags(out, [(0, t)])
        else:
            out.append(0)


def _encode_create_topics_response_v5(o: CreateTopicsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_creatable_topic_result_v5(out, o.topics)
    out.append(0)
    return [out]


def _read_creatable_topic_result_v7(
    buf: memoryview, pos: int, end: int, count: int, budget: list[int]
) -> tuple[list[CreatableTopicResult], int]:
    if count * 28 > end - pos:
        raise too_many(pos, count)
    left = budget[0] - count * 440
    if left < 0:
        raise over_budget(pos, count)
    budget[0] = left
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = new(CreatableTopicResult)
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
        raw_topic_id, o.error_code = _unpack_uh(buf, pos)
        pos += 18
        o.topic_id = Uuid(raw_topic_id)
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
        o.num_partitions, o.replication_factor = _unpack_ih(buf, pos)
        pos += 6
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = read_long_uvarint(buf, pos)
        n -= 1
        if n < 0:
            o.configs = None
        else:
            o.configs, pos = _read_creatable_topic_configs_v5(buf, pos, end, n, budget)
        o.topic_config_error_code = 0
        if buf[pos] == 0:
            pos += 1
        else:
            tags, pos = read_tag_count(buf, pos, end)
            for _ in range(tags):
                tag, pos, stop = read_tag(buf, pos, end)
                if tag == 0:
                    (o.topic_config_error_code,) = _unpack_h(buf, pos)
                    pos += 2
                    if pos != stop:
                        raise bad_tag(stop, "topic_config_error_code")
                else:
                    pos = stop
        items.append(o)
    return items, pos


def _decode_create_topics_response_v7(buf: memoryview, pos: int, end: int, budget: list[int]) -> CreateTopicsResponse:
    o = new(CreateTopicsResponse)
    (o.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = read_long_uvarint(buf, pos)
    n -= 1
    if n < 0:
        raise unexpected_null(pos, "topics")
    o.topics, pos = _read_creatable_topic_result_v7(buf, pos, end, n, budget)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tags(buf, pos, end)
    return o


def _write_creatable_topic_result_v7(
    out: bytearray, items: Sequence[CreatableTopicResult]
) -> None:
    for o in items:
        s = o.name.encode()
        n = len(s) + 1
        out += UVARINTS[n] if n < 128 else long_string_length(n)
        out += s
        if len(o.topic_id) != 16:
            raise LocalError("a uuid has 16 bytes")
        out += _pack_uh(o.topic_id, o.error_code)
        if o.error_message is None:
            out.append(0)
        else:
            s = o.error_message.encode()
            n = len(s) + 1
            out += UVARINTS[n] if n < 128 else long_string_length(n)
            out += s
        out += _pack_ih(o.num_partitions, o.replication_factor)
        if o.configs is None:
            out.append(0)
        else:
            n = len(o.configs) + 1
            out += UVARINTS[n] if n < 128 else uvarint(n)
            _write_creatable_topic_configs_v5(out, o.configs)
        if o.topic_config_error_code != 0:
            t = bytearray()
            t += _pack_h(o.topic_config_error_code)
            write_tags(out, [(0, t)])
        else:
            out.append(0)


def _encode_create_topics_response_v7(o: CreateTopicsResponse) -> list[Part]:
    out = bytearray()
    out += _pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out += UVARINTS[n] if n < 128 else uvarint(n)
    _write_creatable_topic_result_v7(out, o.topics)
    out.append(0)
    return [out]


CreateTopicsRequest.DECODERS = {
    2: _decode_create_topics_request_v2,
    3: _decode_create_topics_request_v2,
    4: _decode_create_topics_request_v2,
    5: _decode_create_topics_request_v5,
    6: _decode_create_topics_request_v5,
    7: _decode_create_topics_request_v5,
}
CreateTopicsRequest.ENCODERS = {
    2: _encode_create_topics_request_v2,
    3: _encode_create_topics_request_v2,
    4: _encode_create_topics_request_v2,
    5: _encode_create_topics_request_v5,
    6: _encode_create_topics_request_v5,
    7: _encode_create_topics_request_v5,
}
CreateTopicsResponse.DECODERS = {
    2: _decode_create_topics_response_v2,
    3: _decode_create_topics_response_v2,
    4: _decode_create_topics_response_v2,
    5: _decode_create_topics_response_v5,
    6: _decode_create_topics_response_v5,
    7: _decode_create_topics_response_v7,
}
CreateTopicsResponse.ENCODERS = {
    2: _encode_create_topics_response_v2,
    3: _encode_create_topics_response_v2,
    4: _encode_create_topics_response_v2,
    5: _encode_create_topics_response_v5,
    6: _encode_create_topics_response_v5,
    7: _encode_create_topics_response_v7,
}
