"""The application's listener for rebalances of the ZooKeeper consumer."""

from collections.abc import Mapping, Set

PartitionOwnership = Mapping[str, Set[int]]
"""Partitions by topic."""

GlobalAssignment = Mapping[str, Mapping[str, Mapping[int, str]]]
"""For each consumer: topic, partition, and the thread id that reads it."""


class ConsumerRebalanceListener:
    """Base class of listeners. A separate thread calls it; the rebalance waits for the end."""

    def before_releasing_partitions(self, ownership: PartitionOwnership) -> None:
        """Fetching has stopped; offsets may still be committed for these partitions."""

    def before_starting_fetchers(self, consumer_id: str, assignment: GlobalAssignment) -> None:
        """The new partitions are owned; nothing of them has been fetched yet."""
