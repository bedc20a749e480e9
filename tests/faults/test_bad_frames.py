"""Single invalid frames over real sockets, and the log lines about them.

Mutated frames by the hundred thousand: test_hostile_frames.py.
"""

import gc
import struct
import time

import psutil
import pytest
from support.wire.peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.wire.messages.api_versions import ApiVersionsRequest

pytestmark = pytest.mark.faults


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
async def test_one_line_names_the_reason(broker, caplog, data, reason):
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
    other = await WirePeer.connect(broker.port)
    for _ in range(2):  # a turn of the loop reads all connections that have sent something
        await other.call(ApiVersionsRequest(), 0)
    assert process.memory_info().rss - before < 120 * 2**20
    for peer in (*peers, other):
        await peer.close()


async def test_many_tags_and_counts_are_rejected_before_they_are_built(broker):
    """Two bytes each, a million of them: an amplification of a hundred times, if kept."""
    header = struct.pack(">hhih", 18, 3, 1, -1)
    count = 2_000_000
    tags = b"\x00" + b"\x02a\x02b" + b"\x80\x89\x7a" + b"\x01\x00" * count
    frame = header + tags
    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    peer = await WirePeer.connect(broker.port)
    begin = time.process_time()  # the broker runs in this process
    peer.writer.write(struct.pack(">i", len(frame)) + frame)
    assert await peer.is_closed()
    assert time.process_time() - begin < 2
    assert process.memory_info().rss - before < 64 * 2**20
    await peer.close()
