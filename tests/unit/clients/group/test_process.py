"""`process()` goes on when records are finished, not when a poll of paused partitions ends."""

import asyncio
import threading

import pytest

from barnabas.clients.group.aio_process import AioProcessRun
from barnabas.clients.group.failures import ProcessingError
from barnabas.clients.group.process import OffsetTracker, ProcessOptions, ProcessRun
from barnabas.model.ids import TopicPartition
from barnabas.records.record import Record

TOPIC_PARTITION = TopicPartition("t", 0)
BLOCK = 10
"""Records of one poll, and the most in progress."""


class Backlog:
    """A consumer with an endless backlog in one partition; adds up the waits in `poll()`."""

    def __init__(self):
        self.waited_s = 0.0
        self._paused = set()
        self._next = 0

    def assignment(self):
        return {TOPIC_PARTITION}

    def paused(self):
        return self._paused

    def pause(self, *partitions):
        self._paused |= set(partitions)

    def resume(self, *partitions):
        self._paused -= set(partitions)

    def seek(self, partition, offset):
        self._next = offset

    def poll(self, timeout=0.0):
        if self._paused:
            self.waited_s += timeout
            return {}
        first, self._next = self._next, self._next + BLOCK
        return {TOPIC_PARTITION: [Record("t", 0, offset) for offset in range(first, self._next)]}

    def commit(self, offsets):
        """Accepts all offsets."""


class AioBacklog(Backlog):
    async def poll(self, timeout=0.0):
        await asyncio.sleep(0)
        return super().poll(timeout)

    async def commit(self, offsets):
        """Accepts all offsets."""


def options_until(done, count):
    return ProcessOptions(max_in_progress=BLOCK, stop=lambda: len(done) >= count)


def test_no_poll_waits_while_the_workers_are_busy():
    consumer, done = Backlog(), []
    ProcessRun(consumer, done.append, options_until(done, 100)).run()
    assert consumer.waited_s == 0
    assert [record.offset for record in done[:100]] == list(range(100))


async def test_no_poll_waits_while_the_tasks_are_busy():
    consumer, done = AioBacklog(), []

    async def handle(record):
        done.append(record)

    await AioProcessRun(consumer, handle, options_until(done, 100)).run()
    assert consumer.waited_s == 0
    assert [record.offset for record in done[:100]] == list(range(100))


async def test_a_failed_task_ends_the_wait():
    async def handle(record):
        raise ValueError("unlucky")

    with pytest.raises(ProcessingError, match="t-0 at offset 0"):
        await AioProcessRun(AioBacklog(), handle, options_until([], 1)).run()


def test_a_finished_record_ends_the_wait_for_room():
    tracker = OffsetTracker()
    record = Record("t", 0, 0)
    tracker.begin(TOPIC_PARTITION, [record])
    assert not tracker.wait_for_room(1, 0)
    timer = threading.Timer(0.01, tracker.finish, (TOPIC_PARTITION, record))
    timer.start()
    assert tracker.wait_for_room(1, 30)
    timer.join()
