import pytest

from barnabas.groups.failures import failed_reply
from barnabas.groups.replies import (
    ConsumerGroupHeartbeatReply,
    DeleteGroupsReply,
    HeartbeatReply,
    JoinGroupReply,
    LeaveGroupReply,
    OffsetCommitReply,
    OffsetDeleteReply,
    SyncGroupReply,
)
from barnabas.model.error_codes import ErrorCode as E
from barnabas.model.ids import TopicPartition

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
NOT_AVAILABLE = E.COORDINATOR_NOT_AVAILABLE


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        (JoinGroupReply(E.NONE, "m", 3, leader_id="m"), JoinGroupReply(NOT_AVAILABLE, "m")),
        (SyncGroupReply(E.NONE, assignment=b"x"), SyncGroupReply(NOT_AVAILABLE)),
        (HeartbeatReply(E.NONE), HeartbeatReply(NOT_AVAILABLE)),
        (LeaveGroupReply(E.NONE, ()), LeaveGroupReply(NOT_AVAILABLE)),
        (
            ConsumerGroupHeartbeatReply(E.NONE, member_id="m", member_epoch=3),
            ConsumerGroupHeartbeatReply(NOT_AVAILABLE),
        ),
        (
            OffsetCommitReply(((P0, E.NONE), (P1, E.OFFSET_METADATA_TOO_LARGE))),
            OffsetCommitReply(((P0, NOT_AVAILABLE), (P1, E.OFFSET_METADATA_TOO_LARGE))),
        ),
        (OffsetDeleteReply(E.NONE, ((P0, E.NONE),)), OffsetDeleteReply(NOT_AVAILABLE)),
        (
            DeleteGroupsReply((("a", E.NONE), ("b", E.NON_EMPTY_GROUP))),
            DeleteGroupsReply((("a", NOT_AVAILABLE), ("b", E.NON_EMPTY_GROUP))),
        ),
    ],
)
def test_same_kind_of_reply(reply, failed):
    assert failed_reply(reply, E.REQUEST_TIMED_OUT) == failed
