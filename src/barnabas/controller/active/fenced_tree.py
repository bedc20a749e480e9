"""Fenced writes: writes to the metadata tree that only the active controller can make.

Every write is a multi that first checks that /controller_epoch still has the version of this
controller's election. If another controller was elected, the tree rejects the write (KAFKA-6082)
and `ControllerMovedError` ends this controller's epoch.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from barnabas.model.errors import BarnabasError
from barnabas.zk import paths
from barnabas.zk.tree import (
    CheckOp,
    CreateOp,
    MetadataTree,
    MultiError,
    NodeError,
    Op,
    OpResult,
    SetOp,
    TreeError,
)

_Key = TypeVar("_Key", bound=Hashable)

_MAX_OPS = 500
_MAX_BYTES = 500_000
"""A multi is one ZooKeeper packet, which must stay below 1 MiB."""
_OP_OVERHEAD = 64


class ControllerMovedError(BarnabasError):
    """Another controller has been elected; the operation was not carried out."""


class FencedTree:
    """The metadata tree with every write fenced by one controller epoch."""

    def __init__(self, tree: MetadataTree, epoch_version: int) -> None:
        self._tree = tree
        self._fence = CheckOp(paths.CONTROLLER_EPOCH, epoch_version)

    async def multi(self, ops: Sequence[Op]) -> list[OpResult]:
        """Apply all operations or none; indexes in MultiError do not count the fence."""
        try:
            return (await self._tree.multi([self._fence, *ops]))[1:]
        except MultiError as error:
            if error.index == 0:
                raise ControllerMovedError("the controller epoch has changed") from error
            raise MultiError(error.index - 1, error.operation, error.cause) from error

    async def write_each(
        self, writes: Mapping[_Key, Sequence[Op]]
    ) -> dict[_Key, list[OpResult] | TreeError]:
        """Apply many small atomic writes in few multis; each write succeeds or fails by itself.

        Writes are combined. If one of them fails, it is removed and the others are sent again.
        """
        outcome: dict[_Key, list[OpResult] | TreeError] = {}
        for batch in _batches(writes):
            while batch:
                try:
                    results = await self.multi([op for _, ops in batch for op in ops])
                except MultiError as error:
                    failed = _owner_of(batch, error.index)
                    outcome[batch[failed][0]] = error.cause
                    del batch[failed]
                else:
                    _distribute(batch, results, outcome)
                    break
        return outcome

    async def delete_all(self, ops: Sequence[Op]) -> None:
        """Apply a long list of operations in several multis; skip nodes that are already gone."""
        outcome = await self.write_each({index: [op] for index, op in enumerate(ops)})
        for result in outcome.values():
            if isinstance(result, TreeError) and not isinstance(result, NodeError):
                raise result


def _batches(writes: Mapping[_Key, Sequence[Op]]) -> list[list[tuple[_Key, Sequence[Op]]]]:
    batches: list[list[tuple[_Key, Sequence[Op]]]] = []
    count = size = 0
    for key, ops in writes.items():
        ops_size = sum(_size(op) for op in ops)
        if not batches or count + len(ops) > _MAX_OPS or size + ops_size > _MAX_BYTES:
            batches.append([])
            count = size = 0
        batches[-1].append((key, ops))
        count += len(ops)
        size += ops_size
    return batches


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
