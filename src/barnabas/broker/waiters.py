"""Tells the purgatories and the coordinators what moved: the one listener on all partitions.

A produce that waits for followers is looked at straight away. Waiting fetches are woken at the end
of the loop's turn, once per partition however many batches came in it: the producer's answer goes
out before the consumers' data, and a burst of appends wakes each consumer once.
"""

from collections.abc import Callable

from barnabas.broker.purgatory import Purgatory
from barnabas.replication.partition import Partition

CallSoon = Callable[[Callable[[], None]], object]


class PartitionWaiters:
    """A `PartitionListener`; owned by the broker's loop."""

    def __init__(
        self,
        produce: Purgatory,
        fetch: Purgatory,
        call_soon: CallSoon,
        after_append: Callable[[Partition], None],
        leader_changed: Callable[[Partition], None],
    ) -> None:
        self._produce = produce
        self._fetch = fetch
        self._call_soon = call_soon
        self._after_append = after_append
        self._leader_changed = leader_changed
        self._moved: dict[Partition, None] = {}

    def on_append(self, partition: Partition) -> None:
        self._after_append(partition)
        if self._fetch.watches(partition):
            self._wake_fetches(partition)

    def on_high_watermark(self, partition: Partition) -> None:
        self._produce.check(partition)
        if self._fetch.watches(partition):
            self._wake_fetches(partition)

    def on_leader_change(self, partition: Partition) -> None:
        self._leader_changed(partition)
        self._produce.check(partition)
        self._wake_fetches(partition)

    def _wake_fetches(self, partition: Partition) -> None:
        if not self._moved:
            self._call_soon(self._check_fetches)
        self._moved[partition] = None

    def _check_fetches(self) -> None:
        moved, self._moved = self._moved, {}
        for partition in moved:
            self._fetch.check(partition)
