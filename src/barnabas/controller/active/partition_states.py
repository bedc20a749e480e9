"""Partition state nodes: reading them, creating them, changing them conditionally.

Every change is a compare-and-set on the node's version, which is the partition epoch, inside a
multi that checks the controller epoch.
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


class Written(NamedTuple):
    """What a batch of conditional writes came to."""

    done: dict[TopicPartition, LeaderAndIsr]
    refused: list[TopicPartition]
    """Somebody else changed these, or removed them, in between."""


class PartitionStates:
    """The state nodes as one reigning controller reads and writes them."""

    def __init__(self, tree: MetadataTree, fenced: FencedTree, controller_epoch: int) -> None:
        self._tree = tree
        self._fenced = fenced
        self._controller_epoch = controller_epoch
        self.changed_at: dict[TopicPartition, int] = {}
        """The transaction that last wrote a state, for those that were read."""

    async def read(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, LeaderAndIsr]:
        """The states that exist; many at a time, a round trip for each would take minutes."""
        wanted = list(partitions)
        found: dict[TopicPartition, LeaderAndIsr] = {}
        for start in range(0, len(wanted), _READS_AT_ONCE):
            chunk = wanted[start : start + _READS_AT_ONCE]
            states = await asyncio.gather(*(self._read_one(tp) for tp in chunk))
            found |= {tp: state for tp, state in zip(chunk, states, strict=True) if state}
        return found

    async def create(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> Written:
        """Create state nodes with the nodes above them; states that exist are refused."""
        writes: dict[Hashable, Sequence[Op]] = {}
        for tp, state in states.items():
            writes.setdefault(tp.topic, [CreateOp(paths.topic_partitions(tp.topic))])
            writes[tp] = [CreateOp(paths.partition(tp)), self._create_op(tp, state)]
        outcome = await self._fenced.write_each(writes)
        refused = [tp for tp in states if isinstance(outcome[tp], TreeError)]
        if refused:
            # The parent may be there without the state: not every writer creates both at once.
            alone = {tp: [self._create_op(tp, states[tp])] for tp in refused}
            second = await self._fenced.write_each(alone)
            refused = [tp for tp in refused if isinstance(second[tp], TreeError)]
        done = {tp: state for tp, state in states.items() if tp not in refused}
        return Written(done, refused)

    async def update(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> Written:
        """Write states over the versions they carry; done ones come back with the new version."""
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
        return Written(done, refused)

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
