"""Sequences, epochs, duplicates and transactions of producers, and their snapshots."""

from pathlib import Path

import pytest

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.records.batch import BatchHeader
from barnabas.records.control import ControlType, EndMarker
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.producer_snapshot import (
    SnapshotFiles,
    decode_snapshot,
    encode_snapshot,
)
from barnabas.storage.producer_state import ProducerEntry, ProducerStates
from barnabas.testing.memory_fs import MemoryFileSystem

PID = 77
TRANSACTIONAL, CONTROL = 0x10, 0x20
COMMIT, ABORT = EndMarker(ControlType.COMMIT, 5), EndMarker(ControlType.ABORT, 5)
MAX = 2**31 - 1


def header(sequence: int, *, count: int = 1, epoch: int = 0, attributes: int = 0) -> BatchHeader:
    return BatchHeader(
        0, 100, 0, 2, 0, attributes, count - 1, 1000, 1000, PID, epoch, sequence, count
    )


class Log:
    """Offsets for a `ProducerStates`, as a log would give them."""

    def __init__(self) -> None:
        self.states = ProducerStates()
        self.end = 0

    def write(self, batch: BatchHeader) -> int:
        assert self.states.check_data(batch) is None
        first, last = self.end, self.end + batch.last_offset_delta
        self.states.apply_data(batch, first, last)
        self.end = last + 1
        return first

    def refuse(self, batch: BatchHeader) -> ErrorCode:
        with pytest.raises(BrokerError) as caught:
            self.states.check_data(batch)
        return caught.value.code

    def mark(self, marker: EndMarker, *, epoch: int = 0):
        batch = header(-1, epoch=epoch, attributes=TRANSACTIONAL | CONTROL)
        self.states.check_marker(batch, marker)
        ended = self.states.apply_marker(batch, marker, self.end)
        self.end += 1
        return ended


def test_sequences_must_follow():
    log = Log()
    log.write(header(0, count=3))
    assert log.refuse(header(4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.refuse(header(2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.write(header(3))


def test_an_unknown_producer_may_begin_anywhere():
    """Passes if any first sequence number of a producer is accepted."""
    log = Log()
    log.write(header(41))
    log.write(header(42))


def test_the_last_five_batches_are_recognized():
    log = Log()
    firsts = [log.write(header(number * 2, count=2)) for number in range(7)]
    for number in range(2, 7):
        duplicate = log.states.check_data(header(number * 2, count=2))
        assert duplicate is not None
        assert duplicate.first_offset == firsts[number]
        assert duplicate.last_offset == firsts[number] + 1
    assert log.refuse(header(2, count=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_of_another_extent_is_no_duplicate():
    log = Log()
    log.write(header(0, count=3))
    assert log.refuse(header(0, count=2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_wrap_to_zero():
    log = Log()
    log.write(header(MAX - 1, count=2))
    first = log.write(header(0))
    assert log.states.check_data(header(0)).first_offset == first
    log.write(header(1))


def test_a_batch_may_wrap_within_itself():
    log = Log()
    first = log.write(header(MAX, count=3))
    assert log.states.check_data(header(MAX, count=3)).first_offset == first
    assert log.refuse(header(MAX)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.write(header(2))


def test_an_older_epoch_is_fenced():
    log = Log()
    log.write(header(0, epoch=3))
    assert log.refuse(header(1, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_newer_epoch_begins_at_zero():
    log = Log()
    log.write(header(0, epoch=3))
    assert log.refuse(header(1, epoch=4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.write(header(0, epoch=4))
    assert log.refuse(header(0, epoch=3)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_transaction_holds_the_stable_offset_until_it_is_replicated():
    log = Log()
    log.write(header(0))
    first = log.write(header(1, attributes=TRANSACTIONAL))
    assert log.states.first_unstable_offset() == first
    ended = log.mark(COMMIT)
    assert ended is not None
    assert (ended.first_offset, ended.aborted) == (first, False)
    log.states.complete(ended)
    assert log.states.first_unstable_offset() == first
    log.states.on_high_watermark(ended.last_offset)
    assert log.states.first_unstable_offset() == first
    log.states.on_high_watermark(ended.last_offset + 1)
    assert log.states.first_unstable_offset() is None


def test_writing_outside_an_open_transaction():
    log = Log()
    log.write(header(0, attributes=TRANSACTIONAL))
    assert log.refuse(header(1)) is ErrorCode.INVALID_TXN_STATE


def test_a_marker_without_a_transaction_ends_nothing():
    log = Log()
    assert log.mark(ABORT) is None
    assert log.refuse(header(3)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    log.write(header(0, attributes=TRANSACTIONAL))


def test_markers_are_fenced_by_both_epochs():
    log = Log()
    log.write(header(0, epoch=2, attributes=TRANSACTIONAL))
    with pytest.raises(BrokerError) as caught:
        log.mark(COMMIT, epoch=1)
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    log.mark(COMMIT, epoch=2)
    with pytest.raises(BrokerError) as caught:
        log.mark(EndMarker(ControlType.COMMIT, 4), epoch=2)
    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_the_stable_offset_of_an_index_entry_counts_the_others():
    states = ProducerStates()
    for pid, first in ((1, 10), (2, 20)):
        batch = header(0, attributes=TRANSACTIONAL)
        batch.producer_id = pid
        states.apply_data(batch, first, first)
    marker = header(-1, attributes=TRANSACTIONAL | CONTROL)
    marker.producer_id = 1
    ended = states.apply_marker(marker, ABORT, 30)
    assert states.stable_offset_after(ended) == 20
    marker.producer_id = 2
    assert states.stable_offset_after(states.apply_marker(marker, ABORT, 31)) == 32


def test_idle_producers_expire_unless_a_transaction_is_open():
    log = Log()
    log.write(header(0))
    assert log.states.expire(now_ms=1999, expiration_ms=1000) == 0
    assert log.states.expire(now_ms=2000, expiration_ms=1000) == 1
    log.write(header(0, attributes=TRANSACTIONAL))
    assert log.states.expire(now_ms=10**9, expiration_ms=1000) == 0


def entry(producer_id: int = 1) -> ProducerEntry:
    states = ProducerStates()
    batch = header(4, count=2, epoch=3, attributes=TRANSACTIONAL)
    batch.producer_id = producer_id
    states.apply_data(batch, 10, 11)
    return states.entries[producer_id]


def test_the_snapshot_format():
    data = encode_snapshot([entry()])
    assert data[:2].hex() == "0001"
    assert data[6:].hex() == (
        "00000001"
        "0000000000000001"
        "0003"
        "00000005"
        "000000000000000b"
        "00000001"
        "00000000000003e8"
        "ffffffff"
        "000000000000000a"
    )
    (decoded,) = decode_snapshot(data)
    assert decoded.batches == entry().batches
    assert (decoded.epoch, decoded.txn_first_offset, decoded.last_timestamp) == (3, 10, 1000)


def test_a_producer_known_by_a_marker_alone_survives_the_snapshot():
    states = ProducerStates()
    states.apply_marker(header(-1, epoch=2), COMMIT, 5)
    (decoded,) = decode_snapshot(encode_snapshot(states))
    assert decoded.batches == []
    assert (decoded.epoch, decoded.coordinator_epoch) == (2, 5)


def test_damaged_snapshots_are_rejected():
    data = encode_snapshot([entry(), entry(2)])
    for size in range(len(data)):
        with pytest.raises(CorruptFileError):
            decode_snapshot(data[:size])
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptFileError):
            decode_snapshot(bytes(flipped))


def test_the_newest_readable_snapshot_wins():
    fs, directory = MemoryFileSystem(), Path("/d")
    fs.make_dirs(directory)
    files = SnapshotFiles(fs, directory)
    log = Log()
    files.take(0, log.states)
    assert files.offsets == []
    log.write(header(0))
    files.take(1, log.states)
    log.write(header(1))
    files.take(2, log.states)
    states, offset = files.restore(9)
    assert (offset, states.entries[PID].last_sequence) == (2, 1)
    states, offset = files.restore(1)
    assert (offset, states.entries[PID].last_sequence) == (1, 0)
    fs.open(directory / f"{2:020d}.snapshot").pwrite(b"?", 8)
    states, offset = files.restore(9)
    assert offset == 1
    assert files.offsets == [1]
    assert not fs.exists(directory / f"{2:020d}.snapshot")
    files.remove_above(0)
    assert files.restore(9)[1] == 0
