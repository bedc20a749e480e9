"""Our clients beside confluent-kafka and aiokafka: same broker, same run, 100-byte records.

One partition, one process per driver, drivers one after the other. Each rate is the best of
`ROUNDS`, taken in turns, so that a short load of the machine affects all drivers in the same
way. `latency` compares latencies.
"""

import json
import os
import subprocess
import sys

from benchmarks import latency
from benchmarks.broker_process import BrokerProcess, broker
from benchmarks.report import Report

SIZE = 100
SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
COUNT = int(3_000_000 * SCALE)
AIOKAFKA_COUNT = int(500_000 * SCALE)
SYNC_COUNT = max(int(500 * SCALE), 100)
MEMORY_COUNT = int(10_000_000 * SCALE)
ROUNDS = 3


def run(report: Report) -> None:
    with broker() as server:
        _rates(report, server, "produce", "produce", confluent=1.2, aiokafka=4)
        # The records that all readers read, produced by a neutral hand.
        _drive("confluent", "produce", server, "load", COUNT)
        _rates(report, server, "consume", "poll", confluent=1.2)
        _rates(report, server, "arrow", "poll_arrow", confluent=4)
        latency.compare(report, server, SYNC_COUNT, SIZE)
        _memory(report, server)


def _rates(
    report: Report,
    server: BrokerProcess,
    mode: str,
    name: str,
    *,
    confluent: float,
    aiokafka: float = 0,
) -> None:
    theirs = "produce" if mode == "produce" else "consume"
    ours, confluents, aios = 0.0, 0.0, 0.0
    for turn in range(ROUNDS):
        topics = [f"{mode}-{turn}-{who}" for who in "abc"] if mode == "produce" else ["load"] * 3
        confluents = max(confluents, _rate("confluent", theirs, server, topics[0], COUNT))
        ours = max(ours, _rate("barnabas", mode, server, topics[1], COUNT))
        if mode != "arrow":
            aios = max(aios, _rate("aiokafka", theirs, server, topics[2], AIOKAFKA_COUNT))
    goal = f">= {confluent:g}"
    report.add(f"confluent-kafka {theirs}", confluents, "records/s")
    report.add(
        name, ours, "records/s", beside="confluent-kafka", ratio=ours / confluents, goal=goal
    )
    if aios:
        goal = f">= {aiokafka:g}" if aiokafka else ""
        report.add(f"aiokafka {theirs}", aios, "records/s")
        report.add(name, ours, "records/s", beside="aiokafka", ratio=ours / aios, goal=goal)


def _memory(report: Report, server: BrokerProcess) -> None:
    figures = _drive("barnabas", "memory", server, "memory", MEMORY_COUNT)
    first, last = figures["first_mib"], figures["last_mib"]
    report.add("resident, first 5 M records", first, "MiB")
    report.add("resident, next 5 M", last, "MiB", beside="first", ratio=last / first, goal="<= 1.1")


def _rate(driver: str, mode: str, server: BrokerProcess, topic: str, count: int) -> float:
    figures = _drive(driver, mode, server, topic, count)
    return figures["count"] / figures["seconds"]


def _drive(
    driver: str, mode: str, server: BrokerProcess, topic: str, count: int
) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.client_drivers", driver, mode, server.address]
    done = subprocess.run(
        [*command, topic, str(count), str(SIZE)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=900,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result
