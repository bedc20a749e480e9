"""Fetches metadata of the topics that a client uses, from any broker that responds.

`AnyBroker` connects to a broker for requests that every broker can handle. An open connection is
preferred, then the brokers in the metadata, then the bootstrap addresses (always, or only before
the first metadata, as metadata.recovery.strategy says). The error has the reason of each failed
attempt.

`MetadataKeeper` has one request in flight at a time. A caller that needs metadata meanwhile waits
for it and then sends another one, because the response in flight may not include its topic. A
request for new topics names only topics without metadata (KIP-526): a client that learns its
topics one by one would otherwise fetch a quadratic number of partitions.
"""

import asyncio
from collections.abc import Iterable
from time import monotonic

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.core.pool import ConnectionPool
from barnabas.model.errors import BarnabasError, ClosedError, DeadlineError, UnavailableError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire.message import Request, ResponseT
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)


class AnyBroker:
    """Connects to any broker that responds, for requests that every broker serves.

    Owned by a `KafkaClient`, on its event loop.
    """

    def __init__(
        self, options: ClientOptions, pool: ConnectionPool, metadata: ClusterMetadata
    ) -> None:
        self._options = options
        self._pool = pool
        self._metadata = metadata

    async def connection(self) -> ClientConnection:
        """Returns an open connection to any broker.

        Raises:
            UnavailableError: No broker can be reached.
        """
        found = self.open_connection()
        if found is not None:
            return found
        candidates = self._candidates()
        causes: list[BarnabasError] = []
        for address in candidates:
            try:
                return await self._pool.get(address)
            except AuthenticationError:
                raise  # other brokers would reject the login as well
            except ClosedError:
                raise  # not an outage: this client is closed
            except BarnabasError as error:
                causes.append(error)
        raise _no_broker(causes)

    def open_connection(self) -> ClientConnection | None:
        """Returns an open connection to any broker, or None."""
        for address in self._candidates():
            connection = self._pool.connected(address)
            if connection is not None:
                return connection
        return None

    async def send(
        self,
        connection: ClientConnection,
        request: Request[ResponseT],
        timeout_s: float | None = None,
    ) -> ResponseT:
        """Sends a request. Before the first metadata, a lost connection may mean that the broker
        requires a login; raises AuthenticationError then."""
        try:
            return await connection.send(request, timeout_s=timeout_s)
        except UnavailableError:
            if self._metadata.brokers or self._options.connection.login is not None:
                raise
            # Start-up time: only needed after a failure.
            from barnabas.clients.core.security import login_wanted

            wanted = await login_wanted(connection.address, self._options.connection)
            if wanted is None:
                raise
            self._pool.record_login_error(wanted)
            raise wanted from None

    def _candidates(self) -> list[Address]:
        known = [node.address for node in self._metadata.brokers.values()]
        if not known or self._options.rebootstrap:
            known.extend(self._options.bootstrap)
        return list(dict.fromkeys(known))


def _no_broker(causes: list[BarnabasError]) -> UnavailableError:
    reasons = "; ".join(str(error) for error in causes) or "no broker is known"
    return UnavailableError(f"no broker can be reached: {reasons}")


class MetadataKeeper:
    """Refreshes the metadata of the topics that a client uses.

    Owned by a `KafkaClient`, on its event loop.

    `interests` are the topics whose metadata a refresh fetches; None means all of them.
    """

    def __init__(
        self, any_broker: AnyBroker, pool: ConnectionPool, metadata: ClusterMetadata
    ) -> None:
        self.interests: set[str] | None = set()
        self.auto_create = True
        """Whether a request for an unknown topic may create the topic."""
        self.refreshed_at_s = float("-inf")
        """Monotonic time of the last response with all `interests`."""
        self._any_broker = any_broker
        self._pool = pool
        self._metadata = metadata
        self._refreshing: asyncio.Task[None] | None = None

    async def refresh(self, topics: Iterable[str] | None = None) -> None:
        """Fetches the metadata of all `interests`, to which it adds the given topics.

        If none of the given topics has metadata yet, it fetches only topics without metadata.
        """
        names = set(topics or ())
        if self.interests is not None:
            self.interests |= names
        new = self._without_metadata(names)
        while self._refreshing is not None:
            await asyncio.wait([self._refreshing])
        if new and not self._without_metadata(names):
            return  # the request of another caller included them
        wanted = self._topics_to_fetch(new)
        self._refreshing = asyncio.get_running_loop().create_task(self._refresh(wanted))
        task = self._refreshing
        try:
            await asyncio.shield(task)
        finally:
            if task.done():
                self._refreshing = None
            else:
                task.add_done_callback(self._refresh_ended)

    @property
    def is_refreshing(self) -> bool:
        return self._refreshing is not None

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)

    def _without_metadata(self, names: set[str]) -> bool:
        """Whether topics are given and none of them has metadata."""
        known = self._metadata.partition_count
        return bool(names) and all(known(name) is None for name in names)

    def _topics_to_fetch(self, new: bool) -> set[str] | None:
        """Returns the topics of the next request; None for all topics of the cluster."""
        if self.interests is None or not new or self.refreshed_at_s == float("-inf"):
            return self.interests
        known = self._metadata.partition_count
        return {name for name in self.interests if known(name) is None}

    async def _refresh(self, names: set[str] | None) -> None:
        everything = names is self.interests
        request = self._request(names)
        connection = await self._any_broker.connection()
        try:
            response: MetadataResponse = await self._any_broker.send(connection, request)
        except DeadlineError:
            raise
        except UnavailableError:
            if not self._metadata.brokers:
                raise
            # A new connection, or the error of every broker that cannot be reached.
            connection = await self._any_broker.connection()
            response = await self._any_broker.send(connection, request)
        if not response.brokers:
            raise UnavailableError(f"{connection.address} has no metadata of the brokers yet")
        self._metadata.apply(response, complete=request.topics is None)
        self._pool.login_error = None
        if self._metadata.permanent_error(names or ()) is not None:
            self._pool.on_permanent_error()
        if everything:
            self.refreshed_at_s = monotonic()

    def _request(self, names: set[str] | None) -> MetadataRequest:
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
