"""Drives a group member: sends its requests and passes steps to the polling thread.

Runs as one task on the client's loop, so heartbeats continue while the application processes
records. All decisions about generations and assignments are in the member's state machine.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable

from barnabas.clients.core.background import Background, run_steps
from barnabas.clients.core.client import COORDINATOR, GROUP, KafkaClient
from barnabas.clients.group._iteration_hot import RecordIterator
from barnabas.clients.group.membership_actions import (
    Action,
    AssignmentStep,
    LookUpPartitions,
    Membership,
    Send,
)
from barnabas.clients.group.metrics import CoordinatorMeters
from barnabas.clients.group.settings import ConsumerSettings, GroupSettings
from barnabas.clients.group.subscription import SubscriptionKind, SubscriptionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.runtime.clock import Clock
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message, Request
from barnabas.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

logger = logging.getLogger(__name__)

# close() must not wait longer for a coordinator that is down: the session expires anyway.
LEAVE_SECONDS = 5.0
CHECK_MS = 1000
FIRST_HEARTBEAT_WITH_PATTERN = 1
REQUEST_NAMES: dict[int, str] = {
    ApiKey.JOIN_GROUP: "join",
    ApiKey.SYNC_GROUP: "sync",
    ApiKey.HEARTBEAT: "heartbeat",
    ApiKey.CONSUMER_GROUP_HEARTBEAT: "heartbeat",
}
"""Names of the measured requests."""
COORDINATOR_GONE = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})


class PollClock:
    """Time of the last poll(); written by the polling thread, read by the loop."""

    __slots__ = ("_returned", "last_ms", "polling", "reader")

    def __init__(self) -> None:
        self.polling = False
        self.last_ms = 0
        self.reader: RecordIterator | None = None
        self._returned = 0

    def overdue(self, limit_ms: int, now_ms: int) -> bool:
        """Returns whether neither poll() nor the iteration was used for `limit_ms`.

        The iteration does not read the clock. Records that it returned since the last call count
        as used now: a slow member is removed later by one interval of these calls at most.
        """
        returned = 0 if self.reader is None else self.reader.returned
        if returned != self._returned:
            self._returned = returned
            self.last_ms = max(self.last_ms, now_ms)
        return not self.polling and now_ms - self.last_ms > limit_ms


class MembershipDriver:
    """Sends the requests of a group member and passes steps to the polling thread.

    Owned by the client's event loop. `steps` has at most one step for the polling thread.

    The loop may withdraw a step; `popleft` is atomic, so only one side gets it.
    """

    def __init__(
        self,
        settings: ConsumerSettings,
        client: KafkaClient,
        subscription: SubscriptionState,
        member: Membership,
        clock: Clock,
    ) -> None:
        assert settings.group is not None
        self.member = member
        self.polls = PollClock()
        self.steps: deque[AssignmentStep] = deque()
        self.meters = CoordinatorMeters()
        self.on_step: Callable[[], None] = lambda: None
        self._settings = settings
        self._group: GroupSettings = settings.group
        self._client = client
        self._subscription = subscription
        self._clock = clock
        self._woken = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None
        self._applied_generations = (-1, -1)
        self._looked_up = -1
        self._refresh_at_ms = 0
        self._broker_matches = False
        self._work = Background(settings.client.retry_backoff_ms / 1000, self._woken.set)
        self._assigned_counts: dict[str, int] = {}

    async def run(self) -> None:
        """Runs until cancelled; does nothing before the application has subscribed and polled."""
        await run_steps(self._step, self._woken, self._clock)

    def wake(self) -> None:
        self._woken.set()

    def step_done(self, step: AssignmentStep) -> None:
        """Reports to the member that the polling thread has run a step. Call it on the loop."""
        self.member.step_done(step, self._clock.monotonic_ms())
        self._woken.set()

    def group_rebalances(self) -> None:
        """Joins again, if no heartbeat has reported the rebalance yet. Call it on the loop."""
        if self.member.settled:
            self.member.rejoin("the coordinator rejected a commit: the group is rebalancing")
            self._woken.set()

    async def leave(self, reason: str) -> None:
        """Ends the membership and sends the leave request, if one is necessary."""
        self.steps.clear()
        self._assigned_counts = {}
        self._applied_generations = (-1, -1)
        request = self.member.leave(reason)
        await self._stop_sending()
        if request is not None:
            await self._send_leave(request)

    async def close(self) -> None:
        await self._work.close()
        await self._stop_sending()

    # -- one round -----------------------------------------------------------------------------

    def _step(self, now_ms: int) -> int:
        """Performs all actions that are due; returns the milliseconds until the next check."""
        self._drive_member(now_ms)
        now_ms = self._clock.monotonic_ms()
        return max(min(self.member.next_poll_ms(now_ms) - now_ms, CHECK_MS), 1)

    def _drive_member(self, now_ms: int) -> None:
        if not self._subscription.uses_group or not self.polls.last_ms:
            return
        missing = now_ms >= self._refresh_at_ms
        known = self._looked_up == self._subscription.generation
        if missing or not known or self._client.metadata_is_stale:
            self._work.run("metadata", self._refresh_metadata)
        # Without metadata a pattern matches nothing, and the member would join with no topics.
        if self._looked_up < 0:
            return
        self._follow_metadata()
        if self.polls.overdue(self._group.max_poll_interval_ms, now_ms) and self._is_member():
            self._overdue(now_ms)
        # The member was fenced: a step of its old generation must not run any more.
        if self.member.losing:
            with contextlib.suppress(IndexError):
                self.steps.popleft()
                self.member.withdraw_step()
        while True:
            action = self.member.poll(self._clock.monotonic_ms())
            if action is None:
                break
            self._act(action)
        self.meters.rebalance(in_progress=not self.member.settled, now_ms=now_ms)
        if self.member.fatal is not None:
            self.on_step()

    def _act(self, action: Action) -> None:
        match action:
            case AssignmentStep():
                self.steps.append(action)
                self.on_step()
            case Send() | LookUpPartitions():
                loop = asyncio.get_running_loop()
                self._sending = loop.create_task(self._perform(action))

    def _is_member(self) -> bool:
        return self.member.group.generation_id >= 0

    def _overdue(self, now_ms: int) -> None:
        logger.warning(
            "group %s: no poll() within max.poll.interval.ms (%d ms), leaving the group",
            self._group.group_id,
            self._group.max_poll_interval_ms,
        )
        request = self.member.overdue(now_ms)
        if request is not None:
            self._sending = asyncio.get_running_loop().create_task(self._send_leave(request))

    async def _refresh_metadata(self) -> None:
        """Refreshes the metadata of the subscribed topics."""
        generation = self._subscription.generation
        if self._subscription.kind is SubscriptionKind.PATTERN:
            self._client.interests = None  # all topics: a new one may match
            await self._check_pattern_support()
        elif self._client.interests is None:
            self._client.interests = set()  # an earlier subscription was a pattern
        await self._client.refresh(self._subscription.topics)
        self._looked_up = generation
        for topic in self._subscription.topics:
            self._client.note_topic(topic)
        self._refresh_at_ms = self._clock.monotonic_ms() + self._missing_pause_ms()

    def _missing_pause_ms(self) -> int:
        """Returns the time until the next refresh; short if a subscribed topic is missing."""
        counts = self._counts(self._subscription.topics)
        return CHECK_MS if 0 in counts.values() else self._settings.client.metadata_max_age_ms

    async def _check_pattern_support(self) -> None:
        """Checks whether the coordinator can match the pattern (KIP-848, heartbeat version 1)."""
        if self._group.protocol == "consumer":
            node_id = await self._client.coordinator(GROUP, self._group.group_id)
            connection = await self._client.connection(node_id, COORDINATOR)
            version = connection.version_of(ConsumerGroupHeartbeatRequest)
            self._broker_matches = version >= FIRST_HEARTBEAT_WITH_PATTERN

    def _follow_metadata(self) -> None:
        """Passes the subscription to the member; starts a rebalance if partition counts changed."""
        generations = (self._subscription.generation, self._client.metadata.generation)
        if generations == self._applied_generations or self._looked_up != generations[0]:
            return
        self._applied_generations = generations
        if self._subscription.kind is SubscriptionKind.PATTERN:
            self._subscription.matched(self._matching())
        self.member.subscribe(self._subscription.topics, self._pattern())
        # Only the leader of a classic group has these counts; other members join when it does.
        counts = self._assigned_counts
        if counts and self._counts(frozenset(counts)) != counts:
            self._assigned_counts = {}
            self.member.rejoin("the partitions of a topic changed")

    def _pattern(self) -> str | None:
        pattern = self._subscription.pattern if self._broker_matches else None
        return None if pattern is None else pattern.pattern

    def _matching(self) -> list[str]:
        pattern = self._subscription.pattern
        assert pattern is not None
        return [
            name
            for name, topic in self._client.metadata.topics.items()
            if pattern.fullmatch(name)
            and topic.partitions
            and not (topic.internal and self._settings.exclude_internal)
        ]

    # -- requests ------------------------------------------------------------------------------

    async def _perform(self, action: Send | LookUpPartitions) -> None:
        try:
            if isinstance(action, LookUpPartitions):
                await self._look_up_partitions(action)
            else:
                response = await self._send(action)
                self._check_coordinator(response)
                self.member.on_response(response, self._clock.monotonic_ms())
        except BarnabasError as error:
            logger.debug("group %s: %s", self._group.group_id, error)
            # An unreachable coordinator sends no NOT_COORDINATOR, so its group may have moved.
            if isinstance(error, UnavailableError):
                self._client.forget_coordinator(GROUP, self._group.group_id)
            self.member.failed(error, self._clock.monotonic_ms())
        self._woken.set()

    async def _send(self, action: Send) -> Message:
        timeout_s = None if action.timeout_ms is None else action.timeout_ms / 1000
        sent_ms = self._clock.monotonic_ms()
        response = await self._client.send_to_coordinator(
            GROUP, self._group.group_id, action.request, timeout_s=timeout_s
        )
        self._measure(action.request, response, sent_ms)
        return response

    def _measure(self, request: Message, response: Message, sent_ms: int) -> None:
        name = REQUEST_NAMES.get(request.API_KEY)
        if name is None:
            return
        now_ms = self._clock.monotonic_ms()
        self.meters.on_response(name, now_ms - sent_ms, now_ms)
        code = getattr(response, "error_code", 0)
        # MEMBER_ID_REQUIRED is the first half of a successful join.
        if name != "heartbeat" and code not in (ErrorCode.NONE, ErrorCode.MEMBER_ID_REQUIRED):
            self.meters.failed_rebalances.record(1)

    def _check_coordinator(self, response: Message) -> None:
        code = ErrorCode.of(getattr(response, "error_code", 0))
        if code in COORDINATOR_GONE:
            self._client.forget_coordinator(GROUP, self._group.group_id)
            raise BrokerError(code)

    async def _look_up_partitions(self, action: LookUpPartitions) -> None:
        # The leader assigns the topics of all members, which it may not have subscribed to itself.
        await self._client.refresh(action.topics)
        self._assigned_counts = self._counts(action.topics)
        self.member.on_partition_counts(self._assigned_counts, self._clock.monotonic_ms())

    def _counts(self, topics: frozenset[str]) -> dict[str, int]:
        found = {topic: self._client.metadata.partition_count(topic) for topic in topics}
        return {topic: count or 0 for topic, count in found.items()}

    async def _send_leave(self, request: Request[Message]) -> None:
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                # A separate connection: the usual one may have a parked JoinGroup request.
                node_id = await self._client.coordinator(GROUP, self._group.group_id)
                await self._client.send(node_id, request, purpose="leave")
        except (BarnabasError, TimeoutError) as error:
            logger.debug("group %s: leaving: %s", self._group.group_id, error)

    async def _stop_sending(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
            self._sending = None
