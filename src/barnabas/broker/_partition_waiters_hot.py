"""Checks the delayed requests of a partition when it changes.

Delayed produce requests are checked immediately. Delayed fetches are checked once per partition in
the next iteration of the loop, so producers get their response before consumers get the data, and
many appends wake each consumer only once. Usually no request waits: compiled by Cython that costs
little for each append. It also runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

try:
    import cython
except ImportError:
    from barnabas.model import _cython_shim as cython

if cython.compiled:
    from cython.cimports.barnabas.storage._log_state_hot import LogState, flush_due
else:
    from barnabas.storage._log_state_hot import LogState, flush_due

if TYPE_CHECKING:
    from barnabas.broker.purgatory import Purgatory
    from barnabas.replication.partition import Partition

    CallSoon = Callable[[Callable[[], None]], object]

COMPILED: bool = cython.compiled


@cython.cclass
class PartitionWaiters:
    """A `PartitionListener`; owned by the broker's loop.

    `after_append` flushes a log; it is not called for a log that needs no flush.
    """

    __slots__ = (
        "_after_append",
        "_call_soon",
        "_fetch",
        "_fetch_watched",
        "_leader_changed",
        "_moved",
        "_produce",
        "_produce_watched",
    )

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
        self._produce_watched = produce.watched
        self._fetch_watched = fetch.watched

    def on_append(self, partition: Partition) -> None:
        log = partition.log
        if not isinstance(log, LogState) or flush_due(log):
            self._after_append(partition)
        if partition in self._fetch_watched:
            self._wake_fetches(partition)

    def on_high_watermark(self, partition: Partition) -> None:
        if partition in self._produce_watched:
            self._produce.check(partition)
        if partition in self._fetch_watched:
            self._wake_fetches(partition)

    def on_leader_change(self, partition: Partition) -> None:
        # Waiting produce requests end: this broker can no longer tell whether their records
        # survive.
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
