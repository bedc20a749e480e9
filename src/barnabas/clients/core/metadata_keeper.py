"""Fetches metadata of the topics that a client uses, with one request at a time.

A caller that needs metadata while a request is in flight waits for it and then sends another one,
because the response in flight may not include its topic.
"""

import asyncio
from collections.abc import Iterable
from time import monotonic

from barnabas.clients.core.any_broker import AnyBroker
from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.pool import ConnectionPool
from barnabas.model.errors import UnavailableError
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)


class MetadataKeeper:
    """Owned by a `KafkaClient`, on its event loop.

    `interests` are the topics whose metadata a refresh fetches; None means all of them.
    """

    def __init__(
        self, any_broker: AnyBroker, pool: ConnectionPool, metadata: ClusterMetadata
    ) -> None:
        self.interests: set[str] | None = set()
        self.auto_create = True
        """Whether a request for an unknown topic may create the topic."""
        self.refreshed_at_s = float("-inf")
        """Monotonic time of the last response."""
        self._any_broker = any_broker
        self._pool = pool
        self._metadata = metadata
        self._refreshing: asyncio.Task[None] | None = None

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Fetches the metadata of the given topics and of all `interests`."""
        if topics is not None and self.interests is not None:
            self.interests.update(topics)
        while self._refreshing is not None:
            await asyncio.wait([self._refreshing])
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh())
        task = self._refreshing
        try:
            await asyncio.shield(task)
        finally:
            if task.done():
                self._refreshing = None
            else:
                task.add_done_callback(self._refresh_ended)

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)

    async def _refresh(self) -> None:
        connection = await self._any_broker.connection()
        request = self._request()
        response: MetadataResponse = await self._any_broker.ask(connection, request)
        if not response.brokers:
            raise UnavailableError(f"{connection.address} has no metadata of the brokers yet")
        self._metadata.apply(response, complete=request.topics is None)
        self._pool.refused = None
        if self._metadata.refusal(self.interests or ()) is not None:
            self._pool.on_refused()
        self.refreshed_at_s = monotonic()

    def _request(self) -> MetadataRequest:
        names = self.interests
        return MetadataRequest(
            topics=None
            if names is None
            else [MetadataRequestTopic(name=name) for name in sorted(names)],
            allow_auto_topic_creation=self.auto_create and names is not None,
        )

    def _refresh_ended(self, task: "asyncio.Task[None]") -> None:
        if self._refreshing is task:
            self._refreshing = None
        if not task.cancelled():
            task.exception()
