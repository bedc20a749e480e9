"""One step of the group coordinator: the outcome being built and the state that steps share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.coordination.outcome import (
    CoordinatorOutcome,
    CoordinatorRecord,
    PendingAppend,
    ProducerSession,
    Token,
)
from barnabas.groups.config import GroupConfig
from barnabas.groups.replies import Reply
from barnabas.groups.topics_image import TopicsImage
from barnabas.model.error_codes import ErrorCode

GroupSettingsOf = Callable[[str], Mapping[str, int]]
"""Returns the settings of one group, by the names of `GROUP_RESOURCE_KEYS`."""

GroupOutcome = CoordinatorOutcome[Reply]


def no_group_settings(group_id: str) -> Mapping[str, int]:
    return {}


OnSettled = Callable[[ErrorCode], None]


@dataclass(slots=True, eq=False)
class GroupAppend(PendingAppend):
    """Records of a group step. `on_settled` applies or reverts the change and fills the outcome."""

    step: "GroupStep | None" = None
    on_settled: OnSettled | None = None

    def settle(self, code: ErrorCode, now_ms: int) -> GroupOutcome:
        """Completes the step after the append ended with `code`; AssertionError when repeated."""
        step, on_settled = self.step, self.on_settled
        if step is None or on_settled is None or step.outcome.append is not self:
            raise AssertionError("an append is settled exactly once")
        step.now_ms = now_ms
        step.outcome.append = None
        on_settled(code)
        return step.outcome


@dataclass(slots=True)
class GroupContext:
    """State that outlives a step: settings, topics, the id generator, the last token."""

    config: GroupConfig
    topics: TopicsImage
    new_id: Callable[[], str]
    last_token: Token = 0
    group_settings: GroupSettingsOf = no_group_settings


@dataclass(slots=True)
class GroupStep:
    """Fills one outcome; in use until that outcome is settled."""

    context: GroupContext
    now_ms: int
    outcome: GroupOutcome = field(default_factory=CoordinatorOutcome)
    _has_written: bool = False

    @property
    def config(self) -> GroupConfig:
        return self.context.config

    @property
    def topics(self) -> TopicsImage:
        return self.context.topics

    def session_timeout_ms(self, group_id: str) -> int:
        """Returns the session timeout of the members of a consumer group."""
        own = self.context.group_settings(group_id).get("consumer.session.timeout.ms")
        return self.config.consumer_session_timeout_ms if own is None else own

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """Returns the heartbeat interval of the members of a consumer group."""
        own = self.context.group_settings(group_id).get("consumer.heartbeat.interval.ms")
        return self.config.consumer_heartbeat_interval_ms if own is None else own

    def park(self) -> Token:
        """Parks this step's request and returns its token; a later step completes it."""
        self.context.last_token += 1
        self.outcome.parked = self.context.last_token
        return self.context.last_token

    def write(
        self,
        records: Sequence[CoordinatorRecord],
        on_settled: OnSettled,
        producer: ProducerSession | None = None,
    ) -> None:
        """Requests an append and sets the action that follows it; at most once per step."""
        if self._has_written:
            raise AssertionError("a step appends once")
        self._has_written = True
        self.outcome.append = GroupAppend(records, producer, self, on_settled)
