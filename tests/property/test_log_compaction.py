"""Compaction against a model: after any sequence of steps, readers get the newest values."""

import logging
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.soak import SOAK
from support.storage.compaction_model import DELETE_RETENTION_MS, PRODUCERS, CompactionModel

KEYS = [b"a", b"b", b"c", b"d"]
SEEDS = 900 if SOAK else 240


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level(logging.CRITICAL)


def records(dice: Random) -> list[tuple[bytes, bytes | None]]:
    return [
        (dice.choice(KEYS), None if dice.random() < 0.25 else b"%d" % dice.randrange(10**6))
        for _ in range(dice.randint(1, 3))
    ]


def step(model: CompactionModel, dice: Random) -> None:
    producer_id = dice.choice(PRODUCERS)
    actions = [
        (8, lambda: model.put(records(dice))),
        (6, lambda: model.put_as(producer_id, records(dice))),
        (3, lambda: model.begin(producer_id)),
        (4, lambda: model.end(producer_id, dice.random() < 0.5)),
        (4, model.roll),
        (4, model.replicate),
        (3, lambda: model.advance(dice.choice([1, DELETE_RETENTION_MS // 2, DELETE_RETENTION_MS]))),
        (5, model.clean),
        (1, model.restart),
        (1, model.kill),
    ]
    weights, choices = zip(*actions, strict=True)
    dice.choices(choices, weights)[0]()


@pytest.mark.parametrize("part", range(3))
def test_random_histories(part):
    """Passes when `CompactionModel.check` finds no difference between the log and its model."""
    for seed in range(part, SEEDS, 3):
        dice = Random(seed)
        model = CompactionModel()
        try:
            for _ in range(dice.randint(5, 45)):
                step(model, dice)
            model.check()
            model.replicate()
            model.clean()
            model.check()
            model.advance(DELETE_RETENTION_MS)
            model.put(records(dice))
            model.roll()
            model.replicate()
            model.clean()
            model.kill()
            model.check()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def test_reads_from_every_offset():
    for seed in range(40):
        dice = Random(seed)
        model = CompactionModel()
        for _ in range(40):
            step(model, dice)
        model.check_reads()


class CompactionMachine(RuleBasedStateMachine):
    """The same, with Hypothesis choosing, so that a failure comes out small."""

    @initialize()
    def begin_world(self):
        logging.disable(logging.ERROR)
        self.model = CompactionModel()

    def teardown(self):
        logging.disable(logging.NOTSET)

    record = st.tuples(st.sampled_from(KEYS), st.none() | st.binary(max_size=3))
    producer = st.sampled_from(list(PRODUCERS))

    @rule(batch=st.lists(record, min_size=1, max_size=3))
    def put(self, batch):
        self.model.put(batch)

    @rule(producer_id=producer, batch=st.lists(record, min_size=1, max_size=3))
    def put_as(self, producer_id, batch):
        self.model.put_as(producer_id, batch)

    @rule(producer_id=producer)
    def begin(self, producer_id):
        self.model.begin(producer_id)

    @rule(producer_id=producer, commit=st.booleans())
    def end(self, producer_id, commit):
        self.model.end(producer_id, commit)

    @rule()
    def roll(self):
        self.model.roll()

    @rule()
    def replicate(self):
        self.model.replicate()

    @rule(ms=st.sampled_from([1, DELETE_RETENTION_MS]))
    def advance(self, ms):
        self.model.advance(ms)

    @rule()
    def clean(self):
        self.model.clean()

    @rule(cleanly=st.booleans())
    def stop_and_start(self, cleanly):
        if cleanly:
            self.model.restart()
        else:
            self.model.kill()

    @invariant()
    def agrees(self):
        if hasattr(self, "model"):
            self.model.check()


CompactionMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestCompactionMachine = CompactionMachine.TestCase
