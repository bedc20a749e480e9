"""Replicas over the real log: random elections, appends and fetches end in equal bytes.

What the simulation does with lists, this does with batches, segments and epoch files: truncation
falls on batch boundaries, and an epoch in which nothing was written leaves no loop behind.
"""

import random

import pytest
from support.cluster.replicas import TOPIC_ID, TP, RecordingIsrChannel, state
from support.storage.log_world import batch_of

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.records.batch import parse_header
from barnabas.replication import partition_reader
from barnabas.replication.fetcher import ReplicaFetcher
from barnabas.replication.partition import Partition, ReplicaSettings
from barnabas.replication.ports import (
    FetchedPartition,
    FetchSpec,
    LeaderOffsets,
    OffsetsPlan,
    ReplicaFetchLimits,
)
from barnabas.storage import LogConfig, LogManager
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

REPLICAS = (1, 2, 3)
CONFIG = LogConfig.from_values({"segment.bytes": 2048})


class Replica:
    """One broker's copy, with a fetcher for each other broker."""

    def __init__(self, broker_id, clock):
        manager = LogManager(MemoryFileSystem(), ["/data"], clock)
        manager.start()
        self.log = manager.get_or_create(TP, TOPIC_ID, CONFIG)
        settings = ReplicaSettings(broker_id, clock, RecordingIsrChannel())
        self.partition = Partition(TP, self.log, settings)
        self.fetchers = {
            n: ReplicaFetcher(n, ReplicaFetchLimits()) for n in REPLICAS if n != broker_id
        }

    def content(self, end=None):
        limit = self.log.log_end_offset if end is None else end
        data, offset = b"", self.log.log_start_offset
        while offset < limit:
            found = self.log.read(offset, 1 << 20, max_offset=limit, min_one_batch=True)
            data += found.slice.read()
            offset = found.next_offset
        return data


class World:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.clock = VirtualClock(monotonic_ms=1_000)
        self.replicas = {n: Replica(n, self.clock) for n in REPLICAS}
        self.epoch = -1
        self.leader = 1
        self.committed = b""
        self.elect()

    def elect(self):
        """Elects any replica: all are in sync. Replicas get the command at different times."""
        self.epoch += 1
        self.leader = self.dice.choice(REPLICAS)
        self.state = state(leader=self.leader, leader_epoch=self.epoch, partition_epoch=self.epoch)
        told = [n for n in REPLICAS if n == self.leader or self.dice.random() < 0.8]
        for broker_id in told:
            self.tell(broker_id)

    def tell(self, broker_id):
        partition = self.replicas[broker_id].partition
        if broker_id == self.leader:
            partition.make_leader(self.state)
            return
        partition.make_follower(self.state)
        for source, fetcher in self.replicas[broker_id].fetchers.items():
            fetcher.remove(TP)
            if source == self.leader:
                fetcher.add(partition)

    def append(self):
        batch = batch_of([(None, self.dice.randbytes(self.dice.randrange(200)))] * 3)
        believer = self.dice.choice([r for r in self.replicas.values() if r.partition.is_leader])
        believer.partition.append_to_leader(batch, parse_header(batch), acks=1, now_ms=1)

    def fetch(self, broker_id=None):
        follower = broker_id or self.dice.choice(REPLICAS)
        for source, fetcher in self.replicas[follower].fetchers.items():
            plan = fetcher.poll(self.clock.monotonic_ms())
            if plan is None:
                continue
            leader = self.replicas[source].partition
            if isinstance(plan, OffsetsPlan):
                start, end = leader.log.log_start_offset, leader.log.log_end_offset
                bounds = LeaderOffsets(TP, ErrorCode.NONE, start, end)
                fetcher.handle_offsets(plan, [bounds], self.clock.monotonic_ms())
            else:
                answer = self.serve(follower, leader, plan.partitions[0])
                fetcher.handle_fetched(plan, [answer], self.clock.monotonic_ms())
        self.clock.advance(1_001)

    def serve(self, follower, leader, item):
        spec = FetchSpec(
            item.offset, 600, current_leader_epoch=item.leader_epoch, replica_id=follower,
            last_fetched_epoch=item.last_fetched_epoch, log_start_offset=item.log_start_offset,
        )  # fmt: skip
        try:
            read = partition_reader.read(leader, spec)
        except BrokerError as error:
            return FetchedPartition(TP, error.code)
        records = read.slice.read() if read.slice is not None else b""
        return FetchedPartition(
            TP, ErrorCode.NONE, read.high_watermark, read.log_start_offset, records,
            read.diverging_epoch,
        )  # fmt: skip

    def check(self):
        leader = self.replicas[self.leader]
        watermark = leader.log.high_watermark
        committed = leader.content(watermark)
        shorter = min(len(committed), len(self.committed))
        assert committed[:shorter] == self.committed[:shorter]
        self.committed = max(committed, self.committed, key=len)

    def converge(self):
        for broker_id in REPLICAS:
            self.tell(broker_id)
        for _ in range(60):
            for broker_id in REPLICAS:
                self.fetch(broker_id)


@pytest.mark.parametrize("seed", range(40))
def test_replicas_end_in_equal_bytes(seed):
    world = World(seed)
    steps = [world.append] * 4 + [world.fetch] * 8 + [world.elect]
    for _ in range(80):
        world.dice.choice(steps)()
        world.check()
    world.converge()
    contents = {broker_id: replica.content() for broker_id, replica in world.replicas.items()}
    assert contents[1] == contents[2] == contents[3]
    assert contents[1].startswith(world.committed)
    ends = {replica.log.high_watermark for replica in world.replicas.values()}
    assert ends == {world.replicas[1].log.log_end_offset}


def test_a_leader_that_wrote_nothing_follows_without_a_loop():
    world = World(0)
    world.append()
    for leader in (1, 2, 3, 1):
        world.dice.choice = lambda _choices, leader=leader: leader
        world.elect()
        world.converge()
    assert len({replica.content() for replica in world.replicas.values()}) == 1
    fetchers = [f for r in world.replicas.values() for f in r.fetchers.values() if TP in f]
    assert {f.state_of(TP).value for f in fetchers} == {"fetching"}
