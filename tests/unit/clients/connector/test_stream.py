"""Streams and their queues: order, consumed offsets, clearing during a read."""

import threading

import pytest

from barnabas.clients.connector.fetcher import fetcher_id, offset_after
from barnabas.clients.connector.settings import StreamSettings
from barnabas.clients.connector.stream import (
    ChunkQueue,
    ConsumerTimeoutError,
    FetchedDataChunk,
    MessageStream,
    PartitionTopicInfo,
)
from barnabas.model.errors import BarnabasError, CorruptRecordError, ProtocolError
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import build_batch, control_batch

TOPIC_PARTITION = TopicPartition("t", 0)
SETTINGS = StreamSettings(max_chunks=2, timeout_s=0.0, check_crcs=True, max_decompressed=2**20)


def batch(count, base=0):
    records = [(None, b"%d" % (base + n), (), 0) for n in range(count)]
    return memoryview(build_batch(records, base_offset=base))


@pytest.fixture
def queue():
    return ChunkQueue(2)


@pytest.fixture
def stream(queue):
    return MessageStream(queue, SETTINGS)


@pytest.fixture
def info(queue):
    return PartitionTopicInfo(TOPIC_PARTITION, queue, 0)


def test_records_come_in_order_and_count_as_consumed_one_by_one(stream, queue, info):
    queue.put(FetchedDataChunk(info, 0, batch(2)))
    queue.put(FetchedDataChunk(info, 2, batch(1, base=2)))
    assert info.consumed_offset == 0
    seen = []
    for _ in range(3):
        seen.append(next(stream).value)
        assert info.consumed_offset == len(seen)
    assert seen == [b"0", b"1", b"2"]


def test_records_below_the_fetch_offset_are_left_out(stream, queue, info):
    queue.put(FetchedDataChunk(info, 2, batch(3)))
    assert next(stream).offset == 2


def test_markers_move_the_consumed_offset_without_a_record(stream, queue, info):
    marker = control_batch(True, 0, 1, 0, 0)
    queue.put(FetchedDataChunk(info, 0, memoryview(marker)))
    with pytest.raises(ConsumerTimeoutError):
        next(stream)
    assert info.consumed_offset == 1


def test_an_empty_chunk_moves_the_stream_there(stream, queue, info):
    queue.put(FetchedDataChunk(info, 40, memoryview(b"")))
    with pytest.raises(ConsumerTimeoutError):
        next(stream)
    assert info.consumed_offset == 40


def test_clearing_drops_the_chunk_that_is_being_read(stream, queue, info):
    queue.put(FetchedDataChunk(info, 0, batch(5)))
    next(stream)
    stream.clear()
    with pytest.raises(ConsumerTimeoutError):
        next(stream)
    assert info.consumed_offset == 1


def test_the_last_record_is_in_progress_until_the_next_one_is_asked_for(stream, queue, info):
    queue.put(FetchedDataChunk(info, 0, batch(2)))
    assert stream.in_progress() is None
    for offset in (0, 1):
        next(stream)
        assert stream.in_progress().offset == offset
    with pytest.raises(ConsumerTimeoutError):
        next(stream)
    assert stream.in_progress() is None


def test_clearing_keeps_the_record_in_progress(stream, queue, info):
    queue.put(FetchedDataChunk(info, 0, batch(5)))
    next(stream)
    stream.clear()
    stream.clear()
    assert stream.in_progress().offset == 0
    with pytest.raises(ConsumerTimeoutError):
        next(stream)
    assert stream.in_progress() is None


def test_no_record_is_in_progress_before_a_corrupt_batch(stream, queue, info):
    corrupt = bytearray(batch(1, base=1))
    corrupt[-1] ^= 1
    queue.put(FetchedDataChunk(info, 0, memoryview(bytes(batch(1)) + bytes(corrupt))))
    next(stream)
    with pytest.raises(CorruptRecordError):
        next(stream)
    assert stream.in_progress() is None


def test_a_chunk_taken_before_its_partition_was_given_up_is_not_begun(stream, queue, info):
    queue.put(FetchedDataChunk(info, 0, batch(1)))
    later = PartitionTopicInfo(TOPIC_PARTITION, queue, 0)
    info.revoked = True
    queue.put(FetchedDataChunk(later, 0, batch(1)))
    assert next(stream).offset == 0
    assert (info.consumed_offset, later.consumed_offset) == (0, 1)


def test_a_closed_queue_ends_the_stream(stream, queue, info):
    queue.put(FetchedDataChunk(info, 0, batch(1)))
    queue.close()
    assert list(stream) == []


def test_a_reader_that_waits_is_woken_by_the_end(queue):
    stream = MessageStream(queue, StreamSettings(2, None, True, 2**20))
    found = []
    reader = threading.Thread(target=lambda: found.append(list(stream)))
    reader.start()
    queue.close()
    reader.join(5)
    assert found == [[]]


def test_a_failure_is_raised_once_and_can_be_taken_back(stream, queue):
    queue.fail(BarnabasError("no"))
    with pytest.raises(BarnabasError, match="no"):
        next(stream)
    queue.fail(BarnabasError("again"))
    queue.recover()
    with pytest.raises(ConsumerTimeoutError):
        next(stream)


def test_a_full_queue_signals_when_it_has_room_again(info):
    told = []
    queue = ChunkQueue(2, lambda: told.append(len(queue)))
    for _ in range(3):
        queue.put(FetchedDataChunk(info, 0, batch(1)))
    assert queue.full
    queue.take(0)
    assert told == []
    queue.take(0)
    assert told == [1]


def test_a_decoders_exception_consumes_its_record(queue, info):
    stream = MessageStream(queue, SETTINGS, None, lambda value: 1 // int(value))
    queue.put(FetchedDataChunk(info, 0, batch(2)))
    with pytest.raises(ZeroDivisionError):
        next(stream)
    assert next(stream).value == 1


def test_a_response_without_a_whole_batch_is_an_error():
    info = PartitionTopicInfo(TOPIC_PARTITION, ChunkQueue(2), 0)
    assert offset_after(batch(3), info) == 3
    with pytest.raises(ProtocolError, match="no whole batch at offset 0"):
        offset_after(memoryview(bytes(61)), info)


def test_fetchers_are_chosen_by_javas_hash():
    assert fetcher_id(TopicPartition("t", 0), 1) == 0
    assert [fetcher_id(TopicPartition("a", p), 3) for p in range(3)] == [1, 2, 0]
