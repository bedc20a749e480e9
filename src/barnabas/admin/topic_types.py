"""Parameter and result types of calls on topics, offsets, leaders and replicas."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from barnabas.admin.config_types import ConfigValue
from barnabas.model import records
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid

if TYPE_CHECKING:
    from barnabas.security.acl import Operation  # start-up time of the command-line tools

BROKER_DEFAULT = -1


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create; -1 selects the broker's default.

    `assignments` lists the broker ids of each partition; the first one is the preferred leader.
    """

    name: str
    partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    configs: Mapping[str, ConfigValue | None] = field(default_factory=dict)
    assignments: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """The new total number of partitions, and optionally the brokers of the added ones."""

    total: int
    assignments: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """A created topic; numbers are -1 if an old broker does not return them."""

    name: str
    topic_id: Uuid
    partitions: int
    replication_factor: int
    configs: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class TopicListing:
    """Name and id of a topic, and whether it is internal."""

    name: str
    topic_id: Uuid
    internal: bool


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """One partition; `leader` is None while it has no leader."""

    partition: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...] = ()
    eligible_leader_replicas: tuple[int, ...] | None = None
    last_known_eligible: tuple[int, ...] | None = None

    @property
    def under_replicated(self) -> bool:
        """Whether a replica is not in sync."""
        return len(self.isr) < len(self.replicas)


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """A topic with its partitions, sorted by number."""

    name: str
    topic_id: Uuid
    internal: bool
    partitions: tuple[PartitionDescription, ...]
    authorized_operations: "frozenset[Operation] | None" = None

    @property
    def replication_factor(self) -> int:
        """The largest number of replicas of a partition."""
        return max((len(item.replicas) for item in self.partitions), default=0)


@dataclass(frozen=True, slots=True)
class OffsetSpec:
    """Selects an offset: a timestamp in milliseconds, or a constant such as LATEST."""

    timestamp: int

    @classmethod
    def at(cls, when: datetime | int) -> "OffsetSpec":
        """Selects the first record at or after a time."""
        if isinstance(when, datetime):
            return cls(int(when.timestamp() * 1000))
        return cls(when)


LATEST = OffsetSpec(records.LATEST_TIMESTAMP)
EARLIEST = OffsetSpec(records.EARLIEST_TIMESTAMP)
MAX_TIMESTAMP = OffsetSpec(records.MAX_TIMESTAMP)
EARLIEST_LOCAL = OffsetSpec(records.EARLIEST_LOCAL_TIMESTAMP)
LATEST_TIERED = OffsetSpec(records.LATEST_TIERED_TIMESTAMP)


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """The found offset; None if no record has this timestamp or a later one."""

    offset: int | None
    timestamp: int | None
    leader_epoch: int | None


HIGH_WATERMARK = -1
"""Used as offset: delete all records up to the high watermark."""


class ElectionType(enum.IntEnum):
    """PREFERRED elects the first replica; UNCLEAN accepts out-of-sync replicas, losing records."""

    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A reassignment in progress."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class Replica(NamedTuple):
    """The replica of a partition on one broker."""

    topic: str
    partition: int
    broker: int


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """Size and lag of a replica; `future` marks a copy that is being moved to this directory."""

    size_bytes: int
    offset_lag: int
    future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory; `error` is set if it is offline. Totals are None for old brokers."""

    path: str
    error: BrokerError | None
    replicas: dict[TopicPartition, ReplicaInfo]
    total_bytes: int | None = None
    usable_bytes: int | None = None
