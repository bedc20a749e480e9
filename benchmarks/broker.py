"""The broker under load, beside the machine's limit for the same bytes.

There are two loads: confluent-kafka with its defaults, and a raw driver that does as little as a
client can. The difference between the two is the cost of the client. With records of 10 KB bytes
are the limit, not records. There, machine and drivers run in alternating rounds; before each round
all written data is flushed and the memory is warm. The best round of each counts, so a short load
of the machine affects all of them in the same way. CPU figures are also valid on a busy machine.

Broker and driver share the cores, so the cost of a client limits the rate that any broker can
reach with it. "The cores' limit" is the rate at which all cores are busy with the driver and with
a broker that costs no more than copying from the socket to the file.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.machine import file_to_socket, socket_to_file, warm_memory
from benchmarks.report import Report

SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
LOADS = ((100, int(3_000_000 * SCALE)), (1_000, int(1_000_000 * SCALE)))
LARGE, LARGE_COUNT = 10_000, int(100_000 * SCALE)
GIGABYTES = LARGE * LARGE_COUNT / 1e9
SYNC_COUNT = int(5_000 * SCALE)
ROUNDS = 3
DRIVERS = {"confluent-kafka": "confluent_driver", "no client": "raw_driver"}
MODES = ("produce", "consume")


@dataclass(slots=True)
class Best:
    """The best round of one thing: bytes per second, and CPU seconds per GB of both sides."""

    rate: float = 0.0
    broker_cpu: float = field(default=float("inf"))
    driver_cpu: float = field(default=float("inf"))

    def take(self, rate: float, broker_cpu: float, driver_cpu: float) -> None:
        self.rate = max(self.rate, rate)
        self.broker_cpu = min(self.broker_cpu, broker_cpu)
        self.driver_cpu = min(self.driver_cpu, driver_cpu)


def run(report: Report) -> None:
    with broker() as server:
        report.add("start-up to listening", server.started_in_s * 1000, "ms", goal="< 500")
        report.add("resident, empty", server.resident_mib(), "MiB", goal="< 60")
        _synchronous(report, server)
        limits = _beside_the_machine(report, server)
        for load in LOADS:
            _throughput(report, server, load, limits)
        report.add("resident, after the load", server.resident_mib(), "MiB")


def _synchronous(report: Report, server: BrokerProcess) -> None:
    rounds = [
        drive("confluent_driver", "sync", server.address, "sync", SYNC_COUNT, 100)
        for _ in range(ROUNDS)
    ]
    p50, p99 = (min(figures[name] for figures in rounds) for name in ("p50_us", "p99_us"))
    report.add("synchronous produce p50", p50, "us", goal="< 200")
    report.add("synchronous produce p99", p99, "us")


# -- 10 KB: where the machine is the limit -----------------------------------------------------


def _beside_the_machine(report: Report, server: BrokerProcess) -> dict[str, float]:
    """Rates of the machine by mode; reports the drivers' beside them."""
    machine = {mode: Best() for mode in MODES}
    best = {(mode, driver): Best() for mode in MODES for driver in DRIVERS}
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as directory:
        limits = {"produce": socket_to_file, "consume": file_to_socket}
        for turn in range(ROUNDS):
            path = Path(directory) / f"bytes-{turn}"  # kept, as the broker keeps its segments
            for mode in MODES:
                warm_memory(Path(directory), LARGE * LARGE_COUNT)
                limit = limits[mode](path, LARGE * LARGE_COUNT)
                machine[mode].take(limit.rate, limit.cpu_seconds / GIGABYTES, 0)
                for driver in DRIVERS:
                    warm_memory(Path(directory), LARGE * LARGE_COUNT)
                    _round(server, mode, driver, turn, best[mode, driver])
    for mode, name in (("produce", "socket to file"), ("consume", "sendfile to socket")):
        report.add(f"machine: {name}", machine[mode].rate / 1e6, "MB/s")
        report.add(f"machine: {name}, CPU", machine[mode].broker_cpu, "s/GB")
    for (mode, driver), figures in best.items():
        _report_large(report, f"{mode} {LARGE} B, {driver}", figures, machine[mode])
    return {mode: figures.rate for mode, figures in machine.items()}


def _round(server: BrokerProcess, mode: str, driver: str, turn: int, best: Best) -> None:
    topic = f"large-{turn}-{DRIVERS[driver]}"
    before = server.cpu_seconds()
    figures = drive(DRIVERS[driver], mode, server.address, topic, LARGE_COUNT, LARGE)
    moved = figures["count"] * LARGE
    best.take(
        moved / figures["seconds"],
        (server.cpu_seconds() - before) / GIGABYTES,
        figures["cpu_seconds"] / (moved / 1e9),
    )


def _report_large(report: Report, name: str, best: Best, limit: Best) -> None:
    ratio = best.rate / limit.rate
    report.add(name, best.rate / 1e6, "MB/s", beside="machine", ratio=ratio, goal=">= 0.80")
    ratio = best.broker_cpu / limit.broker_cpu
    report.add(f"{name}, broker CPU", best.broker_cpu, "s/GB", beside="machine", ratio=ratio)
    report.add(f"{name}, driver CPU", best.driver_cpu, "s/GB")
    cores = len(os.sched_getaffinity(0)) / (best.driver_cpu + limit.broker_cpu) * 1e9
    ratio = cores / limit.rate
    report.add(f"{name}, the cores' limit", cores / 1e6, "MB/s", beside="machine", ratio=ratio)


# -- smaller records: where the client is the limit --------------------------------------------


def _throughput(
    report: Report, server: BrokerProcess, load: tuple[int, int], machine: dict[str, float]
) -> None:
    size, count = load
    for mode in MODES:
        before = server.cpu_seconds()
        figures = drive("confluent_driver", mode, server.address, f"load-{size}", count, size)
        cpu = server.cpu_seconds() - before
        rate = figures["count"] / figures["seconds"]
        ratio = rate * size / machine[mode]
        report.add(f"{mode} {size} B", rate * size / 1e6, "MB/s", beside="machine", ratio=ratio)
        goal = "< 0.5" if size == 100 else ""
        report.add(f"{mode} {size} B, records", rate, "records/s")
        report.add(f"{mode} {size} B, broker CPU", cpu / (count / 1e6), "s/M records", goal=goal)
        report.add(f"{mode} {size} B, broker CPU", cpu / (count * size / 1e9), "s/GB")


def drive(driver: str, mode: str, address: str, topic: str, *numbers: int) -> dict[str, float]:
    """Run a driver in a process of its own against the broker at `address`."""
    command = [sys.executable, "-m", f"benchmarks.{driver}", mode, address, topic]
    done = subprocess.run(
        [*command, *map(str, numbers)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result
