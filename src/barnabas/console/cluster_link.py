"""The clients of a console: one admin client, one simple consumer, one producer per process.

All belong to the console's event loop and are created at the first use. The link also reports which
APIs the cluster serves, so that pages can hide functions that a cluster does not support.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from barnabas.admin import AsyncAdmin, ClusterDescription
from barnabas.clients.producer.aio_producer import Producer
from barnabas.clients.simple.aio_consumer import SimpleConsumer
from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.client import ADMIN_KEYS, SIMPLE_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, DeadlineError, UnavailableError

_API_TIMEOUT_MS = "15000"
_REACHABLE_S = 5.0
_CHECK_S = 4.0
_CHECK_INTERVAL_S = 2.0
T = TypeVar("T")


class ClusterLink:
    """Creates and closes the clients of one cluster."""

    def __init__(self, settings: Mapping[str, str], now: Callable[[], float]) -> None:
        """`now` returns monotonic seconds."""
        self._settings = settings
        self._admin: AsyncAdmin | None = None
        self._simple: SimpleConsumer | None = None
        self._committed: SimpleConsumer | None = None
        self._producer: Producer | None = None
        self._served: dict[str, int] | None = None
        self._now = now
        self._reached_s = -math.inf
        self._check: asyncio.Future[ClusterDescription] | None = None

    @property
    def bootstrap(self) -> str:
        return self._settings["bootstrap.servers"]

    @property
    def settings(self) -> Mapping[str, str]:
        return self._settings

    @property
    def admin(self) -> AsyncAdmin:
        if self._admin is None:
            defaults = {"default.api.timeout.ms": _API_TIMEOUT_MS}
            self._admin = AsyncAdmin({**defaults, **supported(ADMIN_KEYS, self._settings)})
        return self._admin

    @property
    def simple_consumer(self) -> SimpleConsumer:
        if self._simple is None:
            self._simple = self._consumer("read_uncommitted")
        return self._simple

    @property
    def committed_consumer(self) -> SimpleConsumer:
        """A consumer whose fetches list aborted transactions."""
        if self._committed is None:
            self._committed = self._consumer("read_committed")
        return self._committed

    @property
    def producer(self) -> Producer:
        if self._producer is None:
            self._producer = Producer(supported(PRODUCER_KEYS, self._settings))
        return self._producer

    def _consumer(self, isolation: str) -> SimpleConsumer:
        defaults = {"default.api.timeout.ms": _API_TIMEOUT_MS}
        own = supported(SIMPLE_KEYS, self._settings)
        return SimpleConsumer({**defaults, **own, "isolation.level": isolation})

    def transactional_producer(self, transactional_id: str) -> Producer:
        """Returns a new producer; the caller closes it."""
        own = supported(PRODUCER_KEYS, self._settings)
        return Producer({**own, "transactional.id": transactional_id})

    async def check_reachable(self, kept_s: float = _REACHABLE_S) -> None:
        """Raises the reason if no broker responds; a positive result is kept for `kept_s`.

        Calls would wait for their whole timeout otherwise. Concurrent requests share one check.
        """
        if self._now() - self._reached_s < kept_s:
            return
        if self._check is None or self._check.done():
            self._check = asyncio.ensure_future(self.admin.describe_cluster(timeout=_CHECK_S))
        try:
            await asyncio.shield(self._check)
        except DeadlineError as error:
            self._reached_s = -math.inf  # requests that follow do not rely on an earlier check
            cause = error.__cause__
            raise (cause if isinstance(cause, UnavailableError) else error) from None
        self._reached_s = self._now()

    async def while_reachable(self, call: Awaitable[T]) -> T:
        """Awaits a call; cancels it and raises the reason when no broker responds meanwhile.

        A call that began just before the cluster became unreachable would wait for its own timeout,
        which is up to a minute where the whole metadata is read.
        """
        task = asyncio.ensure_future(call)
        try:
            while not (await asyncio.wait({task}, timeout=_CHECK_INTERVAL_S))[0]:
                await self.check_reachable(_CHECK_INTERVAL_S)
            return task.result()
        finally:
            task.cancel()

    async def partitions(self, topic: str) -> list[int]:
        """Returns the partitions of a topic that have a leader.

        Raises:
            BrokerError: The topic is unknown, or no partition has a leader. A request to it would
                wait for one until its timeout.
        """
        description = await self.admin.describe_topic(topic)
        found = [item.partition for item in description.partitions if item.leader is not None]
        if not found:
            raise BrokerError(
                ErrorCode.LEADER_NOT_AVAILABLE, f"no partition of topic {topic} has a leader"
            )
        return found

    async def served_apis(self) -> dict[str, int]:
        """Returns the highest version of each API that the cluster serves, by name.

        The result is kept: a cluster that is upgraded needs a restart of the console.
        """
        if self._served is None:
            ranges = await self.admin.describe_api_versions()
            self._served = {item.name: item.max_version for item in ranges}
        return self._served

    async def close(self) -> None:
        for client in (self._admin, self._simple, self._committed, self._producer):
            if client is not None:
                await client.close()


def supported(table: ConfigTable, settings: Mapping[str, str]) -> dict[str, object]:
    """Returns the settings that one kind of client has; the other kinds have the rest."""
    found: dict[str, object] = {}
    for name, value in settings.items():
        try:
            own_name, own_value = table.translate(name, value)
        except ConfigError:
            continue
        found[own_name] = own_value
    return found
