"""The commit of a member that leaves: nobody commits for it afterwards.

A member that leaves while its group rebalances has asked to join again, so its generation is that
of the group only until the coordinator begins the next one. A commit in between is refused although
nobody else owns the member's partitions yet; once the join is over, it is taken.
"""

import asyncio
from collections.abc import Awaitable, Callable

from barnabas.clients.group.errors import CommitFailedError
from barnabas.model.errors import BrokerError

REJOIN_SECONDS = 3.0
"""For so long the end of a rebalance is waited for: other members may take their time."""
LOOK_SECONDS = 0.01


async def commit_when_joined(
    commit: Callable[[], Awaitable[None]], joining: Callable[[], bool]
) -> None:
    """Commit; a refusal is final when no join was or is under way."""
    deadline_s = asyncio.get_running_loop().time() + REJOIN_SECONDS
    while True:
        under_way = joining()
        try:
            await commit()
            return
        except (CommitFailedError, BrokerError):
            if not (under_way or joining()) or not await _joined(joining, deadline_s):
                raise


async def _joined(joining: Callable[[], bool], deadline_s: float) -> bool:
    loop = asyncio.get_running_loop()
    while joining():
        if loop.time() >= deadline_s:
            return False
        await asyncio.sleep(LOOK_SECONDS)
    return loop.time() < deadline_s
