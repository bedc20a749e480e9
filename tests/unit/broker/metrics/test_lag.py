"""Lag of groups in records and seconds, its trend, and the estimate to catch up."""

import asyncio

from barnabas.broker.metrics.lag import GroupOffset, LagMonitor, LogBounds, batch_timestamp
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import BatchBuilder, control_batch
from barnabas.testing.virtual_clock import VirtualClock

ORDERS = TopicPartition("orders", 0)


class Batch:
    def __init__(self, timestamp):
        self.timestamp = timestamp

    def read(self, size):
        return header_bytes(self.timestamp)[:size]

    def release(self):
        pass


def header_bytes(timestamp):
    builder = BatchBuilder()
    builder.append(None, b"x", timestamp_ms=timestamp)
    return bytes(builder.build())


class FakeLog:
    """A log whose record at offset n has the timestamp 1000 * n; counts its reads."""

    log_start_offset = 0

    def __init__(self, end):
        self.high_watermark = end
        self.reads = 0

    def read(self, offset, max_bytes, *, max_offset):
        self.reads += 1
        return type("Read", (), {"slice": Batch(1000 * offset)})()


class FakeLeaders:
    """Leaders on other brokers of logs whose record at offset n has the timestamp 1000 * n."""

    def __init__(self, bounds):
        self._bounds = bounds
        self.asked = []

    async def bounds(self, partitions):
        return {
            topic_partition: self._bounds[topic_partition]
            for topic_partition in partitions
            if topic_partition in self._bounds
        }

    async def timestamps(self, positions):
        self.asked += positions
        return {position: 1000 * position[1] for position in positions}


def monitor(commits, logs, clock, leaders=None):
    async def offsets():
        return [
            GroupOffset(group, topic_partition, offset)
            for (group, topic_partition), offset in commits.items()
        ]

    return LagMonitor(offsets, logs, leaders or FakeLeaders({}), clock)


async def test_lag_in_records_and_seconds():
    clock = VirtualClock(now_ms=60_000)
    log = FakeLog(50)
    lag = monitor({("g", ORDERS): 20}, {ORDERS: log}, clock)
    await lag.update()
    assert lag.partitions == [("g", ORDERS, 20, 30, 40.0)]
    assert (lag.groups["g"].records, lag.groups["g"].seconds) == (30, 40.0)


async def test_an_unmoved_offset_is_not_read_again_and_no_lag_reads_nothing():
    clock = VirtualClock(now_ms=60_000)
    log = FakeLog(50)
    commits = {("g", ORDERS): 20, ("done", ORDERS): 50}
    lag = monitor(commits, {ORDERS: log}, clock)
    await lag.update()
    await lag.update()
    assert log.reads == 1
    commits["g", ORDERS] = 30
    await lag.update()
    assert log.reads == 2
    assert lag.groups["done"].seconds == 0
    assert lag.groups["done"].catch_up_seconds == 0


async def test_readers_see_complete_results_only():
    commits = {("g", TopicPartition("orders", n)): 0 for n in range(200)}
    logs = {TopicPartition("orders", n): FakeLog(10) for n in range(200)}
    lag = monitor(commits, logs, VirtualClock(now_ms=60_000))
    await lag.update()
    updating = asyncio.create_task(lag.update())
    sizes = set()
    while not updating.done():
        await asyncio.sleep(0)
        sizes.add(len(lag.partitions))
    assert sizes == {200}


async def test_the_trend_gives_the_time_to_catch_up():
    clock = VirtualClock(now_ms=60_000)
    commits = {("g", ORDERS): 0}
    lag = monitor(commits, {ORDERS: FakeLog(100)}, clock)
    await lag.update()
    assert lag.groups["g"].catch_up_seconds is None
    clock.advance(10_000)
    commits["g", ORDERS] = 50
    await lag.update()
    assert lag.groups["g"].change_per_second == -5
    assert lag.groups["g"].catch_up_seconds == 10


async def test_offsets_of_a_partition_without_a_local_replica_come_from_the_leader():
    leaders = FakeLeaders({ORDERS: LogBounds(5, 50)})
    commits = {("g", ORDERS): 20, ("done", ORDERS): 50, ("expired", ORDERS): 0}
    lag = monitor(commits, {}, VirtualClock(now_ms=60_000), leaders)
    await lag.update()
    assert lag.partitions == [
        ("g", ORDERS, 20, 30, 40.0),
        ("done", ORDERS, 50, 0, 0.0),
        ("expired", ORDERS, 0, 45, 55.0),
    ]
    await lag.update()
    assert sorted(leaders.asked) == [(ORDERS, 5), (ORDERS, 20)]


async def test_partitions_whose_leader_does_not_respond_are_left_out():
    lag = monitor({("g", ORDERS): 20}, {}, VirtualClock())
    await lag.update()
    assert lag.partitions == []
    assert lag.groups == {}


async def test_a_deleted_segment_gives_records_without_seconds():
    class Broken(FakeLog):
        def read(self, offset, max_bytes, *, max_offset):
            raise BrokerError(ErrorCode.OFFSET_OUT_OF_RANGE)

    lag = monitor({("g", ORDERS): 20}, {ORDERS: Broken(50)}, VirtualClock())
    await lag.update()
    assert lag.partitions == [("g", ORDERS, 20, 30, None)]


class BatchLog:
    """A log of given batches, one for each offset."""

    log_start_offset = 0

    def __init__(self, *batches):
        self.batches = batches
        self.high_watermark = len(batches)

    def read(self, offset, max_bytes, *, max_offset):
        found = bytearray(self.batches[offset])
        found[:8] = offset.to_bytes(8, "big")
        return type("Read", (), {"slice": Stored(bytes(found))})()


class Stored:
    def __init__(self, data):
        self.data = data

    def read(self, size):
        return self.data[:size]

    def release(self):
        pass


MARKER = bytes(control_batch(True, 0, 7, 0, 2000))


async def test_a_marker_after_the_last_record_is_no_lag_in_seconds():
    clock = VirtualClock(now_ms=60_000)
    logs = {ORDERS: BatchLog(header_bytes(1000), MARKER)}
    lag = monitor({("g", ORDERS): 1}, logs, clock)
    await lag.update()
    assert lag.partitions == [("g", ORDERS, 1, 1, 0.0)]
    logs[ORDERS].batches += (header_bytes(50_000),)  # the first record after the marker
    logs[ORDERS].high_watermark = 3
    await lag.update()
    assert lag.partitions == [("g", ORDERS, 1, 2, 10.0)]


def test_the_timestamp_after_a_marker_in_a_response():
    assert batch_timestamp(MARKER + header_bytes(5000)) == 5000
    assert batch_timestamp(MARKER) is None


async def test_a_topic_that_is_created_again_has_its_own_timestamps():
    clock = VirtualClock(now_ms=60_000)
    logs = {ORDERS: BatchLog(header_bytes(1000))}
    lag = monitor({("g", ORDERS): 0}, logs, clock)
    await lag.update()
    assert lag.groups["g"].seconds == 59
    logs[ORDERS] = BatchLog(header_bytes(58_000))
    await lag.update()
    assert lag.groups["g"].seconds == 2


async def test_a_delete_horizon_is_not_the_time_of_a_record():
    """Compaction stores it in the place of the first timestamp (KIP-534)."""
    batch = bytearray(header_bytes(30_000))
    batch[22] |= 0x40  # the lower byte of the attributes
    batch[27:35] = (10**12).to_bytes(8, "big")  # the first timestamp
    lag = monitor({("g", ORDERS): 0}, {ORDERS: BatchLog(bytes(batch))}, VirtualClock(now_ms=60_000))
    await lag.update()
    assert lag.groups["g"].seconds == 30
