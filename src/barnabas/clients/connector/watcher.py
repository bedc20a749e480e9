"""The watcher executor: one task that answers every change with at most one rebalance at a time.

Watches and session states only set an event, so whatever happens during a rebalance is folded
into the one that follows. After a lost session it registers the consumer anew first.
"""

import asyncio
import contextlib
import logging

from barnabas.clients.connector.errors import ConsumerRebalanceFailedError
from barnabas.clients.connector.rebalancer import Rebalancer
from barnabas.clients.connector.registry import GroupRegistry
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.stream_set import StreamSet
from barnabas.clients.connector.topic_count import TopicCount
from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError
from barnabas.zk.tree import ConnectionLossError, SessionLostError, SessionState

_log = logging.getLogger(__name__)

_CANCEL_AGAIN_S = 0.1


class Watcher:
    """Registers, rebalances, and keeps doing so. Lifecycle: `join`, `start`, `stop`."""

    def __init__(
        self,
        registry: GroupRegistry,
        rebalancer: Rebalancer,
        streams: StreamSet,
        topic_count: TopicCount,
        settings: ConnectorSettings,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._rebalancer = rebalancer
        self._streams = streams
        self._topic_count = topic_count
        self._settings = settings
        self._clock = clock
        self._session_id = 0
        self._registered = False
        self._lost = False
        self._task: asyncio.Task[None] | None = None

    async def join(self) -> None:
        """Become a member and take part in the first rebalance, or raise."""
        self._registry.tree.add_session_listener(self._on_session)
        await self._register()
        await self._rebalancer.run(patient=False)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="watcher-executor")

    async def stop(self) -> None:
        task, self._task = self._task, None
        while task is not None and not task.done():
            # More than once: asyncio.wait_for of Python 3.11 can swallow a cancellation.
            task.cancel()
            await asyncio.wait([task], timeout=_CANCEL_AGAIN_S)

    # -- inside --------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._rebalancer.changed.wait()
            self._rebalancer.changed.clear()
            try:
                await self._answer()
            except SessionLostError:
                self._lost = True
                await self._try_again()
            except ConnectionLossError:
                await self._try_again()
            except BarnabasError as error:
                _log.error("%s: %s", self._registry.consumer, error)
                self._streams.fail(error)
                if not isinstance(error, ConsumerRebalanceFailedError):
                    await self._try_again()

    async def _answer(self) -> None:
        if self._lost:
            self._lost = self._registered = False
            await self._rebalancer.abandon()
        if self._registry.tree.state is not SessionState.CONNECTED:
            return
        if not self._registered or self._registry.tree.session_id != self._session_id:
            await self._rebalancer.abandon()
            await self._register()
        await self._rebalancer.run(patient=True)

    async def _try_again(self) -> None:
        """When something changes, or after a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.rebalance_backoff_s):
                await self._rebalancer.changed.wait()
        self._rebalancer.changed.set()

    async def _register(self) -> None:
        """A node of ours that a dead session left is removed; anybody else's is waited for."""
        if self._session_id:
            self._registry.former_sessions.add(self._session_id)
        session_id = self._registry.tree.session_id
        node = self._topic_count.node(self._clock.now_ms())
        # A little longer than a dead session's node can live.
        await self._registry.register(node, 1.5 * self._settings.session_timeout_s)
        self._session_id = session_id
        self._registered = True

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.LOST:
            self._lost = True
        self._rebalancer.changed.set()
