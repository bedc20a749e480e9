"""A synchronous acks=all send, ours beside confluent-kafka's, in turns of a tenth of a second.

Both clients run during the whole comparison, each in a separate process, and take turns: one sends
a round while the other is idle. A short load of the machine or of the broker thus affects both in
the same way. The first sends of a round are not counted, because caches are cold and the threads
of the client were idle.

The latency depends on which processes share a core. It is therefore measured twice: with the broker
on one core and the client on another, and with the scheduler's own choice. Both clients have the
same rule, and both are measured at their defaults and without linger: a caller that waits ends the
linger in both. A figure is the median of the p50 or p99 of the rounds.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from statistics import median

from benchmarks.broker_process import BrokerProcess
from benchmarks.report import Report

DRIVERS = ("confluent", "barnabas")
MODES = {"defaults": "sync", "linger.ms 0": "sync0"}
GOAL = "<= 1.5"
ROUNDS = 120
Rounds = dict[tuple[str, str], list[float]]


def compare(report: Report, server: BrokerProcess, sends: int, size: int) -> None:
    """Adds rows for each placement and setting: p50 and p99 of rounds of `sends`."""
    cores = sorted(os.sched_getaffinity(0))
    places = {"anywhere": (set(cores), set(cores))}
    if len(cores) > 1:
        places["on two cores"] = ({cores[0]}, {cores[1]})
    for place, (brokers, clients) in places.items():
        _pin(server, brokers)
        for settings, mode in MODES.items():
            found = _take_turns(server, clients, mode, [str(sends), str(size)])
            _report(report, f"{settings}, {place}", found)
        _pin(server, set(cores))


def _report(report: Report, label: str, found: Rounds) -> None:
    for name in ("p50_us", "p99_us"):
        theirs, ours = median(found["confluent", name]), median(found["barnabas", name])
        row = f"synchronous send {name[:3]}, {label}"
        report.add(f"confluent-kafka {row}", theirs, "us")
        report.add(row, ours, "us", beside="confluent-kafka", ratio=ours / theirs, goal=GOAL)


def _take_turns(server: BrokerProcess, cores: set[int], mode: str, arguments: list[str]) -> Rounds:
    found: Rounds = {}
    with ExitStack() as stack:
        clients = {
            driver: stack.enter_context(
                _client([driver, mode, server.address, mode, *arguments], cores)
            )
            for driver in DRIVERS
        }
        for number in range(ROUNDS):
            order = DRIVERS if number % 2 else reversed(DRIVERS)
            for driver in order:
                for name, value in _round(clients[driver]).items():
                    found.setdefault((driver, name), []).append(value)
    return found


@contextmanager
def _client(arguments: list[str], cores: set[int]) -> "Iterator[subprocess.Popen[str]]":
    """A client that sends a round for each line of input; its threads inherit its cores."""
    client = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.client_drivers", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(os.sched_setaffinity, 0, cores),
    )
    try:
        yield client
    finally:
        client.communicate(timeout=60)


def _round(client: "subprocess.Popen[str]") -> dict[str, float]:
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write("\n")
    client.stdin.flush()
    figures: dict[str, float] = json.loads(client.stdout.readline())
    return figures


def _pin(server: BrokerProcess, cores: set[int]) -> None:
    for thread in server.process.threads():
        os.sched_setaffinity(thread.id, cores)
