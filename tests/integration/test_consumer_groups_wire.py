"""KIP-848 groups over the wire: heartbeats, assignments, description, change of kind."""

import asyncio

import pytest
from support.groups.requests import SMALL, alone, commit, find_coordinator, join, leave
from support.network.requests import create_topic

from barnabas.model.error_codes import ErrorCode
from barnabas.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from barnabas.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.list_groups import ListGroupsRequest
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)

pytestmark = pytest.mark.integration


@pytest.fixture
async def broker_app(start):
    return await start(SMALL)


@pytest.fixture
async def ready(peer):
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", 4)
    return peer


class Member:
    """A member that adopts each assignment at once."""

    def __init__(self, peer, name="", version=1, **fields):
        self.peer, self.name, self.version, self.fields = peer, name, version, fields
        self.epoch = 0
        self.owned = {}

    async def beat(self, **fields):
        request = ConsumerGroupHeartbeatRequest("g", self.name, self.epoch)
        if self.epoch == 0:
            fields = {
                "rebalance_timeout_ms": 5000,
                "subscribed_topic_names": ["t"],
                **self.fields,
                **fields,
            }
        request.topic_partitions = [TopicPartitions(t, p) for t, p in self.owned.items()]
        for name, value in fields.items():
            setattr(request, name, value)
        answer = await self.peer.call(request, self.version)
        if answer.error_code == 0:
            self.name, self.epoch = answer.member_id, answer.member_epoch
            if answer.assignment is not None:
                found = answer.assignment.topic_partitions
                self.owned = {one.topic_id: one.partitions for one in found}
        return answer

    @property
    def partitions(self):
        return sorted(n for numbers in self.owned.values() for n in numbers)


async def settle(*members, count=4):
    for _ in range(50):
        for member in members:
            answer = await member.beat()
            assert answer.error_code == 0, answer
        owned = [n for member in members for n in member.partitions]
        assert len(owned) == len(set(owned)), "two owners"
        if len(owned) == count and all(member.owned for member in members):
            return
    raise AssertionError([member.partitions for member in members])


@pytest.mark.parametrize("version", [0, 1])
async def test_alone_a_member_gets_everything(ready, version):
    member = Member(ready, "" if version == 0 else "mine", version)
    answer = await member.beat()
    assert (answer.error_code, answer.member_epoch) == (0, 1)
    assert answer.heartbeat_interval_ms == 5000
    assert member.partitions == [0, 1, 2, 3]
    assert member.name == ("mine" if version else answer.member_id)
    again = await member.beat()
    assert again.assignment is None or member.partitions == [0, 1, 2, 3]


async def test_version_1_wants_an_id_from_the_client(ready):
    answer = await Member(ready, "").beat()
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    assert answer.error_message


@pytest.mark.parametrize("assignor", ["uniform", "range"])
async def test_members_share(ready, assignor):
    first, second = (Member(ready, name, server_assignor=assignor) for name in ("a", "b"))
    await settle(first)
    await settle(first, second)
    assert len(first.partitions) == len(second.partitions) == 2
    assert (await second.beat(member_epoch=-1)).error_code == 0
    await settle(first)
    assert first.partitions == [0, 1, 2, 3]


async def test_unknown_assignor(ready):
    answer = await Member(ready, "a", server_assignor="odd").beat()
    assert answer.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR


async def test_fenced_epochs_and_strangers(ready):
    member = Member(ready, "a")
    await settle(member)
    answer = await member.beat(member_epoch=77)
    assert answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    stranger = Member(ready, "stranger")
    stranger.epoch = 1
    assert (await stranger.beat()).error_code == ErrorCode.UNKNOWN_MEMBER_ID


async def test_regular_expression(ready):
    member = Member(ready, "a", subscribed_topic_names=[], subscribed_topic_regex="other-.*")
    answer = await member.beat()
    assert (answer.error_code, member.partitions) == (0, [])
    await create_topic(ready, "other-1", 2)
    await settle(member, count=2)
    bad = await Member(ready, "b", subscribed_topic_names=[], subscribed_topic_regex="(").beat()
    assert bad.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


async def test_new_partitions_are_given_out(ready):
    member = Member(ready, "a")
    await settle(member)
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", 6, None)], 5000)
    assert (await ready.call(request, 3)).results[0].error_code == 0
    await settle(member, count=6)


async def test_silent_member_is_dropped(start, connect):
    settings = {
        "group.consumer.session.timeout.ms": 1500,
        "group.consumer.min.session.timeout.ms": 100,
    }
    peer = await connect(await start({**SMALL, **settings}))
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", 4)
    silent, other = Member(peer, "a"), Member(peer, "b")
    await silent.beat()
    await other.beat()
    async with asyncio.timeout(60):
        while other.partitions != [0, 1, 2, 3]:
            await asyncio.sleep(0.05)
            await other.beat()
    assert (await silent.beat()).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", [0, 1])
async def test_description(ready, version):
    member = Member(ready, "a")
    await settle(member)
    request = ConsumerGroupDescribeRequest(["g", "none"], include_authorized_operations=True)
    group, none = (await ready.call(request, version)).groups
    assert (group.group_state, group.assignor_name) == ("Stable", "uniform")
    assert (group.group_epoch, group.assignment_epoch) == (1, 1)
    described = group.members[0]
    assert (described.member_id, described.client_id) == ("a", "peer")
    assert described.assignment.topic_partitions[0].topic_name == "t"
    assert described.target_assignment == described.assignment
    assert none.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    classic = (await ready.call(DescribeGroupsRequest(["g"]), 6)).groups[0]
    assert classic.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    listed = (await ready.call(ListGroupsRequest(types_filter=["consumer"]), 5)).groups
    assert [(one.group_id, one.group_type) for one in listed] == [("g", "consumer")]


async def test_commits_go_by_member_epoch(ready):
    member = Member(ready, "a")
    await settle(member)
    fields = {"member_id": "a", "generation_id_or_member_epoch": member.epoch, "version": 9}
    assert await commit(ready, "t", 5, **fields) == 0
    fields["generation_id_or_member_epoch"] = member.epoch - 1
    assert await commit(ready, "t", 6, **fields) == ErrorCode.STALE_MEMBER_EPOCH
    fields |= {"member_id": "x", "generation_id_or_member_epoch": 1}
    assert await commit(ready, "t", 6, **fields) == ErrorCode.UNKNOWN_MEMBER_ID
    asked = [OffsetFetchRequestGroup("g", "a", member.epoch, None)]
    found = (await ready.call(OffsetFetchRequest(groups=asked), 9)).groups[0]
    assert found.topics[0].partitions[0].committed_offset == 5
    asked = [OffsetFetchRequestGroup("g", "a", member.epoch + 1, None)]
    stale = (await ready.call(OffsetFetchRequest(groups=asked), 9)).groups[0]
    assert stale.error_code == ErrorCode.STALE_MEMBER_EPOCH


async def test_empty_group_changes_its_kind(ready):
    member = Member(ready, "a")
    await settle(member)
    assert (await member.beat(member_epoch=-1)).error_code == 0
    classic, _ = await alone(ready)
    await leave(ready, classic)
    member = Member(ready, "b")
    await settle(member)


async def test_switched_off(start, connect):
    peer = await connect(await start({**SMALL, "group.coordinator.rebalance.protocols": "classic"}))
    await find_coordinator(peer, "g")
    await create_topic(peer, "t")
    answer = await Member(peer, "a").beat()
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert (await join(peer)).error_code == 0
