"""When leaders have drifted away from the preferred replicas far enough to move them back."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from barnabas.model.ids import BrokerId, TopicPartition


class Drift(NamedTuple):
    """One broker: the partitions that prefer it and are led elsewhere, of how many."""

    away: tuple[TopicPartition, ...]
    preferred: int

    @property
    def percentage(self) -> float:
        return 100 * len(self.away) / self.preferred if self.preferred else 0.0


def leader_drift(
    leaders: Mapping[TopicPartition, tuple[BrokerId, BrokerId]],
) -> dict[BrokerId, Drift]:
    """Per broker, from (preferred, current leader) of each partition."""
    away: dict[BrokerId, list[TopicPartition]] = defaultdict(list)
    count: dict[BrokerId, int] = defaultdict(int)
    for topic_partition, (preferred, leader) in leaders.items():
        count[preferred] += 1
        if leader != preferred:
            away[preferred].append(topic_partition)
    return {broker: Drift(tuple(away[broker]), total) for broker, total in count.items()}
