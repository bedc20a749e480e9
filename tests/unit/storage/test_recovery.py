"""Opening a log of which a segment is missing: the other segments stay, the gap is logged."""

from random import Random

import pytest
from support.storage.log_world import LOG_DIR, World, committed, contents, end_txn, put, records_in

from barnabas.storage import file_names

SMALL = {"segment.bytes": "900", "index.interval.bytes": "200"}
RECORDS = 40
GAP = "offsets {} to {} are missing"


@pytest.fixture
def world():
    """A log of several segments, written by one idempotent producer."""
    world = World(**SMALL)
    for number in range(RECORDS):
        put(
            world.log,
            (b"k%d" % number, b"v" * 50),
            producer_id=1,
            producer_epoch=0,
            base_sequence=number,
            timestamp_ms=1_000 + number,
        )
    return world


def lose_segment(world, number, *, only_log=False):
    """Remove the files of a segment, as an operator might by mistake; returns the lost offsets."""
    segments = list(world.log.local.segments)
    lost = segments[number]
    end = world.log.log_end_offset
    if lost is not segments[-1]:
        end = segments[number + 1].base_offset
    for name in world.fs.list_dir(LOG_DIR):
        found = file_names.parse_offset_file(name)
        if found is None or found[0] != lost.base_offset:
            continue
        if found[1] == file_names.LOG or not only_log:
            world.fs.remove(LOG_DIR / name)
    return lost.base_offset, end


@pytest.mark.parametrize("only_log", [True, False], ids=["log", "all files"])
@pytest.mark.parametrize("clean", [True, False], ids=["clean", "killed"])
def test_intact_segments_stay(world, caplog, clean, only_log):
    before = contents(world.log)
    if clean:
        world.stop()
    start, end = lose_segment(world, 2, only_log=only_log)
    log = world.kill()
    assert 0 < start < end < RECORDS
    kept = [seen for seen in before if not start <= seen[0] < end]
    assert contents(log) == kept
    assert log.log_end_offset == RECORDS
    assert caplog.text.count(GAP.format(start, end - 1)) == 1
    assert log.producers.entries[1].last_sequence == RECORDS - 1
    # Another start finds the same.
    assert contents(world.kill()) == kept


@pytest.mark.parametrize("clean", [True, False], ids=["clean", "killed"])
def test_readers_skip_the_gap(world, clean):
    if clean:
        world.stop()
    start, end = lose_segment(world, 1)
    log = world.kill()
    for offset in range(start, end):
        found = log.read(offset, 1000, max_offset=log.log_end_offset)
        assert records_in(found.slice.read())[0][0] == end
        # A reader that must stop inside the gap gets nothing yet, and no error.
        assert log.read(offset, 1000, max_offset=end).slice is None
    before = log.read(start - 1, 100_000, max_offset=log.log_end_offset)
    assert before.next_offset == end
    hit = log.offset_for_timestamp(1_000 + start)
    assert (hit.offset, hit.timestamp) == (end, 1_000 + end)


def test_the_log_goes_on_after_a_gap(world):
    lose_segment(world, 1)
    log = world.kill()
    info = put(log, (b"k", b"new"), producer_id=1, producer_epoch=0, base_sequence=RECORDS)
    assert info.first_offset == RECORDS
    retry = put(log, (b"k", b"new"), producer_id=1, producer_epoch=0, base_sequence=RECORDS)
    assert (retry.first_offset, log.log_end_offset) == (RECORDS, RECORDS + 1)


def test_aborted_transactions_behind_the_gap_stay_aborted(world):
    txn = {"producer_id": 3, "producer_epoch": 0, "transactional": True}
    put(world.log, (b"t", b"aborted"), base_sequence=0, **txn)
    end_txn(world.log, 3, commit=False)
    put(world.log, (b"t", b"kept"), base_sequence=1, **txn)
    end_txn(world.log, 3, commit=True)
    lose_segment(world, 1)
    world.kill()
    world.commit_all()
    values = [value for _, _, value in committed(world.log)]
    assert values[-1] == b"kept"
    assert b"aborted" not in values


def test_a_segment_that_a_power_loss_may_have_cut_is_not_jumped_over(world, caplog):
    """Unflushed segments reach the disk in any order: what follows a gap was not written yet.

    The log ends at the gap, and later segments are set aside.
    """
    before = contents(world.log)
    start, end = lose_segment(world, 2)
    world.fs.sync_all()
    log = world.kill(Random(1))
    assert contents(log) == [seen for seen in before if seen[0] < start]
    assert f"the log ends at offset {start}" in caplog.text
    aside = [name for name in world.fs.list_dir(LOG_DIR) if name.endswith(".log.stranded")]
    assert file_names.parse_offset_file(aside[0])[0] == end
    stored = b"".join(world.fs.open(LOG_DIR / name).pread(10_000, 0) for name in aside)
    assert records_in(stored) == [seen for seen in before if seen[0] >= end]
    put(log, (b"k", b"new"))
    assert contents(world.kill())[-1] == (start, b"k", b"new")
    assert [n for n in world.fs.list_dir(LOG_DIR) if n.endswith(".stranded")] == aside


def test_a_gap_below_the_recovery_point_is_no_torn_write(world, caplog):
    before = contents(world.log)
    world.log.flush()
    world.manager.checkpoints.recovery_points()
    start, end = lose_segment(world, 2)
    world.fs.sync_all()
    log = world.kill(Random(1))
    assert contents(log) == [seen for seen in before if not start <= seen[0] < end]
    assert caplog.text.count(GAP.format(start, end - 1)) == 1


def test_a_missing_last_segment_is_logged_after_a_clean_stop(world, caplog):
    world.stop()
    start, end = lose_segment(world, -1)
    assert world.kill().log_end_offset == start
    assert caplog.text.count(GAP.format(start, end - 1)) == 1


def test_a_whole_log_says_nothing(world, caplog):
    world.kill()
    world.stop()
    world.begin()
    assert "missing" not in caplog.text
