"""Finding out whether a write happened whose answer was lost.

A write is all or nothing, so one operation whose effect can be told from the tree settles the
whole write. What can be told: an ephemeral node by its owner, data under an expected version by
the version it has now. What cannot: a sequential node, and a version that has moved on by more
than one.
"""

import enum
from collections.abc import Sequence
from dataclasses import replace

from barnabas.zk.tree import (
    ANY_VERSION,
    CheckOp,
    CreateOp,
    DeleteOp,
    MetadataTree,
    NoNodeError,
    Op,
    OpResult,
    SetOp,
)


class Fate(enum.Enum):
    """What became of a write."""

    APPLIED = "applied"
    NOT_APPLIED = "not applied"
    UNKNOWN = "unknown"


async def fate_of(tree: MetadataTree, ops: Sequence[Op]) -> Fate:
    """Whether these operations, sent in the current session, took effect."""
    if any(isinstance(op, CreateOp) and op.sequential for op in ops):
        return Fate.UNKNOWN
    for op in sorted(ops, key=_how_telling):
        fate = await _fate_of_one(tree, op)
        if fate is not Fate.UNKNOWN:
            return fate
    return Fate.UNKNOWN


async def results_of(tree: MetadataTree, ops: Sequence[Op]) -> list[OpResult]:
    """The answers that were lost, for operations that are known to have been applied."""
    return [await _result_of(tree, op) for op in ops]


def _how_telling(op: Op) -> int:
    match op:
        case SetOp(version=version) if version != ANY_VERSION:
            return 0
        case CreateOp(ephemeral=True):
            return 1
        case CreateOp():
            return 2
        case DeleteOp():
            return 3
        case _:
            return 4


async def _fate_of_one(tree: MetadataTree, op: Op) -> Fate:
    match op:
        case CreateOp():
            return await _fate_of_create(tree, op)
        case SetOp():
            return await _fate_of_set(tree, op)
        case DeleteOp():
            there = await tree.exists(op.path) is not None
            return Fate.NOT_APPLIED if there else Fate.APPLIED
        case CheckOp():
            return Fate.UNKNOWN


async def _fate_of_create(tree: MetadataTree, op: CreateOp) -> Fate:
    try:
        data, stat = await tree.get(op.path)
    except NoNodeError:
        return Fate.NOT_APPLIED
    owner = tree.session_id if op.ephemeral else 0
    ours = stat.ephemeral_owner == owner and data == op.data
    return Fate.APPLIED if ours else Fate.NOT_APPLIED


async def _fate_of_set(tree: MetadataTree, op: SetOp) -> Fate:
    try:
        data, stat = await tree.get(op.path)
    except NoNodeError:
        return Fate.UNKNOWN
    if op.version == ANY_VERSION:
        return Fate.APPLIED if data == op.data else Fate.NOT_APPLIED
    if stat.version == op.version:
        return Fate.NOT_APPLIED
    if stat.version == op.version + 1:
        return Fate.APPLIED if data == op.data else Fate.NOT_APPLIED
    return Fate.UNKNOWN


async def _result_of(tree: MetadataTree, op: Op) -> OpResult:
    if isinstance(op, CreateOp):
        return op.path
    if not isinstance(op, SetOp):
        return None
    stat = await tree.exists(op.path)
    if stat is None:
        raise NoNodeError(op.path)
    return stat if op.version == ANY_VERSION else replace(stat, version=op.version + 1)
