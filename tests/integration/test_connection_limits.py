"""Connections beyond a limit wait, those of brokers do not, and limits change while it runs."""

import asyncio

import pytest
from support.wire.peer import WirePeer

from barnabas.model.error_codes import ErrorCode
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.wire.messages.metadata import MetadataRequest

pytestmark = pytest.mark.integration

TWO_LISTENERS = {
    "listeners": "INTERNAL://127.0.0.1:0,CLIENT://127.0.0.1:0",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,CLIENT:PLAINTEXT",
}


@pytest.fixture
async def peers():
    """`await peers(broker, listener)`: one more connection."""
    opened = []

    async def open_peer(broker, listener="CLIENT"):
        opened.append(await WirePeer.connect(broker.ports[listener]))
        return opened[-1]

    yield open_peer
    for peer in opened:
        await peer.close()


async def ask(peer):
    return await peer.call(MetadataRequest(topics=[]), 9, timeout=60)


async def alter(peer, key, value):
    resource = AlterConfigsResource(4, "0", [AlterableConfig(key, 0, value)])
    response = await peer.call(IncrementalAlterConfigsRequest([resource]), 1)
    return response.responses[0].error_code, response.responses[0].error_message


async def test_connections_within_limits_that_change(start, peers):
    settings = {**TWO_LISTENERS, "broker.id": 0}
    broker = await start({**settings, "max.connections": 2})
    recent, unused = await peers(broker), await peers(broker)
    await ask(unused)
    await asyncio.sleep(0.01)  # the clock that tells which was used last counts milliseconds
    await ask(recent)
    waiting = asyncio.create_task(ask(await peers(broker)))
    await ask(recent)
    assert not waiting.done()

    # A broker's connection is served at once, and a client's is closed for it.
    internal = await peers(broker, "INTERNAL")
    await ask(internal)
    assert await unused.is_closed()
    await ask(recent)
    assert not waiting.done()

    assert await alter(internal, "max.connections", "3") == (0, None)
    await waiting
    assert await alter(internal, "listener.name.client.max.connections", "1") == (0, None)
    for key, value in {
        "listener.name.client.max.connections": "-1",
        "max.connections.per.ip.overrides": "127.0.0.1",
        "max.connections.per.ip": "0",
    }.items():
        code, message = await alter(internal, key, value)
        assert code == ErrorCode.INVALID_REQUEST
        assert key in message

    await broker.stop()
    broker = await start(settings)  # what was changed is still in force
    first, second = await peers(broker), await peers(broker)
    await ask(first)
    waiting = asyncio.create_task(ask(second))
    await ask(first)
    assert not waiting.done()
    await first.close()
    await waiting


async def test_addresses_have_limits_of_their_own(start, peers):
    settings = {"max.connections.per.ip": 0, "max.connections.per.ip.overrides": "localhost:1"}
    broker = await start({**TWO_LISTENERS, **settings})
    first = await peers(broker)
    await ask(first)
    assert await (await peers(broker, "INTERNAL")).is_closed()
    await ask(first)
