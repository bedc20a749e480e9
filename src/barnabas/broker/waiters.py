"""Notifies purgatories and coordinators of changes: the listener of all partitions.

Delayed produce requests are checked immediately. Delayed fetches are checked once per partition in
the next iteration of the loop, so producers get their response before consumers get the data, and
many appends wake each consumer only once.
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
