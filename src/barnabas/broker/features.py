"""The features this broker tells clients of: what they may use without asking first.

Kafka keeps the levels in the cluster's metadata; here they follow from each broker's settings, and
all brokers of a cluster are expected to have the same.
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
    """`transaction.version` 2: partitions join transactions by being written to, and each
    transaction has its own epoch (KIP-890). `group.version` 1: the protocol of KIP-848."""
    consumer_groups = "consumer" in values["group.coordinator.rebalance.protocols"]
    return (
        Feature("group.version", 1, int(consumer_groups)),
        Feature("transaction.version", 2, values["transaction.version"]),
    )
