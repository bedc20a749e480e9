"""What an application may do between the steps of a rebalance."""

from collections.abc import Mapping, Set

PartitionOwnership = Mapping[str, Set[int]]
"""Partitions by topic."""

GlobalAssignment = Mapping[str, Mapping[str, Mapping[int, str]]]
"""For each consumer: topic, partition, and the thread id that reads it."""


class ConsumerRebalanceListener:
    """Derive from it and override. Called in a thread of its own; a rebalance waits for it."""

    def before_releasing_partitions(self, ownership: PartitionOwnership) -> None:
        """Fetching has stopped; offsets may still be committed for these partitions."""

    def before_starting_fetchers(self, consumer_id: str, assignment: GlobalAssignment) -> None:
        """The new partitions are owned; nothing of them has been fetched yet."""
