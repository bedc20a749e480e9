"""Fenced writes: writes to the metadata tree that only the active controller can make.

Every write is a multi that first checks that /controller_epoch still has the version of this
controller's election. If another controller was elected, the tree rejects the write (KAFKA-6082)
and `ControllerMovedError` ends this controller's epoch. An update of a partition state is also a
compare-and-set on the version of its node, which is the partition epoch.
"""

import asyncio
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from barnabas.controller.machines.leader_election import LeaderAndIsr
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.runtime.slices import in_slices
from barnabas.zk import paths
from barnabas.zk.tree import (
    CheckOp,
    CreateOp,
    MetadataTree,
    MultiError,
    NodeError,
    NoNodeError,
    Op,
    OpResult,
    SetOp,
    Stat,
    TreeError,
)
from barnabas.zk.znodes import PartitionStateNode

_Key = TypeVar("_Key", bound=Hashable)
_MAX_OPS = 500
_MAX_BYTES = 500_000
"""A multi is one ZooKeeper packet, which must stay below 1 MiB."""
_OP_OVERHEAD = 64
# A cluster may have 100,000 partitions: not all reads are in flight at once.
_READS_AT_ONCE = 256


class ControllerMovedError(BarnabasError):
    """Another controller has been elected; the operation was not carried out."""


class FencedTree:
    """The metadata tree with every write fenced by one controller epoch."""

    def __init__(self, tree: MetadataTree, epoch_version: int) -> None:
        self._tree = tree
        self._fence = CheckOp(paths.CONTROLLER_EPOCH, epoch_version)

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        """Applies all operations or none; indexes in MultiError do not count the fence."""
        try:
            return (await self._tree.multi([self._fence, *ops]))[1:]
        except MultiError as error:
            # The fence is the first operation of every multi.
            if error.index == 0:
                raise ControllerMovedError("the controller epoch has changed") from error
            raise MultiError(error.index - 1, error.operation, error.cause) from error

    async def write_each(
        self, writes: Mapping[_Key, Sequence[Op]]
    ) -> dict[_Key, list[OpResult] | TreeError]:
        """Applies many small atomic writes in few multis; a failed write affects no other.

        Writes are combined. If one of them fails, it is removed and the others are sent again.
        """
        outcome: dict[_Key, list[OpResult] | TreeError] = {}
        async for batch in in_slices(_batches(writes)):
            while batch:
                try:
                    results = await self.multi([op for _, ops in batch for op in ops])
                except MultiError as error:
                    # A multi reports only its first failing operation. Each round removes one
                    # write, so the loop ends.
                    failed = _owner_of(batch, error.index)
                    outcome[batch[failed][0]] = error.cause
                    del batch[failed]
                else:
                    _distribute(batch, results, outcome)
                    break
        return outcome

    async def delete_all(self, ops: Sequence[Op]) -> None:
        """Applies many operations in several multis; skips nodes that are already deleted."""
        outcome = await self.write_each({index: [op] for index, op in enumerate(ops)})
        for result in outcome.values():
            if isinstance(result, TreeError) and not isinstance(result, NodeError):
                raise result


def _batches(writes: Mapping[_Key, Sequence[Op]]) -> Iterator[list[tuple[_Key, Sequence[Op]]]]:
    batch: list[tuple[_Key, Sequence[Op]]] = []
    count = size = 0
    for key, ops in writes.items():
        ops_size = sum(_size(op) for op in ops)
        if batch and (count + len(ops) > _MAX_OPS or size + ops_size > _MAX_BYTES):
            yield batch
            batch = []
            count = size = 0
        batch.append((key, ops))
        count += len(ops)
        size += ops_size
    if batch:
        yield batch


def _size(op: Op) -> int:
    data = op.data if isinstance(op, CreateOp | SetOp) else b""
    return _OP_OVERHEAD + len(op.path) + len(data)


def _owner_of(batch: Sequence[tuple[_Key, Sequence[Op]]], index: int) -> int:
    for position, (_, ops) in enumerate(batch):
        if index < len(ops):
            return position
        index -= len(ops)
    raise AssertionError("a multi failed at an operation it does not have")


def _distribute(
    batch: Sequence[tuple[_Key, Sequence[Op]]],
    results: list[OpResult],
    outcome: dict[_Key, list[OpResult] | TreeError],
) -> None:
    position = 0
    for key, ops in batch:
        outcome[key] = results[position : position + len(ops)]
        position += len(ops)


class ConditionalWrites(NamedTuple):
    """The result of a batch of conditional writes."""

    done: dict[TopicPartition, LeaderAndIsr]
    conflicts: list[TopicPartition]
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
            states = await asyncio.gather(
                *(self._read_one(topic_partition) for topic_partition in chunk)
            )
            found |= {
                topic_partition: state
                for topic_partition, state in zip(chunk, states, strict=True)
                if state
            }
        return found

    async def create(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> ConditionalWrites:
        """Creates state nodes and their parents; existing states are returned as conflicts."""
        writes: dict[Hashable, Sequence[Op]] = {}
        async for topic_partition, state in in_slices(states.items()):
            writes.setdefault(
                topic_partition.topic, [CreateOp(paths.topic_partitions(topic_partition.topic))]
            )
            writes[topic_partition] = [
                CreateOp(paths.partition(topic_partition)),
                self._create_op(topic_partition, state),
            ]
        outcome = await self._fenced.write_each(writes)
        conflicts = [
            topic_partition
            for topic_partition in states
            if isinstance(outcome[topic_partition], TreeError)
        ]
        if conflicts:
            # The parent may exist without the state: older writers create them separately.
            alone = {
                topic_partition: [self._create_op(topic_partition, states[topic_partition])]
                for topic_partition in conflicts
            }
            second = await self._fenced.write_each(alone)
            conflicts = [
                topic_partition
                for topic_partition in conflicts
                if isinstance(second[topic_partition], TreeError)
            ]
        done = dict(states)
        for topic_partition in conflicts:
            del done[topic_partition]
        return ConditionalWrites(done, conflicts)

    async def update(self, states: Mapping[TopicPartition, LeaderAndIsr]) -> ConditionalWrites:
        """Updates states whose version is unchanged; returns them with their new version."""
        writes: dict[TopicPartition, Sequence[Op]] = {}
        async for topic_partition, state in in_slices(states.items()):
            path = paths.partition_state(topic_partition)
            writes[topic_partition] = [SetOp(path, self._encode(state), state.partition_epoch)]
        outcome = await self._fenced.write_each(writes)
        done: dict[TopicPartition, LeaderAndIsr] = {}
        conflicts: list[TopicPartition] = []
        async for topic_partition, result in in_slices(outcome.items()):
            # The node was changed or deleted since it was read. The caller reads it and decides
            # again.
            if isinstance(result, NodeError):
                conflicts.append(topic_partition)
            elif isinstance(result, TreeError):
                raise result
            else:
                stat = result[0]
                assert isinstance(stat, Stat)
                done[topic_partition] = replace(
                    states[topic_partition], partition_epoch=stat.version
                )
        return ConditionalWrites(done, conflicts)

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
