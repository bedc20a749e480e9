"""Loading from the log; other tests reload after their operations."""

import struct

from support.groups.driver import GroupDriver

from barnabas.coordination import CoordinatorRecord
from barnabas.groups.step import TimerKind
from barnabas.model.error_codes import ErrorCode as E
from barnabas.wire.coordinator_records import encode_versioned, maybe_decode_offsets_record
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from barnabas.wire.messages.offset_commit_key import OffsetCommitKey
from barnabas.wire.messages.offset_commit_value import OffsetCommitValue


def test_stable_group_comes_back_as_it_was():
    driver = GroupDriver()
    ids = driver.stable_group(3)
    before = driver.shard.describe_group("g")
    driver.reload()
    assert driver.shard.describe_group("g") == before
    assert {key.kind for key in driver.timers} == {TimerKind.SESSION}
    assert all(driver.heartbeat(member_id, 1).code is E.NONE for member_id in ids)
    assert driver.sync(ids[1], 1).reply.assignment == ids[1].encode()


def test_members_that_are_gone_expire_after_a_load():
    driver = GroupDriver()
    driver.stable_group(2)
    driver.reload()
    driver.advance(10_000)
    driver.advance(60_000)
    assert driver.state() == "Empty"


def test_leader_is_remembered():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    driver.reload()
    assert driver.join(follower).reply.leader_id == leader


def test_records_have_the_versions_of_kafka_3_9():
    """Key versions 1 and 2, value version 3: what Kafka 3.9 writes."""
    driver = GroupDriver()
    (only,) = driver.stable_group(1)
    driver.commit(5, only, 1)
    (group, _), (offset, _) = driver.log
    assert struct.unpack(">hh", group.key[:2] + group.value[:2]) == (2, 3)
    assert struct.unpack(">hh", offset.key[:2] + offset.value[:2]) == (1, 3)
    key, value = maybe_decode_offsets_record(offset.key, offset.value)
    assert (key.group, key.topic, key.partition) == ("g", "t", 0)
    assert (value.offset, value.leader_epoch, value.metadata) == (5, 7, "m")
    assert value.commit_timestamp == driver.now_ms


def test_old_records_and_unknown_kinds():
    driver = GroupDriver()
    member = MemberMetadata(member_id="m", client_id="c", client_host="/h", session_timeout=9_000)
    value = GroupMetadataValue("consumer", 4, "range", "m", members=[member])
    driver.log = [
        (CoordinatorRecord(struct.pack(">h", 99) + b"??", b"?"), -1),
        (CoordinatorRecord(struct.pack(">h", 99) + b"??", None), -1),
        (CoordinatorRecord(encode_versioned(GroupMetadataKey("g"), 2), encode_versioned(value, 0)),
         -1),
        (CoordinatorRecord(encode_versioned(OffsetCommitKey("g", "t", 0), 0),
                           encode_versioned(OffsetCommitValue(3, -1, "", 5, 10), 1)), -1),
    ]  # fmt: skip
    driver.reload()
    assert driver.heartbeat("m", 4).code is E.NONE
    rejoin = driver.join("m")
    assert rejoin.reply.generation_id == 5
    assert driver.committed().offset == 3


def test_tombstones_of_the_unknown_are_ignored():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    driver.log = [(CoordinatorRecord(record.key, None), pid) for record, pid in driver.log]
    driver.reload()
    assert driver.shard.list_groups() == []


def test_parts_of_a_group_in_any_order():
    driver = GroupDriver()
    driver.consumer_heartbeat("a")
    before = driver.shard.describe_consumer_group("g")
    driver.log.reverse()
    driver.reload()
    assert driver.shard.describe_consumer_group("g") == before


def test_static_successor_outlives_the_tombstones_of_its_predecessor():
    driver = GroupDriver()
    driver.consumer_heartbeat("a", instance_id="i")
    driver.consumer_heartbeat("a", -2, instance_id="i")
    driver.consumer_heartbeat("a2", instance_id="i")
    for compacted in (False, True):
        driver.reload(compacted=compacted)
        assert driver.consumer_heartbeat("a2", 1, instance_id="i").code is E.NONE
