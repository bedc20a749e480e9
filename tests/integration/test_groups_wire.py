"""Classic groups and offsets over the wire, in every version."""

import asyncio

import pytest
from support.groups.requests import (
    SMALL,
    alone,
    commit,
    committed,
    find_coordinator,
    heartbeat,
    join,
    join_request,
    leave,
    sync,
)
from support.network.requests import create_topic

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import Uuid
from barnabas.wire.messages.delete_groups import DeleteGroupsRequest
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.wire.messages.list_groups import ListGroupsRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

pytestmark = pytest.mark.integration
OFFSETS_TOPIC = "__consumer_offsets"


@pytest.fixture
async def broker_app(start):
    return await start(SMALL)


@pytest.fixture
async def ready(peer):
    """A peer of a broker that is coordinator and has a topic."""
    await find_coordinator(peer, "g")
    await create_topic(peer, "t", 3)
    return peer


async def until_members(peer, count):
    """Waits until group "g" has so many members; does not count as a heartbeat of any."""
    async with asyncio.timeout(30):
        while len((await peer.call(DescribeGroupsRequest(["g"]), 5)).groups[0].members) != count:
            await asyncio.sleep(0.02)


# --- finding ---


@pytest.mark.parametrize("version", range(7))
async def test_every_find_coordinator_version(broker_app, peer, version):
    found = await find_coordinator(peer, "g", version=version)
    assert found.error_code == 0, found
    assert (found.host, found.port) == ("127.0.0.1", broker_app.port)


async def test_several_coordinators_at_once(peer):
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "b", "a"])
    found = (await peer.call(request, 4)).coordinators
    assert [one.key for one in found] == ["a", "b", "a"]
    assert {one.error_code for one in found} == {0}


async def test_unknown_kind_of_coordinator_is_rejected(peer):
    found = await find_coordinator(peer, "g", kind=2, version=6)
    assert found.error_code == ErrorCode.INVALID_REQUEST


async def test_offsets_topic_is_made_internal_and_compacted(start, connect):
    peer = await connect(await start({**SMALL, "offsets.topic.num.partitions": 7}))
    answers = await asyncio.gather(*(find_coordinator(peer, "g") for _ in range(1)))
    assert answers[0].error_code == 0
    topic = MetadataRequestTopic(name=OFFSETS_TOPIC)
    described = (await peer.call(MetadataRequest(topics=[topic]), 12)).topics[0]
    assert described.is_internal
    assert len(described.partitions) == 7


async def test_concurrent_requests_create_the_topic_once(broker_app, connect):
    peers = [await connect(broker_app) for _ in range(5)]
    found = await asyncio.gather(*(find_coordinator(one, f"g{n}") for n, one in enumerate(peers)))
    assert {one.error_code for one in found} == {0}


async def test_group_request_before_the_topic_exists(peer):
    assert await heartbeat(peer, "m", 1) == ErrorCode.NOT_COORDINATOR


# --- members ---


@pytest.mark.parametrize("version", range(10))
async def test_every_join_version(ready, version):
    joined = await join(ready, version=version)
    assert joined.error_code == 0
    assert joined.generation_id == 1
    assert joined.protocol_name == "range"
    assert joined.leader == joined.member_id
    assert [(one.member_id, one.metadata) for one in joined.members] == [
        (joined.member_id, b"about range")
    ]
    if version >= 7:
        assert joined.protocol_type == "consumer"


@pytest.mark.parametrize("version", range(10))
async def test_rejected_join_is_encoded_in_every_version(ready, version):
    refused = await ready.call(join_request(session_timeout_ms=1), version)
    assert refused.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
    assert refused.generation_id == -1


@pytest.mark.parametrize("version", range(6))
async def test_every_sync_version(ready, version):
    joined = await join(ready)
    member = joined.member_id
    synced = await sync(ready, member, 1, [(member, b"mine")], version=version)
    assert (synced.error_code, synced.assignment) == (0, b"mine")


@pytest.mark.parametrize("version", range(5))
async def test_every_heartbeat_version(ready, version):
    member, generation = await alone(ready)
    assert await heartbeat(ready, member, generation, version=version) == 0
    wrong = await heartbeat(ready, member, generation + 1, version=version)
    assert wrong == ErrorCode.ILLEGAL_GENERATION


@pytest.mark.parametrize("version", range(6))
async def test_every_leave_version(ready, version):
    member, generation = await alone(ready)
    left = await leave(ready, member, version=version)
    assert left.error_code == 0
    assert [one.error_code for one in left.members] == ([0] if version >= 3 else [])
    again = await leave(ready, member, version=version)
    code = again.members[0].error_code if version >= 3 else again.error_code
    assert code == ErrorCode.UNKNOWN_MEMBER_ID
    assert await heartbeat(ready, member, generation) == ErrorCode.UNKNOWN_MEMBER_ID


async def test_two_members_wait_for_each_other(broker_app, ready, connect):
    other = await connect(broker_app)
    first, _ = await alone(ready)
    waiting = asyncio.create_task(join(other))
    while await heartbeat(ready, first, 1) != ErrorCode.REBALANCE_IN_PROGRESS:
        await asyncio.sleep(0.01)
    assert not waiting.done()
    leader = await join(ready, member_id=first)
    follower = await waiting
    assert leader.generation_id == follower.generation_id == 2
    assert {one.member_id for one in leader.members} == {first, follower.member_id}
    assert follower.members == []
    parts = [(first, b"1"), (follower.member_id, b"2")]
    waiting = asyncio.create_task(sync(other, follower.member_id, 2))
    assert (await sync(ready, first, 2, parts)).assignment == b"1"
    assert (await waiting).assignment == b"2"


async def test_silent_member_is_dropped(start, connect):
    peer = await connect(await start({**SMALL, "group.min.session.timeout.ms": 100}))
    await find_coordinator(peer, "g")
    member, generation = await alone(peer, session_timeout_ms=1500)
    for _ in range(18):  # heartbeats keep it alive for longer than one session timeout
        await asyncio.sleep(0.1)
        assert await heartbeat(peer, member, generation) == 0
    await until_members(peer, 0)
    assert await heartbeat(peer, member, generation) == ErrorCode.UNKNOWN_MEMBER_ID


async def test_join_of_a_lost_connection_times_out_of_the_group(start, connect):
    settings = {"group.min.session.timeout.ms": 100, "group.initial.rebalance.delay.ms": 1500}
    broker = await start({**SMALL, **settings})
    peer, lost = await connect(broker), await connect(broker)
    await find_coordinator(peer, "g")
    # Both join within the delay, and the lost one stays until the group has its generation.
    asked = join_request(session_timeout_ms=1500, rebalance_timeout_ms=4000)
    lost.send(asked, 3)
    await until_members(peer, 1)
    await lost.close()
    joined = await join(peer, session_timeout_ms=6000, rebalance_timeout_ms=4000)
    member = joined.member_id
    assert joined.leader != member  # the lost one was first
    code = (await sync(peer, member, joined.generation_id)).error_code
    assert code == ErrorCode.REBALANCE_IN_PROGRESS
    joined = await join(peer, member_id=member)
    assert [one.member_id for one in joined.members] == [member]


async def test_static_member_takes_its_place_and_fences_the_other(broker_app, ready, connect):
    old, generation = await alone(ready, instance="i")
    other = await connect(broker_app)
    joined = await join(other, instance="i")
    assert (joined.error_code, joined.generation_id) == (0, generation)
    assert joined.member_id != old
    code = await heartbeat(ready, old, generation, group_instance_id="i")
    assert code == ErrorCode.FENCED_INSTANCE_ID


# --- offsets ---


@pytest.mark.parametrize("version", range(2, 11))
async def test_every_commit_version(ready, version):
    topic_id = await create_topic(ready, "ids")
    assert await commit(ready, "ids", 42, version=version, topic_id=topic_id) == 0
    found = await committed(ready, "ids")
    assert (found.committed_offset, found.metadata, found.error_code) == (42, "note", 0)
    assert found.committed_leader_epoch == (3 if version >= 6 else -1)


@pytest.mark.parametrize("version", range(1, 11))
async def test_every_offset_fetch_version(ready, version):
    topic_id = await create_topic(ready, "ids")
    none = await committed(ready, "ids", version=version, topic_id=topic_id)
    assert (none.committed_offset, none.metadata, none.error_code) == (-1, "", 0)
    assert await commit(ready, "ids", 42) == 0
    found = await committed(ready, "ids", version=version, topic_id=topic_id)
    assert (found.committed_offset, found.metadata, found.error_code) == (42, "note", 0)
    if version >= 5:
        assert found.committed_leader_epoch == 3


@pytest.mark.parametrize("version", [2, 7])
async def test_all_offsets_of_a_group(ready, version):
    await commit(ready, "t", 1, partition=1)
    await commit(ready, "t", 2, partition=2)
    response = await ready.call(OffsetFetchRequest("g", None), version)
    found = {
        (topic.name, one.partition_index): one.committed_offset
        for topic in response.topics
        for one in topic.partitions
    }
    assert found == {("t", 1): 1, ("t", 2): 2}


async def test_offsets_of_several_groups(ready):
    await commit(ready, "t", 1, group="a")
    await commit(ready, "t", 2, group="b")
    groups = [OffsetFetchRequestGroup(name, topics=None) for name in ("a", "b", "none")]
    response = await ready.call(OffsetFetchRequest(groups=groups), 8)
    found = {
        group.group_id: [one.committed_offset for t in group.topics for one in t.partitions]
        for group in response.groups
    }
    assert found == {"a": [1], "b": [2], "none": []}


async def test_unknown_topics_are_rejected_and_the_rest_is_stored(ready):
    assert await commit(ready, "nowhere", 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await commit(ready, "t", 1, partition=99) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    unknown = Uuid(b"?" * 16)
    code = await commit(ready, "", 1, version=10, topic_id=unknown)
    assert code == ErrorCode.UNKNOWN_TOPIC_ID
    answer = await committed(ready, "", version=10, topic_id=unknown)
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


async def test_too_long_metadata_is_rejected_alone(ready):
    code = await commit(ready, "t", 1, metadata="x" * 5000)
    assert code == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert (await committed(ready, "t")).committed_offset == -1
    assert await commit(ready, "t", 1, metadata="x" * 4096) == 0


async def test_commits_of_strangers_are_rejected(ready):
    member, generation = await alone(ready)
    fields = {"generation_id_or_member_epoch": generation, "member_id": member}
    assert await commit(ready, "t", 1, **fields) == 0
    assert await commit(ready, "t", 2) == ErrorCode.UNKNOWN_MEMBER_ID
    fields["generation_id_or_member_epoch"] = generation + 1
    assert await commit(ready, "t", 3, **fields) == ErrorCode.ILLEGAL_GENERATION
    assert (await committed(ready, "t")).committed_offset == 1


async def test_offsets_go_with_their_topic(ready):
    await create_topic(ready, "gone")
    await commit(ready, "gone", 5)
    await commit(ready, "t", 6)
    request = DeleteTopicsRequest(topics=[DeleteTopicState("gone")], timeout_ms=5000)
    assert (await ready.call(request, 6)).responses[0].error_code == 0
    response = await ready.call(OffsetFetchRequest("g", None), 7)
    assert [topic.name for topic in response.topics] == ["t"]


async def test_offset_delete(ready):
    await commit(ready, "t", 1)
    parts = [OffsetDeleteRequestPartition(0), OffsetDeleteRequestPartition(99)]
    topics = [
        OffsetDeleteRequestTopic("t", parts),
        OffsetDeleteRequestTopic("nowhere", [OffsetDeleteRequestPartition(0)]),
    ]
    response = await ready.call(OffsetDeleteRequest("g", topics), 0)
    codes = [one.error_code for topic in response.topics for one in topic.partitions]
    assert codes == [0, *[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2]
    assert (await committed(ready, "t")).committed_offset == -1
    none = await ready.call(OffsetDeleteRequest("none", topics), 0)
    assert none.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    nameless = await ready.call(OffsetDeleteRequest("", topics), 0)
    assert nameless.error_code == ErrorCode.INVALID_GROUP_ID


# --- administration ---


@pytest.mark.parametrize("version", range(6))
async def test_every_list_version(ready, version):
    await alone(ready)
    await commit(ready, "t", 1, group="simple")
    listed = (await ready.call(ListGroupsRequest(), version)).groups
    assert {one.group_id: one.protocol_type for one in listed} == {"g": "consumer", "simple": ""}
    if version >= 4:
        assert {one.group_state for one in listed} == {"Stable", "Empty"}
        stable = await ready.call(ListGroupsRequest(states_filter=["stable"]), version)
        assert [one.group_id for one in stable.groups] == ["g"]
    if version >= 5:
        assert {one.group_type for one in listed} == {"classic"}


@pytest.mark.parametrize("version", range(7))
async def test_every_describe_version(ready, version):
    member, _ = await alone(ready)
    request = DescribeGroupsRequest(["g", "none"], include_authorized_operations=True)
    group, none = (await ready.call(request, version)).groups
    assert (group.group_state, group.protocol_type, group.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    found = group.members[0]
    assert (found.member_id, found.client_id, found.client_host) == (member, "peer", "/127.0.0.1")
    assert (found.member_metadata, found.member_assignment) == (b"about range", b"all")
    assert none.group_state == "Dead"
    assert none.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else 0)


@pytest.mark.parametrize("version", range(3))
async def test_every_delete_version(ready, version):
    member, _ = await alone(ready)
    await commit(ready, "t", 1, group="empty")
    asked = DeleteGroupsRequest(["g", "empty", "none", "empty"])
    results = {one.group_id: one.error_code for one in (await ready.call(asked, version)).results}
    assert results == {
        "g": ErrorCode.NON_EMPTY_GROUP,
        "empty": 0,
        "none": ErrorCode.GROUP_ID_NOT_FOUND,
    }
    assert (await committed(ready, "t", group="empty")).committed_offset == -1
    await leave(ready, member)
    results = (await ready.call(DeleteGroupsRequest(["g"]), version)).results
    assert results[0].error_code == 0


async def test_administrator_removes_static_members(ready):
    _, generation = await alone(ready, instance="i")
    request = LeaveGroupRequest("g", members=[MemberIdentity("", "i"), MemberIdentity("", "j")])
    left = await ready.call(request, 5)
    assert [one.error_code for one in left.members] == [0, ErrorCode.UNKNOWN_MEMBER_ID]
    assert generation == 1
