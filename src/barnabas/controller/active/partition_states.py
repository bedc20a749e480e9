"""Reads, creates and conditionally updates partition state nodes.

Every update is a compare-and-set on the version of the node, which is the partition epoch, in a
multi that also checks the controller epoch.
"""

import asyncio
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from barnabas.controller.active.fenced_tree import FencedTree
from barnabas.controller.machines.election import LeaderAndIsr
from barnabas.model.ids import TopicPartition
from barnabas.zk import paths
from barnabas.zk.tree import (
    CreateOp,
    MetadataTree,
    NodeError,
    NoNodeError,
    Op,
    SetOp,
    Stat,
    TreeError,
)
from barnabas.zk.znodes import PartitionStateNode

_READS_AT_ONCE = 256


class ConditionalWrites(NamedTuple):
    """The result of a batch of conditional writes."""

    done: dict[TopicPartition, LeaderAndIsr]
    refused: list[TopicPartition]
    """Partition states that another writer changed or deleted before this write."""


class PartitionStates:
    """Access of the active controller to the partition state nodes."""

    def __init__(self, tree: MetadataTree, fenced: FencedTree, controller_epoch: int) -> None:
        self._tree = tree
        self._fenced = fenced
        self._controller_epoch = controller_epoch
        self.changed_at: dict[TopicPartition, int] = {}
        """Id of the transaction (mzxid) that last wrote each state, as of the last read."""

    async def read(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, LeaderAndIsr]:
        """Returns the existing states. Reads run concurrently: serial reads would take minutes."""
        wanted = list(partitions)
        found: dict[TopicPartition, LeaderAndIsr] = {}
        for start in range(0, len(wanted), _READS_AT_ONCE):
            chunk = wanted[start : start + _READS_AT_ONCE]
            states = await asyncio.gather(*(self._read_one(tp) for tp in chunk))
            found |= {tp: state for tp, state in zip(chunk, states, strict=True) if state}
        return found

    async def create(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> ConditionalWrites:
        """Create state nodes and their parents; existing states are returned as conflicts."""
        writes: dict[Hashable, Sequence[Op]] = {}
        for tp, state in states.items():
            writes.setdefault(tp.topic, [CreateOp(paths.topic_partitions(tp.topic))])
            writes[tp] = [CreateOp(paths.partition(tp)), self._create_op(tp, state)]
        outcome = await self._fenced.write_each(writes)
        refused = [tp for tp in states if isinstance(outcome[tp], TreeError)]
        if refused:
            # The parent may exist without the state: older writers create them separately.
            alone = {tp: [self._create_op(tp, states[tp])] for tp in refused}
            second = await self._fenced.write_each(alone)
            refused = [tp for tp in refused if isinstance(second[tp], TreeError)]
        done = {tp: state for tp, state in states.items() if tp not in refused}
        return ConditionalWrites(done, refused)

    async def update(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> ConditionalWrites:
        """Update states whose version is unchanged; returns them with their new version."""
        writes = {
            tp: [SetOp(paths.partition_state(tp), self._encode(state), state.partition_epoch)]
            for tp, state in states.items()
        }
        outcome = await self._fenced.write_each(writes)
        done: dict[TopicPartition, LeaderAndIsr] = {}
        refused: list[TopicPartition] = []
        for tp, result in outcome.items():
            if isinstance(result, NodeError):
                refused.append(tp)
            elif isinstance(result, TreeError):
                raise result
            else:
                stat = result[0]
                assert isinstance(stat, Stat)
                done[tp] = replace(states[tp], partition_epoch=stat.version)
        return ConditionalWrites(done, refused)

    def _create_op(self, topic_partition: TopicPartition, state: LeaderAndIsr) -> CreateOp:
        return CreateOp(paths.partition_state(topic_partition), self._encode(state))

    def _encode(self, state: LeaderAndIsr) -> bytes:
        return PartitionStateNode(
            state.leader, state.leader_epoch, state.isr, self._controller_epoch, state.recovery
        ).encode()

    async def _read_one(self, topic_partition: TopicPartition) -> LeaderAndIsr | None:
        try:
            data, stat = await self._tree.get(paths.partition_state(topic_partition))
        except NoNodeError:
            return None
        node = PartitionStateNode.decode(data)
        self.changed_at[topic_partition] = stat.mzxid
        return LeaderAndIsr(node.leader, node.leader_epoch, node.isr, stat.version, node.recovery)
