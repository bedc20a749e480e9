"""Groups of both protocols, and their offsets, on the wire."""

import pytest

from barnabas.admin import GroupMember, GroupState, GroupType
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import OffsetAndMetadata
from barnabas.wire.messages import consumer_group_describe as consumer
from barnabas.wire.messages import consumer_protocol_assignment as protocol
from barnabas.wire.messages import describe_groups as classic
from barnabas.wire.messages import leave_group, offset_commit, offset_delete, offset_fetch
from barnabas.wire.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def encoded(*partitions):
    assignment = protocol.ConsumerProtocolAssignment(
        assigned_partitions=[protocol.TopicPartition("t", list(partitions))]
    )
    return b"\0\1" + b"".join(bytes(part) for part in assignment.encode(1))


def classic_group(state="Stable", protocol_type="consumer", assignment=None):
    member = classic.DescribedGroupMember(
        member_id="m",
        group_instance_id="i",
        client_id="c",
        client_host="/h",
        member_assignment=encoded(0, 1) if assignment is None else assignment,
    )
    group = classic.DescribedGroup(
        group_id="g",
        group_state=state,
        protocol_type=protocol_type,
        protocol_data="range",
        members=[member],
    )
    return classic.DescribeGroupsResponse(groups=[group])


async def test_every_broker_lists_its_groups(cluster, admin):
    def answer(node, request):
        assert (request.states_filter, request.types_filter) == (["Empty"], ["Classic"])
        name = {1: "b", 2: "a", 3: "c"}[node]
        return ListGroupsResponse(groups=[ListedGroup(name, "consumer", "Empty", "Novel")])

    cluster.on(ListGroupsRequest, answer)
    groups = await admin.list_groups(states=[GroupState.EMPTY], types=["Classic"])
    assert [group.group_id for group in groups] == ["a", "b", "c"]
    assert (groups[0].state, groups[0].type) == (GroupState.EMPTY, GroupType.UNKNOWN)


async def test_a_classic_group_where_the_new_protocol_is_not_served(cluster, admin):
    cluster.coordinators["g"] = 2
    cluster.on(classic.DescribeGroupsRequest, classic_group())
    group = await admin.describe_group("g")
    assert (group.type, group.state, group.assignor) == (
        GroupType.CLASSIC,
        GroupState.STABLE,
        "range",
    )
    assert group.coordinator.id == 2
    (member,) = group.members
    assert (member.member_id, member.instance_id, member.host) == ("m", "i", "/h")
    assert member.assignment == (T0, T1)


@pytest.mark.parametrize("kind", ["connect", "consumer"])
async def test_bytes_that_are_no_assignment_do_no_harm(cluster, admin, kind):
    cluster.on(classic.DescribeGroupsRequest, classic_group("Stable", kind, b"\0\1\xff\xff"))
    (member,) = (await admin.describe_group("g")).members
    assert member.assignment == ()


async def test_a_dead_group_is_one_that_is_not_there(cluster, admin):
    cluster.on(classic.DescribeGroupsRequest, classic_group("Dead"))
    with pytest.raises(BrokerError, match="GROUP_ID_NOT_FOUND"):
        await admin.describe_group("g")


async def test_a_group_of_the_new_protocol_and_a_classic_one_in_one_call(cluster, admin):
    parts = consumer.Assignment([consumer.TopicPartitions(topic_name="t", partitions=[0])])
    member = consumer.Member(
        member_id="m",
        member_epoch=7,
        rack_id="r",
        subscribed_topic_names=["t"],
        subscribed_topic_regex="t.*",
        assignment=parts,
        target_assignment=consumer.Assignment(),
    )
    new = consumer.DescribedGroup(
        group_id="new",
        group_state="Reconciling",
        group_epoch=7,
        assignment_epoch=6,
        members=[member],
    )
    old = consumer.DescribedGroup(group_id="g", error_code=ErrorCode.GROUP_ID_NOT_FOUND)
    cluster.on(
        consumer.ConsumerGroupDescribeRequest,
        consumer.ConsumerGroupDescribeResponse(groups=[new, old]),
    )
    cluster.on(classic.DescribeGroupsRequest, classic_group())
    results = await admin.describe_groups(["new", "g"])
    assert results["g"].type is GroupType.CLASSIC
    group = results["new"]
    assert (group.type, group.state) == (GroupType.CONSUMER, GroupState.RECONCILING)
    assert (group.group_epoch, group.assignment_epoch) == (7, 6)
    (member,) = group.members
    assert (member.assignment, member.target_assignment) == ((T0,), ())
    assert (member.subscribed_topics, member.subscribed_pattern) == (("t",), "t.*")
    ((_, request),) = cluster.asked(classic.DescribeGroupsRequest)
    assert request.groups == ["g"]


async def test_all_members_are_taken_out_by_their_lasting_names(cluster, admin):
    cluster.on(classic.DescribeGroupsRequest, classic_group())
    cluster.on(
        leave_group.LeaveGroupRequest,
        leave_group.LeaveGroupResponse(members=[leave_group.MemberResponse("m", "i", 0)]),
    )
    results = await admin.remove_group_members("g", reason="why")
    assert results.check() == {GroupMember(instance_id="i"): None}
    ((_, request),) = cluster.asked(leave_group.LeaveGroupRequest)
    (sent,) = request.members
    assert (sent.member_id, sent.group_instance_id, sent.reason) == ("", "i", "why")


async def test_one_member_is_taken_out_and_none_is_nothing_to_do(cluster, admin):
    code = ErrorCode.UNKNOWN_MEMBER_ID
    cluster.on(
        leave_group.LeaveGroupRequest,
        leave_group.LeaveGroupResponse(members=[leave_group.MemberResponse("m", None, code)]),
    )
    results = await admin.remove_group_members("g", [GroupMember("m")])
    assert results.errors[GroupMember("m")].code is code
    assert len(await admin.remove_group_members("g", [])) == 0
    assert len(cluster.asked(leave_group.LeaveGroupRequest)) == 1


# -- offsets ------------------------------------------------------------------------------------


def fetched(group="g", code=0):
    kind = offset_fetch.OffsetFetchResponsePartitions
    topic = offset_fetch.OffsetFetchResponseTopics(
        name="t", partitions=[kind(0, 5, 2, "note", code), kind(1, -1, -1, "", 0)]
    )
    answer = offset_fetch.OffsetFetchResponseGroup(group_id=group, topics=[topic])
    return offset_fetch.OffsetFetchResponse(groups=[answer])


async def test_offsets_of_groups_without_those_that_are_not_there(cluster, admin):
    cluster.on(
        offset_fetch.OffsetFetchRequest,
        lambda node, request: fetched(request.groups[0].group_id),
    )
    results = await admin.list_group_offsets({"g": [T0, T1], "h": None}, require_stable=True)
    assert results["g"] == {T0: OffsetAndMetadata(5, "note", 2)}
    requests = {
        request.groups[0].group_id: request
        for _, request in cluster.asked(offset_fetch.OffsetFetchRequest)
    }
    assert requests["h"].groups[0].topics is None
    assert requests["g"].groups[0].topics[0].partition_indexes == [0, 1]
    assert requests["g"].require_stable


async def test_offsets_from_a_broker_that_takes_one_group_only(cluster, admin):
    kind = offset_fetch.OffsetFetchResponsePartition
    topic = offset_fetch.OffsetFetchResponseTopic(name="t", partitions=[kind(0, 5, 2, None, 0)])
    cluster.max_versions[offset_fetch.OffsetFetchRequest] = 7
    cluster.on(offset_fetch.OffsetFetchRequest, offset_fetch.OffsetFetchResponse(topics=[topic]))
    results = await admin.list_group_offsets(["g"])
    assert results["g"] == {T0: OffsetAndMetadata(5, "", 2)}


async def test_a_partitions_error_is_its_groups(cluster, admin):
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    cluster.on(offset_fetch.OffsetFetchRequest, fetched(code=code))
    results = await admin.list_group_offsets(["g"])
    assert results.errors["g"].code is code
    assert "t-0" in str(results.errors["g"])


async def test_offsets_are_set_and_stay_by_name(cluster, admin):
    def answer(node, request):
        kind = offset_commit.OffsetCommitResponsePartition
        codes = [0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        topic = offset_commit.OffsetCommitResponseTopic(
            name=request.topics[0].name, partitions=[kind(n, code) for n, code in enumerate(codes)]
        )
        return offset_commit.OffsetCommitResponse(topics=[topic])

    cluster.on(offset_commit.OffsetCommitRequest, answer)
    results = await admin.alter_group_offsets("g", {T0: 5, T1: OffsetAndMetadata(6, "note", 3)})
    assert results.ok == {T0: None}
    assert results.errors[T1].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ((_, request),) = cluster.asked(offset_commit.OffsetCommitRequest)
    assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")
    (topic,) = request.topics
    assert topic.name == "t"
    assert [
        (each.committed_offset, each.committed_metadata, each.committed_leader_epoch)
        for each in topic.partitions
    ] == [(5, "", -1), (6, "note", 3)]


async def test_a_coordinator_that_moves_while_offsets_are_set(cluster, admin):
    cluster.coordinators["g"] = 2

    def answer(node, request):
        cluster.coordinators["g"] = 3
        code = ErrorCode.NOT_COORDINATOR if node == 2 else 0
        topic = offset_commit.OffsetCommitResponseTopic(
            name="t", partitions=[offset_commit.OffsetCommitResponsePartition(0, code)]
        )
        return offset_commit.OffsetCommitResponse(topics=[topic])

    cluster.on(offset_commit.OffsetCommitRequest, answer)
    (await admin.alter_group_offsets("g", {T0: 5})).check()
    assert [node for node, _ in cluster.asked(offset_commit.OffsetCommitRequest)] == [2, 3]


async def test_offsets_are_forgotten(cluster, admin):
    code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    topic = offset_delete.OffsetDeleteResponseTopic(
        name="t", partitions=[offset_delete.OffsetDeleteResponsePartition(0, code)]
    )
    cluster.on(
        offset_delete.OffsetDeleteRequest, offset_delete.OffsetDeleteResponse(topics=[topic])
    )
    results = await admin.delete_group_offsets("g", [T0])
    assert results.errors[T0].code is code


async def test_a_group_that_is_not_there_has_no_offsets_to_forget(cluster, admin):
    cluster.on(
        offset_delete.OffsetDeleteRequest,
        offset_delete.OffsetDeleteResponse(error_code=ErrorCode.GROUP_ID_NOT_FOUND),
    )
    with pytest.raises(BrokerError, match="GROUP_ID_NOT_FOUND"):
        await admin.delete_group_offsets("g", [T0])
