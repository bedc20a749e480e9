"""The buffer between the loop and the polling thread."""

import pytest

from barnabas.clients.group import fetch_buffer
from barnabas.clients.group._iteration_hot import RecordIterator
from barnabas.clients.group.fetch_buffer import FetchBuffer, Piece
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.model.errors import BarnabasError, CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.records._batch_header_hot import next_fetch_offset
from barnabas.records.builder import BatchBuilder, control_batch
from barnabas.records.reader import FetchDecoder

TOPIC_PARTITION, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def batches(*sizes, start=0):
    """Batches of so many records each, offsets from `start`."""
    out, offset = bytearray(), start
    for size in sizes:
        builder = BatchBuilder(base_offset=offset, partition_leader_epoch=5)
        for number in range(size):
            builder.append(None, b"%d" % (offset + number), (), timestamp_ms=1)
        out += builder.build()
        offset += size
    return memoryview(out)


class World:
    def __init__(self, *topic_partitions):
        self.subscription = SubscriptionState()
        self.subscription.assign(topic_partitions)
        self.buffer = FetchBuffer(self.subscription)
        for topic_partition in topic_partitions:
            self.state(topic_partition).move_to(0)

    def state(self, topic_partition=TOPIC_PARTITION):
        return self.subscription.require(topic_partition)

    def put(self, data, topic_partition=TOPIC_PARTITION, aborted=None):
        state = self.state(topic_partition)
        start = state.fetch_offset
        decoder = FetchDecoder(data, *topic_partition, fetch_offset=start, aborted=aborted)
        piece = Piece(state, state.stamp, decoder, len(data))
        self.buffer.put(piece, next_fetch_offset(data, start))
        return piece

    def take(self, count=500):
        return {
            topic_partition: [record.offset for record in records]
            for topic_partition, records in self.buffer.take(count).items()
        }


def test_records_come_in_order_and_move_the_position():
    world = World(TOPIC_PARTITION)
    world.put(batches(3, 4))
    world.put(batches(5, start=7))
    assert world.state().fetch_offset == 12
    assert world.take(5) == {TOPIC_PARTITION: [0, 1, 2, 3, 4]}
    assert (world.state().offset, world.state().epoch) == (5, 5)
    assert world.take(500) == {TOPIC_PARTITION: [5, 6, 7, 8, 9, 10, 11]}
    assert world.take() == {}
    assert (world.state().offset, world.state().buffered_bytes, world.buffer.total_bytes) == (
        12,
        0,
        0,
    )


def test_one_at_a_time():
    world = World(TOPIC_PARTITION)
    world.put(batches(2, 1))
    assert [world.take(1) for _ in range(4)] == [
        {TOPIC_PARTITION: [0]},
        {TOPIC_PARTITION: [1]},
        {TOPIC_PARTITION: [2]},
        {},
    ]


def test_partitions_share_a_poll():
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(2))
    world.put(batches(3), OTHER)
    world.put(batches(1, start=2))
    assert world.take() == {TOPIC_PARTITION: [0, 1, 2], OTHER: [0, 1, 2]}


def test_a_seek_voids_what_was_fetched():
    world = World(TOPIC_PARTITION)
    world.put(batches(3))
    late = Piece(world.state(), world.state().stamp, FetchDecoder(batches(1), *TOPIC_PARTITION), 10)
    world.state().move_to(1)
    world.buffer.put(late, 99)
    assert world.take() == {}
    assert (world.state().fetch_offset, world.buffer.total_bytes) == (1, 0)


def test_a_paused_partition_keeps_its_pieces():
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(2))
    world.put(batches(2), OTHER)
    world.state().paused = True
    assert world.take() == {OTHER: [0, 1]}
    world.state().paused = False
    assert world.take() == {TOPIC_PARTITION: [0, 1]}


def test_void_pieces_behind_a_paused_one_are_let_go():
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(2))
    world.put(batches(2), OTHER)
    world.state().paused = True
    world.state(OTHER).move_to(0)
    assert world.take() == {}
    assert world.buffer.total_bytes == world.state().buffered_bytes > 0


def test_a_revoked_partition_is_never_returned():
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(2))
    world.put(batches(2), OTHER)
    world.subscription.replace_assignment([OTHER])
    assert world.take() == {OTHER: [0, 1]}


def test_room_is_announced_when_a_piece_is_used_up():
    world, calls = World(TOPIC_PARTITION), []
    world.buffer.on_room = lambda: calls.append(1)
    world.put(batches(2))
    world.take(1)
    assert calls == []
    world.take(5)
    assert calls == [1]


@pytest.mark.parametrize("counts", [(3,), (2, 1), (1, 1, 1)])
def test_a_piece_goes_with_its_last_record(counts):
    world, calls = World(TOPIC_PARTITION), []
    world.buffer.on_room = lambda: calls.append(1)
    world.put(batches(2, 1))
    for count in counts:
        assert calls == []
        world.take(count)
    assert calls == [1]
    assert world.buffer.total_bytes == 0
    assert not world.buffer.ready


def test_a_corrupt_batch_raises_after_the_records_before_it():
    world = World(TOPIC_PARTITION)
    data = bytearray(batches(2, 2))
    data[-1] ^= 1
    world.put(memoryview(data))
    assert world.take() == {TOPIC_PARTITION: [0, 1]}
    for _ in range(2):
        with pytest.raises(CorruptRecordError, match="t-0"):
            world.take()
    world.state().move_to(4)
    assert world.take() == {}


def test_a_failure_is_raised_once_and_only_while_it_stands():
    world = World(TOPIC_PARTITION)
    state = world.state()
    world.buffer.fail(state, state.stamp, BarnabasError("one"))
    world.buffer.fail(state, state.stamp, BarnabasError("again"))
    with pytest.raises(BarnabasError, match="one"):
        world.buffer.raise_failure()
    world.buffer.raise_failure()
    world.buffer.fail(state, state.stamp, BarnabasError("two"))
    state.move_to(3)
    world.buffer.raise_failure()


def test_a_failure_precedes_the_records_that_were_fetched_after_it():
    world = World(TOPIC_PARTITION, OTHER)
    failed = world.state(OTHER)
    world.put(batches(3))
    world.buffer.fail(failed, failed.stamp, BarnabasError("not allowed"))
    world.put(batches(2, start=3))
    assert world.take() == {TOPIC_PARTITION: [0, 1, 2]}
    assert world.take() == {}
    with pytest.raises(BarnabasError, match="not allowed"):
        world.buffer.raise_failure()
    assert world.take() == {TOPIC_PARTITION: [3, 4]}


def test_a_failure_that_no_longer_stands_holds_nothing_back():
    world = World(TOPIC_PARTITION, OTHER)
    failed = world.state(OTHER)
    world.buffer.fail(failed, failed.stamp, BarnabasError("not allowed"))
    world.put(batches(2))
    failed.move_to(3)
    assert world.take() == {TOPIC_PARTITION: [0, 1]}


def arrow_rows(batch):
    batch.validate(full=True)
    columns = (batch.column(name).to_pylist() for name in ("partition", "offset"))
    return list(zip(*columns, strict=True))


def test_pieces_of_several_partitions_make_one_arrow_batch():
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(2, 1))
    world.put(batches(2), OTHER)
    world.put(batches(1, start=3))
    found = arrow_rows(world.buffer.take_arrow())
    assert found == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (0, 3)]
    assert (world.state().offset, world.state(OTHER).offset) == (4, 2)
    assert world.buffer.take_arrow() is None


def test_a_large_piece_is_divided_into_arrow_batches(monkeypatch):
    monkeypatch.setattr(fetch_buffer, "ARROW_BATCH_ROWS", 4)
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(3, 3, 3, 3))
    world.put(batches(2), OTHER)
    assert [offset for _, offset in arrow_rows(world.buffer.take_arrow())] == list(range(6))
    assert world.state().offset == 6
    assert world.buffer.total_bytes > 0
    assert [offset for _, offset in arrow_rows(world.buffer.take_arrow())] == list(range(6, 12))
    assert (world.state().offset, world.state(OTHER).offset) == (12, 0)
    assert arrow_rows(world.buffer.take_arrow()) == [(1, 0), (1, 1)]
    assert world.buffer.take_arrow() is None
    assert world.buffer.total_bytes == 0


def test_records_left_by_poll_precede_those_of_the_arrow_batch():
    world = World(TOPIC_PARTITION)
    world.put(batches(3, 2))
    assert world.take(1) == {TOPIC_PARTITION: [0]}
    assert arrow_rows(world.buffer.take_arrow()) == [(0, 1), (0, 2), (0, 3), (0, 4)]


def test_records_left_by_poll_are_not_lost_before_a_corrupt_batch():
    world = World(TOPIC_PARTITION)
    bad = bytearray(batches(1, start=3))
    bad[-1] ^= 0xFF
    world.put(memoryview(bytes(batches(3)) + bytes(bad)))
    assert world.take(1) == {TOPIC_PARTITION: [0]}
    assert arrow_rows(world.buffer.take_arrow()) == [(0, 1), (0, 2)]
    assert world.state().offset == 3
    with pytest.raises(CorruptRecordError):
        world.buffer.take_arrow()


def processed(world):
    found = world.subscription.processed()
    return {partition: (at.offset, at.leader_epoch) for partition, at in found.items()}


def test_taken_records_are_in_progress_until_more_are_wanted():
    world = World(TOPIC_PARTITION, OTHER)
    world.put(batches(3))
    world.put(batches(2), OTHER)
    world.put(batches(2, start=3))
    assert world.take(2) == {TOPIC_PARTITION: [0, 1]}
    assert processed(world) == {TOPIC_PARTITION: (0, -1), OTHER: (0, -1)}
    world.subscription.all_processed()
    assert world.take() == {TOPIC_PARTITION: [2, 3, 4], OTHER: [0, 1]}
    assert processed(world) == {TOPIC_PARTITION: (2, 5), OTHER: (0, -1)}
    world.subscription.all_processed()
    assert world.take() == {}
    assert processed(world) == {TOPIC_PARTITION: (5, 5), OTHER: (2, 5)}


def test_markers_alone_are_not_in_progress():
    world = World(TOPIC_PARTITION)
    world.put(memoryview(control_batch(True, 0, 1, 0, 0)))
    assert world.take() == {}
    assert not world.subscription.has_records_in_progress
    assert processed(world)[TOPIC_PARTITION][0] == 1


def test_arrow_records_are_in_progress():
    pytest.importorskip("pyarrow")
    world = World(TOPIC_PARTITION)
    world.put(batches(3))
    assert world.buffer.take_arrow().num_rows == 3
    assert processed(world) == {TOPIC_PARTITION: (0, -1)}


@pytest.mark.parametrize(
    ("count", "expected"), [(0, (0, -1)), (1, (0, -1)), (2, (1, 5)), (4, (3, 5)), (7, (6, 5))]
)
def test_the_last_record_of_an_iteration_is_in_progress(count, expected):
    world = World(TOPIC_PARTITION)
    world.put(batches(3, 4))
    reader = RecordIterator(world.subscription.lock)
    assert world.buffer.load_block(reader, 500)
    for _ in range(count):
        next(reader)
    world.buffer.end_block(reader)
    assert processed(world)[TOPIC_PARTITION] == expected
    assert world.state().offset == count


def test_a_block_that_continues_another_one_has_its_own_record_in_progress():
    world = World(TOPIC_PARTITION)
    world.put(batches(3))
    reader = RecordIterator(world.subscription.lock)
    for expected in (0, 1, 2):
        world.subscription.all_processed()
        reader.resume()
        assert world.buffer.load_block(reader, 500)
        assert next(reader).offset == expected
        world.buffer.end_block(reader)
        assert processed(world)[TOPIC_PARTITION][0] == expected
