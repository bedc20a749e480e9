"""Whether the cluster answers, as a stream of changes for open pages.

Every page follows the stream, so the check itself is shared: `ClusterLink` asks the cluster once
for all of them, and only while a page or a request needs to know.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import ConnectionState
from barnabas.model.errors import BarnabasError

CHECK_INTERVAL_S = 2.0


class ConnectionService:
    """Checks the connection and remembers the last answer."""

    def __init__(self, link: ClusterLink, now: Callable[[], datetime]) -> None:
        self._link = link
        self._now = now
        self._last_answer: datetime | None = None

    async def state(self) -> ConnectionState:
        """Returns the state; it is at most `CHECK_INTERVAL_S` old."""
        try:
            await self._link.check_reachable(CHECK_INTERVAL_S)
        except BarnabasError as error:
            return ConnectionState(
                reachable=False, last_answer=self._last_answer, message=str(error)
            )
        self._last_answer = self._now()
        return ConnectionState(reachable=True, last_answer=None)

    async def changes(self) -> AsyncIterator[ConnectionState]:
        """Yields the state now, and again after each change."""
        shown: ConnectionState | None = None
        while True:
            state = await self.state()
            if state != shown:
                yield state
            shown = state
            await asyncio.sleep(CHECK_INTERVAL_S)
