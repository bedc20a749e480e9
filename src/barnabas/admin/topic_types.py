"""Parameter and result types of topic calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.admin.config_types import ConfigValue
from barnabas.model.ids import Uuid
from barnabas.security.acl import Operation

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
        return len(self.isr) < len(self.replicas)


@dataclass(frozen=True, slots=True)
class TopicDescription:
    name: str
    topic_id: Uuid
    internal: bool
    partitions: tuple[PartitionDescription, ...]
    authorized_operations: frozenset[Operation] | None = None

    @property
    def replication_factor(self) -> int:
        return max((len(item.replicas) for item in self.partitions), default=0)
