"""A feature that an old broker would silently ignore is rejected instead."""

import pytest

from barnabas.admin import (
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    ElectionType,
    GroupMember,
)
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from barnabas.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from barnabas.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from barnabas.wire.messages.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from barnabas.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

ID = Uuid(b"0123456789abcdef")
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)

CASES = [
    (ListGroupsRequest, ListGroupsResponse(), 3, lambda a: a.list_groups(states=["Empty"])),
    (ListGroupsRequest, ListGroupsResponse(), 4, lambda a: a.list_groups(types=["classic"])),
    (
        ListOffsetsRequest,
        ListOffsetsResponse(),
        6,
        lambda a: a.list_offsets({T0: LATEST, T1: MAX_TIMESTAMP}),
    ),
    (
        ListOffsetsRequest,
        ListOffsetsResponse(),
        8,
        lambda a: a.list_offsets({T0: LATEST, T1: LATEST_TIERED}),
    ),
    (
        ListTransactionsRequest,
        ListTransactionsResponse(),
        0,
        lambda a: a.list_transactions(running_longer_than=1),
    ),
    (
        ListTransactionsRequest,
        ListTransactionsResponse(),
        1,
        lambda a: a.list_transactions(pattern="x.*"),
    ),
    (
        LeaveGroupRequest,
        LeaveGroupResponse(),
        2,
        lambda a: a.remove_group_members("g", [GroupMember("m")]),
    ),
    (
        ElectLeadersRequest,
        ElectLeadersResponse(),
        0,
        lambda a: a.elect_leaders(ElectionType.UNCLEAN, [T0]),
    ),
    (
        OffsetFetchRequest,
        OffsetFetchResponse(),
        6,
        lambda a: a.list_group_offsets(["g"], require_stable=True),
    ),
    (OffsetFetchRequest, OffsetFetchResponse(), 1, lambda a: a.list_group_offsets(["g"])),
]


@pytest.mark.parametrize(("request_type", "response", "version", "call"), CASES)
async def test_it_is_rejected(cluster, admin, request_type, response, version, call):
    cluster.topics["t"] = [1, 1]
    cluster.on(request_type, response)
    cluster.max_versions[request_type] = version
    with pytest.raises(BrokerError, match="UNSUPPORTED_VERSION"):
        await call(admin)
    assert cluster.asked(request_type) == []


async def test_topics_by_id(cluster, admin):
    cluster.max_versions[MetadataRequest] = 11
    with pytest.raises(BrokerError, match="too old to describe topics by id: it serves METADATA"):
        await admin.describe_topic(ID)
