"""Transactions while their leaders and coordinators are killed: whole or not at all, and once."""

import threading

import confluent_kafka
import pytest
from support.cluster_workload import leader_of, leaders, wait_until

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(120)]

PARTITIONS = 3
KILLS = 2


def test_transactions_are_whole_across_fail_over(cluster, topic_name):
    cluster.topic(topic_name, partitions=PARTITIONS)
    wait_until(lambda: all(len(p.isr) == 3 for p in leaders(cluster, topic_name).values()))
    writer = TransactionWriter(cluster, topic_name)
    writer.start()
    wait_until(lambda: len(writer.committed) > 5, what="the first transactions")
    for turn in range(KILLS):
        place = ("__transaction_state", topic_name)[turn % 2]
        victim = leader_of(cluster, place)
        cluster.kill(victim)
        before = len(writer.committed)
        wait_until(lambda before=before: len(writer.committed) > before + 5, what="commits")
        cluster.start(victim)
    writer.stop()
    assert writer.error is None
    found = {}
    # The last one is committed before its markers are everywhere.
    written = {"at_least": PARTITIONS * len(writer.committed), "timeout": 30}
    for record in cluster.records(topic_name, read_committed=True, **written):
        found.setdefault(record.value, []).append(record.partition)
    whole = sorted(range(PARTITIONS))
    assert {n for n in writer.committed if sorted(found.get(b"%d" % n, [])) != whole} == set()
    assert [value for value, places in found.items() if sorted(places) != whole] == []
    print(f"transactions: {len(writer.committed)} committed, {writer.aborted} aborted")


class TransactionWriter(threading.Thread):
    """Writes one number to every partition per transaction."""

    def __init__(self, cluster, topic):
        super().__init__(name="transactions", daemon=True)
        self.committed, self.aborted, self.error = set(), 0, None
        self._topic = topic
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
                producer.abort_transaction(30)
                self.aborted += 1

    def _transaction(self, producer, number):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
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
