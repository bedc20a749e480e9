"""One step of the group coordinator: the outcome being built and the state that steps share.

That state is the configuration, the topics, the statistics, and the groups of the shard by id.
"""

import enum
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

from barnabas.coordination import (
    CoordinatorOutcome,
    CoordinatorRecord,
    PendingAppend,
    ProducerSession,
    Token,
)
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.requests import Reply
from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import Uuid

GroupSettingsOf = Callable[[str], Mapping[str, int]]
"""Returns the settings of one group, by the names of `GROUP_RESOURCE_KEYS`."""
GroupOutcome = CoordinatorOutcome[Reply]


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """Settings of the group coordinator; defaults as in `model.config_keys.coordinators`."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = 5_000
    max_bytes: int = 16 * 1024 * 1024
    offset_metadata_max_bytes: int = 4096
    offsets_retention_ms: int = 7 * 24 * 60 * 60_000
    rebalance_protocols: tuple[str, ...] = ("classic", "consumer")
    consumer_session_timeout_ms: int = 45_000
    consumer_heartbeat_interval_ms: int = 5_000
    consumer_max_size: int = 5_000
    consumer_assignors: tuple[str, ...] = ("uniform", "range")
    migration_policy: str = "bidirectional"

    @classmethod
    def from_values(cls, values: ConfigValues) -> Self:
        """Returns the settings from the parsed configuration of the broker."""
        return cls(
            min_session_timeout_ms=values["group.min.session.timeout.ms"],
            max_session_timeout_ms=values["group.max.session.timeout.ms"],
            initial_rebalance_delay_ms=values["group.initial.rebalance.delay.ms"],
            max_size=values["group.max.size"],
            max_bytes=values["group.max.bytes"],
            offset_metadata_max_bytes=values["offset.metadata.max.bytes"],
            offsets_retention_ms=values["offsets.retention.minutes"] * 60_000,
            rebalance_protocols=tuple(values["group.coordinator.rebalance.protocols"]),
            consumer_session_timeout_ms=values["group.consumer.session.timeout.ms"],
            consumer_heartbeat_interval_ms=values["group.consumer.heartbeat.interval.ms"],
            consumer_max_size=values["group.consumer.max.size"],
            consumer_assignors=tuple(values["group.consumer.assignors"]),
            migration_policy=values["group.consumer.migration.policy"],
        )

    @property
    def upgrade_allowed(self) -> bool:
        """Whether a classic group with members may be converted to a consumer group."""
        return self.migration_policy in ("upgrade", "bidirectional")

    @property
    def downgrade_allowed(self) -> bool:
        return self.migration_policy in ("downgrade", "bidirectional")


class TopicsImage(Protocol):
    """A live view of the topics. `version` changes whenever any result may have changed."""

    @property
    def version(self) -> int: ...

    def topic_names(self) -> Iterable[str]:
        """Returns all topics, with internal ones."""
        ...

    def topic_id(self, topic: str) -> Uuid | None: ...

    def topic_name(self, topic_id: Uuid) -> str | None: ...

    def partition_count(self, topic: str) -> int:
        """Returns the number of partitions, 0 if the topic does not exist."""
        ...


class FixedTopicsImage:
    """An image of topics that a test or a single-node tool sets by hand.

    >>> image = FixedTopicsImage({"orders": (Uuid(b"o" * 16), 3)})
    >>> image.partition_count("orders")
    3
    """

    def __init__(self, topics: Mapping[str, tuple[Uuid, int]] | None = None) -> None:
        self._version = 0
        self._topics: dict[str, tuple[Uuid, int]] = {}
        self.replace(topics or {})

    def replace(self, topics: Mapping[str, tuple[Uuid, int]]) -> None:
        """Replaces all topics: name -> (id, partitions)."""
        self._topics = dict(topics)
        self._names = {topic_id: name for name, (topic_id, _) in topics.items()}
        self._version += 1

    @property
    def version(self) -> int:
        return self._version

    def topic_names(self) -> Iterable[str]:
        return self._topics.keys()

    def topic_id(self, topic: str) -> Uuid | None:
        found = self._topics.get(topic)
        return found[0] if found is not None else None

    def topic_name(self, topic_id: Uuid) -> str | None:
        return self._names.get(topic_id)

    def partition_count(self, topic: str) -> int:
        found = self._topics.get(topic)
        return found[1] if found is not None else 0


class TimerKind(enum.Enum):
    """The purpose of a timer. Every state in which a group waits has a timer that ends it."""

    SESSION = "session"  # no heartbeat within the session timeout of the member
    PENDING_MEMBER = "pending member"  # the client did not use its member id (KIP-394)
    JOIN = "join"  # the join phase of a classic group takes too long
    SYNC = "sync"  # members of a new classic generation have not synced (KAFKA-12890)
    REVOCATION = "revocation"  # a KIP-848 member has not revoked its partitions
    CLASSIC_JOIN = "classic join"  # a classic member of a consumer group has not rejoined
    CLASSIC_SYNC = "classic sync"  # a classic member of a consumer group has not synced


class RebalanceCause(enum.Enum):
    """Why a group rebalances, under the names that the metrics use."""

    NEW_MEMBER = "new member"
    REJOINED = "member rejoined"
    LEFT = "member left"
    EXPIRED = "session timeout"
    NOT_SYNCED = "sync timeout"
    STATIC_REPLACED = "static member replaced"
    SUBSCRIPTION = "subscription changed"
    TOPICS = "topics changed"
    CONVERTED = "group converted"
    OTHER = "other"


class GroupStats:
    """Numbers of a group coordinator for its metrics; they outlive its shards."""

    def __init__(self) -> None:
        self.rebalances: Counter[tuple[str, str]] = Counter()
        """Started rebalances by protocol and cause."""
        self.completed = 0
        """Rebalances of classic groups that completed."""
        self.commits = 0
        self.expired_offsets = 0
        self.deleted_offsets = 0


class TimerKey(NamedTuple):
    """Identifies a timer; setting a timer that is already set replaces it."""

    kind: TimerKind
    group_id: str
    member_id: str = ""


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
    stats: GroupStats = field(default_factory=GroupStats)


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

    @property
    def stats(self) -> GroupStats:
        return self.context.stats

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


# --- Groups of the shard --------------------------------------------------------------------------


Group = ClassicGroup | ConsumerGroup


@dataclass(slots=True)
class GroupTable:
    """The groups of a shard by id. Owned by the shard."""

    groups: dict[str, Group] = field(default_factory=dict)

    def get(self, group_id: str) -> Group | None:
        return self.groups.get(group_id)

    def existing(self, group_id: str) -> Group:
        group = self.groups.get(group_id)
        if group is None:
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def existing_consumer(self, group_id: str) -> ConsumerGroup:
        group = self.existing(group_id)
        if not isinstance(group, ConsumerGroup):
            raise BrokerError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group."
            )
        return group

    def put(self, group: Group) -> None:
        self.groups[group.group_id] = group

    def remove(self, group_id: str) -> None:
        self.groups.pop(group_id, None)
