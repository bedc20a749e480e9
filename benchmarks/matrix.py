"""Runs the cells of `matrix_cells` in interleaved turns; a figure is the median of the turns.

    python -m benchmarks matrix

`BARNABAS_BENCH_PEER` names another broker: host:port, or a directory with the jars of an Apache
Kafka, which is then started here. Without it only clients are compared.
`BARNABAS_BENCH_CELLS` selects cells by a regular expression on their names, and
`BARNABAS_BENCH_COMPARE=clients` or `brokers` one comparison; `BARNABAS_BENCH_CLIENTS` selects
clients by their names, separated by commas. The results of a selection replace the
same cells in the JSON file of the last run. `BARNABAS_BENCH_TURNS` and `BARNABAS_BENCH_SCALE` set
the number of turns and of records.

The cells with goals come first, then those of the brokers, then the tuned ones, so that a run that
is cut short has measured what matters most. A cell in which a client fails is reported, and the run
continues.
"""

import os
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.client_processes import ClientProcesses
from benchmarks.machine import warm_memory
from benchmarks.matrix_cells import SETTINGS, Cell, broker_cells, client_cells, short_clients
from benchmarks.peer import PEER, Side, sides
from benchmarks.report import Report
from benchmarks.settings import SettingError, names, pattern
from benchmarks.workload import PLAIN_SIZE, Job, Workload

TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))
SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
SELECTED = pattern("BARNABAS_BENCH_CELLS")
CLIENTS = names(
    "BARNABAS_BENCH_CLIENTS",
    tuple(dict.fromkeys(name for cell in client_cells() for name in cell.clients)),
)
COMPARISONS = ("clients", "brokers")
COMPARE = names("BARNABAS_BENCH_COMPARE", COMPARISONS, ",".join(COMPARISONS))
QUICK = os.environ.get("BARNABAS_BENCH_QUICK", "") == "1"
SHORT = os.environ.get("BARNABAS_BENCH_SHORT", "") == "1"
WARM_UP_TURNS = 2 if QUICK else 5
RECORD_BYTES = 20
"""Bytes of a record beside its value, about."""
CLIENT_BYTES = 128 * 1024**2
"""Memory of client and sockets that is touched before a turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Rate of all processes together, and CPU seconds of the broker for a million records."""

    rate: float
    broker_cpu: float


Turns = dict[str, list[Turn]]


def run(report: Report) -> None:
    report.merge = bool(SELECTED.pattern or CLIENTS or len(COMPARE) == 1)
    _check_selection()
    with sides() as found, ClientProcesses() as clients:
        matrix = Matrix(report, clients)
        for settings in SETTINGS:
            if "clients" in COMPARE:
                for cell in _chosen(client_cells(), settings):
                    matrix.measure(cell, found[:1], matrix.compare_clients)
            if "brokers" in COMPARE and len(found) > 1:
                for side in found:
                    matrix.warm_up(side)
                for cell in _chosen(broker_cells(), settings):
                    if cell.workload.security in found[1].addresses:
                        matrix.measure(cell, found, matrix.compare_brokers)


def _check_selection() -> None:
    """Raises SettingError if no cell is selected, before a broker is started."""
    cells = client_cells() if "clients" in COMPARE else []
    if "brokers" in COMPARE and PEER:
        cells += broker_cells()
    if not cells:
        raise SettingError("BARNABAS_BENCH_COMPARE=brokers needs BARNABAS_BENCH_PEER")
    if not any(_chosen(cells, settings) for settings in SETTINGS):
        raise SettingError(
            f"no cell matches BARNABAS_BENCH_CELLS={SELECTED.pattern!r} with the selected clients;"
            f" a cell's name is such as {cells[0].name!r}"
        )


def _chosen(cells: list[Cell], settings: str) -> list[Cell]:
    cells = [cell for cell in cells if cell.workload.settings == settings]
    found = [_with_chosen_clients(cell) for cell in cells if SELECTED.search(cell.name)]
    chosen = [cell for cell in found if cell.clients]
    if QUICK:
        return [replace(cell, clients=cell.clients[:3]) for cell in chosen if cell.quick]
    return chosen


def _with_chosen_clients(cell: Cell) -> Cell:
    kept = [name for name in cell.clients if not SHORT or name in short_clients(cell)]
    if CLIENTS:
        kept = [name for name in kept if name in CLIENTS]
    return replace(cell, clients=tuple(kept))


class Matrix:
    """Measures cells with the processes of a run."""

    def __init__(self, report: Report, clients: ClientProcesses) -> None:
        self._report = report
        self._clients = clients
        self._topics: list[tuple[Side, str]] = []

    def measure(
        self, cell: Cell, both: list[Side], compare: Callable[[list[Side], Cell], None]
    ) -> None:
        """Compares the clients or the brokers in a cell, and deletes its topics."""
        try:
            compare(both, cell)
        except (RuntimeError, KafkaException) as error:
            print(f"  failed: {error}", file=sys.stderr, flush=True)
        finally:
            self._delete_topics()

    def warm_up(self, side: Side) -> None:
        """Lets a broker in Java compile its code before the first turn that counts."""
        for operation in ("produce", "batch") * WARM_UP_TURNS:
            cell = Cell(Workload(operation), ("confluent",))
            self._turn(side, cell, "confluent", self._topic(side, cell))
        self._delete_topics()

    # -- Comparisons -------------------------------------------------------------------------

    def compare_clients(self, both: list[Side], cell: Cell) -> None:
        side, report, load = both[0], self._report, cell.workload
        found: Turns = {client: [] for client in cell.clients}
        topic = self._topic(side, cell)
        for turn in range(TURNS):
            for client in cell.clients if turn % 2 else cell.clients[::-1]:
                found[client].append(self._turn(side, cell, client, topic))
        rates = {client: median(turn.rate for turn in turns) for client, turns in found.items()}
        for client, rate in rates.items():
            place = {"plot": plot_of(load), "series": client, "x": load.size}
            report.add(f"{client}: {cell.name}", rate, "records/s", **place)
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

    def compare_brokers(self, both: list[Side], cell: Cell) -> None:
        for client in cell.clients:
            found: Turns = {side.name: [] for side in both}
            topics = {side.name: self._topic(side, cell) for side in both}
            for turn in range(TURNS):
                for side in both if turn % 2 else both[::-1]:
                    found[side.name].append(self._turn(side, cell, client, topics[side.name]))
            self._report_brokers(f"{client} on the broker: {cell.name}", found)

    def _report_brokers(self, label: str, found: Turns) -> None:
        peer = list(found)[1]
        for name, unit, field, goal in (
            ("", "records/s", "rate", ">= 1"),
            (", broker CPU", "s/M records", "broker_cpu", "<= 1"),
        ):
            mine, other = (
                median(getattr(turn, field) for turn in turns) for turns in found.values()
            )
            self._report.add(f"{peer}: {label}{name}", other, unit)
            ratio = mine / max(other, 1e-9)
            self._report.add(f"{label}{name}", mine, unit, beside=peer, ratio=ratio, goal=goal)

    # -- One turn ------------------------------------------------------------------------------

    def _topic(self, side: Side, cell: Cell) -> str:
        """Creates the topic of a cell and fills it if the cell reads."""
        topic, load = f"bench-{uuid.uuid4().hex}", cell.workload
        admin = _admin(side)  # a name: without it the client would be destroyed
        made = admin.create_topics([NewTopic(topic, load.partitions, 1)], request_timeout=60)
        made[topic].result(60)
        self._topics.append((side, topic))
        if load.operation != "produce":
            # Written by confluent-kafka at its defaults, as a neutral hand.
            writer = replace(load, operation="produce", client="confluent", processes=1)
            writer = replace(writer, settings="defaults", security="plaintext")
            self._run(side, writer, topic, max(_records(cell, name) for name in cell.clients))
        return topic

    def _delete_topics(self) -> None:
        for side in {side.name: side for side, _ in self._topics}.values():
            names = [topic for owner, topic in self._topics if owner.name == side.name]
            admin = _admin(side)
            for future in admin.delete_topics(names, request_timeout=60).values():
                future.result(60)
        self._topics.clear()

    def _turn(self, side: Side, cell: Cell, client: str, topic: str) -> Turn:
        load, count = cell.workload.of_client(client), _records(cell, client)
        if load.operation == "group":
            topic = self._topic(side, replace(cell, clients=(client,)))  # no offsets yet
        written = count * (load.size + RECORD_BYTES) if load.operation == "produce" else 0
        warm_memory(Path(tempfile.gettempdir()), written + CLIENT_BYTES)
        before = side.cpu_seconds()
        rate, records = self._run(side, load, topic, count)
        return Turn(rate, (side.cpu_seconds() - before) / records * 1e6)

    def _run(self, side: Side, load: Workload, topic: str, count: int) -> tuple[float, float]:
        """Returns records per second of all processes together, and the number of records."""
        share = count // load.processes if load.operation == "produce" else count
        job = Job(load, side.addresses[load.security], side.ca_file, topic, share)
        figures = self._clients.run(job, load.processes)
        begin, end = min(f["begin"] for f in figures), max(f["end"] for f in figures)
        records = sum(f["count"] for f in figures)
        return records / max(end - begin, 1e-9), records


def _admin(side: Side) -> AdminClient:
    return AdminClient({"bootstrap.servers": side.addresses["plaintext"], "log_level": 0})


def _records(cell: Cell, client: str) -> int:
    return max(int(cell.records(client) * SCALE), 50)


def plot_of(load: Workload) -> str:
    """Name of the plot by size that the cell belongs to; empty if another axis varies."""
    plain = replace(load, size=PLAIN_SIZE) == Workload(load.operation, settings=load.settings)
    return f"throughput by size: {load.operation}, {load.settings}" if plain else ""
