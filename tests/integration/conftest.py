"""A broker on the test's own loop, and peers that talk to it."""

import pytest
from support.wire.peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig


@pytest.fixture
async def start(tmp_path):
    """`await start(settings)` runs a broker on the test's directory until the test ends."""
    running = []

    async def run(settings=None, directory=tmp_path / "data"):
        given = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(directory)}
        broker = Broker(BrokerConfig.parse({**given, **(settings or {})}))
        await broker.start()
        running.append(broker)
        return broker

    yield run
    for broker in running:
        await broker.stop()


@pytest.fixture
async def connect():
    peers = []

    async def open_peer(broker, port=None):
        peers.append(await WirePeer.connect(port or broker.port))
        return peers[-1]

    yield open_peer
    for peer in peers:
        await peer.close()


@pytest.fixture
async def broker_app(start):
    return await start()


@pytest.fixture
async def peer(broker_app, connect):
    return await connect(broker_app)
