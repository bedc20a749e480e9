"""Peers that ask a lot and read nothing, connect a lot and say nothing."""

import asyncio
import gc
import time

import psutil
import pytest
from support.network.requests import batch, create_topic, fetch_request, produce, produce_request
from support.wire.peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig

pytestmark = pytest.mark.faults


@pytest.fixture
async def broker(tmp_path):
    settings = {"listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(tmp_path)}
    running = Broker(BrokerConfig.parse(settings))
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def peer(broker):
    connected = await WirePeer.connect(broker.port)
    yield connected
    await connected.close()


async def test_ten_thousand_pipelined_requests_are_answered_in_order(peer):
    await create_topic(peer, "t")
    count = 10_000

    async def ask():
        for number in range(count):
            peer.send(produce_request("t", batch(b"x"), acks=1), 9)
            if number % 100 == 0:
                await peer.writer.drain()

    asking = asyncio.create_task(ask())
    for number in range(count):
        response = await peer.receive(0, 9, number + 2)
        assert response.responses[0].partition_responses[0].base_offset == number
    await asking


async def test_a_reader_that_does_not_read_costs_no_memory(broker, peer):
    await create_topic(peer, "t")
    for _ in range(20):
        await produce(peer, "t", batch(bytes(1_000_000)))
    greedy = await WirePeer.connect(broker.port)
    greedy.writer.transport.pause_reading()
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    for _ in range(2000):
        greedy.send(fetch_request("t", 0, max_bytes=20_000_000), 11)
    # Time for the broker to serve requests whose responses are not read, if it did.
    await asyncio.sleep(0.5)
    begin = time.thread_time()
    await produce(peer, "t", batch(b"x"))
    assert time.thread_time() - begin < 0.5
    assert process.memory_info().rss - before < 40 * 2**20
    await greedy.close()


async def test_many_idle_connections_do_not_slow_other_clients(broker, peer):
    await create_topic(peer, "t")
    silent = [await WirePeer.connect(broker.port) for _ in range(300)]
    for connected in silent[:150]:
        connected.writer.write(b"\x00\x10\x00\x00" + b"x" * 100)
    taken = []
    for _ in range(50):
        begin = time.thread_time()
        await produce(peer, "t", batch(b"x"))
        taken.append(time.thread_time() - begin)
    assert sorted(taken)[25] < 0.05
    for connected in silent:
        await connected.close()
