"""End-to-end latency at fixed rates, by rate; our broker beside the peer under the same client.

    python -m benchmarks fixed_rate

confluent-kafka sends records of 100 bytes with `acks=all` and `linger.ms=0` at a fixed rate, and
another process reads them. A record carries the time at which it was due, on the clock that both
processes share, so a producer that falls behind makes the latency worse instead of hiding it. The
sides take turns; a figure is the median of the turns.
"""

import json
import os
import subprocess
import sys
import uuid
from statistics import median

from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.peer import Side, sides
from benchmarks.report import Report

RATES = tuple(map(int, os.environ.get("BARNABAS_BENCH_RATES", "1000,10000,50000").split(",")))
TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))
SECONDS = 4.0
PERCENTILES = ("p50_ms", "p99_ms", "p99.9_ms")
Turn = dict[str, float]


def run(report: Report) -> None:
    with sides() as found:
        for rate in RATES:
            turns: dict[str, list[Turn]] = {side.name: [] for side in found}
            for number in range(TURNS):
                for side in found if number % 2 else found[::-1]:
                    turns[side.name].append(_turn(side, rate))
            _report(report, rate, turns)


def _report(report: Report, rate: int, turns: dict[str, list[Turn]]) -> None:
    names = list(turns)
    for measure, unit in (*((name, "ms") for name in PERCENTILES), ("broker CPU", "s/M records")):
        values = {name: median(turn[measure] for turn in turns[name]) for name in names}
        shown = measure.removesuffix("_ms")
        plot = "latency by rate" if unit == "ms" else ""
        for name in names[1:]:
            label = f"{name}: {rate} records/s, {shown}"
            report.add(label, values[name], unit, plot=plot, series=f"{name} {shown}", x=rate)
        more = {"plot": plot, "series": f"{names[0]} {shown}", "x": rate}
        if len(names) > 1:
            ratio = values[names[0]] / values[names[1]]
            more |= {"beside": names[1], "ratio": ratio, "goal": "<= 1"}
        report.add(f"{rate} records/s, {shown}", values[names[0]], unit, **more)


def _turn(side: Side, rate: int) -> Turn:
    address, topic = side.addresses["plaintext"], f"rate-{uuid.uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)
    count = int(rate * SECONDS)
    command = [sys.executable, "-m", "benchmarks.fixed_rate_driver"]
    arguments = [address, topic, str(rate), str(count)]
    reader = subprocess.Popen([*command, "consume", *arguments], stdout=subprocess.PIPE, text=True)
    before = side.cpu_seconds()
    subprocess.run([*command, "produce", *arguments], check=True, timeout=120)
    figures: Turn = json.loads(reader.communicate(timeout=60)[0])
    return figures | {"broker CPU": (side.cpu_seconds() - before) / count * 1e6}
