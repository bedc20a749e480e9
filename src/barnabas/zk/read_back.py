"""Determines whether a write was applied if its response was lost.

A write is all or nothing, so one operation with a recognizable effect decides for the whole write.
Recognizable are an ephemeral node, by its owner, and data with an expected version, by the current
version. Not recognizable are a sequential node, and a version that has increased by more than one.
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


class WriteOutcome(enum.Enum):
    """Whether a write was applied."""

    APPLIED = "applied"
    NOT_APPLIED = "not applied"
    UNKNOWN = "unknown"


async def outcome_of(tree: MetadataTree, ops: Sequence[Op]) -> WriteOutcome:
    """Returns whether these operations, sent in the current session, were applied."""
    if any(isinstance(op, CreateOp) and op.sequential for op in ops):
        return WriteOutcome.UNKNOWN
    for op in sorted(ops, key=_check_order):
        outcome = await _outcome_of_one(tree, op)
        if outcome is not WriteOutcome.UNKNOWN:
            return outcome
    return WriteOutcome.UNKNOWN


async def results_of(tree: MetadataTree, ops: Sequence[Op]) -> list[OpResult]:
    """Returns the results of operations that were applied."""
    return [await _result_of(tree, op) for op in ops]


def _check_order(op: Op) -> int:
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


async def _outcome_of_one(tree: MetadataTree, op: Op) -> WriteOutcome:
    match op:
        case CreateOp():
            return await _outcome_of_create(tree, op)
        case SetOp():
            return await _outcome_of_set(tree, op)
        case DeleteOp():
            there = await tree.exists(op.path) is not None
            return WriteOutcome.NOT_APPLIED if there else WriteOutcome.APPLIED
        case CheckOp():
            return WriteOutcome.UNKNOWN


async def _outcome_of_create(tree: MetadataTree, op: CreateOp) -> WriteOutcome:
    try:
        data, stat = await tree.get(op.path)
    except NoNodeError:
        return WriteOutcome.NOT_APPLIED
    owner = tree.session_id if op.ephemeral else 0
    ours = stat.ephemeral_owner == owner and data == op.data
    return WriteOutcome.APPLIED if ours else WriteOutcome.NOT_APPLIED


async def _outcome_of_set(tree: MetadataTree, op: SetOp) -> WriteOutcome:
    try:
        data, stat = await tree.get(op.path)
    except NoNodeError:
        return WriteOutcome.UNKNOWN
    if op.version == ANY_VERSION:
        return WriteOutcome.APPLIED if data == op.data else WriteOutcome.NOT_APPLIED
    if stat.version == op.version:
        return WriteOutcome.NOT_APPLIED
    # One write followed the expected version. With other data it is a write of another session,
    # which made this one fail.
    if stat.version == op.version + 1:
        return WriteOutcome.APPLIED if data == op.data else WriteOutcome.NOT_APPLIED
    return WriteOutcome.UNKNOWN


async def _result_of(tree: MetadataTree, op: Op) -> OpResult:
    if isinstance(op, CreateOp):
        return op.path
    if not isinstance(op, SetOp):
        return None
    stat = await tree.exists(op.path)
    if stat is None:
        raise NoNodeError(op.path)
    return stat if op.version == ANY_VERSION else replace(stat, version=op.version + 1)
