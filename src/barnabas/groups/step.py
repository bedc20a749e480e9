"""One coordinator step under construction: the outcome being filled and what steps may use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from barnabas.groups.config import GroupConfig
from barnabas.groups.outcome import CoordinatorRecord, Outcome, Token
from barnabas.groups.topics_image import TopicsImage
from barnabas.model.error_codes import ErrorCode

GroupSettingsOf = Callable[[str], Mapping[str, int]]
"""What is set for one group alone, by the names of `GROUP_RESOURCE_KEYS`."""


def no_group_settings(group_id: str) -> Mapping[str, int]:
    return {}


OnSettled = Callable[[ErrorCode], None]


@dataclass(slots=True)
class Surroundings:
    """What outlives a step: settings, the topics, the source of ids, the counter of tokens."""

    config: GroupConfig
    topics: TopicsImage
    new_id: Callable[[], str]
    last_token: Token = 0
    group_settings: GroupSettingsOf = no_group_settings


@dataclass(slots=True)
class Step:
    """Fills one `Outcome`; lives until that outcome is settled."""

    around: Surroundings
    now_ms: int
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def config(self) -> GroupConfig:
        return self.around.config

    @property
    def topics(self) -> TopicsImage:
        return self.around.topics

    def session_timeout_ms(self, group_id: str) -> int:
        """Of the members of a consumer group."""
        own = self.around.group_settings(group_id).get("consumer.session.timeout.ms")
        return self.config.consumer_session_timeout_ms if own is None else own

    def heartbeat_interval_ms(self, group_id: str) -> int:
        own = self.around.group_settings(group_id).get("consumer.heartbeat.interval.ms")
        return self.config.consumer_heartbeat_interval_ms if own is None else own

    def park(self) -> Token:
        """Leave this step's request unanswered for now, under a new token."""
        self.around.last_token += 1
        self.outcome.parked = self.around.last_token
        return self.around.last_token

    def write(self, records: list[CoordinatorRecord], on_settled: OnSettled) -> None:
        """Ask for an append and say what follows it; at most once per step."""
        if self.outcome.settle is not None:
            raise AssertionError("a step appends once")
        self.outcome.records = records

        def settle(code: ErrorCode, now_ms: int) -> Outcome:
            self.now_ms = now_ms
            self.outcome.records = []
            on_settled(code)
            return self.outcome

        self.outcome.settle = settle


_APPEND_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def membership_error(append_error: ErrorCode) -> ErrorCode:
    """What a member is told when the group's record could not be appended."""
    return _APPEND_ERRORS.get(append_error, append_error)


def commit_error(append_error: ErrorCode) -> ErrorCode:
    """The same for a commit, where a record that is too large is the client's doing."""
    if append_error in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return membership_error(append_error)
