"""The rebalances of a group, from stored records."""

from types import SimpleNamespace

import pytest

from barnabas.console.services.rebalances import RebalanceReader, RebalanceService
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.coordinator_records import (
    REBALANCE_REASON,
    REBALANCE_START_MS,
    encode_versioned,
)
from barnabas.wire.messages import consumer_group_current_member_assignment_key as current_key
from barnabas.wire.messages import consumer_group_current_member_assignment_value as current_value
from barnabas.wire.messages import consumer_group_member_metadata_key as member_key
from barnabas.wire.messages import consumer_group_member_metadata_value as member_value
from barnabas.wire.messages import consumer_group_metadata_key as epoch_key
from barnabas.wire.messages import consumer_group_metadata_value as epoch_value
from barnabas.wire.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from barnabas.wire.messages.group_metadata_key import GroupMetadataKey
from barnabas.wire.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from barnabas.wire.messages.offset_commit_key import OffsetCommitKey
from barnabas.wire.messages.offset_commit_value import OffsetCommitValue

TOPIC_ID = bytes(range(16))


def classic_key(group="g"):
    return encode_versioned(GroupMetadataKey(group=group), 2)


def classic(generation, owned, *, at=1000):
    """`owned` maps client ids, which are member ids here, to partitions of topic t."""
    members = [
        MemberMetadata(
            member_id=name,
            client_id=name,
            client_host="/h",
            assignment=encode_versioned(
                ConsumerProtocolAssignment(
                    assigned_partitions=[TopicPartition(topic="t", partitions=list(numbers))]
                ),
                0,
            ),
        )
        for name, numbers in owned.items()
    ]
    value = GroupMetadataValue(
        protocol_type="consumer",
        generation=generation,
        protocol="range",
        current_state_timestamp=at,
        members=members,
    )
    return encode_versioned(value, 3)


def test_a_member_that_joins_takes_partitions_over():
    reader = RebalanceReader("g", {})
    reader.read(classic_key(), classic(1, {"a": [0, 1]}), 1000)
    reader.read(classic_key(), classic(2, {"a": [0], "b": [1]}, at=1500), 2000)
    newest, oldest = reader.rebalances()
    assert (oldest.generation, oldest.joined, oldest.left) == (1, ["a@h"], [])
    assert newest.joined == ["b@h"]
    assert newest.seconds == 0.5
    moved = newest.moved
    assert [(item.partition, item.before, item.after) for item in moved] == [(1, "a@h", "b@h")]
    assert newest.unchanged == 1


def test_a_member_that_leaves_is_named_and_its_partitions_have_new_owners():
    reader = RebalanceReader("g", {})
    reader.read(classic_key(), classic(4, {"a": [0], "b": [1]}), 1000)
    reader.read(
        classic_key(), classic(5, {"a": [0, 1]}), 2000, [(REBALANCE_REASON, b"b timed out")]
    )
    newest = reader.rebalances()[0]
    assert (newest.left, newest.joined, newest.members) == (["b@h"], [], 1)
    assert newest.reason == "b timed out"
    assert reader.first_generation == 4


def test_a_generation_that_is_written_again_is_one_rebalance():
    reader = RebalanceReader("g", {})
    reader.read(classic_key(), classic(1, {"a": []}), 1000, [(REBALANCE_REASON, b"a joins")])
    reader.read(classic_key(), classic(1, {"a": [0]}), 1100)
    (only,) = reader.rebalances()
    assert (only.reason, len(only.moved)) == ("a joins", 1)


def test_records_of_other_groups_and_kinds_are_ignored():
    reader = RebalanceReader("g", {})
    reader.read(classic_key("other"), classic(1, {"a": [0]}), 1000)
    commit = encode_versioned(OffsetCommitKey("g", "t", 0), 1)
    reader.read(commit, encode_versioned(OffsetCommitValue(offset=5), 3), 1000)
    reader.read(classic_key(), None, 1000)
    reader.read(None, b"", 1000)
    assert reader.rebalances() == []
    assert not reader.left_out


def test_a_record_that_cannot_be_decoded_is_left_out():
    reader = RebalanceReader("g", {})
    reader.read(classic_key(), b"\x00\x63", 1000)
    assert reader.left_out


class Kip848:
    """Writes the records of a KIP-848 group."""

    def __init__(self):
        self.reader = RebalanceReader("g", {TOPIC_ID: "t"})

    def member(self, name, *, at, leaves=False):
        key = encode_versioned(member_key.ConsumerGroupMemberMetadataKey("g", name), 5)
        value = member_value.ConsumerGroupMemberMetadataValue(client_id=name, client_host="/h")
        self.reader.read(key, None if leaves else encode_versioned(value, 0), at)

    def epoch(self, number, *, at):
        key = encode_versioned(epoch_key.ConsumerGroupMetadataKey("g"), 3)
        value = epoch_value.ConsumerGroupMetadataValue(epoch=number)
        self.reader.read(key, encode_versioned(value, 0), at)

    def assigned(self, name, numbers, *, at):
        key = current_key.ConsumerGroupCurrentMemberAssignmentKey("g", name)
        part = current_value.TopicPartitions(topic_id=TOPIC_ID, partitions=numbers or [])
        value = current_value.ConsumerGroupCurrentMemberAssignmentValue(assigned_partitions=[part])
        encoded = None if numbers is None else encode_versioned(value, 0)
        self.reader.read(encode_versioned(key, 8), encoded, at)


def test_epochs_of_a_consumer_group():
    group = Kip848()
    group.member("a", at=1000)
    group.epoch(1, at=1000)
    group.assigned("a", [0, 1], at=1200)
    group.member("b", at=3000)
    group.epoch(2, at=3000)
    group.assigned("a", [0], at=3500)
    group.assigned("b", [1], at=4000)
    newest, oldest = group.reader.rebalances()
    assert (oldest.joined, oldest.seconds) == (["a@h"], 0.2)
    assert (newest.joined, newest.seconds, newest.unchanged) == (["b@h"], 1.0, 1)
    assert [(item.partition, item.after) for item in newest.moved] == [(1, "b@h")]


def test_a_member_that_leaves_belongs_to_the_next_epoch():
    group = Kip848()
    group.member("a", at=1000)
    group.member("b", at=1000)
    group.epoch(2, at=1000)
    group.assigned("a", [0], at=1000)
    group.assigned("b", [1], at=1000)
    group.assigned("b", None, at=9000)
    group.member("b", at=9000, leaves=True)
    group.epoch(3, at=9000)
    group.assigned("a", [0, 1], at=9100)
    newest, oldest = group.reader.rebalances()
    assert oldest.seconds == 0
    assert (newest.left, newest.members, newest.seconds) == (["b@h"], 1, 0.1)


def test_the_stored_start_counts_before_the_time_of_the_last_state():
    reader = RebalanceReader("g", {})
    headers = [(REBALANCE_START_MS, b"1000")]
    reader.read(classic_key(), classic(1, {"a": [0]}, at=3900), 4000, headers)
    assert reader.rebalances()[0].seconds == 3.0
    reader.read(classic_key(), classic(2, {"a": [0]}, at=4900), 5000, [(REBALANCE_START_MS, b"x")])
    assert reader.rebalances()[0].seconds == 0.1


class OlderSnapshots:
    """Snapshots of which the current one was taken before the topic of the offsets existed."""

    def __init__(self, error=None):
        self.error = error

    async def current(self):
        return SimpleNamespace(topics={})

    async def topic(self, name):
        if self.error is not None:
            raise BrokerError(self.error)
        return SimpleNamespace(topics={name: SimpleNamespace(partitions=[None])})


class CoordinatorLog:
    """The partition of a coordinator with one generation of a group."""

    async def earliest_offset(self, topic, partition):
        return 0

    async def latest_offset(self, topic, partition):
        return 1

    async def fetch(self, topic, partition, position, max_bytes):
        record = SimpleNamespace(
            key=classic_key(), value=classic(1, {"a": [0]}), timestamp=1000, headers=()
        )
        return SimpleNamespace(decode=lambda: ([record], 1))


LINK = SimpleNamespace(simple_consumer=CoordinatorLog())


async def test_the_first_group_of_a_cluster_has_rebalances_at_once():
    found = await RebalanceService(LINK, OlderSnapshots()).list_rebalances("g")
    assert [item.generation for item in found.items] == [1]
    assert found.complete


async def test_a_cluster_without_groups_has_no_rebalances():
    snapshots = OlderSnapshots(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    found = await RebalanceService(LINK, snapshots).list_rebalances("g")
    assert (found.items, found.complete) == ([], True)


async def test_topics_that_cannot_be_read_are_an_error():
    snapshots = OlderSnapshots(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
        await RebalanceService(LINK, snapshots).list_rebalances("g")
