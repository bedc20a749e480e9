"""Replies that must be taken back before they were sent.

A step is settled once its records are in the local log, but its replies wait for the high
watermark. When that wait ends badly (time-out, leadership lost), the driver sends these instead.
"""

from barnabas.groups.replies import (
    ConsumerGroupHeartbeatReply,
    DeleteGroupsReply,
    HeartbeatReply,
    JoinGroupReply,
    LeaveGroupReply,
    OffsetCommitReply,
    OffsetDeleteReply,
    Reply,
    SyncGroupReply,
)
from barnabas.groups.step import commit_error, membership_error
from barnabas.model.error_codes import ErrorCode


def failed_reply(reply: Reply, wait_error: ErrorCode) -> Reply:
    """The reply of the same kind that tells of `wait_error` in that kind's words."""
    member_error = membership_error(wait_error)
    match reply:
        case JoinGroupReply():
            return JoinGroupReply(member_error, reply.member_id)
        case SyncGroupReply():
            return SyncGroupReply(member_error)
        case HeartbeatReply():
            return HeartbeatReply(member_error)
        case LeaveGroupReply():
            return LeaveGroupReply(member_error)
        case ConsumerGroupHeartbeatReply():
            return ConsumerGroupHeartbeatReply(member_error)
        case _:
            return _failed_offsets_reply(reply, commit_error(wait_error))


def _failed_offsets_reply(
    reply: OffsetCommitReply | OffsetDeleteReply | DeleteGroupsReply, code: ErrorCode
) -> Reply:
    """What had failed already keeps its own error."""
    match reply:
        case OffsetCommitReply():
            return OffsetCommitReply(tuple((tp, before or code) for tp, before in reply.partitions))
        case OffsetDeleteReply():
            return OffsetDeleteReply(reply.error_code or code)
        case DeleteGroupsReply():
            return DeleteGroupsReply(tuple((group, b or code) for group, b in reply.results))
