"""Controller election: one multi creates /controller and increments /controller_epoch.

The broker that creates the ephemeral node /controller is the controller until its session ends.
The same multi sets /controller_epoch conditionally on the version that was read. If two brokers
saw no controller, the multi of one of them fails as a whole. The new version of the epoch node
fences every later write of the winner.
"""

import contextlib
from typing import NamedTuple

from barnabas.controller.active.epoch_state import ControllerEpoch
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


class CurrentController(NamedTuple):
    """The current controller: broker, epoch, and the session that owns /controller."""

    broker_id: BrokerId
    epoch: int
    session_id: int = 0


async def stand_for_election(
    tree: MetadataTree, broker_id: BrokerId, now_ms: int, watch: Watch
) -> ControllerEpoch | CurrentController:
    """Becomes the controller if there is none; sets a watch on /controller in either case.

    A node that this broker created in an earlier session counts as another controller. ZooKeeper
    deletes it when that session expires, and the watch fires (KAFKA-1387).
    """
    while True:
        current = await _current(tree, watch)
        if current is not None:
            return current
        controller_epoch = await _try_election(tree, broker_id, now_ms)
        if controller_epoch is not None:
            return controller_epoch


async def _current(tree: MetadataTree, watch: Watch) -> CurrentController | None:
    # `exists` sets the watch also if there is no node; `get` would not.
    if await tree.exists(paths.CONTROLLER, watch) is None:
        return None
    try:
        data, stat = await tree.get(paths.CONTROLLER)
    except NoNodeError:
        return None
    epoch, _ = await _read_epoch(tree)
    return CurrentController(ControllerNode.decode(data).broker_id, epoch, stat.ephemeral_owner)


async def _try_election(
    tree: MetadataTree, broker_id: BrokerId, now_ms: int
) -> ControllerEpoch | None:
    epoch, version = await _read_epoch(tree)
    node = ControllerNode(broker_id, now_ms)
    # One multi: a broker that created /controller alone and then failed to raise the epoch would
    # act in an epoch that was already used.
    ops: list[Op] = [
        CreateOp(paths.CONTROLLER, node.encode(), ephemeral=True),
        # The expected version makes the multi fail if another broker was elected since the epoch
        # was read.
        SetOp(paths.CONTROLLER_EPOCH, encode_epoch(epoch + 1), version),
    ]
    try:
        _, stat = await tree.multi(ops)
    except MultiError:
        return None
    assert isinstance(stat, Stat)
    return ControllerEpoch(broker_id, epoch + 1, stat.version)


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


async def resign(tree: MetadataTree) -> None:
    """Deletes /controller, which this session owns, so that the next election can start.

    If the session has expired the tree rejects the call, so it cannot delete a successor's node.
    """
    with contextlib.suppress(NoNodeError):
        await tree.delete(paths.CONTROLLER)
