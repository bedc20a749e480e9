"""Three brokers on a real ZooKeeper: the cost of replication, and the duration of a failover.

Everything runs on one machine, so the three replicas share its cores: the ratio of RF 3 to RF 1
is a lower bound of the ratio on three machines. Sessions expire after two seconds here; the
controller detects a failed broker when its session has expired.
"""

import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import psutil
from confluent_kafka import Producer

import barnabas
from barnabas.broker.broker_process import BrokerProcess
from barnabas.model.errors import BrokerError
from barnabas.testing.cluster import Cluster
from benchmarks.report import Report

RECORDS, LARGE_RECORDS = 300_000, 10_000
FAIL_OVERS = 3
MANY_PARTITIONS = 1000
SESSION_MS = 2000
IDLE_SECONDS = 10.0

Writer = Callable[[Cluster, list[float], threading.Event], None]
"""Writes one record after the other and notes when each was acknowledged."""


def run(report: Report) -> None:
    with Cluster(3, {"zookeeper.session.timeout.ms": SESSION_MS}) as cluster:
        _throughput(report, cluster)
        _fail_over(report, cluster)
    with Cluster(3, {"zookeeper.session.timeout.ms": SESSION_MS}) as cluster:
        _many_partitions(report, cluster)


def _throughput(report: Report, cluster: Cluster) -> None:
    for size, count in ((100, RECORDS), (10_000, LARGE_RECORDS)):
        rates = {}
        for factor in (1, 3):
            topic = f"rf{factor}-{size}"
            cluster.admin.create_topic(topic, 1, factor)
            answer = _drive("produce", cluster, topic, count, size)
            rates[factor] = answer["count"] / answer["seconds"]
        report.add(f"produce {size} B, RF 1, acks=all", rates[1] * size / 1e6, "MB/s")
        report.add(
            f"produce {size} B, RF 3, acks=all",
            rates[3] * size / 1e6,
            "MB/s",
            beside="RF 1",
            ratio=rates[3] / rates[1],
        )
    latency = _drive("sync", cluster, "rf3-100", 1000, 100)
    report.add("one record, RF 3, acks=all, p50", latency["p50_us"], "us")
    report.add("one record, RF 3, acks=all, p99", latency["p99_us"], "us")


def _fail_over(report: Report, cluster: Cluster) -> None:
    """From kill -9 of the leader to the next acknowledged record; then a stop in order.

    Clients have different backoffs before a retry, so two of them are measured.
    """
    cluster.topic("fail-over")
    for name, writer in (("barnabas", _barnabas), ("librdkafka", _librdkafka)):
        kills = [_gap(cluster, writer, Cluster.kill) for _ in range(FAIL_OVERS)]
        goal = f"session of {SESSION_MS / 1000:g} s + 3 s"
        report.add(f"kill -9 of the leader to next ack, {name}", max(kills), "s", goal=goal)
        stops = [_gap(cluster, writer, Cluster.stop) for _ in range(FAIL_OVERS)]
        report.add(f"controlled shutdown of the leader, {name}", max(stops), "s", goal="1 s")


def _many_partitions(report: Report, cluster: Cluster) -> None:
    begin = time.perf_counter()
    cluster.admin.create_topic("many", MANY_PARTITIONS, 3, timeout=120)
    _until(lambda: _led(cluster, "many") == MANY_PARTITIONS)
    report.add(f"{MANY_PARTITIONS} partitions, RF 3, created", time.perf_counter() - begin, "s")
    _until(lambda: _in_sync(cluster, "many") == 3)
    cluster.topic("one")
    _until(lambda: _in_sync(cluster, "one") == 3)
    threading.Event().wait(2.0)  # the many fall quiet
    latency = _drive("sync", cluster, "one", 500, 100)
    report.add(f"one record beside {MANY_PARTITIONS} partitions, p50", latency["p50_us"], "us")
    report.add(f"a broker with {MANY_PARTITIONS} idle partitions", _idle(cluster), "% of a core")
    controller = cluster.admin.describe_cluster().controller
    assert controller is not None
    begin = time.perf_counter()
    cluster.kill(controller)
    _until(lambda: cluster.admin.describe_cluster().controller not in (None, controller))
    _until(lambda: _led(cluster, "many", without=controller) == MANY_PARTITIONS)
    report.add(
        f"controller and broker killed, {MANY_PARTITIONS} partitions led again",
        time.perf_counter() - begin,
        "s",
    )
    begin = time.perf_counter()
    cluster.start(controller)
    _until(lambda: _in_sync(cluster, "many") == 3)
    report.add("the killed broker back in every in-sync set", time.perf_counter() - begin, "s")


def _idle(cluster: Cluster) -> float:
    """CPU time of the busiest broker while nothing happens."""
    pids = [b.pid for b in cluster.brokers.values() if isinstance(b, BrokerProcess)]
    pause = threading.Event()
    pause.wait(IDLE_SECONDS)  # the last long waits begin
    before = [sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids]
    pause.wait(IDLE_SECONDS)
    after = [sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids]
    used: float = max(b - a for a, b in zip(before, after, strict=True))
    return 100 * used / IDLE_SECONDS


def _gap(cluster: Cluster, writer: Writer, fault: Callable[[Cluster, int], object]) -> float:
    """The longest time between acknowledgements around a fault of the leader."""
    _until(lambda: _in_sync(cluster, "fail-over") == 3)
    victim, times, done = _leader(cluster, "fail-over"), [_now()], threading.Event()
    thread = threading.Thread(target=writer, args=(cluster, times, done))
    thread.start()
    _until(lambda: len(times) > 50)
    began = _now()
    fault(cluster, victim)
    _until(lambda: times[-1] > began + 0.5 and _is_steady(times))
    done.set()
    thread.join()
    cluster.start(victim)
    around = [began, *(t for t in times if t > began)]
    return max(b - a for a, b in itertools.pairwise(around))


def _librdkafka(cluster: Cluster, times: list[float], done: threading.Event) -> None:
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "linger.ms": 0,
            "enable.idempotence": True,
            "log_level": 0,
        }
    )
    while not done.is_set():
        producer.produce("fail-over", b"x", on_delivery=lambda *_: times.append(_now()))
        producer.flush(60)


def _barnabas(cluster: Cluster, times: list[float], done: threading.Event) -> None:
    config = {"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 0}
    with barnabas.Producer(config) as producer:
        while not done.is_set():
            producer.send("fail-over", b"x").result(60)
            times.append(_now())


def _is_steady(times: list[float]) -> bool:
    return len(times) > 20 and times[-1] - times[-20] < 1.0


def _now() -> float:
    return time.perf_counter()


def _drive(mode: str, cluster: Cluster, topic: str, count: int, size: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.confluent_driver", mode]
    command += [cluster.bootstrap_servers, topic, str(count), str(size)]
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(finished.stdout)
    return answer


def _leader(cluster: Cluster, topic: str) -> int:
    _until(lambda: _led(cluster, topic) == 1)
    leader = cluster.admin.describe_topic(topic).partitions[0].leader
    assert leader is not None
    return leader


def _led(cluster: Cluster, topic: str, without: int | None = None) -> int:
    try:
        parts = cluster.admin.describe_topic(topic).partitions
    except BrokerError:
        return 0  # this broker has no metadata of the topic yet
    return sum(part.leader not in (None, without) for part in parts)


def _in_sync(cluster: Cluster, topic: str) -> int:
    try:
        parts = cluster.admin.describe_topic(topic).partitions
    except BrokerError:
        return 0
    return min(len(part.isr) for part in parts)


def _until(condition: Callable[[], bool], timeout_s: float = 90.0) -> None:
    pause, deadline = threading.Event(), _now() + timeout_s
    while not condition():
        if _now() > deadline:
            raise TimeoutError("the cluster did not get there")
        pause.wait(0.02)
