"""Feature levels that this broker reports in ApiVersions.

Kafka stores the levels in the cluster metadata; here they result from each broker's settings, which
must be equal on all brokers of a cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature with the highest level served and the level in force."""

    name: str
    max_level: int
    level: int


def features_of(values: Mapping[str, Any]) -> tuple[Feature, ...]:
    """Returns the features. `transaction.version` 2: the first write adds a partition to the
    transaction, and each transaction has its own epoch (KIP-890).
    `group.version` 1: the protocol of KIP-848."""
    consumer_groups = "consumer" in values["group.coordinator.rebalance.protocols"]
    return (
        Feature("group.version", 1, int(consumer_groups)),
        Feature("transaction.version", 2, values["transaction.version"]),
    )
