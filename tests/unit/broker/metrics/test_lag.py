"""Lag of groups in records and seconds, its trend, and the estimate to catch up."""

from barnabas.broker.metrics.lag import GroupOffset, LagMonitor
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import BatchBuilder
from barnabas.testing.virtual_clock import VirtualClock

ORDERS = TopicPartition("orders", 0)


class Batch:
    def __init__(self, timestamp):
        self.timestamp = timestamp

    def read(self):
        return header_bytes(self.timestamp)

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


def monitor(commits, logs, clock):
    def offsets():
        return [GroupOffset(group, tp, offset) for (group, tp), offset in commits.items()]

    return LagMonitor(offsets, logs, clock)


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


async def test_partitions_without_a_local_replica_are_left_out():
    lag = monitor({("g", ORDERS): 20}, {}, VirtualClock())
    await lag.update()
    assert lag.partitions == []
    assert lag.groups == {}
