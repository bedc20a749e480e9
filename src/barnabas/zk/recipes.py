"""Recipes on the metadata tree: conditional writes, ephemeral nodes, notifications of changes.

Ephemeral nodes: a process that lost its session, or was restarted, can find its own old node, which
exists until the old session expires. A broker that treats this node as current loses its
registration when the node expires (KAFKA-1387, KAFKA-7165); a broker that waits for its deletion
without a limit hangs. Such a node is deleted only if no other process has created it again.

Notifications: a writer creates a sequential node below a root such as /config/changes, in the same
multi as the change. The data of the node name the entity to read again. Each broker applies the
nodes in order and remembers the last one; old nodes are removed after all brokers had time to read
them.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence

from barnabas.model.errors import BarnabasError
from barnabas.runtime.clock import Clock
from barnabas.zk.tree import (
    BadVersionError,
    CreateOp,
    DeleteOp,
    MetadataTree,
    MultiError,
    NodeError,
    NodeExistsError,
    NoNodeError,
    Op,
    Stat,
    TreeError,
    Watch,
    WatchEvent,
    parent_of,
)


async def write_if_unchanged(tree: MetadataTree, ops: Sequence[Op]) -> bool:
    """Writes in one multi; returns False if another session changed one of the nodes first.

    The caller then reads the nodes again and repeats its change. Other errors are raised.
    """
    try:
        await tree.multi(ops)
    except MultiError as error:
        if isinstance(error.cause, BadVersionError | NodeExistsError | NoNodeError):
            return False
        raise error.cause from error
    return True


async def claim_ephemeral(
    tree: MetadataTree,
    path: str,
    data: bytes,
    *,
    former_sessions: Collection[int] = (),
    wait_s: float = 0.0,
) -> Stat:
    """Makes `path` an ephemeral node of this session with this data.

    A node that this session owns is kept; one of `former_sessions` is deleted; for any other owner
    it waits `wait_s`, then raises NodeExistsError.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_s
    while True:
        # The node may exist although this session created it: the response to the first attempt was
        # lost and the client repeated the request. The owner decides, not the error.
        with contextlib.suppress(NodeExistsError):
            await tree.create(path, data, ephemeral=True)
        gone = asyncio.Event()
        stat = await tree.exists(path, _setter(gone))
        if stat is None:
            continue
        if stat.ephemeral_owner == tree.session_id:
            found, _ = await tree.get(path)
            return stat if found == data else await tree.set(path, data)
        if stat.ephemeral_owner in former_sessions:
            await delete_ephemeral(tree, path, former_sessions)
        elif not await _happens_before(gone, deadline - loop.time()):
            raise NodeExistsError(path)


_CHECK = "barnabas-check-"


async def delete_ephemeral(tree: MetadataTree, path: str, owners: Collection[int]) -> bool:
    """Deletes an ephemeral node of these sessions; returns False if another session owns it.

    The version of the node is not a sufficient condition: the session may expire meanwhile, and the
    node that another process then creates has version 0, too. The tree has no condition on the
    owner. But each node that is created below a parent increases the number of the next sequential
    node there. So the same multi creates a sequential node and deletes it by the name that it has
    if no node was created since the numbers were read; otherwise the multi fails.
    """
    root = parent_of(path)
    check = f"{root.rstrip('/')}/{_CHECK}"
    while True:
        parent, stat = await tree.exists(root), await tree.exists(path)
        if parent is None or stat is None:
            return True
        if stat.ephemeral_owner not in owners:
            return False
        ops: list[Op] = [
            CreateOp(check, ephemeral=True, sequential=True),
            DeleteOp(f"{check}{parent.next_sequence:010d}"),
            DeleteOp(path, stat.version),
        ]
        try:
            await tree.multi(ops)
        except MultiError as error:
            if not isinstance(error.cause, NodeError):
                raise error.cause from None
        else:
            return True


def _setter(event: asyncio.Event) -> Watch:
    return lambda _: event.set()


async def _happens_before(event: asyncio.Event, timeout_s: float) -> bool:
    if timeout_s <= 0:
        return False
    try:
        await asyncio.wait_for(event.wait(), timeout_s)
    except TimeoutError:
        return False
    return True


# --- Notifications of changes ---------------------------------------------------------------------


# Kafka's time: every broker has read a notification by then.
NOTIFICATION_LIFE_MS = 15 * 60 * 1000
_RETRY_S = 1.0

ApplyChange = Callable[[bytes], Awaitable[None]]
"""Called with the data of a notification; its errors other than TreeError are logged."""


class ChangeNotifications:
    """The notifications below one root; owned by the loop of the tree."""

    def __init__(
        self,
        tree: MetadataTree,
        root: str,
        apply: ApplyChange,
        *,
        logger: logging.Logger,
        purge_clock: Clock | None = None,
    ) -> None:
        """With `purge_clock`, old notifications are also removed whenever new ones are applied."""
        self._purge_clock = purge_clock
        self._tree = tree
        self._root = root
        self._apply = apply
        self._logger = logger
        self._last_seen = ""
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def skip_existing(self) -> None:
        """Skips the notifications that exist; called before the entities are read completely."""
        await self._tree.ensure_path(self._root)
        self._last_seen = max(await self._tree.children(self._root), default="")

    def start(self) -> None:
        """Starts to apply new notifications."""
        self._changed.set()
        name = f"notifications of {self._root}"
        self._task = asyncio.get_running_loop().create_task(self._run(), name=name)

    async def stop(self) -> None:
        """Stops applying notifications. Further calls have no effect."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def purge(self, now_ms: int) -> None:
        """Removes notifications that all brokers had time to read."""
        for name in sorted(await self._tree.children(self._root)):
            stat = await self._tree.exists(f"{self._root}/{name}")
            if stat is None:
                continue
            if now_ms - stat.ctime_ms <= NOTIFICATION_LIFE_MS:
                return  # all later ones are younger
            with contextlib.suppress(NoNodeError):
                await self._tree.delete(f"{self._root}/{name}")

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._process()
            except TreeError as error:
                line = "reading the changes below %s failed, trying again: %s"
                self._logger.warning(line, self._root, error)
                await asyncio.sleep(_RETRY_S)
                self._changed.set()

    async def _process(self) -> None:
        names = await self._tree.children(self._root, self._on_event)
        for name in sorted(name for name in names if name > self._last_seen):
            await self._apply_one(name)
            self._last_seen = name
        if self._purge_clock is not None:
            await self.purge(self._purge_clock.now_ms())

    async def _apply_one(self, name: str) -> None:
        try:
            data, _ = await self._tree.get(f"{self._root}/{name}")
            await self._apply(data)
        except NoNodeError:
            pass  # removed meanwhile
        except TreeError:
            raise
        except (BarnabasError, ValueError, KeyError) as error:
            self._logger.warning("change %s/%s is ignored: %s", self._root, name, error)

    def _on_event(self, event: WatchEvent) -> None:
        self._changed.set()
