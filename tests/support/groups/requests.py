"""Group requests as tests want them: one group, one topic, the rest at its defaults."""

from barnabas.model.ids import ZERO_UUID
from barnabas.testing.broker import TEST_DEFAULTS
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.heartbeat import HeartbeatRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

SMALL = TEST_DEFAULTS
"""Broker settings: one partition per coordinator topic, groups that form at once."""


async def find_coordinator(peer, key, *, kind=0, version=4):
    """Makes the coordinator's topic too."""
    if version < 4:
        return await peer.call(FindCoordinatorRequest(key=key, key_type=kind), version)
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    return (await peer.call(request, version)).coordinators[0]


def join_request(group="g", member_id="", *, instance=None, protocols=("range",), **fields):
    defaults = {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 20_000}
    return JoinGroupRequest(
        group_id=group,
        member_id=member_id,
        group_instance_id=instance,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name, b"about " + name.encode()) for name in protocols],
        **(defaults | fields),
    )


async def join(peer, group="g", member_id="", *, version=9, **fields):
    """Join; request a member id first if the version requires it."""
    answer = await peer.call(join_request(group, member_id, **fields), version)
    if answer.error_code == 79:
        answer = await peer.call(join_request(group, answer.member_id, **fields), version)
    return answer


async def sync(peer, member, generation, assignments=(), *, group="g", version=5, **fields):
    request = SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(*one) for one in assignments],
        **fields,
    )
    return await peer.call(request, version)


async def heartbeat(peer, member, generation, *, group="g", version=4, **fields):
    request = HeartbeatRequest(group, generation, member, **fields)
    return (await peer.call(request, version)).error_code


async def leave(peer, member, *, group="g", version=5, instance=None):
    request = LeaveGroupRequest(group, member, [MemberIdentity(member, instance)])
    return await peer.call(request, version)


async def alone(peer, group="g", **fields):
    """A stable group of one: its member id and generation."""
    joined = await join(peer, group, **fields)
    assert joined.error_code == 0, joined
    member, generation = joined.member_id, joined.generation_id
    synced = await sync(peer, member, generation, [(member, b"all")], group=group)
    assert (synced.error_code, synced.assignment) == (0, b"all")
    return member, generation


async def commit(peer, topic, offset, *, group="g", partition=0, version=8, **fields):
    """The partition's error code."""
    topic_id = fields.pop("topic_id", ZERO_UUID)
    metadata = fields.pop("metadata", "note")
    partitions = [OffsetCommitRequestPartition(partition, offset, 3, metadata)]
    topics = [OffsetCommitRequestTopic(topic, topic_id, partitions)]
    request = OffsetCommitRequest(group_id=group, topics=topics, **fields)
    return (await peer.call(request, version)).topics[0].partitions[0].error_code


async def committed(peer, topic, *, group="g", partition=0, version=7, **fields):
    """The response for the partition; `topic_id` is used from version 10."""
    topic_id = fields.pop("topic_id", ZERO_UUID)
    if version < 8:
        topics = [OffsetFetchRequestTopic(topic, [partition])]
        response = await peer.call(OffsetFetchRequest(group, topics, **fields), version)
        assert version < 2 or response.error_code == 0, response
        return response.topics[0].partitions[0]
    asked = OffsetFetchRequestTopics(topic, topic_id, [partition])
    groups = [OffsetFetchRequestGroup(group, topics=[asked])]
    answer = (await peer.call(OffsetFetchRequest(groups=groups, **fields), version)).groups[0]
    assert answer.error_code == 0, answer
    return answer.topics[0].partitions[0]
