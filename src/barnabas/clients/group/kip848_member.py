"""A member under `group.protocol=consumer` (KIP-848) as a state machine without IO.

The heartbeat is the only request: it carries the subscription and the owned partitions, and its
response carries the target assignment. The broker computes the assignment. The member first revokes
(REVOKE), then adds partitions (ASSIGN), and confirms with an immediate heartbeat. Its epoch changes
only by a response. `Kip848Assignment` has the owned and the target partitions.
"""

import enum
import logging
from collections.abc import Mapping

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
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import GroupMetadata
from barnabas.wire.message import Message, Request
from barnabas.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

TopicPartitionSet = frozenset[TopicPartition]
NOTHING: TopicPartitionSet = frozenset()


class Kip848Assignment:
    """Owned, target and reported partitions of a `Kip848Member`.

    The broker uses topic ids, the polling thread topic names; `names` is the live mapping of the
    client's metadata. A target with an unknown topic id waits for metadata as a whole.
    """

    __slots__ = ("_names", "_reported", "_target", "owned")

    def __init__(self, names: Mapping[Uuid, str]) -> None:
        self._names = names
        self.owned: TopicPartitionSet = NOTHING
        self._target: dict[Uuid, list[int]] | None = None
        self._reported: TopicPartitionSet | None = None

    # -- target --------------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether there is no pending target."""
        return self._target is None

    def set_target(self, assignment: Assignment) -> None:
        self._target = {
            item.topic_id: list(item.partitions) for item in assignment.topic_partitions
        }

    def drop_target(self) -> None:
        """Forgets the target and the reported partitions after the member was removed."""
        self._target, self._reported = None, None

    def named_target(self) -> TopicPartitionSet | None:
        """Returns the target with topic names; None without one or while a topic id is unknown."""
        if self._target is None or any(topic_id not in self._names for topic_id in self._target):
            return None
        return frozenset(
            TopicPartition(self._names[topic_id], partition)
            for topic_id, partitions in self._target.items()
            for partition in partitions
        )

    def next_step(self) -> AssignmentStep | None:
        """Returns the next step towards the target, None while the target is unknown."""
        target = self.named_target()
        if target is None:
            return None
        if self.owned - target:
            return AssignmentStep(StepKind.REVOKE, self.owned - target)
        return AssignmentStep(StepKind.ASSIGN, target - self.owned)

    def apply_step(self, step: AssignmentStep) -> None:
        """Applies a step that the polling thread has run."""
        if step.kind is StepKind.ASSIGN:
            self.owned |= step.partitions
        else:
            self.owned -= step.partitions

    def try_settle(self) -> bool:
        """Clears the target if it is reached; returns whether it is."""
        if self.named_target() != self.owned:
            return False
        self._target = None
        return True

    # -- reported partitions --------------------------------------------------------------------

    @property
    def unreported(self) -> bool:
        """Whether the owned partitions have changed since the last heartbeat."""
        return self.owned != self._reported

    def report_owned(self) -> list[TopicPartitions]:
        """Returns the owned partitions by topic id for the next heartbeat."""
        self._reported = self.owned
        ids = {name: topic_id for topic_id, name in self._names.items()}
        by_topic: dict[Uuid, list[int]] = {}
        for topic_partition in sorted(self.owned):
            if topic_partition.topic in ids:
                by_topic.setdefault(ids[topic_partition.topic], []).append(
                    topic_partition.partition
                )
        return [
            TopicPartitions(topic_id=topic_id, partitions=numbers)
            for topic_id, numbers in by_topic.items()
        ]


logger = logging.getLogger(__name__)

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2
# Until the first response contains group.consumer.heartbeat.interval.ms; Kafka's default.
FIRST_INTERVAL_MS = 5_000
FOREVER_MS = 3_600_000


class Kip848MemberState(enum.Enum):
    """The state of a KIP-848 member.

    IDLE: not subscribed. UNJOINED: joins after the next poll(). PREPARING: waits for that poll.
    JOINED: sends heartbeats and applies assignments. LOSING: removed from the group; the polling
    thread drops the partitions, then UNJOINED.
    """

    IDLE = "idle"
    UNJOINED = "unjoined"
    PREPARING = "preparing"
    JOINED = "joined"
    LOSING = "losing"


REMOVED_CODES = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH})


class Kip848Member:
    """The state machine. Owned by the client's event loop; `names` is a live mapping."""

    def __init__(
        self,
        settings: GroupSettings,
        retry_backoff_ms: int,
        member_id: str,
        names: Mapping[Uuid, str],
    ) -> None:
        self._settings = settings
        self._backoff_ms = retry_backoff_ms
        self._names = names
        self._state = Kip848MemberState.IDLE
        self._member_id = member_id
        self._epoch = JOIN_EPOCH
        self._topics: frozenset[str] = frozenset()
        self._pattern: str | None = None
        self._assignment = Kip848Assignment(names)
        self._reconciling_from_ms = 0
        self._reason = "first join"
        self._full = True
        self._in_flight = False
        self._open_step: AssignmentStep | None = None
        self._interval_ms = FIRST_INTERVAL_MS
        self._heartbeat_at_ms = 0
        self._retry_at_ms = 0
        self.fatal: BarnabasError | None = None
        self.removal: Removal | None = None

    # -- state ----------------------------------------------------------------------------------

    @property
    def group(self) -> GroupMetadata:
        joined = self._state is Kip848MemberState.JOINED and self._epoch > JOIN_EPOCH
        return GroupMetadata(
            self._settings.group_id,
            self._epoch if joined else -1,
            self._member_id if joined else "",
            self._settings.instance_id,
        )

    @property
    def settled(self) -> bool:
        return self._state is Kip848MemberState.IDLE or (
            self._state is Kip848MemberState.JOINED and self._assignment.settled
        )

    @property
    def losing(self) -> bool:
        return self._state is Kip848MemberState.LOSING and (
            self._open_step is None or self._open_step.kind is not StepKind.LOST
        )

    @property
    def joining(self) -> bool:
        return False  # a commit with an old epoch is retried with the next one

    def withdraw_step(self) -> None:
        self._open_step = None

    def subscribe(self, topics: frozenset[str], pattern: str | None) -> None:
        if self._state is Kip848MemberState.IDLE:
            self._state, self._reason = Kip848MemberState.UNJOINED, "first join"
        elif (topics, pattern) != (self._topics, self._pattern):
            self._full, self._heartbeat_at_ms = True, 0
            self._reason = "the subscription changed"
        self._topics, self._pattern = topics, pattern

    def rejoin(self, reason: str) -> None:
        """Does nothing: the broker starts rebalances by itself."""

    # -- requests ------------------------------------------------------------------------------

    def poll(self, now_ms: int) -> Action | None:
        step = self._next_step(now_ms)
        if step is not None or self.fatal is not None or self._in_flight:
            return step
        if now_ms < self._retry_at_ms or self._state is not Kip848MemberState.JOINED:
            return None
        if not self._assignment.settled and self._open_step is None:
            # The target has an unknown topic id: refresh the metadata.
            self._in_flight = True
            return LookUpPartitions(self._topics)
        if now_ms < self._heartbeat_at_ms:
            return None
        self._in_flight = True
        self._heartbeat_at_ms = now_ms + self._interval_ms
        return Send(self._heartbeat())

    def next_poll_ms(self, now_ms: int) -> int:
        if self.fatal is not None or self._in_flight or self._state is not Kip848MemberState.JOINED:
            return now_ms + FOREVER_MS
        return max(self._heartbeat_at_ms, self._retry_at_ms)

    def _next_step(self, now_ms: int) -> AssignmentStep | None:
        if self._open_step is not None:
            return None
        if self._state is Kip848MemberState.LOSING and not self._assignment.owned:
            self._state = Kip848MemberState.UNJOINED
        match self._state:
            case Kip848MemberState.UNJOINED if self.fatal is None and not self._in_flight:
                self._state = Kip848MemberState.PREPARING
                self._reconciling_from_ms = now_ms
                return self._open(AssignmentStep(StepKind.PREPARE, NOTHING))
            case Kip848MemberState.LOSING:
                return self._open(AssignmentStep(StepKind.LOST, self._assignment.owned))
            case Kip848MemberState.JOINED:
                return self._open(self._assignment.next_step())
        return None

    def _open(self, step: AssignmentStep | None) -> AssignmentStep | None:
        self._open_step = step
        return step

    def _heartbeat(self) -> ConsumerGroupHeartbeatRequest:
        """Builds a full heartbeat when joining or after an error, else one with the changes."""
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._settings.group_id,
            member_id=self._member_id,
            member_epoch=self._epoch,
        )
        if self._full:
            request.instance_id = self._settings.instance_id
            request.rack_id = self._settings.rack or None
            request.rebalance_timeout_ms = self._settings.max_poll_interval_ms
            request.server_assignor = self._settings.remote_assignor
            if self._pattern is None:
                request.subscribed_topic_names = sorted(self._topics)
            else:
                request.subscribed_topic_regex = self._pattern
        if self._full or self._assignment.unreported:
            request.topic_partitions = self._assignment.report_owned()
        return request

    # -- steps of the polling thread -----------------------------------------------------------

    def step_done(self, step: AssignmentStep, now_ms: int) -> None:
        if step is not self._open_step:
            return
        self._open_step = None
        self._assignment.apply_step(step)
        if self._state is Kip848MemberState.LOSING and step.kind is not StepKind.LOST:
            return  # Removed meanwhile: the owned partitions are lost next.
        if step.kind is StepKind.PREPARE:
            self._state = Kip848MemberState.JOINED
            self._epoch, self._full, self._heartbeat_at_ms = JOIN_EPOCH, True, 0
        elif step.kind is StepKind.LOST:
            self._state = Kip848MemberState.UNJOINED
        elif step.kind is StepKind.ASSIGN and self._assignment.try_settle():
            self._target_reached(now_ms, len(step.partitions))

    def _target_reached(self, now_ms: int, added: int) -> None:
        self._heartbeat_at_ms = 0
        logger.info(
            "group %s: member %s in epoch %d, %s: %d partitions (%d new), %d ms",
            self._settings.group_id,
            self._settings.instance_id or self._member_id,
            self._epoch,
            self._reason,
            len(self._assignment.owned),
            added,
            now_ms - self._reconciling_from_ms,
        )
        self._reason = "the broker moved partitions"
        self._reconciling_from_ms = 0

    # -- responses -----------------------------------------------------------------------------

    def on_response(self, response: Message, now_ms: int) -> None:
        self._in_flight = False
        assert isinstance(response, ConsumerGroupHeartbeatResponse)
        code = ErrorCode.of(response.error_code)
        if self._state is not Kip848MemberState.JOINED:
            return
        if code is ErrorCode.NONE:
            self._on_heartbeat(response, now_ms)
        elif code in REMOVED_CODES:
            self._fenced(code.name, now_ms)
        elif code.retriable:
            self._full = True
            self._heartbeat_at_ms = 0
            self._retry_at_ms = now_ms + self._backoff_ms
        else:
            self._give_up(BrokerError(code, response.error_message))

    def failed(self, error: BarnabasError, now_ms: int) -> None:
        self._in_flight = False
        self._full = True
        self._heartbeat_at_ms = 0
        self._retry_at_ms = now_ms + self._backoff_ms
        if not error.retriable:
            self._give_up(error)

    def _on_heartbeat(self, response: ConsumerGroupHeartbeatResponse, now_ms: int) -> None:
        self._full = False
        self._epoch = response.member_epoch
        self.removal = None
        self._member_id = response.member_id or self._member_id
        if response.heartbeat_interval_ms > 0:
            self._interval_ms = response.heartbeat_interval_ms
            self._heartbeat_at_ms = min(self._heartbeat_at_ms, now_ms + self._interval_ms)
        if self._assignment.unreported:
            self._heartbeat_at_ms = 0
        if response.assignment is not None:
            self._reconciling_from_ms = self._reconciling_from_ms or now_ms
            self._assignment.set_target(response.assignment)

    def on_partition_counts(self, counts: Mapping[str, int], now_ms: int) -> None:
        """Called after a metadata refresh; retries after a backoff if a topic id is unknown."""
        self._in_flight = False
        if self._assignment.named_target() is None:
            self._retry_at_ms = now_ms + self._backoff_ms

    # -- leaving -------------------------------------------------------------------------------

    def overdue(self, now_ms: int) -> Request[Message] | None:
        request = self._leave_request()
        self._fenced("max.poll.interval.ms was exceeded", now_ms)
        return request

    def leave(self, reason: str) -> Request[Message] | None:
        request = self._leave_request()
        self._state, self._open_step, self._in_flight = Kip848MemberState.IDLE, None, False
        self._assignment = Kip848Assignment(self._names)
        self._epoch, self._full, self.fatal = JOIN_EPOCH, True, None
        self.removal = None
        self._retry_at_ms = 0
        return request

    def _leave_request(self) -> Request[Message] | None:
        if self._state is not Kip848MemberState.JOINED or self._epoch == JOIN_EPOCH:
            return None
        static = self._settings.instance_id is not None
        return ConsumerGroupHeartbeatRequest(
            group_id=self._settings.group_id,
            member_id=self._member_id,
            instance_id=self._settings.instance_id,
            member_epoch=LEAVE_STATIC_EPOCH if static else LEAVE_EPOCH,
        )

    def _fenced(self, reason: str, now_ms: int) -> None:
        if self.group.generation_id >= 0:
            self.removal = Removal(self.group, reason)
        self._epoch, self._full = JOIN_EPOCH, True
        self._assignment.drop_target()
        self._reason = f"joined again after {reason}"
        self._retry_at_ms = now_ms
        self._state = Kip848MemberState.LOSING

    def _give_up(self, error: BarnabasError) -> None:
        self.fatal = error
        self._state = Kip848MemberState.LOSING
