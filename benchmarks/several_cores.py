"""Compares the load of two brokers with that of one: the several-cores plan of docs/performance.md.

    python -m benchmarks several_cores

A broker is one process with one event loop, so it uses one core. `barnabas up --brokers 2` runs
two. On a machine with few cores the load generator takes a part of them, so the wall clock says
little; the load generator is counted out by CPU time. A broker that has a core of its own carries
as much in a second as it does per second of its CPU time. The capacity is the sum of these rates
over the brokers that share a load, beside the rate of one broker under the same load. Each broker
leads one topic; two load generators write to them.
"""

import os
import tempfile
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.cli.servers.local_cluster import LocalCluster, LocalClusterConfig
from benchmarks.broker import drive
from benchmarks.report import Report

TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))
LEAST = 1.7
GENERATORS = 2


@dataclass(frozen=True, slots=True)
class Load:
    """A mode of `raw_driver`, with the number that it takes (connections or records)."""

    name: str
    mode: str
    count: int
    size: int
    unit: str
    warm_up: float = 1.0
    """Work of the broker as a multiple of what the driver counts."""


LOADS = (
    Load("requests of one record", "requests", 20, 100, "requests", 4 / 3),
    Load("produce 10 KB", "produce", 50_000, 10_000, "records"),
)


@dataclass(frozen=True, slots=True)
class Turn:
    """Work per CPU second, summed over the brokers, and work per second of the clock."""

    capacity: float
    rate: float


def run(report: Report) -> None:
    found: dict[tuple[int, Load], list[Turn]] = {}
    for turn in range(TURNS):
        for brokers in (1, 2) if turn % 2 else (2, 1):
            with _cluster(brokers) as cluster:
                for load in LOADS:
                    found.setdefault((brokers, load), []).append(_turn(cluster, load))
    for load in LOADS:
        one, two = (median(t.capacity for t in found[count, load]) for count in (1, 2))
        unit = f"{load.unit}/CPU s"
        report.add(f"{load.name}: one broker", one, unit)
        report.add(
            f"{load.name}: two brokers",
            two,
            unit,
            beside="one",
            ratio=two / one,
            goal=f">= {LEAST}",
        )
        one, two = (median(t.rate for t in found[count, load]) for count in (1, 2))
        unit = f"{load.unit}/s"
        report.add(f"{load.name}: one broker, clock", one, unit)
        report.add(f"{load.name}: two brokers, clock", two, unit, beside="one", ratio=two / one)


class _cluster:
    """A cluster on a temporary directory, without replication."""

    def __init__(self, brokers: int) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="barnabas-bench-")
        settings = {"default.replication.factor": 1, "min.insync.replicas": 1}
        self._cluster = LocalCluster(
            LocalClusterConfig(brokers, "127.0.0.1", 0, Path(self._directory.name), settings)
        )

    def __enter__(self) -> LocalCluster:
        return self._cluster.__enter__()

    def __exit__(self, *error: object) -> None:
        self._cluster.stop_brokers()
        self._cluster.__exit__(None, None, None)
        self._directory.cleanup()


def _turn(cluster: LocalCluster, load: Load) -> Turn:
    addresses = cluster.bootstrap_servers.split(",")
    topics = _topics(cluster)
    targets = [addresses[number % len(addresses)] for number in range(GENERATORS)]
    processes = [psutil.Process(broker.pid) for broker in cluster.brokers]
    before = [_cpu(process) for process in processes]
    with ThreadPoolExecutor(GENERATORS) as pool:
        jobs = [
            pool.submit(drive, "raw_driver", load.mode, address, topic, load.count, load.size)
            for address, topic in zip(targets, topics, strict=True)
        ]
        figures = [job.result() for job in jobs]
    spent = [_cpu(process) - cpu for process, cpu in zip(processes, before, strict=True)]
    done = [0.0] * len(addresses)
    for number, figure in enumerate(figures):
        done[number % len(addresses)] += figure["count"] * load.warm_up
    capacity = sum(work / cpu for work, cpu in zip(done, spent, strict=True))
    return Turn(capacity, sum(figure["count"] / figure["seconds"] for figure in figures))


def _topics(cluster: LocalCluster) -> list[str]:
    """Creates a topic for each load generator, led by the broker that it writes to."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    ids = [broker.broker_id for broker in cluster.brokers]
    names = [f"cores-{uuid.uuid4().hex}" for _ in range(GENERATORS)]
    made = admin.create_topics(
        [
            NewTopic(name, 1, replica_assignment=[[ids[number % len(ids)]]])
            for number, name in enumerate(names)
        ]
    )
    for future in made.values():
        future.result(30)
    pause = threading.Event()
    while not all(_is_known(address, names) for address in cluster.bootstrap_servers.split(",")):
        pause.wait(0.05)
    return names


def _is_known(address: str, topics: list[str]) -> bool:
    found = AdminClient({"bootstrap.servers": address}).list_topics(timeout=10).topics
    return all(topic in found and found[topic].partitions[0].leader >= 0 for topic in topics)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
