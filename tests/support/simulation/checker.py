"""The invariants of replication, checked while the simulation runs.

The simulation reports every change of every partition, and calls the checks after each step of the
loop:

- the leader that the tree names is a member of the in-sync set, which is never empty, and the
  epochs in the tree never decrease;
- at most one broker leads, and acknowledges, in one leader epoch;
- a leader's high watermark never decreases, and records below a high watermark never change;
- an acknowledged record is in the log of every later leader.
"""

import asyncio
from collections import defaultdict

from barnabas.zk import paths
from barnabas.zk.znodes import PartitionStateNode


class InvariantError(AssertionError):
    """The simulation saw what must never happen."""


class Checker:
    """A `PartitionListener` for all partitions of all brokers."""

    def __init__(self, world):
        self._world = world
        self.acknowledged = defaultdict(dict)  # partition -> offset -> value
        self.committed = defaultdict(dict)
        self.leaders = defaultdict(dict)  # partition -> leader epoch -> broker
        self.leader_changes = 0
        self._watermarks = {}
        self._states = {}
        self._paths = [
            (topic_partition, paths.partition_state(topic_partition))
            for topic_partition in world.partitions
        ]
        self._waiting = defaultdict(list)

    def forget(self, broker):
        """A broker went down: requests that wait for its partitions get no response."""
        for partition in broker.host.manager.partitions():
            self._wake(partition)

    # --- PartitionListener ---

    def on_append(self, partition):
        pass

    def on_high_watermark(self, partition):
        self._wake(partition)
        if partition.is_leader:
            self._check_watermark(partition)

    def on_leader_change(self, partition):
        self._wake(partition)
        if not partition.is_leader:
            return
        self.leader_changes += 1
        self._check_single_leader(partition)
        self._watermarks.pop(id(partition), None)
        for offset, value in self.acknowledged[partition.topic_partition].items():
            self._check_held(partition, offset, value)

    def _check_single_leader(self, partition):
        broker, epoch = partition.settings.broker_id, partition.leader_epoch
        known = self.leaders[partition.topic_partition].setdefault(epoch, broker)
        if known != broker:
            self._fail(f"{known} and {broker} lead {partition.topic_partition} in epoch {epoch}")

    def _check_watermark(self, partition):
        watermark = partition.log.high_watermark
        before = self._watermarks.get(id(partition), 0)
        if watermark < before:
            self._fail(f"{partition!r} had its watermark at {before}")
        self._watermarks[id(partition)] = watermark
        committed = self.committed[partition.topic_partition]
        for entry in partition.log.entries[before:watermark]:
            known = committed.setdefault(entry.offset, entry.value)
            if known != entry.value:
                self._fail(f"{partition!r}: {known} was committed where {entry.value} is")

    def _check_held(self, partition, offset, value):
        entries = partition.log.entries
        held = entries[offset].value if offset < len(entries) else None
        if held != value:
            self._fail(f"{partition!r} has {held} where {value} was acknowledged, at {offset}")

    # --- acknowledgements ---

    def on_acknowledged(self, broker, partition, offset, value):
        """A leader responds to a producer."""
        topic_partition = partition.topic_partition
        self.acknowledged[topic_partition][offset] = value
        for other in self._world.brokers.values():
            later = other.host.partition(topic_partition)
            if later is None or not later.is_leader:
                continue
            if later.leader_epoch >= partition.leader_epoch:
                self._check_held(later, offset, value)

    async def progress(self, partition, timeout_s):
        """Wait until something moved at this partition."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting[id(partition)].append(waiter)
        handle = asyncio.get_running_loop().call_later(timeout_s, _resolve, waiter)
        try:
            await waiter
        finally:
            handle.cancel()

    def _wake(self, partition):
        for waiter in self._waiting.pop(id(partition), ()):
            _resolve(waiter)

    # --- after each step ---

    def check_tree(self):
        """Look at the partition states in the tree, those that changed."""
        lookup = self._world.store.nodes.lookup
        for topic_partition, path in self._paths:
            node = lookup(path)
            if node is None or self._states.get(topic_partition, (None,))[0] is node:
                continue
            state = PartitionStateNode.decode(node.data)
            known = self._states.get(topic_partition)
            if known is not None and state.leader_epoch < known[1].leader_epoch:
                self._fail(f"{topic_partition}: leader epoch went back: {known[1]} -> {state}")
            if not state.isr or (state.leader >= 0 and state.leader not in state.isr):
                self._fail(f"{topic_partition}: leader outside the in-sync set: {state}")
            self._states[topic_partition] = (node, state)

    def state(self, topic_partition):
        """The state that the tree has, as last checked."""
        self.check_tree()
        known = self._states.get(topic_partition)
        return None if known is None else known[1]

    def _fail(self, what):
        raise InvariantError(f"{what} (at {self._world.loop.time():.3f} s)")


def _resolve(waiter):
    if not waiter.done():
        waiter.set_result(None)
