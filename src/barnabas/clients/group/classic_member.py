"""A member of a classic group as a state machine without IO.

The member id and the generation (`ClassicIdentity`) change only by a response to the member's own
request. A retriable error never resets them (KAFKA-13214); a response to a request of an older
generation is ignored (KAFKA-8104). Before joining, a step of the polling thread commits offsets and
revokes partitions between two polls, when all returned records are processed. The partitions and
the leader's assignment are in `classic_assignment`.
"""

import enum
import logging
from collections.abc import Mapping

from barnabas.clients.assignors import Assignment
from barnabas.clients.group.classic_assignment import (
    ClassicAssignment,
    ClassicIdentity,
    LeaderAssignment,
    leader_assignment,
)
from barnabas.clients.group.classic_protocol import (
    decode_assignment,
    heartbeat_request,
    join_request,
    sync_request,
)
from barnabas.clients.group.membership_actions import (
    Action,
    AssignmentStep,
    LookUpPartitions,
    Removal,
    Send,
    StepKind,
)
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata
from barnabas.wire.message import Message, Request
from barnabas.wire.messages.heartbeat import HeartbeatResponse
from barnabas.wire.messages.join_group import JoinGroupResponse
from barnabas.wire.messages.sync_group import SyncGroupResponse


class ClassicMemberState(enum.Enum):
    """The state of a classic member.

    IDLE: not subscribed. UNJOINED: joins at the next poll(). PREPARING: the polling thread
    revokes partitions. READY: JoinGroup is next. JOINING: JoinGroup is in flight. AWAITING_COUNTS:
    the leader needs partition counts to compute the assignment. SYNC_DUE, SYNCING: SyncGroup is
    next or in flight. REVOKING, LOSING, ASSIGNING: the polling thread applies the result. STABLE:
    only heartbeats.
    """

    IDLE = "idle"
    UNJOINED = "unjoined"
    PREPARING = "preparing"
    READY = "ready"
    JOINING = "joining"
    AWAITING_COUNTS = "awaiting counts"
    SYNC_DUE = "sync due"
    SYNCING = "syncing"
    LOSING = "losing"
    REVOKING = "revoking"
    ASSIGNING = "assigning"
    STABLE = "stable"


HEARTBEATING = frozenset(
    {
        ClassicMemberState.PREPARING,
        ClassicMemberState.REVOKING,
        ClassicMemberState.ASSIGNING,
        ClassicMemberState.STABLE,
    }
)
"""States in which the member sends heartbeats: it has joined and has no parked request."""

JOINING = frozenset(
    {
        ClassicMemberState.READY,
        ClassicMemberState.JOINING,
        ClassicMemberState.AWAITING_COUNTS,
        ClassicMemberState.SYNC_DUE,
        ClassicMemberState.SYNCING,
    }
)
"""States between JoinGroup and the next generation, without the polling thread."""

FATAL = frozenset(
    {
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        ErrorCode.INVALID_SESSION_TIMEOUT,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
REMOVED_CODES = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION})


logger = logging.getLogger(__name__)

# JoinGroup waits for max.poll.interval.ms at the coordinator; the response needs time as well.
JOIN_SLACK_MS = 5_000
FOREVER_MS = 3_600_000


class ClassicMember:
    """The state machine. Owned by the client's event loop."""

    def __init__(self, settings: GroupSettings, retry_backoff_ms: int) -> None:
        self._settings = settings
        self._backoff_ms = retry_backoff_ms
        self._state = ClassicMemberState.IDLE
        self._identity = ClassicIdentity(settings)
        self._topics: frozenset[str] = frozenset()
        self._assignment = ClassicAssignment(settings)
        self._leader_assignment = LeaderAssignment(settings.assignors[0])
        self._sync: Request[Message] | None = None
        self._in_flight = False
        self._open_step: AssignmentStep | None = None
        self._retry_at_ms = 0
        self._heartbeat_at_ms = 0
        self._reason = "first join"
        self._began_ms = 0
        self._rejoin_reason: str | None = None
        self.fatal: BarnabasError | None = None

    # -- state ----------------------------------------------------------------------------------

    @property
    def group(self) -> GroupMetadata:
        return self._identity.metadata

    @property
    def removal(self) -> Removal | None:
        return self._identity.removal

    @property
    def state(self) -> ClassicMemberState:
        return self._state

    @property
    def settled(self) -> bool:
        return self._state in (ClassicMemberState.STABLE, ClassicMemberState.IDLE)

    @property
    def losing(self) -> bool:
        return self._state is ClassicMemberState.LOSING and (
            self._open_step is None or self._open_step.kind is not StepKind.LOST
        )

    @property
    def joining(self) -> bool:
        return self._state in JOINING

    def withdraw_step(self) -> None:
        self._open_step = None

    def subscribe(self, topics: frozenset[str], pattern: str | None) -> None:
        if self._state is ClassicMemberState.IDLE:
            self._state = ClassicMemberState.UNJOINED
            self._reason = "first join"
        elif topics != self._topics:
            self.rejoin("the subscription changed")
        self._topics = topics

    def rejoin(self, reason: str) -> None:
        if self._state is ClassicMemberState.STABLE:
            self._begin(reason)
        elif self._state not in (ClassicMemberState.IDLE, ClassicMemberState.UNJOINED):
            self._rejoin_reason = reason

    # -- requests ------------------------------------------------------------------------------

    def poll(self, now_ms: int) -> Action | None:
        action: Action | None = self._next_step(now_ms)
        if self.fatal is not None or self._in_flight:
            return action
        if action is None and now_ms >= self._retry_at_ms:
            action = self._next_request(now_ms)
        if isinstance(action, Send | LookUpPartitions):
            self._in_flight = True
        return action

    def next_poll_ms(self, now_ms: int) -> int:
        if self.fatal is not None or self._in_flight:
            return now_ms + FOREVER_MS
        if self._state in HEARTBEATING:
            return max(self._heartbeat_at_ms, self._retry_at_ms)
        return max(self._retry_at_ms, now_ms) if self._retry_at_ms > now_ms else now_ms + FOREVER_MS

    def _next_step(self, now_ms: int) -> AssignmentStep | None:
        if self._open_step is not None:
            return None
        assignment = self._assignment
        if self._state is ClassicMemberState.LOSING and not assignment.owned:
            self._state = ClassicMemberState.UNJOINED
        match self._state:
            case ClassicMemberState.UNJOINED if self.fatal is None and not self._in_flight:
                self._began_ms = now_ms
                self._state = ClassicMemberState.PREPARING
                return self._step(StepKind.PREPARE, assignment.revoked_before_join(self._topics))
            case ClassicMemberState.LOSING:
                return self._step(StepKind.LOST, assignment.owned)
            case ClassicMemberState.REVOKING:
                return self._step(StepKind.REVOKE, assignment.surplus)
            case ClassicMemberState.ASSIGNING:
                return self._step(StepKind.ASSIGN, assignment.missing)
        return None

    def _next_request(self, now_ms: int) -> Send | LookUpPartitions | None:
        settings = self._settings
        if self._state is ClassicMemberState.READY:
            self._state = ClassicMemberState.JOINING
            subscriptions = self._assignment.subscriptions(self._topics)
            request = join_request(settings, self._identity.member_id, subscriptions, self._reason)
            return Send(request, settings.max_poll_interval_ms + JOIN_SLACK_MS)
        if self._state is ClassicMemberState.AWAITING_COUNTS:
            return LookUpPartitions(self._leader_assignment.topics)
        if self._state is ClassicMemberState.SYNC_DUE and self._sync is not None:
            self._state = ClassicMemberState.SYNCING
            return Send(self._sync, settings.max_poll_interval_ms + JOIN_SLACK_MS)
        heartbeats = self._state in HEARTBEATING and self._identity.generation >= 0
        if heartbeats and now_ms >= self._heartbeat_at_ms:
            self._heartbeat_at_ms = now_ms + settings.heartbeat_interval_ms
            return Send(heartbeat_request(self.group))
        return None

    def _step(self, kind: StepKind, partitions: frozenset[TopicPartition]) -> AssignmentStep:
        self._open_step = AssignmentStep(kind, partitions)
        return self._open_step

    # -- steps of the polling thread -----------------------------------------------------------

    def step_done(self, step: AssignmentStep, now_ms: int) -> None:
        if step is not self._open_step:
            return
        self._open_step = None
        self._assignment.apply_step(step)
        if self._state is ClassicMemberState.LOSING and step.kind is not StepKind.LOST:
            return  # Removed meanwhile: the owned partitions are lost next.
        match step.kind:
            case StepKind.PREPARE:
                self._state = ClassicMemberState.READY
            case StepKind.LOST:
                self._assignment.unsettle()
                self._state = ClassicMemberState.UNJOINED
            case StepKind.REVOKE:
                self._rejoin_reason = "partitions were given up"
                self._state = ClassicMemberState.ASSIGNING
            case StepKind.ASSIGN:
                self._settle(now_ms, len(step.partitions))

    def _settle(self, now_ms: int, added: int) -> None:
        generation = self._identity.generation
        self._assignment.settle(generation)
        self._state = ClassicMemberState.STABLE
        logger.info(
            "group %s: member %s in generation %d by %s, %s: %d partitions (%d new), %d ms",
            self._settings.group_id,
            self._identity,
            generation,
            self._leader_assignment.assignor.name,
            self._reason,
            len(self._assignment.owned),
            added,
            now_ms - self._began_ms,
        )
        if self._rejoin_reason is not None:
            reason, self._rejoin_reason = self._rejoin_reason, None
            self._begin(reason)

    # -- responses -----------------------------------------------------------------------------

    def on_response(self, response: Message, now_ms: int) -> None:
        self._in_flight = False
        if isinstance(response, JoinGroupResponse):
            self._joined(response, now_ms)
        elif isinstance(response, SyncGroupResponse):
            self._synced(response, now_ms)
        elif isinstance(response, HeartbeatResponse):
            self._on_heartbeat(ErrorCode.of(response.error_code), now_ms)

    def failed(self, error: BarnabasError, now_ms: int) -> None:
        """Retries after a backoff; the member id and the generation stay valid."""
        self._in_flight = False
        self._retry_at_ms = now_ms + self._backoff_ms
        if isinstance(error, BrokerError) and error.code in FATAL:
            self._give_up(error.code, error.message)
        elif self._state in (
            ClassicMemberState.JOINING,
            ClassicMemberState.SYNCING,
            ClassicMemberState.AWAITING_COUNTS,
        ):
            self._state = ClassicMemberState.READY

    def _joined(self, response: JoinGroupResponse, now_ms: int) -> None:
        code = ErrorCode.of(response.error_code)
        if code is not ErrorCode.NONE:
            self._join_rejected(code, response, now_ms)
            return
        self._identity.joined(response.member_id, response.generation_id)
        self._heartbeat_at_ms = now_ms + self._settings.heartbeat_interval_ms
        try:
            found = leader_assignment(response, self._settings.assignors)
        except ProtocolError as error:
            self._join_again(f"a member's subscription is unreadable: {error}", now_ms)
            return
        if found is None:
            self._give_up(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, response.protocol_name or "")
            return
        self._leader_assignment = found
        if found.members:
            self._state = ClassicMemberState.AWAITING_COUNTS
        else:
            self._prepare_sync({})

    def _join_rejected(self, code: ErrorCode, response: JoinGroupResponse, now_ms: int) -> None:
        self._state = ClassicMemberState.READY
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self._identity.member_id = response.member_id
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._retry_at_ms = now_ms + self._backoff_ms
        else:
            self._rejected(code, now_ms)

    def on_partition_counts(self, counts: Mapping[str, int], now_ms: int) -> None:
        self._in_flight = False
        if self._state is not ClassicMemberState.AWAITING_COUNTS:
            return
        try:
            assignment = self._leader_assignment.assign(counts)
        except LocalError as error:
            self.fatal = error
            self._state = ClassicMemberState.LOSING
            return
        self._prepare_sync(assignment)

    def _prepare_sync(self, assignment: Assignment) -> None:
        self._sync = sync_request(self.group, self._leader_assignment.assignor.name, assignment)
        self._state = ClassicMemberState.SYNC_DUE

    def _synced(self, response: SyncGroupResponse, now_ms: int) -> None:
        code = ErrorCode.of(response.error_code)
        self._state = ClassicMemberState.READY
        if code is ErrorCode.NONE:
            self._apply_assignment(bytes(response.assignment), now_ms)
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._reason = "the group rebalanced again"
        else:
            self._rejected(code, now_ms)

    def _rejected(self, code: ErrorCode, now_ms: int) -> None:
        """Handles an error of JoinGroup or SyncGroup; retries a transient one after a backoff."""
        if code in REMOVED_CODES:
            self._fenced(code.name, now_ms)
        elif code in FATAL or not code.retriable:
            self._give_up(code)
        else:
            self._retry_at_ms = now_ms + self._backoff_ms

    def _apply_assignment(self, data: bytes, now_ms: int) -> None:
        try:
            self._assignment.assigned = decode_assignment(data)
        except ProtocolError as error:
            self._join_again(f"an assignment is unreadable: {error}", now_ms)
            return
        self._heartbeat_at_ms = now_ms + self._settings.heartbeat_interval_ms
        self._state = (
            ClassicMemberState.REVOKING
            if self._assignment.surplus
            else ClassicMemberState.ASSIGNING
        )

    def _join_again(self, why: str, now_ms: int) -> None:
        logger.warning("group %s: %s", self._settings.group_id, why)
        self._state = ClassicMemberState.READY
        self._retry_at_ms = now_ms + self._backoff_ms

    def _on_heartbeat(self, code: ErrorCode, now_ms: int) -> None:
        if code is ErrorCode.NONE or self._state not in HEARTBEATING:
            return
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            if self._state is not ClassicMemberState.PREPARING:
                self.rejoin("the group is rebalancing")
        elif code in REMOVED_CODES:
            self._fenced(code.name, now_ms)
        elif code in FATAL:
            self._give_up(code)
        else:
            self._heartbeat_at_ms = now_ms + self._backoff_ms

    # -- leaving -------------------------------------------------------------------------------

    def overdue(self, now_ms: int) -> Request[Message] | None:
        request = self._leave_request("max.poll.interval.ms was exceeded")
        self._fenced("max.poll.interval.ms was exceeded", now_ms)
        return request

    def leave(self, reason: str) -> Request[Message] | None:
        request = self._leave_request(reason)
        self._state, self._open_step, self._in_flight = ClassicMemberState.IDLE, None, False
        self._identity.forget()
        self._assignment = ClassicAssignment(self._settings)
        self._rejoin_reason, self.fatal = None, None
        self._retry_at_ms = 0
        return request

    def _leave_request(self, reason: str) -> Request[Message] | None:
        return (
            None if self._state is ClassicMemberState.IDLE else self._identity.leave_request(reason)
        )

    def _begin(self, reason: str) -> None:
        self._reason = reason
        self._state = ClassicMemberState.UNJOINED

    def _fenced(self, reason: str, now_ms: int) -> None:
        """Drops the partitions and joins again after the group removed this member."""
        self._identity.fenced(reason)
        self._rejoin_reason = None
        self._reason = f"joined again after {reason}"
        self._began_ms = now_ms
        self._retry_at_ms = now_ms
        self._state = ClassicMemberState.LOSING

    def _give_up(self, code: ErrorCode, message: str | None = None) -> None:
        self.fatal = BrokerError(
            code, f"group {self._settings.group_id!r}: {message or code.explanation}"
        )
        self._state = ClassicMemberState.LOSING
