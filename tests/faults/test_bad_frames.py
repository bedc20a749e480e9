"""Frames that are not what they claim, over real sockets, beside a client that behaves.

Every advertised API in every version: a well-formed request is made from the schema, then bytes are
flipped, lengths and counts replaced, the frame cut or extended. The broker may answer or close; it
must not crash, grow, or make the healthy connection wait.
"""

import asyncio
import gc
import logging
import os
import random
import statistics
import struct
import time

import psutil
import pytest
from support.requests import batch, create_topic, fetch_request, produce, produce_request
from support.wire_peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.broker.handlers import HANDLERS
from barnabas.wire.headers import RequestHeader, encode_request
from barnabas.wire.registry import request_class

pytestmark = pytest.mark.faults

FRAMES = int(os.environ.get("BARNABAS_BAD_FRAMES", "6000"))
BAD_PEERS = 20
_LENGTHS = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x0f\xff\xff")


@pytest.fixture
async def broker(tmp_path):
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(tmp_path),
        # Topics that mutants bring about keep their files open, rightly.
        "auto.create.topics.enable": False,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.num.partitions": 1,
    }
    running = Broker(BrokerConfig.parse(settings))
    await running.start()
    yield running
    await running.stop()


def requests():
    """One frame of each API and version, and some that carry records."""
    frames = []
    for handler in HANDLERS:
        for version in range(handler.versions[0], handler.versions[1] + 1):
            frames.append(framed(request_class(int(handler.api))(), int(handler.api), version))
    frames += [framed(produce_request("t", batch(b"x", b"y")), 0, v) for v in range(3, 12)]
    frames += [framed(fetch_request("t", 0), 1, v) for v in range(4, 18)]
    return frames


def framed(message, api_key, version):
    header = RequestHeader(api_key, version, 1, "mutant")
    return b"".join(bytes(part) for part in encode_request(header, message))[4:]


def mutate(frame, dice):
    data = bytearray(frame)
    for _ in range(dice.choice((1, 1, 2, 4))):
        match dice.randrange(6):
            case 0 if len(data) > 1:
                data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            case 1 if len(data) > 8:
                at = dice.randrange(4, len(data) - 3)
                data[at : at + 4] = dice.choice(_LENGTHS)
            case 2:
                del data[dice.randrange(len(data) + 1) :]
            case 3:
                data += dice.randbytes(dice.randrange(1, 64))
            case 4:
                at = dice.randrange(len(data) + 1)
                data[at:at] = dice.randbytes(dice.randrange(1, 16))
            case _:
                at = dice.randrange(len(data) + 1)
                data[at:at] = b"\xff\xff\xff\xff\x0f"
    return struct.pack(">i", len(data)) + bytes(data)


async def attack(port, frames, dice, count):
    """Send `count` bad frames over as many connections as the broker makes necessary."""
    peer = None
    for _ in range(count):
        if peer is None or peer.writer.is_closing() or peer.reader.at_eof():
            if peer is not None:
                await peer.close()
            peer = await WirePeer.connect(port)
        frame = mutate(dice.choice(frames), dice)
        try:
            peer.writer.write(frame)
            await peer.writer.drain()
            await asyncio.wait_for(peer.reader.read(1 << 16), 0.05)
        except (ConnectionError, TimeoutError):
            await peer.close()
            peer = None
    if peer is not None:
        await peer.close()


async def latencies(peer, stop):
    """Produce one record after the other until told to stop."""
    taken = []
    while not stop.is_set():
        begin = time.perf_counter()
        answer = await produce(peer, "healthy", batch(b"x"))
        taken.append(time.perf_counter() - begin)
        assert answer.error_code == 0
        await asyncio.sleep(0.002)
    return taken


async def test_nobody_else_notices(broker, caplog):
    caplog.set_level(logging.WARNING)
    healthy = await WirePeer.connect(broker.port)
    await create_topic(healthy, "healthy")
    await create_topic(healthy, "t")
    frames, dice = requests(), random.Random(20)
    await attack(broker.port, frames, dice, 100)  # load the modules
    gc.collect()
    process = psutil.Process()
    before, files = process.memory_info().rss, process.num_fds()

    stop = asyncio.Event()
    client = asyncio.create_task(latencies(healthy, stop))
    per_peer = FRAMES // BAD_PEERS
    await asyncio.gather(
        *(attack(broker.port, frames, random.Random(n), per_peer) for n in range(BAD_PEERS))
    )
    stop.set()
    taken = await client
    await asyncio.sleep(2.5)  # peers that left while a fetch waited are found by the sweep
    gc.collect()

    assert not [r for r in caplog.records if r.levelno >= logging.ERROR], caplog.text[-3000:]
    assert process.memory_info().rss - before < 50 * 2**20
    assert process.num_fds() <= files + 10
    assert statistics.median(taken) < 0.25
    await healthy.close()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (struct.pack(">i", -5), "frame_size"),
        (struct.pack(">i", 2**31 - 1), "frame_size"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "looks_like_tls"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "looks_like_http"),
        (struct.pack(">i", 3) + b"abc", "malformed"),
        (struct.pack(">ihhih", 12, 3, 9, 1, 100) + b"xx", "malformed"),
        (struct.pack(">ihhi", 8, 77, 0, 1), "unsupported"),
    ],
)
async def test_one_line_says_why(broker, caplog, data, reason):
    peer = await WirePeer.connect(broker.port)
    peer.writer.write(data)
    assert await peer.is_closed()
    lines = [r.getMessage() for r in caplog.records if r.name == "barnabas.net"]
    assert len(lines) == 1
    assert f"reason={reason}" in lines[0]
    assert "Traceback" not in caplog.text
    await peer.close()


async def test_a_claim_of_memory_is_not_memory(broker):
    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    peers = [await WirePeer.connect(broker.port) for _ in range(50)]
    for peer in peers:
        peer.writer.write(struct.pack(">i", 100 * 2**20) + b"0123456789")
    await asyncio.sleep(0.2)
    assert process.memory_info().rss - before < 120 * 2**20
    for peer in peers:
        await peer.close()


async def test_many_tags_and_counts_are_refused_before_they_are_built(broker):
    """Two bytes each, a million of them: an amplification of a hundred times, if kept."""
    header = struct.pack(">hhih", 18, 3, 1, -1)
    count = 2_000_000
    tags = b"\x00" + b"\x02a\x02b" + b"\x80\x89\x7a" + b"\x01\x00" * count
    frame = header + tags
    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    peer = await WirePeer.connect(broker.port)
    begin = time.perf_counter()
    peer.writer.write(struct.pack(">i", len(frame)) + frame)
    assert await peer.is_closed()
    assert time.perf_counter() - begin < 2
    assert process.memory_info().rss - before < 64 * 2**20
    await peer.close()
