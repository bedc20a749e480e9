"""The choice of a broker for requests that any broker can serve."""

import pytest

from barnabas.clients.core.cluster_metadata import ClusterMetadata, Node
from barnabas.clients.core.metadata_keeper import AnyBroker
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.errors import ClosedError, UnavailableError
from barnabas.net.connection_options import Address
from barnabas.security.mechanism import AuthenticationError


class Pool:
    """Connects to the brokers in `open`, and fails for others with the test's errors."""

    def __init__(self):
        self.connections = {}
        self.failures = {}
        self.tried = []

    def connected(self, address):
        return self.connections.get(address)

    async def get(self, address):
        self.tried.append(str(address))
        if address in self.failures:
            raise self.failures[address]
        return f"connection to {address}"


@pytest.fixture
def pool():
    return Pool()


def any_broker(pool, *nodes, **config):
    values = ADMIN_KEYS.parse({"bootstrap.servers": "boot:1,boot:2", **config})
    metadata = ClusterMetadata(brokers={number: Node(number, "b", number) for number in nodes})
    return AnyBroker(ClientOptions.from_values(values), pool, metadata)


async def test_bootstrap_addresses_until_brokers_are_known(pool):
    assert await any_broker(pool).connection() == "connection to boot:1"
    assert await any_broker(pool, 5).connection() == "connection to b:5"


async def test_an_open_connection_goes_before_the_order(pool):
    pool.connections[Address("b", 6)] = "open"
    assert await any_broker(pool, 5, 6).connection() == "open"
    assert pool.tried == []


async def test_the_next_broker_is_tried_and_the_error_has_every_reason(pool):
    pool.failures[Address("boot", 1)] = UnavailableError("boot:1 is asleep")
    assert await any_broker(pool).connection() == "connection to boot:2"
    pool.failures[Address("boot", 2)] = UnavailableError("boot:2 is full")
    with pytest.raises(UnavailableError, match=r"reached: boot:1 is asleep; boot:2 is full"):
        await any_broker(pool).connection()


async def test_a_rejected_login_is_not_tried_elsewhere(pool):
    pool.failures[Address("boot", 1)] = AuthenticationError("who are you?")
    with pytest.raises(AuthenticationError):
        await any_broker(pool).connection()
    assert pool.tried == ["boot:1"]


@pytest.mark.parametrize(
    ("strategy", "tried"), [("none", ["b:5"]), ("rebootstrap", ["b:5", "boot:1", "boot:2"])]
)
async def test_whether_bootstrap_addresses_are_tried_again(pool, strategy, tried):
    pool.failures = dict.fromkeys(
        (Address("b", 5), Address("boot", 1), Address("boot", 2)), UnavailableError("gone")
    )
    broker = any_broker(pool, 5, **{"metadata.recovery.strategy": strategy})
    with pytest.raises(UnavailableError):
        await broker.connection()
    assert pool.tried == tried


async def test_a_closed_client_is_not_an_outage(pool):
    pool.failures[Address("boot", 1)] = ClosedError("the client is closed")
    with pytest.raises(ClosedError):
        await any_broker(pool).connection()
