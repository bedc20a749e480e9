"""Clients that connect while the broker is still starting."""

import asyncio

import pytest
from support.wire.peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.controller.controller import Controller
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.fetch import FetchRequest
from barnabas.wire.messages.metadata import MetadataRequest

pytestmark = pytest.mark.integration


@pytest.fixture
async def starting(tmp_path, monkeypatch):
    """A broker that listens and whose controller has not started; setting the event starts it."""
    go_on, listens = asyncio.Event(), asyncio.Event()
    start_controller = Controller.start

    async def start_later(controller):
        listens.set()
        await go_on.wait()
        await start_controller(controller)

    monkeypatch.setattr(Controller, "start", start_later)
    given = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(tmp_path)}
    broker = Broker(BrokerConfig.parse(given))
    start = asyncio.ensure_future(broker.start())
    await listens.wait()
    yield broker, go_on
    go_on.set()
    await start
    await broker.stop()


async def test_early_requests_are_answered_once_the_broker_has_started(starting):
    broker, go_on = starting
    peers = [await WirePeer.connect(broker.port) for _ in range(8)]
    sent = [peer.send(MetadataRequest(topics=None), 9) for peer in peers]
    waiter = await WirePeer.connect(broker.port)
    fetching = waiter.send(FetchRequest(max_wait_ms=1, min_bytes=1, topics=[]), 4)
    prober = await WirePeer.connect(broker.port)
    assert (await prober.call(ApiVersionsRequest(), 0)).error_code == 0  # served at once
    go_on.set()
    for peer, correlation in zip(peers, sent, strict=True):
        answer = await peer.receive(3, 9, correlation)
        assert [item.port for item in answer.brokers] == [broker.port]
    assert (await waiter.receive(1, 4, fetching)).responses == []
    for peer in [*peers, waiter, prober]:
        await peer.close()
