"""What topic calls take and return."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.admin.config_types import ConfigValue
from barnabas.model.ids import Uuid
from barnabas.security.acl import Operation

BROKER_DEFAULT = -1


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create; -1 takes the broker's default.

    `assignments` places replicas by hand: brokers per partition, the first one preferred.
    """

    name: str
    partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    configs: Mapping[str, ConfigValue | None] = field(default_factory=dict)
    assignments: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """How many partitions a topic shall have, and where the new ones go."""

    total: int
    assignments: Sequence[Sequence[int]] | None = None


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """What the broker made; numbers are -1 where an old broker does not tell."""

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
    """One partition; `leader` is None while there is none."""

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
