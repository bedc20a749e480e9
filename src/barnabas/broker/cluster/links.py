"""Connections to other brokers: opened at the first use and again after a failure.

Each purpose has separate connections. Responses on one connection arrive in order, so a fetch that
waits for data, or a marker that waits for replicas, would delay other requests.
"""

import asyncio
from collections.abc import Iterable

from barnabas.model.control import LiveBroker
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import BrokerId
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.wire.message import Request, ResponseT


class AddressBook:
    """Inter-broker addresses of the brokers, from the controller's commands.

    Owned by the broker's loop. Addresses of brokers that left the cluster are kept: connections to
    them simply fail.
    """

    def __init__(self, listener: str) -> None:
        self.listener = listener
        self._addresses: dict[BrokerId, Address] = {}

    def update(self, brokers: Iterable[LiveBroker]) -> None:
        for broker in brokers:
            endpoint = broker.endpoint(self.listener)
            if endpoint is not None:
                self._addresses[broker.broker_id] = Address(endpoint.host, endpoint.port)

    def address(self, broker_id: BrokerId) -> Address:
        """Returns the address; raises UnavailableError if no command contained it yet."""
        found = self._addresses.get(broker_id)
        if found is None:
            raise UnavailableError(f"the address of broker {broker_id} is not known yet")
        return found


class BrokerLink:
    """One connection to one broker, which follows address changes; owned by the broker's loop."""

    def __init__(self, broker_id: BrokerId, book: AddressBook, options: ConnectionOptions) -> None:
        self.broker_id = broker_id
        self._book = book
        self._options = options
        self._opening = asyncio.Lock()
        self._connection: ClientConnection | None = None

    async def request(
        self,
        message: Request[ResponseT],
        *,
        version: int | None = None,
        timeout_s: float | None = None,
    ) -> ResponseT:
        """Sends a request and returns the response; raises BarnabasError if there is none."""
        connection = await self._connected()
        return await connection.send(message, version=version, timeout_s=timeout_s)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _connected(self) -> ClientConnection:
        async with self._opening:
            address = self._book.address(self.broker_id)
            known = self._connection
            if known is not None and not known.closed and known.address == address:
                return known
            self.close()
            self._connection = await ClientConnection.open(address, self._options)
            return self._connection


class BrokerLinks:
    """The links of one purpose, by broker."""

    def __init__(self, book: AddressBook, options: ConnectionOptions) -> None:
        self.book = book
        self._options = options
        self._links: dict[BrokerId, BrokerLink] = {}

    def to(self, broker_id: BrokerId) -> BrokerLink:
        link = self._links.get(broker_id)
        if link is None:
            link = self._links[broker_id] = BrokerLink(broker_id, self.book, self._options)
        return link

    def another(self, broker_id: BrokerId) -> BrokerLink:
        """Returns a separate link; the caller closes it."""
        return BrokerLink(broker_id, self.book, self._options)

    def close(self) -> None:
        for link in self._links.values():
            link.close()
        self._links.clear()
