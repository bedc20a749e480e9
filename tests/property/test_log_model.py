"""A log against a list: random appends, truncations, rolls, retention, restarts and reads."""

import logging
from random import Random

import pytest
from support.soak import SOAK
from support.storage.log_world import NOW, World, append, batch_of, contents, raw

from barnabas.records.batch import iter_batches
from barnabas.storage import Log

SEEDS = 400 if SOAK else 160


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


class Pair:
    """A log and the list of (batch records, timestamp) it should equal."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.world = World(
            **{
                "segment.bytes": str(dice.choice([400, 1000, 5000])),
                "index.interval.bytes": str(dice.choice([0, 100, 4096])),
                "segment.index.bytes": str(dice.choice([60, 10_000])),
                "file.delete.delay.ms": "0",
                "retention.ms": "-1",
            }
        )
        self.records: list[tuple[int, bytes, bytes, int]] = []
        self.start = 0
        self.end = 0
        self.time = NOW

    @property
    def log(self) -> Log:
        return self.world.log

    def append(self) -> None:
        self.time += self.dice.randint(-50, 100)
        pairs = [
            (b"k%d" % self.dice.randrange(5), self.dice.randbytes(self.dice.randint(0, 60)))
            for _ in range(self.dice.randint(1, 4))
        ]
        epoch = self.end // 15
        info = append(self.log, batch_of(pairs, timestamp_ms=self.time), epoch=epoch)
        assert info.first_offset == self.end
        self.records += [(self.end + n, *pair, self.time) for n, pair in enumerate(pairs)]
        self.end += len(pairs)

    def replicate(self) -> None:
        self.world.commit_all()

    def roll(self) -> None:
        self.log.roll()

    def flush(self) -> None:
        self.log.flush()
        self.world.manager.checkpoints.recovery_points()

    def truncate(self) -> None:
        """To the beginning of a batch, as leader epochs always ask."""
        heads = [header.base_offset for _, header in iter_batches(raw(self.log))]
        if heads:
            target = self.dice.choice(heads)
            if target >= self.start:
                self.log.truncate_to(target)
                self.records = [record for record in self.records if record[0] < target]
                self.end = target

    def delete_records(self) -> None:
        if self.log.high_watermark > self.start:
            self.start = self.dice.randint(self.start, self.log.high_watermark)
            self.log.increment_log_start_offset(self.start)
            self.world.manager.checkpoints.log_start_offsets()
            self.world.manager.maintenance.run_retention(NOW)

    def restart(self) -> None:
        self.world.restart()

    def kill(self) -> None:
        self.world.kill()

    def check(self) -> None:
        log = self.log
        assert (log.log_start_offset, log.log_end_offset) == (self.start, self.end)
        alive = [record for record in self.records if record[0] >= self.start]
        found = [record for record in contents(log) if record[0] >= self.start]
        assert found == [record[:3] for record in alive]
        for record in self.dice.sample(alive, min(len(alive), 5)):
            got = log.read(record[0], self.dice.randint(1, 400), max_offset=self.end)
            header = next(header for _, header in iter_batches(got.slice.read()))
            assert header.base_offset <= record[0] <= header.last_offset
            wanted = record[3] + self.dice.randint(-20, 20)
            hit = log.offset_for_timestamp(wanted)
            expected = next((r for r in alive if r[3] >= wanted), None)
            assert (hit and hit.offset) == (expected and expected[0])
            assert log.epochs.epoch_for_offset(record[0]) == header.partition_leader_epoch


@pytest.mark.parametrize("part", range(4))
def test_random_histories(part):
    for seed in range(part, SEEDS, 4):
        dice = Random(seed)
        pair = Pair(dice)
        steps = [
            pair.append,
            pair.replicate,
            pair.roll,
            pair.flush,
            pair.truncate,
            pair.delete_records,
            pair.restart,
            pair.kill,
        ]
        try:
            for _ in range(dice.randint(1, 60)):
                dice.choices(steps, weights=[20, 4, 2, 2, 1, 1, 1, 1])[0]()
            pair.check()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
