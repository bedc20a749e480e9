"""Transactions as load: processes that copy a topic, a writer to all partitions, and a reader."""

import collections
import subprocess
import sys
import threading
import time
from pathlib import Path

import confluent_kafka
from support.transactions import copy_process

STUCK_S = 15


class Copier:
    """A copying process that is started again whenever it ends."""

    def __init__(
        self, bootstrap_servers, source, target, name, log, abort_every=0, reset="earliest"
    ):
        self._log = log
        self._command = [sys.executable, str(Path(copy_process.__file__))]
        self._command += [bootstrap_servers, source, target, name, str(abort_every), reset]
        self.starts = 0
        self._process = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping:
            self.starts += 1
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
            self._process.wait()

    def __str__(self):
        return f"{self.starts} starts, {self._log.read_text()[-500:]!r}"

    @property
    def aborted(self):
        """Transactions that were aborted on purpose."""
        return self._log.read_text().count("aborted on purpose")

    @property
    def missed_commits(self):
        """Number of times that no committed offset was found."""
        return self._log.read_text().count(copy_process.NO_COMMIT)

    def kill(self):
        self._process.kill()

    def stop(self):
        self._stopping = True
        self.kill()
        self._thread.join()


def wait_for_copies(read, count, copiers, timeout_s):
    """Wait until `read()` gives at least `count`; copiers that bring nothing for long are killed.

    After a broker's restart librdkafka may wait without end for a connection that it never makes,
    and its consumer keeps the group from going on meanwhile. Gives how often they were killed.
    """
    begin = moved = time.monotonic()
    seen = killed = 0
    pause = threading.Event()
    while (now_seen := read()) < count:
        now = time.monotonic()
        if now_seen > seen:
            seen, moved = now_seen, now
        elif now - moved > STUCK_S:
            moved, killed = now, killed + 1
            for copier in copiers:
                copier.kill()
        told = f"{now_seen} of {count} copied; {'; '.join(map(str, copiers))}"
        assert now - begin < timeout_s, told
        pause.wait(0.05)
    return killed


class Reader:
    """A read_committed reader that continues with each call."""

    def __init__(self, bootstrap_servers, topic, partitions):
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": "reader",
                "isolation.level": "read_committed",
                "log_level": 0,
            }
        )
        topic_partitions = [confluent_kafka.TopicPartition(topic, n, 0) for n in range(partitions)]
        self._consumer.assign(topic_partitions)
        self.values = collections.defaultdict(list)

    def read(self, timeout_s=0.2):
        """Reads the available records; returns the number of records read so far."""
        for message in self._consumer.consume(1000, timeout_s):
            if message.error() is None:
                self.values[message.partition()].append(message.value())
        return sum(map(len, self.values.values()))

    def close(self):
        self._consumer.close()


class TransactionWriter(threading.Thread):
    """Writes one number to every partition per transaction."""

    def __init__(self, cluster, topic, partitions, pause_s=0.0):
        super().__init__(name="transactions", daemon=True)
        self.committed, self.aborted, self.error = set(), 0, None
        self._topic = topic
        self._partitions = partitions
        self._pause_s = pause_s
        self._stopped = threading.Event()
        self._config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": topic,
            "transaction.timeout.ms": 20_000,
            "log_level": 0,
        }

    def stop(self):
        self._stopped.set()
        self.join()

    def run(self):
        producer = confluent_kafka.Producer(self._config)
        producer.init_transactions(30)
        number = 0
        while not self._stopped.is_set():
            number += 1
            try:
                self._transaction(producer, number)
            except confluent_kafka.KafkaException as failure:
                if not failure.args[0].txn_requires_abort():
                    self.error = failure
                    return
                self._abort(producer)
                self.aborted += 1
            self._stopped.wait(self._pause_s)

    def _transaction(self, producer, number):
        producer.begin_transaction()
        for partition in range(self._partitions):
            producer.produce(self._topic, b"%d" % number, partition=partition)
        while True:
            try:
                producer.commit_transaction(30)
            except confluent_kafka.KafkaException as failure:
                if not failure.args[0].retriable():
                    raise
                continue
            self.committed.add(number)
            return

    def _abort(self, producer):
        while True:
            try:
                producer.abort_transaction(30)
            except confluent_kafka.KafkaException as failure:
                if not failure.args[0].retriable():
                    raise
                continue
            return


def torn_transactions(found, partitions, committed):
    """Numbers that are not in every partition exactly once although one of these says so.

    `found` maps values to the partitions that have them. Gives the committed ones that are not
    whole, and the others of which a part can be read.
    """
    whole = list(range(partitions))
    broken = {n for n in committed if sorted(found.get(b"%d" % n, [])) != whole}
    partial = {
        int(value) for value, topic_partitions in found.items() if sorted(topic_partitions) != whole
    }
    return broken, partial
