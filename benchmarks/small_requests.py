"""Requests of one record: requests a second and CPU per request by connections, and latency.

    python -m benchmarks small_requests

`BARNABAS_BENCH_PEER=host:port` measures another broker on this machine in turns with ours, such as
Apache Kafka; it must create topics by itself. The CPU time is that of the broker's process while
the driver counts; it does not depend on the driver as the rate does.
"""

import uuid

import psutil

from benchmarks.broker import drive
from benchmarks.broker_process import broker
from benchmarks.peer import PEER
from benchmarks.report import Report

CONNECTIONS = (1, 40, 200, 1000)
MODES = ("requests", "fetches")
SYNC_RECORDS = 5000
RECORD_BYTES = 100
ROUNDS = 3


def run(report: Report) -> None:
    with broker() as server:
        names = {server.address: "barnabas"} | ({PEER: "peer"} if PEER else {})
        found: dict[str, dict[str, list[float]]] = {address: {} for address in names}
        for _ in range(ROUNDS):
            for address in names:
                _round(address, found[address])
    for measure, unit in _measures():
        ours = _middle(found[server.address][measure])
        if not PEER:
            report.add(measure, ours, unit)
            continue
        theirs = _middle(found[PEER][measure])
        report.add(f"peer: {measure}", theirs, unit)
        report.add(measure, ours, unit, beside="peer", ratio=ours / theirs)


def _measures() -> list[tuple[str, str]]:
    by_connections = [
        (f"{count} connections: {name}{what}", unit)
        for count in CONNECTIONS
        for name in MODES
        for what, unit in (("", "1/s"), (", broker CPU", "us/request"))
    ]
    return [*by_connections, ("synchronous produce p50", "us"), ("synchronous produce p99", "us")]


def _round(address: str, found: dict[str, list[float]]) -> None:
    process = _listening_process(address)
    for count in CONNECTIONS:
        for mode in MODES:
            topic = f"bench-{uuid.uuid4().hex}"
            figures = drive("raw_driver", mode, address, topic, count, RECORD_BYTES, process.pid)
            served, spent = figures["count"], figures["broker_cpu_seconds"]
            _add(found, f"{count} connections: {mode}", served / figures["seconds"])
            _add(found, f"{count} connections: {mode}, broker CPU", spent / served * 1e6)
    topic = f"bench-{uuid.uuid4().hex}"
    figures = drive("confluent_driver", "sync", address, topic, SYNC_RECORDS, RECORD_BYTES)
    for name in ("p50", "p99"):
        _add(found, f"synchronous produce {name}", figures[f"{name}_us"])


def _listening_process(address: str) -> psutil.Process:
    port = int(address.rsplit(":", 1)[1])
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port:
            return psutil.Process(connection.pid)
    raise RuntimeError(f"no process on this machine listens on {address}")


def _add(found: dict[str, list[float]], name: str, value: float) -> None:
    found.setdefault(name, []).append(value)


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
