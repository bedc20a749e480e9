"""`ClientConnection.ask` calls back with the response, and with the error of a lost connection."""

import asyncio

import pytest

from barnabas.model.errors import UnavailableError
from barnabas.net.client import ClientConnection
from barnabas.net.connection_options import Address, ConnectionOptions
from barnabas.testing import Broker
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse

pytestmark = pytest.mark.integration


async def ask(broker, stop):
    address = Address(broker.host, broker.port)
    connection = await ClientConnection.open(address, ConnectionOptions())
    if stop:
        broker.stop()
    answers, answered = [], asyncio.Event()

    def on_response(answer, error):
        answers.append((answer, error))
        answered.set()

    try:
        connection.submit_with_callback(MetadataRequest([]), on_response)
        await asyncio.wait_for(answered.wait(), 30)
        await asyncio.sleep(0)  # the transport reports a lost connection too: no second call
    finally:
        was_closed = connection.closed
        connection.close()
    return answers, was_closed


def test_the_response_is_passed_to_the_callback():
    with Broker() as broker:
        [(answer, error)], closed = asyncio.run(ask(broker, stop=False))
    assert isinstance(answer, MetadataResponse)
    assert error is None
    assert not closed


def test_a_lost_connection_is_reported_once():
    with Broker() as broker:
        [(answer, error)], closed = asyncio.run(ask(broker, stop=True))
    assert answer is None
    assert isinstance(error, UnavailableError)
    assert closed
