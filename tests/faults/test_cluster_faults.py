"""Three brokers and a ZooKeeper ensemble under faults of networks, disks, clocks and processes.

Two plain idempotent producers (ours and librdkafka's) write a topic that two transactional copiers
copy to another, and a third transactional producer writes to all partitions of a topic of its own.
Checked at the end: records lost, duplicated, reordered or at another offset; aborted and partial
transactions that can be read; committed offsets and log ends that went backwards; replicas that
differ; producers that waited longer than the session timeout and five seconds for an
acknowledgement; tracebacks in the brokers' logs. Faults come one at a time, and the next comes when
all replicas are in sync, so that a majority is healthy at every moment.
"""

import os
import threading
import time
from contextlib import ExitStack

import confluent_kafka
import pytest
from support.cluster.workload import (
    BarnabasWriter,
    ConfluentWriter,
    isrs_in_zookeeper,
    judge,
    leaders,
    replicas_differ,
    wait_until,
)
from support.faults.cluster_faults import STOPS_WRITING, Faults
from support.faults.namespace_cluster import BROKERS, NamespaceCluster
from support.faults.network_namespaces import reason_to_skip
from support.soak import SOAK
from support.transactions.copy_process import ABORTED
from support.transactions.transactional_load import (
    Copier,
    Reader,
    TransactionWriter,
    torn_transactions,
    wait_for_copies,
)

from barnabas.model.ids import INTERNAL_TOPICS

SECONDS = int(os.environ.get("BARNABAS_FAULT_SECONDS", "600" if SOAK else "60"))
SEED = int(os.environ.get("BARNABAS_SEED", "16"))
NAMED = os.environ.get("BARNABAS_FAULT_KINDS", "").split()
"""Kinds of faults, for a closer look at some; none: all."""
SESSION_MS = 4000
LIMIT_SECONDS = SESSION_MS / 1000 + 5
FAULT_SECONDS = 6.0
CATCH_UP_SECONDS = 150 + SECONDS
"""For the copiers after the last fault: at times one of them stands still, and they fall behind."""
PAUSE_SECONDS = 0.02 if SOAK else 0.05
PARTITIONS = 3
SOURCE, TARGET, ATOMIC = "source", "target", "atomic"

pytestmark = [
    pytest.mark.faults,
    pytest.mark.xdist_group("cluster"),
    pytest.mark.timeout(4 * SECONDS + 240),
]


@pytest.fixture
def cluster(tmp_path):
    reason = reason_to_skip()
    if reason:
        pytest.skip(reason)
    settings = {
        "zookeeper.session.timeout.ms": SESSION_MS,
        "replica.lag.time.max.ms": 3000,
        "group.min.session.timeout.ms": 1000,
    }
    with NamespaceCluster(settings, tmp_path) as running:
        for topic in (SOURCE, TARGET, ATOMIC):
            running.topic(topic, partitions=PARTITIONS)
        yield running


class OffsetWatch(threading.Thread):
    """Asks for committed offsets and log ends again and again; notes those that went backwards."""

    def __init__(self, cluster):
        super().__init__(name="offsets", daemon=True)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
        self._consumer = confluent_kafka.Consumer({**config, "group.id": "copiers"})
        self._stopped = threading.Event()
        self._last = {}
        self.asked, self.backwards = 0, []

    def run(self):
        topic_partitions = [confluent_kafka.TopicPartition(SOURCE, n) for n in range(PARTITIONS)]
        while not self._stopped.wait(0.5):
            try:
                for topic_partition in self._consumer.committed(topic_partitions, 3):
                    self._note(("committed", topic_partition.partition), topic_partition.offset)
                for topic_partition in topic_partitions:
                    _, end = self._consumer.get_watermark_offsets(topic_partition, 3)
                    self._note(("log end", topic_partition.partition), end)
            except confluent_kafka.KafkaException:
                continue
        self._consumer.close()

    def _note(self, key, offset):
        self.asked += 1
        before = self._last.get(key, -1)
        if 0 <= offset < before:
            self.backwards.append((key, before, offset))
        self._last[key] = max(before, offset)

    def stop(self):
        self._stopped.set()
        self.join()


class LiveReader(threading.Thread):
    """Reads committed copies while the faults happen."""

    def __init__(self, cluster):
        super().__init__(name="reader", daemon=True)
        self.reader = Reader(cluster.bootstrap_servers, TARGET, PARTITIONS)
        self._stopped = threading.Event()

    def run(self):
        while not self._stopped.is_set():
            self.reader.read()

    def stop(self):
        self._stopped.set()
        self.join()
        self.reader.close()


@pytest.fixture
def load(cluster, tmp_path):
    """Everything that writes and reads, and stops when the test ends."""
    servers = cluster.bootstrap_servers
    with ExitStack() as stack:
        writers = [
            BarnabasWriter("b", cluster, SOURCE, PARTITIONS, PAUSE_SECONDS),
            ConfluentWriter("c", cluster, SOURCE, PARTITIONS, PAUSE_SECONDS),
        ]
        others = [
            TransactionWriter(cluster, ATOMIC, PARTITIONS, 0.1),
            OffsetWatch(cluster),
            LiveReader(cluster),
        ]
        for thread in (*writers, *others):
            thread.start()
            stack.callback(thread.stop)
        commit_the_beginning(servers)
        names = ("copier-1", "copier-2")
        copiers = [
            Copier(servers, SOURCE, TARGET, name, tmp_path / f"{name}.log", 5, "error")
            for name in names
        ]
        for copier in copiers:
            stack.callback(copier.stop)
        wait_until(lambda: others[2].reader.values, what="the first copy")
        yield writers, copiers, *others


def commit_the_beginning(servers):
    """From now on every partition has a committed offset: a copier that finds none has lost it."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": servers, "group.id": "copiers"})
    topic_partitions = [confluent_kafka.TopicPartition(SOURCE, n, 0) for n in range(PARTITIONS)]
    assert [
        topic_partition.error
        for topic_partition in consumer.commit(offsets=topic_partitions, asynchronous=False)
    ] == [None] * PARTITIONS
    consumer.close()


def in_sync(cluster):
    """From ZooKeeper: the metadata of a broker whose session has just ended is out of date."""
    topics = (SOURCE, TARGET, ATOMIC, *INTERNAL_TOPICS)
    return all(
        len(isr) == len(BROKERS)
        for topic in topics
        for isr in isrs_in_zookeeper(cluster, topic, PARTITIONS)
    )


def is_writing(writers):
    """Whether every writer has its records of more than a second ago acknowledged."""
    now = time.monotonic()
    oldest = [next(iter(list(writer.acknowledged.sent.values())), now) for writer in writers]
    return all(now - sent < 1.0 for sent in oldest)


def run_faults(faults, cluster, writers):
    """Faults for `SECONDS`; all kinds come before one comes again."""
    end = time.monotonic() + SECONDS
    pause = threading.Event()
    while time.monotonic() < end:
        for kind in faults.kinds():
            begin = time.monotonic()
            with kind() as happened:
                wait_until(happened, 30, f"an effect of {kind.__name__}")
                pause.wait(max(0.0, begin + FAULT_SECONDS - time.monotonic()))
            wait_until(lambda: in_sync(cluster), what=f"all in sync after {kind.__name__}")
            assert [writer.acknowledged.errors for writer in writers] == [[], []], kind.__name__
            wait_until(lambda: is_writing(writers), what=f"writing after {kind.__name__}")
            faults.note(kind, writers)
            took = time.monotonic() - begin
            print(f"{kind.__name__}: {took:.1f} s, waits {faults.waits[kind.__name__]}", flush=True)
            if time.monotonic() > end:
                return


def test_nothing_is_lost_and_no_producer_waits_too_long(cluster, load):
    writers, copiers, transactions, offsets, live = load
    before = leaders(cluster, SOURCE)
    faults = Faults(cluster, SOURCE, SEED, NAMED)
    run_faults(faults, cluster, writers)
    for writer in writers:
        writer.stop()
    transactions.stop()
    figures = judge(cluster, SOURCE, writers)
    source = values_of(cluster, SOURCE)
    total = sum(map(len, source.values()))
    print(figures, flush=True)
    killed = wait_for_copies(lambda: copied(live), total, copiers, CATCH_UP_SECONDS)
    for copier in copiers:
        copier.stop()
    offsets.stop()
    live.stop()
    after = leaders(cluster, SOURCE)
    epochs = sum(after[n].leader_epoch - before[n].leader_epoch for n in after)
    limited = [waits for kind, waits in faults.waits.items() if kind != STOPS_WRITING]
    longest = max(wait for waits in limited for wait in waits.values())
    print(
        f"faults {dict(faults.counts)}, cuts {cluster.network.cuts}, leader epochs {epochs}, "
        f"{figures}, "
        f"longest wait {longest} s, copied {total} ({sum(c.aborted for c in copiers)} transactions "
        f"aborted on purpose, copiers started {[c.starts for c in copiers]}, "
        f"killed because they hung: {killed}), atomic "
        f"{len(transactions.committed)} ({transactions.aborted} aborted), offsets asked "
        f"{offsets.asked}"
    )
    found = {name: figures[name] for name in ("lost", "duplicates", "reordered", "misplaced")}
    assert found == {"lost": 0, "duplicates": 0, "reordered": 0, "misplaced": 0}
    assert [copier.missed_commits for copier in copiers] == [0, 0]
    check_transactions(cluster, source, live, transactions)
    assert offsets.asked > 0
    assert offsets.backwards == []
    for topic in (SOURCE, TARGET, ATOMIC):
        assert replicas_differ(cluster, topic, PARTITIONS) == []
    assert [writer.acknowledged.errors for writer in writers] == [[], []]
    assert longest <= LIMIT_SECONDS, f"a producer waited too long: {faults.waits}"
    assert epochs > 0
    assert sum(copier.aborted for copier in copiers) > 0
    assert [n for n in BROKERS if "Traceback" in cluster.log_text(n)] == []


def copied(live):
    return sum(map(len, live.reader.values.values()))


def values_of(cluster, topic):
    found = {n: [] for n in range(PARTITIONS)}
    for record in cluster.records(topic, read_committed=True, timeout=30):
        found[record.partition].append(record.value)
    return found


def check_transactions(cluster, source, live, transactions):
    final = values_of(cluster, TARGET)
    for partition in range(PARTITIONS):
        # In short messages: the lists are long.
        assert not [v for v in final[partition] if v.startswith(ABORTED)], "aborted reads"
        assert final[partition] == source[partition], f"copies of partition {partition} differ"
        assert live.reader.values[partition] == final[partition], "a reader saw something else"
    assert transactions.error is None
    found = {}
    for partition, values in values_of(cluster, ATOMIC).items():
        for value in values:
            found.setdefault(value, []).append(partition)
    assert torn_transactions(found, PARTITIONS, transactions.committed) == (set(), set())
    assert transactions.committed
