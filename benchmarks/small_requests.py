"""Requests of one record: requests a second and CPU per request by connections, and latency.

    python -m benchmarks small_requests

`BARNABAS_BENCH_PEER` names another broker (see `matrix`), which is measured in turns with ours. The
CPU time is that of the broker's process while the driver counts; it does not depend on the driver
as the rate does. A figure is the median of the turns; a first turn, which is not counted, lets a
broker in Java compile its code.
"""

import os
import uuid
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from benchmarks.broker import drive
from benchmarks.peer import Side, sides
from benchmarks.report import Report

CONNECTIONS = (1, 100, 1000)
MODES = ("requests", "fetches")
SYNC_RECORDS = 5000
RECORD_BYTES = 100
TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))


class Measure(NamedTuple):
    """One value of a turn; the goal is the ratio to the peer."""

    name: str
    unit: str
    goal: str


Turn = dict[Measure, float]


def run(report: Report) -> None:
    with sides() as found:
        turns: dict[str, list[Turn]] = {side.name: [] for side in found}
        for number in range(TURNS + (1 if len(found) > 1 else 0)):
            for side in found if number % 2 else found[::-1]:
                turns[side.name].append(dict(_turn(side)))
    counted = [taken[-TURNS:] for taken in turns.values()]
    for measure in counted[0][0]:
        _report(report, measure, [median(turn[measure] for turn in taken) for taken in counted])


def _report(report: Report, measure: Measure, values: list[float]) -> None:
    if len(values) == 1:
        report.add(measure.name, values[0], measure.unit)
        return
    ours, theirs = values
    report.add(f"peer: {measure.name}", theirs, measure.unit)
    report.add(
        measure.name,
        ours,
        measure.unit,
        beside="peer",
        ratio=ours / theirs,
        goal=measure.goal,
    )


def _turn(side: Side) -> Iterator[tuple[Measure, float]]:
    address, pid = side.addresses["plaintext"], side.processes[0].pid
    for count in CONNECTIONS:
        for mode in MODES:
            figures = drive("raw_driver", mode, address, _topic(), count, RECORD_BYTES, pid)
            name, served = f"{count} connections: {mode}", figures["count"]
            yield Measure(name, "1/s", ">= 1"), served / figures["seconds"]
            spent_us = figures["broker_cpu_seconds"] / served * 1e6
            yield Measure(f"{name}, broker CPU", "us/request", "<= 1"), spent_us
    figures = drive("confluent_driver", "sync", address, _topic(), SYNC_RECORDS, RECORD_BYTES)
    for name in ("p50", "p99"):
        yield Measure(f"synchronous produce {name}", "us", "<= 1"), figures[f"{name}_us"]


def _topic() -> str:
    return f"bench-{uuid.uuid4().hex}"
