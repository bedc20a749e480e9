"""Writers under load on a cluster, and checks of the stored records.

Every writer numbers its records per partition. Afterwards, over all of them: what was acknowledged
is there, nothing is there twice, numbers of a writer rise within a partition, and replicas hold the
same bytes.
"""

import json
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest.mock import patch

import confluent_kafka
from kazoo.client import KazooClient
from support.soak import SOAK

from barnabas import Producer
from barnabas.clients.producer.batch_results import BatchResults
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.records.batch import iter_batches

PAUSE_SECONDS = 0.002 if SOAK else 0.006
FAIL_OVER_SECONDS = 1.0
_PAUSE = threading.Event()


@dataclass
class Acknowledged:
    """Acknowledgements of one writer: (partition, number) to offset, with their time.

    `longest_wait` is the longest time from sending a record to its acknowledgement since it was
    set to 0.
    """

    offsets: dict = field(default_factory=dict)
    times: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    sent: dict = field(default_factory=dict)
    longest_wait: float = 0.0

    def note(self, key, offset):
        now = time.monotonic()
        self.offsets[key] = offset
        self.times.append(now)
        self.longest_wait = max(self.longest_wait, now - self.sent.pop(key, now))

    @property
    def longest_gap(self):
        return max((b - a for a, b in zip(self.times, self.times[1:], strict=False)), default=0.0)


class Writer(threading.Thread):
    """Writes until stopped; `name` is a letter that marks its records."""

    def __init__(self, letter, cluster, topic, partitions, pause_s=PAUSE_SECONDS):
        super().__init__(name=f"writer-{letter}", daemon=True)
        self._pause_s = pause_s
        self.letter = letter
        self.acknowledged = Acknowledged()
        self.sent = 0
        self.retries = 0
        self._cluster = cluster
        self._topic = topic
        self._partitions = partitions
        self._stopped = threading.Event()
        self._failure = None

    def stop(self):
        """Stops, and raises the error of the client, if any."""
        self._stopped.set()
        self.join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def run(self):
        try:
            self._write()
        except Exception as failure:  # noqa: BLE001 - raised in the test's thread
            self._failure = failure

    def _numbers(self):
        number = 0
        while not self._stopped.is_set():
            for partition in range(self._partitions):
                self.acknowledged.sent[partition, number] = time.monotonic()
                yield partition, number
                self.sent += 1
            number += 1
            self._stopped.wait(self._pause_s)

    def _value(self, number):
        return b"%s-%d" % (self.letter.encode(), number)


class BarnabasWriter(Writer):
    """Our producer, idempotent as it is by default; counts its retries."""

    def _write(self):
        with patch.object(BatchResults, "retry_or_fail", self._counted(BatchResults.retry_or_fail)):
            self._produce()

    def _counted(self, retry):
        def counted(outcomes, batch, error):
            self.retries += 1
            retry(outcomes, batch, error)

        return counted

    def _produce(self):
        config = {
            "bootstrap.servers": self._cluster.bootstrap_servers,
            "acks": "all",
            "linger.ms": 2,
            "delivery.timeout.ms": 60_000,
            "request.timeout.ms": 5_000,
        }
        with Producer(config) as producer:
            for partition, number in self._numbers():
                future = producer.send(self._topic, self._value(number), partition=partition)
                future.add_done_callback(lambda f, key=(partition, number): self._done(key, f))
            producer.flush(60)

    def _done(self, key, future):
        error = future.exception()
        if error is None:
            self.acknowledged.note(key, future.result().offset)
        else:
            self.acknowledged.errors.append(repr(error))


class ConfluentWriter(Writer):
    """librdkafka, idempotent; counts retries, broken connections and records that waited long.

    With several requests in flight, librdkafka increments its producer epoch when the broker
    rejects a batch as out of order, and then sends every batch without a response again, with new
    sequences. Records of a batch that the broker had stored are stored twice (librdkafka issue
    4953). Java's client and ours repeat such a batch in its epoch.
    """

    resends_in_new_epoch = True
    waited = 0

    def _write(self):
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": self._cluster.bootstrap_servers,
                "enable.idempotence": True,
                "linger.ms": 2,
                "delivery.timeout.ms": 60_000,
                "socket.timeout.ms": 5_000,
                "reconnect.backoff.max.ms": 500,
                "statistics.interval.ms": 500,
                "stats_cb": self._statistics,
                "log_level": 0,
            }
        )
        for partition, number in self._numbers():
            producer.produce(
                self._topic,
                self._value(number),
                partition=partition,
                on_delivery=lambda e, m, key=(partition, number): self._done(key, e, m),
            )
            producer.poll(0)
        producer.flush(60)

    def _done(self, key, error, message):
        if error is None:
            self.acknowledged.note(key, message.offset())
            self.waited += message.latency() > FAIL_OVER_SECONDS
        else:
            self.acknowledged.errors.append(str(error))

    def _statistics(self, text):
        brokers = json.loads(text)["brokers"].values()
        # A batch on a connection that breaks is sent again without counting as a retry.
        seen = sum(broker["txretries"] + broker["disconnects"] for broker in brokers)
        self.retries = max(self.retries, seen + self.waited)


def stored(cluster, topic):
    """(partition, value) to offset in order of storing."""
    return [(r.partition, r.value, r.offset) for r in cluster.records(topic, timeout=60)]


def judge(cluster, topic, writers, batch_at=None):
    """Figures: acknowledged, lost, duplicates, resent, reordered, misplaced.

    `resent` counts records that librdkafka sent again in a new producer epoch (see
    `ConfluentWriter`); a broker cannot recognize them. All others that are stored twice are
    duplicates. `batch_at` returns the header of the batch at an offset.
    """
    batch_at = batch_at or partial(stored_batch, cluster, topic)
    resending = {w.letter.encode() for w in writers if getattr(w, "resends_in_new_epoch", False)}
    offsets, first_copies = {}, []
    duplicates, resent = 0, 0
    for partition, value, offset in stored(cluster, topic):
        before = offsets.get((partition, value))
        offsets[partition, value] = offset
        if before is not None:
            batches = batch_at(partition, before), batch_at(partition, offset)
            print(f"{topic}-{partition}: {value!r} is stored twice, in {batches}")
            if value.partition(b"-")[0] in resending and _is_in_new_epoch(*batches):
                resent += 1
                continue
            duplicates += 1
        first_copies.append((partition, value))
    lost, misplaced, acknowledged = 0, 0, 0
    for writer in writers:
        for (partition, number), offset in writer.acknowledged.offsets.items():
            acknowledged += 1
            value = b"%s-%d" % (writer.letter.encode(), number)
            if (partition, value) not in offsets:
                lost += 1
            elif offsets[partition, value] != offset:
                misplaced += 1
    return {
        "acknowledged": acknowledged,
        "lost": lost,
        "duplicates": duplicates,
        "resent": resent,
        "misplaced": misplaced,
        "reordered": _reordered(first_copies),
    }


def _is_in_new_epoch(first, second):
    """Whether both batches are of one producer, and the second is of a later epoch."""
    if first is None or second is None or first.producer_id != second.producer_id:
        return False
    return first.producer_epoch < second.producer_epoch


def stored_batch(cluster, topic, partition, offset):
    """The header of the batch at an offset, from the files of a broker; None if there is none."""
    for broker in cluster.brokers.values():
        for file in _segments(broker, topic, partition):
            for _, header in iter_batches(file.read_bytes()):
                if header.base_offset <= offset <= header.last_offset:
                    return header
    return None


def _reordered(found):
    last, count = {}, 0
    for partition, value in found:
        letter, _, number = value.partition(b"-")
        if last.get((partition, letter), -1) >= int(number):
            count += 1
        last[partition, letter] = int(number)
    return count


def replicas_differ(cluster, topic, partitions, timeout=60.0, brokers=None):
    """Partitions whose replicas do not become equal byte for byte; compares the files."""
    holders = [b for b in cluster.brokers.values() if brokers is None or b.broker_id in brokers]
    deadline = time.monotonic() + timeout
    while True:
        different = [p for p in range(partitions) if len(set(_contents(holders, topic, p))) != 1]
        if not different or time.monotonic() > deadline:
            return different
        _PAUSE.wait(0.1)


def _contents(brokers, topic, partition):
    for broker in brokers:
        yield b"".join(file.read_bytes() for file in _segments(broker, topic, partition))


def _segments(broker, topic, partition):
    name = f"{topic}-{partition}"
    folders = str(broker.settings["log.dirs"]).split(",")
    return sorted(file for folder in folders for file in Path(folder, name).glob("*.log"))


def leaders(cluster, topic):
    """Returns descriptions by partition number; the broker may not have a new topic yet."""
    for _ in range(100):
        try:
            description = cluster.admin.describe_topic(topic, timeout=60)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            _PAUSE.wait(0.05)
        else:
            return {p.partition: p for p in description.partitions}
    raise AssertionError(f"topic {topic} is nowhere")


def leader_of(cluster, topic, partition=0):
    """Waits for a leader and returns it."""
    found = []
    wait_until(lambda: found.append(leaders(cluster, topic)[partition].leader) or found[-1])
    return found[-1]


def leader_in_zookeeper(cluster, topic, partition=0):
    return state_in_zookeeper(cluster, topic, partition)["leader"]


def state_in_zookeeper(cluster, topic, partition=0):
    """Returns the state in ZooKeeper: a hanging or partitioned broker returns old metadata or
    none.
    """
    return _znode(cluster, f"/brokers/topics/{topic}/partitions/{partition}/state")


def isrs_in_zookeeper(cluster, topic, partitions):
    """The in-sync sets of the first partitions of a topic."""
    paths = [f"/brokers/topics/{topic}/partitions/{n}/state" for n in range(partitions)]
    return [state["isr"] for state in _znodes(cluster, paths)]


def topic_in_zookeeper(cluster, topic):
    """Its replicas, and those that come and go in moves."""
    return _znode(cluster, f"/brokers/topics/{topic}")


def _znode(cluster, path):
    return _znodes(cluster, [path])[0]


def _znodes(cluster, paths):
    client = KazooClient(cluster.zookeeper_connect)
    client.start(60)
    try:
        return [json.loads(client.get(path)[0]) for path in paths]
    finally:
        client.stop()
        client.close()


def wait_until(condition, timeout=150.0, what="the condition"):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come about in {timeout:g} s"
        _PAUSE.wait(0.1)
