"""A member of the classic protocol: its requests, and its state after each response."""

import pytest

from barnabas.clients.assignors import resolve_assignors
from barnabas.clients.group.classic_member import ClassicMember, ClassicMemberState
from barnabas.clients.group.classic_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from barnabas.clients.group.membership_actions import (
    AssignmentStep,
    LookUpPartitions,
    Send,
    StepKind,
)
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, LocalError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from barnabas.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from barnabas.wire.messages.leave_group import LeaveGroupRequest
from barnabas.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

A, B = TopicPartition("t", 0), TopicPartition("t", 1)
BACKOFF_MS, HEARTBEAT_MS = 100, 3000


def settings(strategy=("range",), instance_id=None):
    return GroupSettings(
        group_id="g",
        instance_id=instance_id,
        protocol="classic",
        remote_assignor=None,
        assignors=tuple(resolve_assignors(strategy)),
        session_timeout_ms=45_000,
        heartbeat_interval_ms=HEARTBEAT_MS,
        max_poll_interval_ms=300_000,
        rack="",
    )


class Driver:
    """Takes requests of the member, passes it responses and runs its steps on a manual clock."""

    def __init__(self, strategy=("range",), **more):
        self.member = ClassicMember(settings(strategy, **more), BACKOFF_MS)
        self.strategy = strategy[0]
        self.now = 1000
        self.generation = 0
        self.owned = set()
        self.member.subscribe(frozenset({"t"}), None)

    def ask(self):
        return self.member.poll(self.now)

    def request(self, kind):
        action = self.ask()
        assert isinstance(action, Send), action
        assert isinstance(action.request, kind)
        assert self.ask() is None, "one request at a time"
        return action.request

    def answer(self, response):
        self.member.on_response(response, self.now)

    def step(self, kind, *partitions):
        action = self.ask()
        assert isinstance(action, AssignmentStep), action
        assert (action.kind, action.partitions) == (kind, frozenset(partitions))
        assert self.ask() is None, "the open step is waited for"
        self.owned |= action.partitions
        if kind is not StepKind.ASSIGN:
            self.owned -= action.partitions
        self.member.step_done(action, self.now)

    def joined(self, member_id="m", leader="other", members=()):
        self.generation += 1
        self.answer(
            JoinGroupResponse(
                generation_id=self.generation,
                protocol_name=self.strategy,
                leader=leader,
                member_id=member_id,
                members=list(members),
            )
        )

    def synced(self, *partitions):
        self.answer(SyncGroupResponse(assignment=encode_assignment(partitions)))

    def join(self, *partitions, gives_up=()):
        """From unjoined to stable with these partitions, as a follower."""
        had = self.owned - set(gives_up)
        self.step(StepKind.PREPARE, *gives_up)
        self.request(JoinGroupRequest)
        self.joined()
        self.request(SyncGroupRequest)
        self.synced(*partitions)
        revoked = had - set(partitions)
        if revoked:
            self.step(StepKind.REVOKE, *revoked)
        self.step(StepKind.ASSIGN, *(set(partitions) - had))

    def heartbeat(self, code=0):
        self.now += HEARTBEAT_MS
        request = self.request(HeartbeatRequest)
        self.answer(HeartbeatResponse(error_code=code))
        return request


def test_a_first_join():
    driver = Driver()
    driver.step(StepKind.PREPARE)
    request = driver.request(JoinGroupRequest)
    assert (request.member_id, request.protocol_type) == ("", "consumer")
    driver.answer(
        JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m", leader="")
    )
    assert driver.request(JoinGroupRequest).member_id == "m", "KIP-394: again with the id"
    driver.joined()
    sync = driver.request(SyncGroupRequest)
    assert (sync.generation_id, sync.member_id, sync.assignments) == (1, "m", [])
    driver.synced(A, B)
    driver.step(StepKind.ASSIGN, A, B)
    assert driver.member.state is ClassicMemberState.STABLE
    assert driver.member.settled
    assert (driver.member.group.generation_id, driver.member.group.member_id) == (1, "m")
    assert driver.ask() is None


def test_the_leader_divides():
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    metadata = encode_subscription(["t"], [], -1, None, "")
    members = [JoinGroupResponseMember(member_id=name, metadata=metadata) for name in "mn"]
    driver.joined(leader="m", members=members)
    action = driver.ask()
    assert action == LookUpPartitions(frozenset({"t"}))
    assert driver.ask() is None
    driver.member.on_partition_counts({"t": 2}, driver.now)
    sync = driver.request(SyncGroupRequest)
    assert {item.member_id: decode_assignment(item.assignment) for item in sync.assignments} == {
        "m": {A},
        "n": {B},
    }


def test_heartbeats_keep_their_interval():
    driver = Driver()
    driver.join(A)
    assert driver.member.next_poll_ms(driver.now) == driver.now + HEARTBEAT_MS
    for _ in range(3):
        assert driver.heartbeat().generation_id == 1
    assert driver.ask() is None


def test_eager_gives_up_everything_before_it_joins():
    driver = Driver()
    driver.join(A, B)
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.join(A, gives_up=(A, B))
    assert driver.member.state is ClassicMemberState.STABLE


def test_cooperative_gives_up_only_what_moves_and_joins_again():
    driver = Driver(("cooperative-sticky",))
    driver.join(A, B)
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.step(StepKind.PREPARE)
    request = driver.request(JoinGroupRequest)
    member = decode_subscription(
        JoinGroupResponseMember(member_id="m", metadata=request.protocols[0].metadata)
    )
    assert (set(member.owned), member.generation) == ({A, B}, 1)
    driver.joined()
    driver.request(SyncGroupRequest)
    driver.synced(A)
    driver.step(StepKind.REVOKE, B)
    driver.step(StepKind.ASSIGN)
    driver.join(A)
    assert driver.member.state is ClassicMemberState.STABLE


def test_heartbeats_go_on_while_the_application_does_not_poll():
    driver = Driver()
    driver.join(A)
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    step = driver.ask()
    assert step.kind is StepKind.PREPARE
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.member.step_done(step, driver.now)
    driver.request(JoinGroupRequest)


@pytest.mark.parametrize(
    "error", [UnavailableError("gone"), BrokerError(ErrorCode.NOT_COORDINATOR)]
)
def test_a_retriable_error_keeps_the_generation(error):
    driver = Driver()
    driver.join(A)
    driver.now += HEARTBEAT_MS
    driver.request(HeartbeatRequest)
    driver.member.failed(error, driver.now)
    assert driver.member.group.generation_id == 1
    assert driver.ask() is None
    driver.heartbeat()
    assert driver.member.state is ClassicMemberState.STABLE


def test_a_join_that_is_lost_is_sent_again_after_a_pause():
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    driver.member.failed(UnavailableError("gone"), driver.now)
    assert driver.ask() is None
    driver.now += BACKOFF_MS
    driver.request(JoinGroupRequest)


@pytest.mark.parametrize(
    ("code", "member_id"),
    [(ErrorCode.UNKNOWN_MEMBER_ID, ""), (ErrorCode.ILLEGAL_GENERATION, "m")],
)
def test_thrown_out_means_lost_then_anew(code, member_id):
    driver = Driver()
    driver.join(A)
    driver.heartbeat(code)
    assert driver.member.group.generation_id == -1
    driver.step(StepKind.LOST, A)
    driver.step(StepKind.PREPARE)
    assert driver.request(JoinGroupRequest).member_id == member_id


def test_thrown_out_while_a_step_runs():
    driver = Driver()
    driver.join(A)
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    step = driver.ask()
    driver.heartbeat(ErrorCode.UNKNOWN_MEMBER_ID)
    assert driver.member.losing
    assert driver.ask() is None
    driver.member.step_done(step, driver.now)
    driver.step(StepKind.PREPARE)


def test_thrown_out_before_a_step_was_begun():
    """`driver.step` asserts that the member's next step is LOST."""
    driver = Driver()
    driver.join(A)
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.ask()
    driver.heartbeat(ErrorCode.UNKNOWN_MEMBER_ID)
    driver.member.withdraw_step()
    driver.step(StepKind.LOST, A)


def test_thrown_out_while_partitions_are_being_assigned():
    """The driver asserts each step and request of the member."""
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    driver.joined()
    driver.request(SyncGroupRequest)
    driver.synced(A)
    step = driver.ask()
    driver.heartbeat(ErrorCode.UNKNOWN_MEMBER_ID)
    driver.member.step_done(step, driver.now)
    driver.step(StepKind.LOST, A)


def test_a_rebalance_while_assigning_is_not_forgotten():
    """The driver asserts that the member joins again."""
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    driver.joined()
    driver.request(SyncGroupRequest)
    driver.synced(A)
    step = driver.ask()
    driver.heartbeat(ErrorCode.REBALANCE_IN_PROGRESS)
    driver.member.step_done(step, driver.now)
    driver.step(StepKind.PREPARE, A)


@pytest.mark.parametrize(
    ("code", "again"),
    [(ErrorCode.REBALANCE_IN_PROGRESS, 0), (ErrorCode.NOT_COORDINATOR, BACKOFF_MS)],
)
def test_a_rejected_sync_joins_again_with_the_same_id(code, again):
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    driver.joined()
    driver.request(SyncGroupRequest)
    driver.answer(SyncGroupResponse(error_code=code))
    driver.now += again
    assert driver.request(JoinGroupRequest).member_id == "m"


@pytest.mark.parametrize(
    "code", [ErrorCode.FENCED_INSTANCE_ID, ErrorCode.GROUP_AUTHORIZATION_FAILED]
)
def test_fatal_errors_end_it(code):
    driver = Driver()
    driver.join(A)
    driver.heartbeat(code)
    assert driver.member.fatal.code is code
    driver.step(StepKind.LOST, A)
    assert driver.ask() is None


def test_an_assignor_that_fails_is_named():
    class Broken:
        name, cooperative = "broken", False

        def user_data(self, owned, generation):
            return None

        def assign(self, partitions, members):
            raise ZeroDivisionError

    driver = Driver((Broken(),))
    driver.strategy = "broken"
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    metadata = encode_subscription(["t"], [], -1, None, "")
    driver.joined(leader="m", members=[JoinGroupResponseMember(member_id="m", metadata=metadata)])
    driver.ask()
    driver.member.on_partition_counts({"t": 1}, driver.now)
    assert isinstance(driver.member.fatal, LocalError)
    assert "broken" in str(driver.member.fatal)


def test_overdue_leaves_and_begins_anew_at_the_next_poll():
    driver = Driver()
    driver.join(A)
    request = driver.member.overdue(driver.now)
    assert isinstance(request, LeaveGroupRequest)
    driver.step(StepKind.LOST, A)
    driver.step(StepKind.PREPARE)


def test_leaving():
    driver = Driver()
    assert driver.member.leave("never joined") is None
    driver.member.subscribe(frozenset({"t"}), None)
    driver.join(A)
    request = driver.member.leave("closed")
    assert (request.members[0].member_id, request.members[0].reason) == ("m", "closed")
    assert driver.ask() is None
    static = Driver(instance_id="i")
    static.join(A)
    assert static.member.leave("closed") is None, "a static member keeps its place"


def test_another_subscription_rejoins():
    driver = Driver()
    driver.join(A)
    driver.member.subscribe(frozenset({"t"}), None)
    assert driver.ask() is None
    driver.member.subscribe(frozenset({"t", "u"}), None)
    driver.step(StepKind.PREPARE, A)


def test_an_unreadable_assignment_is_asked_for_again():
    """The driver asserts that the member joins again after the backoff."""
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    driver.joined()
    driver.request(SyncGroupRequest)
    driver.answer(SyncGroupResponse(assignment=b"\x00\x03\xff\xff\xff"))
    driver.now += BACKOFF_MS
    driver.request(JoinGroupRequest)


def test_a_leader_that_cannot_read_a_subscription_joins_again():
    driver = Driver()
    driver.step(StepKind.PREPARE)
    driver.request(JoinGroupRequest)
    broken = JoinGroupResponseMember(member_id="m", metadata=b"\x00")
    driver.joined(leader="m", members=[broken])
    assert driver.ask() is None
    driver.now += BACKOFF_MS
    assert driver.request(JoinGroupRequest).member_id == "m"
