"""Connects to any broker of the cluster, for requests that every broker can handle.

An open connection is preferred, then the brokers in the metadata, then the bootstrap addresses
(always, or only before the first metadata, as metadata.recovery.strategy says). The error has the
reason of each failed attempt.
"""

from typing import Any

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.core.pool import ConnectionPool
from barnabas.model.errors import BarnabasError, ClosedError, UnavailableError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire.message import Message


class AnyBroker:
    """Owned by a `KafkaClient`, on its event loop."""

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

    async def ask(
        self, connection: ClientConnection, request: Message, timeout_s: float | None = None
    ) -> Any:
        """Sends a request. Before the first metadata, a lost connection may mean that the broker
        requires a login; raises AuthenticationError then."""
        try:
            return await connection.send(request, timeout_s=timeout_s)
        except UnavailableError:
            if self._metadata.brokers or self._options.connection.login is not None:
                raise
            # Start-up time: only needed after a failure.
            from barnabas.clients.core.sasl_probe import login_wanted

            wanted = await login_wanted(connection.address, self._options.connection)
            if wanted is None:
                raise
            self._pool.refuse(wanted)
            raise wanted from None

    def _candidates(self) -> list[Address]:
        known = [node.address for node in self._metadata.brokers.values()]
        if not known or self._options.rebootstrap:
            known.extend(self._options.bootstrap)
        return list(dict.fromkeys(known))


def _no_broker(causes: list[BarnabasError]) -> UnavailableError:
    reasons = "; ".join(str(error) for error in causes) or "no broker is known"
    return UnavailableError(f"no broker can be reached: {reasons}")
