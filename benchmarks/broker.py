"""The broker under confluent-kafka, beside the machine's limit for the same bytes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.machine import file_to_socket, socket_to_file
from benchmarks.report import Report

LOADS = ((100, 3_000_000), (1_000, 1_000_000), (10_000, 200_000))
LIMIT_BYTES = 2 * 1024**3


def run(report: Report) -> None:
    limits = _machine_limits(report)
    with broker() as server:
        report.add("start-up to listening", server.started_in_s * 1000, "ms", goal="< 500")
        report.add("resident, empty", server.resident_mib(), "MiB", goal="< 60")
        _synchronous(report, server)
        for size, count in LOADS:
            _throughput(report, server, (size, count), limits)
        report.add("resident, after the load", server.resident_mib(), "MiB")


def _machine_limits(report: Report) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as directory:
        path = Path(directory) / "bytes"
        best_in = max(socket_to_file(path, LIMIT_BYTES) for _ in range(2))
        best_out = max(file_to_socket(path, LIMIT_BYTES) for _ in range(2))
    report.add("machine: socket to file", best_in / 1e6, "MB/s")
    report.add("machine: sendfile to socket", best_out / 1e6, "MB/s")
    return best_in, best_out


def _synchronous(report: Report, server: BrokerProcess) -> None:
    figures = _drive("sync", server, "sync", 5000, 100)
    report.add("synchronous produce p50", figures["p50_us"], "us", goal="< 200")
    report.add("synchronous produce p99", figures["p99_us"], "us")


def _throughput(
    report: Report, server: BrokerProcess, load: tuple[int, int], limits: tuple[float, float]
) -> None:
    size, count = load
    for mode, limit in zip(("produce", "consume"), limits, strict=True):
        before = server.cpu_seconds()
        figures = _drive(mode, server, f"load-{size}", count, size)
        cpu = server.cpu_seconds() - before
        rate = figures["count"] / figures["seconds"]
        report.add(
            f"{mode} {size} B",
            rate * size / 1e6,
            "MB/s",
            beside="machine",
            ratio=rate * size / limit,
            goal=">= 0.80" if size == 10_000 else "",
        )
        report.add(f"{mode} {size} B, records", rate, "records/s")
        report.add(f"{mode} {size} B, broker CPU", cpu / (count / 1e6), "s/M records")
        report.add(f"{mode} {size} B, broker CPU", cpu / (count * size / 1e9), "s/GB")


def _drive(mode: str, server: BrokerProcess, topic: str, count: int, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.confluent_driver", mode, server.address, topic]
    done = subprocess.run(
        [*command, str(count), str(size)], capture_output=True, text=True, check=True, timeout=600
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result
