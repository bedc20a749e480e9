"""The election of a controller: one multi that takes the office and raises the epoch.

Whoever creates the ephemeral node /controller reigns until its session ends. The same multi sets
/controller_epoch from the version that was read, so of two brokers that saw no controller one fails
as a whole, and the epoch's version becomes the fence for everything the winner writes.
"""

import contextlib
from typing import NamedTuple

from barnabas.controller.active.reign import Mandate
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.tree import (
    CreateOp,
    MetadataTree,
    MultiError,
    NodeExistsError,
    NoNodeError,
    Op,
    SetOp,
    Stat,
    Watch,
)
from barnabas.zk.znodes import ControllerNode, decode_epoch, encode_epoch


class Incumbent(NamedTuple):
    """Who holds the office: broker, epoch, and the session that owns the node."""

    broker_id: BrokerId
    epoch: int
    session_id: int = 0


async def stand_for_election(
    tree: MetadataTree, broker_id: BrokerId, now_ms: int, watch: Watch
) -> Mandate | Incumbent:
    """Take the office if it is free; a watch is left on it in either case.

    A node of ours from an earlier session is another's: it goes when that session does, and the
    watch tells (KAFKA-1387).
    """
    while True:
        incumbent = await _incumbent(tree, watch)
        if incumbent is not None:
            return incumbent
        mandate = await _try_office(tree, broker_id, now_ms)
        if mandate is not None:
            return mandate


async def _incumbent(tree: MetadataTree, watch: Watch) -> Incumbent | None:
    if await tree.exists(paths.CONTROLLER, watch) is None:
        return None
    try:
        data, stat = await tree.get(paths.CONTROLLER)
    except NoNodeError:
        return None
    epoch, _ = await _read_epoch(tree)
    return Incumbent(ControllerNode.decode(data).broker_id, epoch, stat.ephemeral_owner)


async def _try_office(tree: MetadataTree, broker_id: BrokerId, now_ms: int) -> Mandate | None:
    epoch, version = await _read_epoch(tree)
    node = ControllerNode(broker_id, now_ms)
    ops: list[Op] = [
        CreateOp(paths.CONTROLLER, node.encode(), ephemeral=True),
        SetOp(paths.CONTROLLER_EPOCH, encode_epoch(epoch + 1), version),
    ]
    try:
        _, stat = await tree.multi(ops)
    except MultiError:
        return None
    assert isinstance(stat, Stat)
    return Mandate(broker_id, epoch + 1, stat.version)


async def _read_epoch(tree: MetadataTree) -> tuple[int, int]:
    while True:
        try:
            data, stat = await tree.get(paths.CONTROLLER_EPOCH)
            return decode_epoch(data), stat.version
        except NoNodeError:
            pass
        try:
            await tree.create(paths.CONTROLLER_EPOCH, encode_epoch(0))
        except NodeExistsError:
            continue


async def leave_office(tree: MetadataTree) -> None:
    """Remove /controller, which this session owns, so that the next election can be held.

    If the session is over by now the tree refuses, so this cannot remove a successor's node.
    """
    with contextlib.suppress(NoNodeError):
        await tree.delete(paths.CONTROLLER)
