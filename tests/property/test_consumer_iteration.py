"""The iteration over blocks against a simple model, with random interleavings of all calls.

The model of a partition is its position. Each record that the iteration returns must be the one at
the position of a partition that is assigned and not paused; positions are compared after each step.
So no record is skipped or returned twice, and a commit never covers a record that was not returned.
"""

from contextlib import suppress

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.records.hot_records import load_source

from barnabas.clients.group import _iteration_hot
from barnabas.clients.group.fetch_buffer import FetchBuffer, Piece
from barnabas.clients.group.subscription import AssignedPartition, Phase, SubscriptionState
from barnabas.model.ids import TopicPartition
from barnabas.records._batch_header_hot import next_fetch_offset
from barnabas.records.builder import BatchBuilder
from barnabas.records.reader import FetchDecoder

PARTITIONS = [TopicPartition("t", number) for number in range(3)]
partitions = st.sampled_from(PARTITIONS)
counts = st.integers(0, 5)


def batches(start, sizes):
    out = bytearray()
    for size in sizes:
        builder = BatchBuilder(base_offset=start, partition_leader_epoch=start)
        for number in range(size):
            builder.append(None, b"%d" % (start + number), (), timestamp_ms=1)
        out += builder.build()
        start += size
    return memoryview(out)


class Iteration(RuleBasedStateMachine):
    """Plays the polling thread (`iterate`, `poll`, …) and the loop thread (`fetch`, …)."""

    iterator_class = _iteration_hot.RecordIterator

    def __init__(self):
        super().__init__()
        self.subscription = SubscriptionState()
        self.buffer = FetchBuffer(self.subscription)
        self.failing = False
        self.reader = self.iterator_class(self.subscription.lock, self.convert, self.refill)
        self.positions = {}
        self.paused = set()
        self.epoch = 0

    def convert(self, record):
        if self.failing:
            raise ValueError(record.offset)
        return record

    def refill(self):
        """As the consumer's: ends the block, then loads another one."""
        self.buffer.end_block(self.reader)
        self.reader.resume()
        if not self.buffer.load_block(self.reader, max_records=3):
            raise StopIteration
        return self.reader.take()

    @initialize()
    def start(self):
        self.assign(set(PARTITIONS))

    @rule(chosen=st.sets(partitions, min_size=1))
    def assign(self, chosen):
        """A rebalance; poll() ends the block before it."""
        self.buffer.end_block(self.reader)
        self.subscription.kind = self.subscription.kind.ASSIGNED
        self.subscription.replace_assignment(sorted(chosen))
        for topic_partition in chosen - self.positions.keys():
            self.subscription.require(topic_partition).move_to(0)
        self.positions = {p: self.positions.get(p, 0) for p in chosen}
        self.paused &= chosen

    @rule(chosen=st.sets(partitions, max_size=2), before=counts)
    def revoke_within_a_block(self, chosen, before):
        """`unsubscribe()` and `assign()` take partitions away without a poll()."""
        self.iterate(before)
        kept = self.positions.keys() - chosen
        self.subscription.replace_assignment(sorted(kept))
        self.positions = {p: self.positions[p] for p in kept}
        self.paused &= kept

    @rule(topic_partition=partitions, sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4))
    def fetch(self, topic_partition, sizes):
        state = self.subscription.get(topic_partition)
        if state is None or state.phase is not Phase.FETCHING:
            return
        data = batches(state.fetch_offset, sizes)
        decoder = FetchDecoder(data, *topic_partition, fetch_offset=state.fetch_offset)
        piece = Piece(state, state.stamp, decoder, len(data))
        self.buffer.put(piece, next_fetch_offset(data, state.fetch_offset))
        self.reader.interrupt()

    @rule(count=st.integers(1, 6))
    def iterate(self, count):
        """Returns records; fetches more if there are none, as the loop thread does."""
        for _ in range(count):
            record = next(self.reader, None)
            if record is None:
                for topic_partition in self.positions:
                    self.fetch(topic_partition, [2, 1, 4])
                record = next(self.reader, None)
            if record is None:
                assert self.positions.keys() == self.paused
                break
            self.returned(record)

    @rule()
    def fail_to_deserialize(self):
        """The record stays: the next call returns it."""
        self.failing = True
        with suppress(ValueError):
            assert next(self.reader, None) is None
        self.failing = False

    @rule(count=st.integers(1, 6))
    def poll(self, count):
        self.buffer.end_block(self.reader)
        for records in self.buffer.take(count).values():
            for record in records:
                self.returned(record)

    def returned(self, record):
        topic_partition = TopicPartition(record.topic, record.partition)
        assert topic_partition not in self.paused
        assert record.offset == self.positions[topic_partition]
        self.positions[topic_partition] += 1

    @rule(topic_partition=partitions, offset=st.integers(0, 20), before=counts)
    def seek(self, topic_partition, offset, before):
        self.iterate(before)
        if topic_partition in self.positions:
            self.subscription.change([topic_partition], lambda state: state.move_to(offset))
            self.positions[topic_partition] = offset

    @rule(topic_partition=partitions, before=counts)
    def pause(self, topic_partition, before):
        self.iterate(before)
        if topic_partition in self.positions:
            self.subscription.change([topic_partition], AssignedPartition.pause)
            self.paused.add(topic_partition)

    @rule(topic_partition=partitions)
    def resume(self, topic_partition):
        if topic_partition in self.positions:
            self.subscription.change(
                [topic_partition], lambda state: setattr(state, "paused", False)
            )
            self.paused.discard(topic_partition)

    @rule(topic_partition=partitions, before=counts)
    def change_leader(self, topic_partition, before):
        """The loop invalidates fetched records and validates the position."""
        self.iterate(before)
        state = self.subscription.get(topic_partition)
        if state is not None:
            self.epoch += 1
            with self.subscription.lock:
                state.leader_changed(self.epoch)
                state.phase = Phase.FETCHING

    @rule()
    def interrupt(self):
        self.reader.interrupt()

    @invariant()
    def commits_cover_what_was_returned(self):
        committed = {p: at.offset for p, at in self.subscription.consumed().items()}
        assert committed == self.positions

    @invariant()
    def epochs_are_those_of_returned_records(self):
        """A batch has its first offset as epoch here."""
        for at in self.subscription.consumed().values():
            assert at.leader_epoch < max(at.offset, 0)


class PureIteration(Iteration):
    iterator_class = load_source("barnabas.clients.group._iteration_hot").RecordIterator


@pytest.mark.parametrize("machine", [Iteration, PureIteration])
def test_iteration_and_other_calls(machine):
    """Passes when the invariants of the state machine hold after every step."""
    case = machine.TestCase()
    case.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
    case.runTest()
