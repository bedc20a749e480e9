"""Claims an ephemeral node that an earlier session of this process may still own.

A process that lost its session, or was restarted, can find its own old node, which exists until the
old session expires. A broker that treats it as current believes that it is registered (KAFKA-1387,
KAFKA-7165); one that waits for its deletion without a limit hangs.
"""

import asyncio
import contextlib
from collections.abc import Collection

from barnabas.zk.tree import (
    MetadataTree,
    NodeExistsError,
    NoNodeError,
    Stat,
    Watch,
)


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
            with contextlib.suppress(NoNodeError):
                await tree.delete(path, stat.version)
        elif not await _happens_before(gone, deadline - loop.time()):
            raise NodeExistsError(path)


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
