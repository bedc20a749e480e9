"""Runs the cells of `matrix_cells` in interleaved turns; a figure is the median of the turns.

    python -m benchmarks matrix

`BARNABAS_BENCH_PEER` names another broker: host:port, or a directory with the jars of an Apache
Kafka, which is then started here. Without it only clients are compared.
`BARNABAS_BENCH_CELLS` selects cells by a regular expression on their names, and
`BARNABAS_BENCH_COMPARE=clients` or `brokers` one comparison; `BARNABAS_BENCH_CLIENTS` selects
clients by their names, separated by commas. The results of a selection replace the
same cells in the JSON file of the last run. `BARNABAS_BENCH_TURNS` and `BARNABAS_BENCH_SCALE` set
the number of turns and of records.
"""

import json
import os
import re
import subprocess
import sys
import uuid
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.matrix_cells import Cell, broker_cells, client_cells
from benchmarks.peer import Side, sides
from benchmarks.report import Report
from benchmarks.workload import Job, Workload

TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))
SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
SELECTED = os.environ.get("BARNABAS_BENCH_CELLS", "")
CLIENTS = os.environ.get("BARNABAS_BENCH_CLIENTS", "")
COMPARE = os.environ.get("BARNABAS_BENCH_COMPARE", "clients,brokers").split(",")
QUICK = os.environ.get("BARNABAS_BENCH_QUICK", "") == "1"
TIMEOUT = 300
WARM_UP_TURNS = 2 if QUICK else 5


@dataclass(frozen=True, slots=True)
class Turn:
    """Rate of all processes together, and CPU seconds of the broker for a million records."""

    rate: float
    broker_cpu: float


Turns = dict[str, list[Turn]]


def run(report: Report) -> None:
    report.merge = bool(SELECTED or CLIENTS)
    with sides() as found:
        if "clients" in COMPARE:
            for cell in _chosen(client_cells()):
                _compare_clients(report, found[0], cell)
        if "brokers" in COMPARE and len(found) > 1:
            for side in found:
                _warm_up(side)
            for cell in _chosen(broker_cells()):
                if cell.workload.security in found[1].addresses:
                    _compare_brokers(report, found, cell)


def _chosen(cells: list[Cell]) -> list[Cell]:
    chosen = [_with_chosen_clients(cell) for cell in cells if re.search(SELECTED, cell.name)]
    if QUICK:
        return [replace(cell, clients=cell.clients[:3]) for cell in chosen if cell.quick]
    return chosen


def _with_chosen_clients(cell: Cell) -> Cell:
    if not CLIENTS:
        return cell
    return replace(cell, clients=tuple(name for name in cell.clients if name in CLIENTS.split(",")))


def _warm_up(side: Side) -> None:
    """Lets a broker in Java compile its code before the first turn that counts."""
    for operation in ("produce", "batch") * WARM_UP_TURNS:
        cell = Cell(Workload(operation), ("confluent",))
        _turn(side, cell, "confluent", _topic(side, cell))


# -- Comparisons -----------------------------------------------------------------------------


def _compare_clients(report: Report, side: Side, cell: Cell) -> None:
    found: Turns = {client: [] for client in cell.clients}
    topic = _topic(side, cell)
    for turn in range(TURNS):
        order = cell.clients if turn % 2 else cell.clients[::-1]
        for client in order:
            found[client].append(_turn(side, cell, client, topic))
    rates = {client: median(turn.rate for turn in turns) for client, turns in found.items()}
    load = cell.workload
    for client, rate in rates.items():
        report.add(
            f"{client}: {cell.name}",
            rate,
            "records/s",
            plot=_plot(load),
            series=client,
            x=load.size,
        )
    for goal in cell.goals:
        if goal.client in rates and goal.beside in rates:
            report.add(
                f"{goal.client}: {cell.name}",
                rates[goal.client],
                "records/s",
                beside=goal.beside,
                ratio=rates[goal.client] / rates[goal.beside],
                goal=f">= {goal.least:g}",
            )


def _plot(load: Workload) -> str:
    """Name of the plot by size that the cell belongs to; empty if another axis varies."""
    plain = replace(load, size=Workload.size) == Workload(load.operation, settings=load.settings)
    return f"throughput by size: {load.operation}, {load.settings}" if plain else ""


def _compare_brokers(report: Report, both: list[Side], cell: Cell) -> None:
    for client in cell.clients:
        found: Turns = {side.name: [] for side in both}
        topics = {side.name: _topic(side, cell) for side in both}
        for turn in range(TURNS):
            for side in both if turn % 2 else both[::-1]:
                found[side.name].append(_turn(side, cell, client, topics[side.name]))
        ours, theirs = (found[side.name] for side in both)
        label, peer = f"{client} on the broker: {cell.name}", both[1].name
        for name, unit, field, goal in (
            ("", "records/s", "rate", ">= 1"),
            (", broker CPU", "s/M records", "broker_cpu", "<= 1"),
        ):
            mine, other = (
                median(getattr(turn, field) for turn in turns) for turns in (ours, theirs)
            )
            report.add(f"{peer}: {label}{name}", other, unit)
            report.add(f"{label}{name}", mine, unit, beside=peer, ratio=mine / other, goal=goal)


# -- One turn ----------------------------------------------------------------------------------


def _topic(side: Side, cell: Cell) -> str:
    """Creates the topic of a cell and fills it if the cell reads."""
    topic, load = f"bench-{uuid.uuid4().hex}", cell.workload
    _create(side, topic, load.partitions)
    if load.operation != "produce":
        # Written by confluent-kafka at its defaults, as a neutral hand.
        writer = replace(load, operation="produce", client="confluent", processes=1)
        writer = replace(writer, settings="defaults", security="plaintext")
        _run(side, writer, topic, _records(cell, "confluent"))
    return topic


def _create(side: Side, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": side.addresses["plaintext"], "log_level": 0})
    made = admin.create_topics([NewTopic(topic, partitions, 1)], request_timeout=60)
    made[topic].result(60)


def _records(cell: Cell, client: str) -> int:
    return max(int(cell.records(client) * SCALE), 50)


def _turn(side: Side, cell: Cell, client: str, topic: str) -> Turn:
    load, count = cell.workload.of_client(client), _records(cell, client)
    if load.operation == "group":
        topic = _topic(side, replace(cell, clients=(client,)))  # a group starts without offsets
    before = side.cpu_seconds()
    rate, records = _run(side, load, topic, count)
    return Turn(rate, (side.cpu_seconds() - before) / records * 1e6)


def _run(side: Side, load: Workload, topic: str, count: int) -> tuple[float, float]:
    """Returns records per second of all processes together, and the number of records."""
    share = count // load.processes if load.operation == "produce" else count
    job = Job(load, side.addresses[load.security], side.ca_file, topic, share)
    command = [sys.executable, "-m", "benchmarks.loads", job.to_text()]
    with ExitStack() as stack:
        children = [
            stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(load.processes)
        ]
        for child in children:
            _wait_until_ready(child, load)
        for child in children:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
        outputs = [child.communicate(timeout=TIMEOUT)[0] for child in children]
    figures = [json.loads(output) for output in outputs]
    begin, end = min(f["begin"] for f in figures), max(f["end"] for f in figures)
    records = sum(f["count"] for f in figures)
    return records / max(end - begin, 1e-9), records


def _wait_until_ready(child: "subprocess.Popen[str]", load: Workload) -> None:
    assert child.stdout is not None
    line = child.stdout.readline()
    if line.strip() != "ready":
        raise RuntimeError(f"{load.client} failed in the cell {load.name!r}: {line}")
