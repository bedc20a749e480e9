"""A log without faults: appends, reads, watermarks, truncation, lookups by time, flushing."""

import pytest
from support.storage.log_world import (
    LOG_DIR,
    NOW,
    TP,
    World,
    append,
    batch_of,
    committed,
    contents,
    end_txn,
    put,
    raw,
)

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.records.batch import iter_batches, parse_header
from barnabas.records.reader import iter_raw
from barnabas.storage import AppendOrigin, Log


@pytest.fixture
def world() -> World:
    return World(**{"segment.bytes": "1000", "index.interval.bytes": "200"})


@pytest.fixture
def log(world: World) -> Log:
    return world.log


def code_of(call) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        call()
    return caught.value.code


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.local.segments]


# Appends


def test_the_leader_assigns_offsets_and_epoch(log):
    put(log, (b"a", b"1"), (b"b", b"2"), epoch=4)
    batch = batch_of([(b"c", b"3")])
    info = append(log, batch, epoch=7)
    assert (info.first_offset, info.last_offset, info.duplicate) == (2, 2, False)
    assert (info.max_timestamp, info.log_append_time_ms, info.log_start_offset) == (NOW, -1, 0)
    header = parse_header(batch)
    assert (header.base_offset, header.partition_leader_epoch) == (2, 7)
    assert log.log_end_offset == 3
    assert log.latest_epoch == 7
    assert log.end_offset_for_epoch(4) == (4, 2)
    assert log.end_offset_for_epoch(7) == (7, 3)


def test_bytes_behind_the_batch_are_not_written(log):
    batch = batch_of([(b"a", b"1")])
    size = len(batch)
    header = parse_header(batch)
    log.append_as_leader(memoryview(batch + b"trailing"), header, leader_epoch=0, now_ms=NOW)
    assert log.size_bytes == size
    assert contents(log) == [(0, b"a", b"1")]


def test_log_append_time_is_stamped():
    log = World(**{"message.timestamp.type": "LogAppendTime"}).log
    batch = batch_of([(b"a", b"1")], timestamp_ms=5)
    info = append(log, batch, now_ms=NOW + 9)
    assert info.log_append_time_ms == info.max_timestamp == NOW + 9
    data = raw(log)
    ((position, header),) = iter_batches(data)
    assert header.timestamp_type == 1
    assert iter_raw(data, position, header)[0].timestamp == NOW + 9


def test_a_duplicate_is_answered_with_its_first_offset(log):
    ids = {"producer_id": 1, "producer_epoch": 0}
    put(log, (b"a", b"1"), base_sequence=0, **ids)
    put(log, (b"b", b"2"), base_sequence=1, **ids)
    size = log.size_bytes
    info = put(log, (b"a", b"1"), base_sequence=0, **ids)
    assert (info.first_offset, info.last_offset, info.duplicate) == (0, 0, True)
    assert log.size_bytes == size


def test_replication_and_coordinators_are_not_checked_for_sequences(log):
    ids = {"producer_id": 1, "producer_epoch": 0}
    put(log, (b"a", b"1"), base_sequence=0, **ids)
    batch = batch_of([(b"b", b"2")], base_sequence=9, **ids)
    log.append_as_leader(
        batch,
        parse_header(batch),
        leader_epoch=0,
        now_ms=NOW,
        origin=AppendOrigin.COORDINATOR,
    )
    other = batch_of([(b"c", b"3")], base_offset=2, base_sequence=30, **ids)
    log.append_as_follower(bytes(other))
    assert log.log_end_offset == 3
    assert log.producers.entries[1].last_sequence == 30


def test_a_batch_larger_than_a_segment_is_rejected(log):
    assert code_of(lambda: put(log, (b"a", b"x" * 2000))) is ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_follower_writes_what_the_leader_sent(log):
    leader = World().log
    put(leader, (b"a", b"1"), (b"b", b"2"), epoch=3)
    put(leader, (b"c", b"3"), epoch=5)
    sent = raw(leader)
    info = log.append_as_follower(memoryview(sent + sent[:40]))
    assert (info.first_offset, info.last_offset) == (0, 2)
    assert raw(log) == sent
    assert [(entry.epoch, entry.start_offset) for entry in log.epochs.entries] == [(3, 0), (5, 2)]
    assert log.append_as_follower(b"").last_offset == 2


def test_a_follower_rejects_what_does_not_go_on(log):
    put(log, (b"a", b"1"))
    with pytest.raises(CorruptRecordError, match="continues at 1"):
        log.append_as_follower(bytes(batch_of([(b"a", b"1")], base_offset=0)))
    damaged = batch_of([(b"a", b"1")], base_offset=1)
    damaged[-1] ^= 1
    with pytest.raises(CorruptRecordError, match="checksum"):
        log.append_as_follower(bytes(damaged))


def test_a_follower_takes_gaps_even_wide_ones(log):
    put(log, (b"a", b"1"))
    log.append_as_follower(bytes(batch_of([(b"b", b"2")], base_offset=10)))
    log.append_as_follower(bytes(batch_of([(b"c", b"3")], base_offset=2**40)))
    assert [offset for offset, _, _ in contents(log)] == [0, 10, 2**40]
    assert bases(log) == [0, 2**40]


def test_a_wide_gap_at_the_beginning(log):
    log.append_as_follower(bytes(batch_of([(b"c", b"3")], base_offset=2**40)))
    assert bases(log) == [2**40]
    assert contents(log, start=2**40)[0][0] == 2**40


# Rolling


def test_rolls_by_size(world, log):
    for _ in range(20):
        put(log, (b"k", b"v" * 100))
    assert len(bases(log)) > 2
    assert all(segment.size <= 1000 for segment in log.local.segments)
    assert [seen[0] for seen in contents(log)] == list(range(20))
    assert world.fs.exists(LOG_DIR / f"{0:020d}.timeindex")


def test_rolls_by_record_time_less_the_jitter():
    log = World(**{"segment.ms": "1000"}).log
    log.local.jitter_ms = 100
    for late in (0, 900, 901):
        put(log, (b"k", b"v"), timestamp_ms=NOW + late)
    assert bases(log) == [0, 2]


def test_rolls_when_the_index_is_full():
    log = World(**{"segment.index.bytes": "48", "index.interval.bytes": "0"}).log
    for number in range(10):
        put(log, (b"k", b"v"), timestamp_ms=NOW + number)
    assert bases(log) == [0, 4, 8]


def test_rolling_an_empty_segment_does_nothing(log):
    log.roll()
    assert bases(log) == [0]
    put(log, (b"k", b"v"))
    log.roll()
    log.roll()
    assert bases(log) == [0, 1]


# Reads


def test_reads_return_whole_batches_within_the_limit(log):
    for number in range(4):
        put(log, (b"k", b"%d" % number))
    size = len(raw(log)) // 4
    found = log.read(1, 2 * size + size // 2, max_offset=4)
    assert (found.size, found.first_batch_base_offset, found.next_offset) == (2 * size, 1, 3)
    assert len(found.slice) == found.size == len(found.slice.read())
    assert log.read(0, size, max_offset=4).size == size


def test_the_first_batch_comes_whole_if_at_least_one_is_wanted(log):
    put(log, (b"k", b"v" * 100))
    assert log.read(0, 1, max_offset=1).size == log.size_bytes
    found = log.read(0, 1, max_offset=1, min_one_batch=False)
    assert (found.slice, found.size, found.next_offset) == (None, 0, 0)


def test_no_byte_beyond_the_bound(log):
    put(log, (b"a", b"1"), (b"b", b"2"))
    put(log, (b"c", b"3"))
    assert log.read(0, 10**6, max_offset=0).slice is None
    assert log.read(0, 10**6, max_offset=1).slice is None
    assert len(contents(log, end=2)) == 2
    assert len(contents(log, end=3)) == 3
    assert log.read(2, 10**6, max_offset=2).slice is None
    assert log.read(3, 10**6, max_offset=99).slice is None


def test_a_short_read_at_the_end_needs_one_system_call(log, monkeypatch):
    put(log, (b"a", b"1"))
    start = log.log_end_offset
    put(log, (b"b", b"2"))
    put(log, (b"c", b"3"))
    reads = []
    file = log.local.active.open_file()
    pread = type(file).pread

    def counted(self, size: int, position: int) -> bytes:
        reads.append((size, position))
        return pread(self, size, position)

    monkeypatch.setattr(type(file), "pread", counted)
    end = log.log_end_offset
    whole = log.read(start, 10_000, max_offset=end).slice.read()
    assert len(reads) == 1
    headers = [header for _, header in iter_batches(whole)]
    assert [header.base_offset for header in headers] == [start, start + 1]
    # Bounds and limits cut the bytes that were read.
    cut = log.read(start, 10_000, max_offset=start + 1).slice.read()
    assert cut == whole[: headers[0].size]
    assert log.read(start, headers[0].size, max_offset=end).slice.read() == cut


def test_reading_from_the_middle_of_a_batch_returns_the_batch(log):
    put(log, (b"a", b"1"), (b"b", b"2"), (b"c", b"3"))
    found = log.read(1, 10**6, max_offset=3)
    assert (found.first_batch_base_offset, found.next_offset) == (0, 3)


def test_reading_outside_the_log(log):
    put(log, (b"a", b"1"), (b"b", b"2"))
    log.update_high_watermark(2)
    log.increment_log_start_offset(1)
    for offset in (-1, 0, 3):
        found = code_of(lambda offset=offset: log.read(offset, 100, max_offset=9))
        assert found is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_slice_outlives_its_segment(world, log):
    put(log, (b"a", b"1"))
    found = log.read(0, 100, max_offset=1)
    data = found.slice.read()
    log.truncate_fully_and_start_at(50)
    world.manager.maintenance.purge_deleted()
    assert found.slice.read() == data
    found.slice.release()
    found.slice.release()
    with pytest.raises(ValueError, match="released"):
        found.slice.read()


# Watermarks and transactions


def test_the_high_watermark_stays_within_the_log(log):
    put(log, (b"a", b"1"))
    assert log.update_high_watermark(9) == 1
    assert log.update_high_watermark(-5) == 0


def test_committed_readers_wait_for_transactions(log):
    txn = {"producer_id": 1, "producer_epoch": 0, "transactional": True}
    put(log, (b"a", b"1"))
    put(log, (b"b", b"2"), base_sequence=0, **txn)
    put(log, (b"c", b"3"))
    log.update_high_watermark(3)
    assert log.last_stable_offset == 1
    end_txn(log, 1, commit=False)
    assert log.last_stable_offset == 1
    log.update_high_watermark(4)
    assert log.last_stable_offset == 4
    assert [(t.producer_id, t.first_offset) for t in log.aborted_transactions(0, 4)] == [(1, 1)]
    assert log.aborted_transactions(0, 1) == []
    assert [value for _, _, value in committed(log)] == [b"1", b"3"]


def test_the_log_start_moves_forward_only_and_below_the_watermark(log):
    for _ in range(3):
        put(log, (b"a", b"1"))
    log.update_high_watermark(2)
    assert code_of(lambda: log.increment_log_start_offset(3)) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.increment_log_start_offset(2)
    assert not log.increment_log_start_offset(1)
    assert log.log_start_offset == 2


# Truncation


def fill(log: Log, count: int = 20) -> None:
    for number in range(count):
        put(
            log,
            (b"k", b"v" * 100),
            producer_id=1,
            producer_epoch=0,
            base_sequence=number,
            epoch=number // 5,
        )


def test_truncation_takes_everything_with_it(log):
    fill(log)
    log.update_high_watermark(20)
    log.flush()
    assert log.truncate_to(7)
    assert not log.truncate_to(7)
    assert log.log_end_offset == log.high_watermark == log.recovery_point == 7
    assert [offset for offset, _, _ in contents(log)] == list(range(7))
    assert log.latest_epoch == 1
    assert log.producers.entries[1].last_sequence == 6
    assert put(log, (b"n", b"w"), epoch=9).first_offset == 7


def test_truncation_within_a_batch_drops_the_batch(log):
    put(log, (b"a", b"1"))
    put(log, (b"b", b"2"), (b"c", b"3"))
    log.truncate_to(2)
    assert log.log_end_offset == 1


def test_truncation_below_the_first_segment_starts_over(log):
    log.truncate_fully_and_start_at(100)
    put(log, (b"a", b"1"))
    assert log.truncate_to(50)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (50, 50, 50)


def test_a_full_truncation_starts_an_empty_log_at_the_offset(log):
    fill(log)
    log.update_high_watermark(20)
    log.truncate_fully_and_start_at(500)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (500, 500, 500)
    assert log.latest_epoch == -1
    assert len(log.producers) == 0
    assert put(log, (b"a", b"1")).first_offset == 500


# By time


def test_the_first_record_at_or_after_a_time(log):
    for number in range(12):
        put(log, (b"k", b"v" * 150), timestamp_ms=NOW + number * 10, epoch=number)
    hit = log.offset_for_timestamp(NOW + 55)
    assert hit == (NOW + 60, 6, 6)
    assert log.offset_for_timestamp(NOW - 5) == (NOW, 0, 0)
    assert log.offset_for_timestamp(NOW + 110) == (NOW + 110, 11, 11)
    assert log.offset_for_timestamp(NOW + 111) is None
    log.update_high_watermark(12)
    log.increment_log_start_offset(8)
    assert log.offset_for_timestamp(NOW) == (NOW + 80, 8, 8)


def test_the_greatest_timestamp(log):
    assert log.max_timestamp_offset() is None
    for late in (5, 90, 40, 90):
        put(log, (b"k", b"v" * 300), timestamp_ms=NOW + late)
    assert log.max_timestamp_offset() == (NOW + 90, 1, 0)


# Flushing


def test_a_flush_moves_the_recovery_point(log):
    assert log.begin_flush() is None
    fill(log, 3)
    task = log.begin_flush()
    put(log, (b"k", b"later"))
    task.run()
    log.finish_flush(task)
    assert log.recovery_point == 3
    log.flush(3)
    assert log.recovery_point == 3
    log.flush()
    assert log.recovery_point == 4


def test_flush_is_due_by_count_and_after_a_roll():
    log = World(**{"flush.messages": "3"}).log
    put(log, (b"a", b"1"), (b"b", b"2"))
    assert not log.flush_due
    put(log, (b"c", b"3"))
    assert log.flush_due
    log.flush()
    assert not log.flush_due
    put(log, (b"c", b"3"))
    log.roll()
    assert log.flush_due


def test_a_truncation_voids_a_running_flush(log):
    fill(log, 3)
    task = log.begin_flush()
    log.truncate_to(1)
    put(log, (b"k", b"not flushed"))
    put(log, (b"k", b"not flushed"))
    task.run()
    log.finish_flush(task)
    assert log.recovery_point <= 1
    assert log.unflushed


def test_a_flush_that_ends_after_the_log_was_deleted_harms_nobody(world, log):
    fill(log, 3)
    task = log.begin_flush()
    world.manager.delete(TP)
    world.clock.advance(60_000)
    world.manager.maintenance.purge_deleted()
    task.run()
    log.finish_flush(task)
    assert world.manager.dirs.offline == []
    assert code_of(lambda: put(log, (b"k", b"v"))) is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.manager.dirs.offline == []


def test_of_two_running_flushes_each_covers_everything_before_it(world, log):
    fill(log, 20)
    first, second = log.begin_flush(), log.begin_flush()
    second.run()
    log.finish_flush(second)
    world.manager.checkpoints.recovery_points()
    assert log.recovery_point == 20
    unsynced = [
        segment
        for segment in log.local.segments
        if world.fs.open(segment.path(".log"))._inode.dirty
    ]
    assert unsynced == []
    first.run()
    log.finish_flush(first)
