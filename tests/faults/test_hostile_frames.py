"""Mutated requests of every API and version over the wire, beside a client that behaves.

The broker may answer or close the connection. It must not log a traceback or an error, its memory
and its open files stay bounded, and the other client is served all the time. A frame can be made
again from its seed and its number: `support/wire/hostile_frames.py`.
"""

import asyncio
import json
import os
import re
import statistics
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from support.network.requests import batch, create_topic, produce
from support.soak import SOAK
from support.wire.hostile_frames import TOPIC
from support.wire.peer import WirePeer

from barnabas.broker.broker_process import BrokerProcess
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest
from barnabas.wire.messages.metadata import MetadataRequest

FRAMES = int(os.environ.get("BARNABAS_BAD_FRAMES", "2000000" if SOAK else "30000"))
SEED = int(os.environ.get("BARNABAS_SEED", "16"))
MAX_GROWTH_BYTES = 200 << 20
MAX_OPEN_FILES = 3000
MAX_LOG_BYTES = 2 << 20
ANSWER_SECONDS = 60
TIDY_SECONDS = 5
OWN = "healthy"

pytestmark = [pytest.mark.faults, pytest.mark.timeout(3 * 3600 if SOAK else 600)]


@pytest.fixture
def broker(tmp_path):
    settings = {
        "auto.create.topics.enable": False,
        "group.initial.rebalance.delay.ms": 0,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "offsets.topic.replication.factor": 1,
    }
    running = BrokerProcess(1, tmp_path, settings)
    running.launch()
    running.wait_until_ready()
    yield running
    running.terminate()


@asynccontextmanager
async def connected(port):
    peer = await WirePeer.connect(port)
    try:
        yield peer
    finally:
        await peer.close()


class HealthyClient:
    """Writes one record after the other; every one is acknowledged."""

    def __init__(self, port):
        self._port = port
        self.taken = []

    async def run(self, stop):
        async with connected(self._port) as peer:
            await self._write(peer, stop)

    async def _write(self, peer, stop):
        while not stop.is_set():
            begin = time.perf_counter()
            answer = await asyncio.wait_for(produce(peer, OWN, batch(b"x")), ANSWER_SECONDS)
            self.taken.append(time.perf_counter() - begin)
            assert answer.error_code == 0
            await asyncio.sleep(0.005)


class Watch:
    """Memory and files of the broker; removes topics that mutants created, as an operator would."""

    def __init__(self, broker):
        self._port = broker.port
        self._process = psutil.Process(broker.pid)
        self.first = self._process.memory_info().rss
        self.most, self.most_files = self.first, 0
        self._cpu_at_start = self.cpu_seconds

    @property
    def cpu_seconds(self):
        times = self._process.cpu_times()
        return times.user + times.system

    @property
    def cpu_used(self):
        return self.cpu_seconds - self._cpu_at_start

    async def run(self, stop):
        async with connected(self._port) as peer:
            await self._watch(peer, stop)

    async def _watch(self, peer, stop):
        tidy_at = time.monotonic() + TIDY_SECONDS
        while not stop.is_set():
            self.most = max(self.most, self._process.memory_info().rss)
            self.most_files = max(self.most_files, self._process.num_fds())
            if time.monotonic() > tidy_at:
                await self._tidy(peer)
                tidy_at = time.monotonic() + TIDY_SECONDS
            await asyncio.sleep(0.2)

    async def _tidy(self, peer):
        every = {t.name for t in (await peer.call(MetadataRequest(topics=None), 12)).topics}
        strange = sorted(name for name in every if name not in (OWN, TOPIC) and name[:2] != "__")
        if strange:
            await peer.call(DeleteTopicsRequest(topic_names=strange, timeout_ms=5000), 4)
        if TOPIC not in every:
            await create_topic(peer, TOPIC, 2)


async def send(port, first, count):
    command = [sys.executable, "-m", "support.wire.hostile_sender"]
    command += [str(value) for value in (port, SEED, first, count)]
    root = Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": f"{root}:{root.parent}"}
    sender = await asyncio.create_subprocess_exec(*command, env=env, stdout=asyncio.subprocess.PIPE)
    try:
        printed, _ = await sender.communicate()
    finally:
        if sender.returncode is None:
            sender.kill()
            await sender.wait()
    assert sender.returncode == 0
    return json.loads(printed)


async def test_mutated_frames_of_every_api(broker):
    async with connected(broker.port) as peer:
        await create_topic(peer, OWN)
        await create_topic(peer, TOPIC, 2)
    await send(broker.port, FRAMES, 500)  # loads the modules of the broker
    client, watch, stop = HealthyClient(broker.port), Watch(broker), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(client.run(stop))
        tasks.create_task(watch.run(stop))
        begin = time.monotonic()
        counts = await send(broker.port, 0, FRAMES)
        seconds = time.monotonic() - begin
        stop.set()
    log = broker.log_file.read_text(errors="replace")
    held = re.findall(r"a (\w+) request held the event loop for (\d+) ms", log)
    print(
        f"{FRAMES} frames in {seconds:.0f} s, {counts}; another client: {len(client.taken)} "
        f"records, p50 {1000 * statistics.median(client.taken):.1f} ms, "
        f"p99 {1000 * statistics.quantiles(client.taken, n=100)[98]:.1f} ms, "
        f"longest {1000 * max(client.taken):.0f} ms; memory {watch.first >> 20} MB, "
        f"at most {watch.most >> 20} MB, {watch.cpu_used:.0f} s of CPU; "
        f"files at most {watch.most_files}; log {len(log) >> 10} kB; loop held: {held}"
    )
    outcomes = [counts.get(name, 0) for name in ("answered", "refused", "silent", "parked")]
    assert sum(outcomes) == FRAMES
    # A run in which nearly all frames end in the same way would prove little.
    assert min(counts["answered"], counts["refused"]) > 0.1 * FRAMES
    assert counts.get("parked", 0) < 0.1 * FRAMES
    assert problems(log) == []
    assert watch.most - watch.first < MAX_GROWTH_BYTES
    assert watch.most_files < MAX_OPEN_FILES
    assert len(log) < MAX_LOG_BYTES
    assert broker.running


def problems(log):
    """Tracebacks and errors in a broker's log, with the lines before them."""
    lines = log.splitlines()
    bad = [n for n, line in enumerate(lines) if "Traceback" in line or " ERROR " in line]
    return ["\n".join(lines[max(n - 2, 0) : n + 25]) for n in bad[:5]]
