"""Runs a fetcher with one task and one connection; `fetcher` has all the rules."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from barnabas.model.clock import Clock
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import BrokerId
from barnabas.replication.fetch_plan import FetchPlan, OffsetsPlan, ReplicaSource
from barnabas.replication.fetcher import ReplicaFetcher

logger = logging.getLogger(__name__)

SourceFactory = Callable[[BrokerId], ReplicaSource]
"""Creates a connection object; it connects on first use and reconnects when necessary."""


class FetcherDriver:
    """The fetcher of one source broker and its task; owned by the event loop."""

    def __init__(
        self,
        fetcher: ReplicaFetcher,
        source: ReplicaSource,
        clock: Clock,
        before_poll: Callable[[], None] = lambda: None,
        after_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self.fetcher = fetcher
        self._source = source
        self._clock = clock
        self._before_poll = before_poll
        self._after_answer = after_answer
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"replica-fetcher-{self.fetcher.source}"
        )

    def wake(self) -> None:
        """Polls again, after a partition was added or a flush has finished."""
        self._wake.set()

    async def stop(self) -> None:
        """Cancels the task and closes the connection."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._source.close()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            self._before_poll()
            plan = self.fetcher.poll(self._clock.monotonic_ms())
            if plan is None:
                await self._idle()
            else:
                await self._ask(plan)
                self._after_answer()

    async def _idle(self) -> None:
        wait_ms = self.fetcher.wait_ms(self._clock.monotonic_ms())
        timeout = None if wait_ms is None else max(wait_ms, 1) / 1000
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), timeout)

    async def _ask(self, plan: FetchPlan | OffsetsPlan) -> None:
        try:
            if isinstance(plan, OffsetsPlan):
                offsets = await self._source.leader_offsets(plan)
                self.fetcher.handle_offsets(plan, offsets, self._clock.monotonic_ms())
            else:
                fetched = await self._source.fetch(plan)
                self.fetcher.handle_fetched(plan, fetched, self._clock.monotonic_ms())
        except (BarnabasError, OSError) as error:
            logger.info("cannot fetch from broker %d: %s", self.fetcher.source, error)
            self.fetcher.handle_failure(plan, self._clock.monotonic_ms())
        except Exception:
            logger.exception("fetching from broker %d failed", self.fetcher.source)
            self.fetcher.handle_failure(plan, self._clock.monotonic_ms())
