"""The plug is pulled: of everything not forced to disk, a random part survives, in any order.

What is left must be a beginning of what was written. With a flush before each acknowledgement
nothing acknowledged may be missing.
"""

import logging
from random import Random

import pytest
from support.soak import SOAK
from support.storage.log_world import World, committed, contents, end_txn, put

from barnabas.testing.memory_fs import MemoryFileSystem

pytestmark = pytest.mark.faults

SEEDS = 1200 if SOAK else 400
SMALL = {"segment.bytes": "900", "index.interval.bytes": "200", "file.delete.delay.ms": "0"}


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


class Story:
    """Random operations on one log, and the expected contents."""

    def __init__(self, seed: int, **config: str) -> None:
        self.dice = Random(seed)
        fs = MemoryFileSystem(page_size=self.dice.choice([64, 512, 4096]))
        self.world = World(fs, **{**SMALL, **config})
        self.written: list = []
        self.durable = 0
        self.sequence = 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.dice.choices(
                [self.write, self.flush, self.checkpoint, self.roll], weights=[12, 2, 1, 1]
            )[0]()

    def write(self) -> None:
        records = [(b"k%d" % self.dice.randrange(9), self.dice.randbytes(self.dice.randint(1, 90)))]
        info = put(
            self.world.log,
            *records,
            producer_id=1,
            producer_epoch=0,
            base_sequence=self.sequence,
            epoch=self.sequence // 10,
        )
        self.sequence += 1
        self.written.append((info.first_offset, *records[0]))

    def flush(self) -> None:
        self.world.log.flush()
        self.durable = len(self.written)

    def checkpoint(self) -> None:
        self.world.manager.checkpoints.recovery_points()
        self.world.manager.checkpoints.high_watermarks()

    def roll(self) -> None:
        self.world.log.roll()

    def lose_power(self) -> None:
        self.world.kill(self.dice)

    def check(self) -> None:
        found = contents(self.world.log)
        assert found == self.written[: len(found)], "not a beginning of what was written"
        assert len(found) >= self.durable, "flushed records are missing"
        self.written = found
        self.durable = 0
        entry = self.world.log.producers.entries.get(1)
        assert (-1 if entry is None else entry.last_sequence) == len(found) - 1
        self.sequence = len(found)
        epochs = {number // 10 for number in range(len(found))}
        assert {item.epoch for item in self.world.log.epochs.entries} == epochs


@pytest.mark.parametrize("part", range(4))
def test_a_prefix_of_the_log_survives(part):
    for seed in range(part, SEEDS, 4):
        story = Story(seed)
        for _ in range(2):
            story.run(story.dice.randint(1, 25))
            story.lose_power()
            story.check()


def test_with_a_flush_before_each_acknowledgement_nothing_is_lost():
    for seed in range(100):
        story = Story(seed)
        for _ in range(story.dice.randint(1, 15)):
            story.write()
            story.flush()
            if story.dice.random() < 0.2:
                story.roll()
        story.lose_power()
        story.check()


def test_a_clean_stop_survives_the_plug():
    for seed in range(200):
        story = Story(seed)
        story.run(story.dice.randint(1, 20))
        txn = {"producer_id": 3, "producer_epoch": 0, "transactional": True}
        put(story.world.log, (b"t", b"aborted"), base_sequence=0, epoch=99, **txn)
        end_txn(story.world.log, 3, commit=False)
        story.world.commit_all()
        expected = committed(story.world.log)
        story.world.stop()
        story.lose_power()
        assert story.world.manager.dirs.online[0].clean
        assert committed(story.world.log) == expected == story.written
        assert story.world.log.last_stable_offset == story.world.log.log_end_offset


def test_compaction_loses_nothing():
    for seed in range(100):
        dice = Random(seed)
        world = World(
            MemoryFileSystem(page_size=dice.choice([64, 4096])),
            **SMALL,
            **{"cleanup.policy": "compact"},
        )
        for number in range(30):
            put(world.log, (b"k%d" % dice.randrange(5), b"%d" % number * 20))
        txn = {"producer_id": 3, "producer_epoch": 0, "transactional": True}
        put(world.log, (b"k1", b"aborted"), base_sequence=0, **txn)
        end_txn(world.log, 3, commit=False)
        world.log.roll()
        put(world.log, (b"k9", b"last"))
        world.commit_all()
        world.log.flush()
        world.manager.checkpoints.recovery_points()
        before = {key: value for _, key, value in committed(world.log)}
        assert world.manager.maintenance.clean(world.clock.now_ms(), force=True)
        if dice.random() < 0.5:
            world.manager.maintenance.purge_deleted()
            world.manager.maintenance.purge_deleted()
        world.kill(dice)
        world.commit_all()
        after = committed(world.log)
        assert {key: value for _, key, value in after} == before
        assert all(value != b"aborted" for _, _, value in after)
