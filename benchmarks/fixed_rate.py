"""End-to-end latency at fixed rates, by rate; our broker beside the peer under the same client.

    python -m benchmarks fixed_rate

confluent-kafka sends records of 100 bytes with `acks=all` and `linger.ms=0` at a fixed rate, and
another process reads them. A record carries the time at which it was due, on the clock that both
processes share, so a producer that falls behind makes the latency worse instead of hiding it. The
sides take turns; a figure is the median of the turns. `BARNABAS_BENCH_RATES=1000,10000` and
`BARNABAS_BENCH_BROKERS=1,3` set the rates and the sizes of the clusters; with three brokers a topic
has three replicas, of which two must have a record.
"""

import json
import os
import subprocess
import sys
import uuid
from contextlib import AbstractContextManager
from statistics import median

from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.peer import Side, clusters, sides
from benchmarks.report import Report

RATES = tuple(map(int, os.environ.get("BARNABAS_BENCH_RATES", "1000,10000,50000").split(",")))
BROKERS = tuple(map(int, os.environ.get("BARNABAS_BENCH_BROKERS", "1,3").split(",")))
TURNS = int(os.environ.get("BARNABAS_BENCH_TURNS", "5"))
SECONDS = float(os.environ.get("BARNABAS_BENCH_RATE_SECONDS", "4"))
PERCENTILES = ("p50_ms", "p99_ms", "p99.9_ms")
Turn = dict[str, float]


def run(report: Report) -> None:
    report.merge = len(BROKERS) == 1  # the figures of the other cluster are kept
    for brokers in BROKERS:
        with _sides(brokers) as found:
            for side in found[1:]:
                _turn(side, brokers, max(RATES))  # lets a broker in Java compile its code
            for rate in RATES:
                turns: dict[str, list[Turn]] = {side.name: [] for side in found}
                for number in range(TURNS):
                    for side in found if number % 2 else found[::-1]:
                        turns[side.name].append(_turn(side, brokers, rate))
                _report(report, f"{brokers} brokers: " if brokers > 1 else "", rate, turns)


def _sides(brokers: int) -> AbstractContextManager[list[Side]]:
    return sides() if brokers == 1 else clusters(brokers)


def _report(report: Report, where: str, rate: int, turns: dict[str, list[Turn]]) -> None:
    names = list(turns)
    for measure, unit in (*((name, "ms") for name in PERCENTILES), ("broker CPU", "s/M records")):
        values = {name: median(turn[measure] for turn in turns[name]) for name in names}
        shown = measure.removesuffix("_ms")
        plot = f"{where}latency by rate" if unit == "ms" else ""
        for name in names[1:]:
            label = f"{name}: {where}{rate} records/s, {shown}"
            report.add(label, values[name], unit, plot=plot, series=f"{name} {shown}", x=rate)
        more = {"plot": plot, "series": f"{names[0]} {shown}", "x": rate}
        if len(names) > 1:
            ratio = values[names[0]] / values[names[1]]
            more |= {"beside": names[1], "ratio": ratio, "goal": "<= 1"}
        report.add(f"{where}{rate} records/s, {shown}", values[names[0]], unit, **more)


def _turn(side: Side, brokers: int, rate: int) -> Turn:
    address, topic = side.addresses["plaintext"], f"rate-{uuid.uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    admin.create_topics([NewTopic(topic, 1, brokers)])[topic].result(30)
    count = int(rate * SECONDS)
    command = [sys.executable, "-m", "benchmarks.fixed_rate_driver"]
    arguments = [address, topic, str(rate), str(count)]
    reader = subprocess.Popen([*command, "consume", *arguments], stdout=subprocess.PIPE, text=True)
    before = side.cpu_seconds()
    try:
        subprocess.run([*command, "produce", *arguments], check=True, timeout=120)
    except BaseException:
        reader.kill()
        raise
    figures: Turn = json.loads(reader.communicate(timeout=60)[0])
    return figures | {"broker CPU": (side.cpu_seconds() - before) / count * 1e6}
