"""Our broker beside another: the same drivers, in turns, against both.

`BARNABAS_BENCH_PEER=host:port` names the other broker, such as an Apache Kafka on this machine;
without it the suite says so and measures nothing. The other broker must make topics by itself; the
drivers use partition 0 alone, and topics of their own that stay there.
"""

import os
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.broker import drive
from benchmarks.broker_process import broker
from benchmarks.machine import warm_memory
from benchmarks.report import Report

SCALE = float(os.environ.get("BARNABAS_BENCH_SCALE", "1"))
PEER = os.environ.get("BARNABAS_BENCH_PEER", "")
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Load:
    """Records of one size, written and then read by one driver."""

    driver: str
    size: int
    count: int

    @property
    def name(self) -> str:
        client = "no client" if self.driver == "raw_driver" else "confluent-kafka"
        return f"{self.size} B, {client}"

    @property
    def total_bytes(self) -> int:
        return self.size * self.count


LOADS = (
    Load("confluent_driver", 10_000, int(100_000 * SCALE)),
    Load("raw_driver", 10_000, int(100_000 * SCALE)),
    Load("confluent_driver", 100, int(2_000_000 * SCALE)),
)
SYNC = Load("confluent_driver", 100, int(5_000 * SCALE))


@dataclass(slots=True)
class Bests:
    """The best round of each thing against one broker."""

    rates: dict[str, float] = field(default_factory=dict)
    latencies: dict[str, float] = field(default_factory=dict)

    def rate(self, name: str, value: float) -> None:
        self.rates[name] = max(self.rates.get(name, 0.0), value)

    def latency(self, name: str, value: float) -> None:
        self.latencies[name] = min(self.latencies.get(name, value), value)


def run(report: Report) -> None:
    if not PEER:
        print("  no other broker: BARNABAS_BENCH_PEER=host:port names one")
        return
    with broker() as server, tempfile.TemporaryDirectory(prefix="barnabas-bench-") as directory:
        addresses = (server.address, PEER)
        bests = {address: Bests() for address in addresses}
        for _ in range(ROUNDS):
            for address in addresses:
                _round(address, bests[address], Path(directory))
    _report(report, bests[server.address], bests[PEER])


def _round(address: str, bests: Bests, directory: Path) -> None:
    for load in LOADS:
        topic = f"bench-{uuid.uuid4().hex}"
        for mode in ("produce", "consume"):
            warm_memory(directory, load.total_bytes)
            figures = drive(load.driver, mode, address, topic, load.count, load.size)
            bests.rate(
                f"{mode} {load.name}", figures["count"] * load.size / figures["seconds"] / 1e6
            )
    figures = drive(
        SYNC.driver, "sync", address, f"bench-{uuid.uuid4().hex}", SYNC.count, SYNC.size
    )
    for name in ("p50_us", "p99_us"):
        bests.latency(f"synchronous produce {name[:3]}", figures[name])


def _report(report: Report, ours: Bests, theirs: Bests) -> None:
    for unit, mine, other in (
        ("MB/s", ours.rates, theirs.rates),
        ("us", ours.latencies, theirs.latencies),
    ):
        for name, value in mine.items():
            report.add(f"peer: {name}", other[name], unit)
            report.add(name, value, unit, beside="peer", ratio=value / other[name])
