"""Rounds of rows into a topic, so that each becomes one micro-batch of every query."""

import functools
import itertools
import random

from hypothesis import strategies as st
from support.pipelines.streams_model import BEGIN, Row

from barnabas.streams.testing import Fed

PARTITIONS = 2
PADDING = "padding"
_numbers = itertools.count()


def unique(name):
    """Topics of an example: Hypothesis runs one again when it fails."""
    return f"{name}-{next(_numbers)}"


def rounds_of(**shape):
    """Rounds by a seed: a query costs seconds, so each example, the first too, is a rich one."""
    return st.integers(0, 2**32 - 1).map(functools.partial(make_rounds, **shape))


def make_rounds(
    seed, *, side="", cases=8, rounds=3, rows=40, span=6000, step=100, deletes=False, others=()
):
    """Times move on by half a span each round, so that some rows come late. Rounds of different
    sides differ, although Hypothesis begins with the same seed for all."""
    dice = random.Random(f"{side}{seed}" if side else seed)

    def row(number):
        value = None if deletes and dice.random() < 0.2 else dice.randrange(100)
        time = BEGIN + number * span // 2 + dice.randrange(span // step) * step
        other = dice.choice(others) if others else None
        return Row(f"c{dice.randrange(cases)}", value, time, other)

    return [
        [row(number) for _ in range(dice.randrange(rows // 2, rows))] for number in range(rounds)
    ]


def feed_rounds(bench, topic, rounds, most):
    """Each round has `most` records, half in each partition; missing ones are padding."""
    records = []
    for rows in rounds:
        lines = [[row for row in rows if partition_of(row.case) == n] for n in range(PARTITIONS)]
        for partition, line in enumerate(lines):
            room = most // PARTITIONS - len(line)
            assert room >= 0
            fed = [_record(row, partition) for row in line]
            filler = Row(PADDING, 0, rows[0].time if rows else BEGIN, "c0")
            records.extend(fed + [_record(filler, partition)] * room)
    bench.feed(topic, records, partitions=PARTITIONS)


def limit(most):
    """Source options that make each round one micro-batch."""
    return {"maxOffsetsPerTrigger": str(most)}


def arrival(rounds):
    """The rows of each round in an order that keeps each partition's."""
    return [sorted(rows, key=lambda row: partition_of(row.case)) for rows in rounds]


def partition_of(case):
    return sum(case.encode()) % PARTITIONS


def _record(row, partition):
    value = None if row.v is None else {"case": row.case, "v": row.v, "other": row.other}
    return Fed(value, row.case, row.time, partition)
