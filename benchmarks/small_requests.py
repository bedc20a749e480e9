"""Requests of one record: requests a second and CPU per request by connections, and latency.

    python -m benchmarks small_requests

`BARNABAS_BENCH_PEER` names another broker (see `matrix`), which is measured in turns with ours.
`BARNABAS_BENCH_CELLS` selects cells by a regular expression on their names, such as
`^40 connections`, and `BARNABAS_BENCH_SECONDS` sets the length of a turn. The CPU time is that of
the broker's process while the driver counts; it does not depend on the driver as the rate does.

A cell is measured in turns that alternate between the brokers; a figure is the median of the turns,
and a ratio the median of the ratios of the turns, because the speed of the machine varies from turn
to turn. Turns of a warm-up and the first turn of a cell are not counted, because a broker in Java
compiles its code then. The warm-up ends when its CPU time per request no longer falls: Kafka needs
about 80 us after some seconds and 30 us after half a minute.
"""

import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from benchmarks.broker import drive
from benchmarks.peer import Side, sides
from benchmarks.report import Report
from benchmarks.settings import SettingError, pattern

CONNECTIONS = (1, 40, 100, 1000)
MODES = ("requests", "fetches")
SYNC_RECORDS = 5000
RECORD_BYTES = 100
WARM_UP_TURNS = (4, 15)
"""At least and at most, for each mode."""
STEADY = 0.95
"""A broker is warm when a turn needs no less than this part of the CPU time of the one before."""
TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))
SELECTED = pattern("BARNABAS_BENCH_CELLS")
QUICK = os.environ.get("BARNABAS_BENCH_QUICK", "") == "1"


class Measure(NamedTuple):
    """One value of a turn; the goal is the ratio to the peer."""

    name: str
    unit: str
    goal: str


Turn = dict[Measure, float]


@dataclass(frozen=True, slots=True)
class Cell:
    """A load; `turn` puts it on a broker once."""

    name: str
    turn: Callable[[Side], Turn]
    quick: bool = False


def run(report: Report) -> None:
    report.merge = bool(SELECTED.pattern)
    chosen = [cell for cell in cells() if SELECTED.search(cell.name) and (cell.quick or not QUICK)]
    if not chosen:
        raise SettingError(
            f"no cell matches BARNABAS_BENCH_CELLS={SELECTED.pattern!r};"
            f" a cell's name is such as {cells()[0].name!r}"
        )
    with sides() as found:
        for side in found[1:]:
            _warm_up(side)
        for cell in chosen:
            _measure(report, found, cell)


def cells() -> list[Cell]:
    """All cells of the suite."""
    found = [
        Cell(f"{count} connections: {mode}", _load(count, mode), quick=count == CONNECTIONS[1])
        for count in CONNECTIONS
        for mode in MODES
    ]
    return [*found, Cell("synchronous produce", _synchronous, quick=True)]


def _warm_up(side: Side) -> None:
    """Lets a broker in Java compile its code: until then it needs several times the CPU."""
    for mode in MODES:
        load, last = _load(CONNECTIONS[1], mode), float("inf")
        for number in range(WARM_UP_TURNS[1]):
            (cpu,) = (value for measure, value in load(side).items() if measure.unit != "1/s")
            if number >= WARM_UP_TURNS[0] and cpu > last * STEADY:
                break
            last = cpu


def _measure(report: Report, found: list[Side], cell: Cell) -> None:
    turns: dict[str, list[Turn]] = {side.name: [] for side in found}
    for number in range(TURNS + (1 if len(found) > 1 else 0)):
        for side in found if number % 2 else found[::-1]:
            turns[side.name].append(cell.turn(side))
    counted = [taken[-TURNS:] for taken in turns.values()]
    for measure in counted[0][0]:
        _report(report, measure, [[turn[measure] for turn in taken] for taken in counted])


def _report(report: Report, measure: Measure, values: list[list[float]]) -> None:
    if len(values) == 1:
        report.add(measure.name, median(values[0]), measure.unit)
        return
    ours, theirs = values
    report.add(f"peer: {measure.name}", median(theirs), measure.unit)
    report.add(
        measure.name,
        median(ours),
        measure.unit,
        beside="peer",
        ratio=median(mine / other for mine, other in zip(ours, theirs, strict=True)),
        goal=measure.goal,
    )


def _load(count: int, mode: str) -> Callable[[Side], Turn]:
    def turn(side: Side) -> Turn:
        address, pid = side.addresses["plaintext"], side.processes[0].pid
        figures = drive("raw_driver", mode, address, _topic(), count, RECORD_BYTES, pid)
        name, served = f"{count} connections: {mode}", figures["count"]
        return {
            Measure(name, "1/s", ">= 1"): served / figures["seconds"],
            Measure(f"{name}, broker CPU", "us/request", "<= 1"): (
                figures["broker_cpu_seconds"] / served * 1e6
            ),
        }

    return turn


def _synchronous(side: Side) -> Turn:
    address = side.addresses["plaintext"]
    figures = drive("confluent_driver", "sync", address, _topic(), SYNC_RECORDS, RECORD_BYTES)
    return {
        Measure(f"synchronous produce {name}", "us", "<= 1"): figures[f"{name}_us"]
        for name in ("p50", "p99")
    }


def _topic() -> str:
    return f"bench-{uuid.uuid4().hex}"
