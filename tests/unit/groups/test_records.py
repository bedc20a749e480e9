"""The bytes of records, against Kafka's formats written out by hand."""

import struct

from support.groups.driver import topic_id

from barnabas.groups import records
from barnabas.groups.classic.group import ClassicGroup, ClassicGroupMember
from barnabas.groups.consumer.group import (
    ClassicMetadata,
    ConsumerGroupMember,
    MemberState,
    ResolvedRegex,
    TopicMetadata,
)
from barnabas.groups.offset_store import CommittedOffset
from barnabas.groups.requests import Protocol


def text(value):
    """A string before flexible versions."""
    return struct.pack(">h", len(value)) + value.encode()


def compact(value):
    """A string of flexible versions."""
    return bytes([len(value) + 1]) + value.encode()


def short(value):
    return struct.pack(">h", value)


def int32(value):
    return struct.pack(">i", value)


def int64(value):
    return struct.pack(">q", value)


T, NO_TAGS, NULL = bytes(topic_id("t")), b"\0", b"\0"


def test_an_offset_has_kafkas_bytes():
    key, value, _ = records.offset_commit("g", "t", 3, CommittedOffset(42, 7, "meta", 1_000))
    assert key == short(1) + text("g") + text("t") + int32(3)
    assert value == short(3) + int64(42) + int32(7) + text("meta") + int64(1_000)
    assert records.offset_tombstone("g", "t", 3) == (key, None, ())


def test_offset_with_its_own_expiry():
    committed = CommittedOffset(42, 7, "meta", 1_000, expire_timestamp_ms=2_000)
    _, value, _ = records.offset_commit("g", "t", 3, committed)
    assert value == short(1) + int64(42) + text("meta") + int64(1_000) + int64(2_000)


def test_a_classic_group_has_kafkas_bytes():
    group = ClassicGroup("g", generation_id=5, protocol_name="range", state_timestamp_ms=9)
    group.add(
        ClassicGroupMember("m", "i", "c", "/h", 60, 30, "consumer", (Protocol("range", b"sub"),))
    )
    key, value, _ = records.group_metadata(group, {"m": b"assigned"}, 77)
    assert key == short(2) + text("g")
    head = text("consumer") + int32(5) + text("range") + text("m") + int64(9)
    member = text("m") + text("i") + text("c") + text("/h") + int32(60) + int32(30)
    assigned = int32(3) + b"sub" + int32(8) + b"assigned"
    assert value == short(3) + head + int32(1) + member + assigned
    assert records.group_tombstone("g") == (key, None, ())


def test_empty_classic_group():
    group = ClassicGroup("g", generation_id=6, protocol_type="consumer")
    _, value, _ = records.group_metadata(group, {}, 77)
    null = short(-1)
    expected = text("consumer") + int32(6) + null + null + int64(77) + int32(0)
    assert value == short(3) + expected


def test_consumer_group_epochs():
    key, value, _ = records.consumer_epoch("g", 4)
    assert key == short(3) + text("g")
    assert value == short(0) + int32(4) + NO_TAGS
    key, value, _ = records.consumer_target_epoch("g", 4)
    assert key == short(6) + text("g")
    assert value == short(0) + int32(4) + NO_TAGS


def test_consumer_subscription_metadata():
    key, value, _ = records.consumer_subscription_metadata("g", {"t": TopicMetadata(T, 8)})
    assert key == short(4) + text("g")
    topic = T + compact("t") + int32(8) + b"\1" + NO_TAGS
    assert value == short(0) + b"\2" + topic + NO_TAGS


def test_a_consumer_member_has_kafkas_bytes():
    member = ConsumerGroupMember(
        "m",
        instance_id="i",
        client_id="c",
        client_host="/h",
        rebalance_timeout_ms=60,
        subscribed_topic_names=frozenset({"u", "t"}),
    )
    key, value, _ = records.consumer_member("g", member)
    assert key == short(5) + text("g") + text("m")
    names = b"\3" + compact("t") + compact("u")
    told = compact("i") + NULL + compact("c") + compact("/h") + names + compact("")
    assert value == short(0) + told + int32(60) + NULL + NO_TAGS


def test_consumer_member_of_the_classic_protocol():
    member = ConsumerGroupMember("m", classic=ClassicMetadata(45, (Protocol("range", b"sub"),)))
    _, value, _ = records.consumer_member("g", member)
    protocol = compact("range") + b"\4sub" + NO_TAGS
    classic = b"\1" + int32(45) + b"\2" + protocol + NO_TAGS
    assert value.endswith(b"\1\0" + bytes([len(classic)]) + classic)


def test_target_and_current_assignment_have_kafkas_bytes():
    partitions = {T: frozenset({2, 1})}
    listed = b"\2" + T + b"\3" + int32(1) + int32(2) + NO_TAGS
    key, value, _ = records.consumer_target_member("g", "m", partitions)
    assert key == short(7) + text("g") + text("m")
    assert value == short(0) + listed + NO_TAGS
    member = ConsumerGroupMember(
        "m", 5, 4, MemberState.UNREVOKED_PARTITIONS, assigned=partitions, pending_revocation={}
    )
    key, value, _ = records.consumer_current_assignment("g", member)
    assert key == short(8) + text("g") + text("m")
    assert value == short(0) + int32(5) + int32(4) + b"\1" + listed + b"\1" + NO_TAGS


def test_a_resolved_pattern_has_kafkas_bytes():
    key, value, _ = records.consumer_regex("g", "t.*", ResolvedRegex(frozenset({"t"}), 3, 9))
    assert key == short(16) + text("g") + text("t.*")
    assert value == short(0) + b"\2" + compact("t") + int64(3) + int64(9) + NO_TAGS


def test_tombstones_cover_every_key_of_a_group():
    member = ConsumerGroupMember("m")
    written = [
        records.consumer_epoch("g", 1),
        records.consumer_subscription_metadata("g", {}),
        records.consumer_member("g", member),
        records.consumer_target_epoch("g", 1),
        records.consumer_target_member("g", "m", {}),
        records.consumer_current_assignment("g", member),
        records.consumer_regex("g", "t.*", ResolvedRegex(frozenset(), 0, 0)),
    ]
    tombstones = records.consumer_group_tombstones("g", ["m"], ["t.*"])
    assert {record.key for record in tombstones} == {record.key for record in written}
    assert all(record.value is None for record in tombstones)
