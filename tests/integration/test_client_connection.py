"""A connection read without a turn of its loop: answers, and the end of the stream."""

import asyncio

import pytest

from barnabas.model.errors import UnavailableError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.testing import Broker
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse

pytestmark = pytest.mark.integration


async def opened(broker):
    return await ClientConnection.open(Address(broker.host, broker.port), ConnectionOptions())


def asked(connection):
    """What the connection tells of one request, as it comes."""
    told = []
    connection.ask(MetadataRequest([]), lambda answer, error: told.append((answer, error)))
    return told


async def read_an_answer(broker):
    connection = await opened(broker)
    told = asked(connection)
    while not told:  # the loop stands still meanwhile
        assert connection.read_now()
    connection.close()
    return told


async def read_to_the_end(broker):
    connection = await opened(broker)
    broker.stop()
    told = asked(connection)
    while connection.read_now():
        pass
    assert connection.closed
    assert not connection.read_now()
    await asyncio.sleep(0)  # the transport tells the end as well: nobody is told twice
    return told


def test_an_answer():
    with Broker() as broker:
        [(answer, error)] = asyncio.run(read_an_answer(broker))
    assert isinstance(answer, MetadataResponse)
    assert error is None


def test_the_end_of_the_stream():
    with Broker() as broker:
        [(answer, error)] = asyncio.run(read_to_the_end(broker))
    assert answer is None
    assert isinstance(error, UnavailableError)
