"""Consume-transform-produce in a chain: members of a group copy a topic to the next, exactly once.

Each member commits its offsets with its transaction, and one member of each stage leaves after a
few transactions, its last one aborted, so that the group rebalances under load.
"""

import itertools
import threading
import time
from collections import Counter

import confluent_kafka

RECORDS_PER_TRANSACTION = 50
POLL_SECONDS = 0.1
TIMEOUT_SECONDS = 60


class Copier(threading.Thread):
    """One member of a stage; `latencies` has the seconds of each commit."""

    def __init__(self, servers, source, target, *, name, leave_after=None):
        super().__init__(name=name, daemon=True)
        self.latencies = []
        self.aborted = 0
        self.error = None
        self._leave_after = leave_after
        self._servers, self._source, self._target = servers, source, target
        self._stopped = threading.Event()

    def stop(self):
        self._stopped.set()

    def run(self):
        try:
            self._copy()
        except Exception as error:  # noqa: BLE001 - the test's thread asserts on it
            self.error = error

    def _copy(self):
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": self._servers, "transactional.id": self.name, "log_level": 0}
        )
        producer.init_transactions(TIMEOUT_SECONDS)
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": f"copy of {self._source}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "partition.assignment.strategy": "cooperative-sticky",
                "log_level": 0,
            }
        )
        consumer.subscribe([self._source])
        try:
            while not self._stopped.is_set() and self._transaction(consumer, producer):
                pass
        finally:
            consumer.close()

    def _transaction(self, consumer, producer):
        """Copies the available records in one transaction; returns False if this member leaves."""
        messages = consumer.consume(RECORDS_PER_TRANSACTION, POLL_SECONDS)
        messages = [message for message in messages if message.error() is None]
        if not messages:
            return True
        leaves = self._leave_after is not None and len(self.latencies) >= self._leave_after
        producer.begin_transaction()
        try:
            for message in messages:
                producer.produce(self._target, message.value(), message.key())
            producer.send_offsets_to_transaction(
                consumer.position(consumer.assignment()),
                consumer.consumer_group_metadata(),
                TIMEOUT_SECONDS,
            )
            if leaves:
                producer.abort_transaction(TIMEOUT_SECONDS)
                return False
            began = time.perf_counter()
            producer.commit_transaction(TIMEOUT_SECONDS)
            self.latencies.append(time.perf_counter() - began)
        except confluent_kafka.KafkaException as failure:
            if not failure.args[0].txn_requires_abort():
                raise
            self._abort(consumer, producer)
        return True

    def _abort(self, consumer, producer):
        """Go back to what the group has committed; a partition that moved on is not ours."""
        producer.abort_transaction(TIMEOUT_SECONDS)
        self.aborted += 1
        for partition in consumer.committed(consumer.assignment(), TIMEOUT_SECONDS):
            partition.offset = max(partition.offset, confluent_kafka.OFFSET_BEGINNING)
            try:
                consumer.seek(partition)
            except confluent_kafka.KafkaException:
                return  # a rebalance took it; the next assignment starts at the commit


def run_chain(servers, topics, records, *, members=3, timeout_s=120):
    """Write numbered records to the first topic and copy them to the last; gives the copiers."""
    copiers = [
        Copier(
            servers,
            source,
            target,
            name=f"{source} to {target}, {number}",
            leave_after=2 if number == 0 else None,
        )
        for source, target in itertools.pairwise(topics)
        for number in range(members)
    ]
    for copier in copiers:
        copier.start()
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": servers, "transactional.id": f"writer of {topics[0]}"}
    )
    producer.init_transactions(TIMEOUT_SECONDS)
    producer.begin_transaction()
    for number in range(records):
        producer.produce(topics[0], b"%d" % number, b"%d" % (number % 20))
    producer.commit_transaction(TIMEOUT_SECONDS)
    try:
        found = read_committed(servers, topics[-1], records, timeout_s)
    finally:
        for copier in copiers:
            copier.stop()
        for copier in copiers:
            copier.join(TIMEOUT_SECONDS)
    return copiers, found


def read_committed(servers, topic, records, timeout_s):
    """(key, value) of everything in a topic, once it has `records` of them or time is up."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"reader of {topic}",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    found, deadline, quiet = [], time.monotonic() + timeout_s, 0
    while time.monotonic() < deadline and not (len(found) >= records and quiet >= 5):
        messages = [m for m in consumer.consume(1000, POLL_SECONDS) if m.error() is None]
        found += [(message.key(), int(message.value())) for message in messages]
        quiet = 0 if messages else quiet + 1
    consumer.close()
    return found


def problems(found, records):
    """Returns records that are lost, duplicated, or out of order within their key."""
    counts = Counter(number for _, number in found)
    last = {}
    reordered = 0
    for key, number in found:
        reordered += number < last.get(key, -1)
        last[key] = number
    return {
        "lost": sum(number not in counts for number in range(records)),
        "doubled": sum(count > 1 for count in counts.values()),
        "reordered": reordered,
    }
