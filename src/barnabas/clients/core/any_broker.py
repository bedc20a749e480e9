"""The way into a cluster: whichever broker answers, connected ones first.

The bootstrap addresses are tried until brokers are known, and after them where that is configured.
Why none could be reached is told with the reason of each.
"""

from typing import Any

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.options import ClientOptions
from barnabas.clients.core.pool import ConnectionPool
from barnabas.model.errors import BarnabasError, UnavailableError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address
from barnabas.security.errors import AuthenticationError
from barnabas.wire.message import Message


class AnyBroker:
    """Part of a `KafkaClient`, on its loop."""

    def __init__(
        self, options: ClientOptions, pool: ConnectionPool, metadata: ClusterMetadata
    ) -> None:
        self._options = options
        self._pool = pool
        self._metadata = metadata

    async def connection(self) -> ClientConnection:
        """An open connection to whichever broker answers."""
        candidates = self._candidates()
        for address in candidates:
            connection = self._pool.connected(address)
            if connection is not None:
                return connection
        causes: list[BarnabasError] = []
        for address in candidates:
            try:
                return await self._pool.get(address)
            except AuthenticationError:
                raise  # the same at every broker: trying others would only hide it
            except BarnabasError as error:
                causes.append(error)
        raise _no_broker(causes)

    async def ask(
        self, connection: ClientConnection, request: Message, timeout_s: float | None = None
    ) -> Any:
        """Until brokers are known, a lost connection may mean that a login is wanted."""
        try:
            return await connection.send(request, timeout_s=timeout_s)
        except UnavailableError:
            if self._metadata.brokers or self._options.connection.login is not None:
                raise
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
