"""The three index files: bytes, lookups, truncation, life in memory and on disk."""

from pathlib import Path

import pytest

from barnabas.storage.errors import CorruptFileError
from barnabas.storage.indexes import (
    AbortedTxn,
    OffsetIndex,
    OffsetPosition,
    TimeIndex,
    TimestampOffset,
    TransactionIndex,
)
from barnabas.testing.memory_fs import MemoryFileSystem

DIR = Path("/d")


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem()
    fs.make_dirs(DIR)
    return fs


def data(fs: MemoryFileSystem, name: str) -> bytes:
    return fs.open(DIR / name).pread(10_000, 0)


def offset_index(fs: MemoryFileSystem) -> OffsetIndex:
    index = OffsetIndex(fs, DIR / "i.index", 100)
    index.entries.activate()
    for number in range(1, 6):
        index.append(100 + number * 10, number * 1000)
    return index


def test_offset_entries_are_eight_bytes_relative_to_the_base(fs):
    index = offset_index(fs)
    assert not fs.exists(DIR / "i.index")
    index.entries.store()
    assert data(fs, "i.index")[:16].hex() == "0000000a000003e800000014000007d0"


@pytest.mark.parametrize("sealed", [False, True])
def test_offset_lookup_takes_the_greatest_at_or_below(fs, sealed):
    index = offset_index(fs)
    if sealed:
        index.entries.seal()
    assert index.lookup(100) == OffsetPosition(100, 0)
    assert index.lookup(109) == OffsetPosition(100, 0)
    assert index.lookup(110) == OffsetPosition(110, 1000)
    assert index.lookup(135) == OffsetPosition(130, 3000)
    assert index.lookup(10**9) == OffsetPosition(150, 5000)
    assert index.floor_position(2999) == OffsetPosition(120, 2000)
    assert index.last() == OffsetPosition(150, 5000)


def test_offset_truncation_follows_the_log(fs):
    index = offset_index(fs)
    index.entries.store()
    index.truncate_to(3000)
    assert index.last() == OffsetPosition(120, 2000)
    index.append(125, 3000)
    index.entries.store()
    assert len(data(fs, "i.index")) == 24
    assert data(fs, "i.index")[-8:].hex() == "0000001900000bb8"


def test_a_sealed_index_keeps_nothing_in_memory_and_can_come_back(fs):
    index = offset_index(fs)
    index.entries.seal()
    assert index.entries.count == 5
    index.entries.activate()
    index.append(160, 6000)
    index.entries.seal()
    assert index.last() == OffsetPosition(160, 6000)


def test_offset_index_is_full_by_bytes(fs):
    index = offset_index(fs)
    assert index.is_full(40)
    assert not index.is_full(48)


def test_a_file_that_was_never_made_is_an_empty_index(fs):
    index = OffsetIndex(fs, DIR / "absent.index", 7)
    assert index.lookup(50) == OffsetPosition(7, 0)
    assert not index.entries.well_sized()


def test_time_entries_are_twelve_bytes_and_increase(fs):
    index = TimeIndex(fs, DIR / "t.timeindex", 100)
    index.entries.activate()
    index.maybe_append(1000, 110)
    index.maybe_append(1000, 120)
    index.maybe_append(900, 125)
    index.maybe_append(2000, 130)
    index.entries.store()
    assert data(fs, "t.timeindex").hex() == ("00000000000003e80000000a00000000000007d00000001e")
    assert index.last() == TimestampOffset(2000, 130)


@pytest.mark.parametrize("sealed", [False, True])
def test_time_lookup_is_strictly_before(fs, sealed):
    index = TimeIndex(fs, DIR / "t.timeindex", 100)
    index.entries.activate()
    index.maybe_append(1000, 110)
    index.maybe_append(2000, 130)
    if sealed:
        index.entries.seal()
    assert index.lookup(1000) == TimestampOffset(-1, 100)
    assert index.lookup(1001) == TimestampOffset(1000, 110)
    assert index.lookup(9999) == TimestampOffset(2000, 130)


def test_time_truncation_drops_later_offsets(fs):
    index = TimeIndex(fs, DIR / "t.timeindex", 100)
    index.entries.activate()
    index.maybe_append(1000, 110)
    index.maybe_append(2000, 130)
    index.truncate_to(130)
    assert index.last() == TimestampOffset(1000, 110)
    assert index.is_full(24)
    assert not index.is_full(36)


def test_aborted_entries_are_34_bytes(fs):
    index = TransactionIndex(fs, DIR / "x.txnindex")
    index.append(AbortedTxn(7, 100, 200, 300))
    assert not fs.exists(DIR / "x.txnindex")
    index.store()
    assert data(fs, "x.txnindex").hex() == (
        "00000000000000000007000000000000006400000000000000c8000000000000012c"
    )
    assert TransactionIndex(fs, DIR / "x.txnindex").entries == [AbortedTxn(7, 100, 200, 300)]


def test_aborted_are_collected_by_range(fs):
    index = TransactionIndex(fs, DIR / "x.txnindex")
    first, second = AbortedTxn(1, 10, 20, 21), AbortedTxn(2, 15, 40, 41)
    index.append(first)
    index.append(second)
    assert index.collect(0, 10) == []
    assert index.collect(0, 11) == [first]
    assert index.collect(20, 50) == [first, second]
    assert index.collect(21, 50) == [second]
    assert index.covers(41)
    assert not index.covers(42)


def test_aborted_truncation_drops_later_markers(fs):
    index = TransactionIndex(fs, DIR / "x.txnindex")
    index.append(AbortedTxn(1, 10, 20, 21))
    index.append(AbortedTxn(2, 15, 40, 41))
    index.store()
    index.truncate_to(40)
    index.append(AbortedTxn(3, 30, 45, 46))
    index.store()
    again = TransactionIndex(fs, DIR / "x.txnindex")
    assert [txn.producer_id for txn in again.entries] == [1, 3]


def test_no_file_without_aborted_transactions_unless_asked(fs):
    index = TransactionIndex(fs, DIR / "x.txnindex")
    assert index.entries == []
    assert index.store() is None
    assert not fs.exists(DIR / "x.txnindex")
    assert index.store(create=True) is not None
    assert data(fs, "x.txnindex") == b""


@pytest.mark.parametrize(
    "raw", [b"\0" * 33, b"\0\x01" + b"\0" * 32], ids=["cut", "another version"]
)
def test_a_damaged_transaction_index_is_rejected(fs, raw):
    fs.open(DIR / "x.txnindex", create=True).pwrite(raw, 0)
    with pytest.raises(CorruptFileError):
        assert TransactionIndex(fs, DIR / "x.txnindex").entries


def test_an_impossible_entry_is_rejected(fs):
    index = TransactionIndex(fs, DIR / "x.txnindex")
    index.append(AbortedTxn(1, 10, 20, 21))
    index.check(15)
    with pytest.raises(CorruptFileError, match="impossible"):
        index.check(21)
