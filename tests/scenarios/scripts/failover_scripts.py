"""Brokers that are killed under clients; each script leaves all brokers running."""

from contextlib import contextmanager

from scenarios.registry import CLUSTER, scenario
from scenarios.scripts.groups_scripts import values_of

ONLY = (CLUSTER,)


def leader(w, topic, partition=0):
    return w.control.admin.describe_topic(topic).partitions[partition].leader


@contextmanager
def killed(w, broker):
    """A broker is dead inside the block and the cluster has noticed."""
    w.cluster.kill(broker)
    try:
        yield
    finally:
        w.cluster.start(broker)


def leaderless(w, topic):
    return [p.partition for p in w.control.admin.describe_topic(topic).partitions if not p.leader]


@scenario(_brokers=ONLY, delivered=8, avoided=True)
def a_leader_dies_under_records_without_keys(w):
    """One of three leaders is dead: records without keys go to the other partitions."""
    topic = w.topic(3, replication=1)
    producer = w.producer({"metadata.max.age.ms": 500, "batch.size": 64})
    for number in range(3):
        producer.send(topic, b"first", partition=number)(20)
    with killed(w, leader(w, topic)):
        w.until(lambda: leaderless(w, topic) == [0])
        w.wait(1.0)  # twice metadata.max.age.ms: the producer has asked for the leaders again
        outcomes = [w.error(lambda: producer.send(topic, b"v" * 100)(20)) for _ in range(8)]
    spread = w.spread(topic)
    return {"delivered": outcomes.count("none"), "avoided": spread[0] == 1}


@scenario(_brokers=ONLY, delivered=20)
def a_leader_dies_under_records_with_keys(w):
    """The leader of a replicated partition dies: all records are delivered to the next one."""
    topic = w.topic(1, replication=3)
    producer = w.producer()
    producer.send(topic, b"first")(20)
    with killed(w, leader(w, topic)):
        outcomes = [w.error(lambda: producer.send(topic, b"x", b"key")(30)) for _ in range(20)]
    return {"delivered": outcomes.count("none")}


@scenario(_brokers=ONLY, values=[b"0", b"1", b"2", b"3"])
def a_leader_dies_under_a_consumer(w):
    """A partition leader is killed: the consumer continues, no record is read twice."""
    topic = w.topic(1, replication=3)
    w.feed(topic, 2)
    consumer = w.consumer(metadata_max_age_ms=500)
    consumer.assign([(topic, 0)])
    found = w.read(consumer, 2)
    with killed(w, leader(w, topic)):
        w.feed(topic, [b"2", b"3"])
        found += w.read(consumer, 2)
    return {"values": values_of(found)}


@scenario(_brokers=ONLY, committed={0: 3})
def a_coordinator_dies_under_a_group(w):
    """The coordinator of a group dies: commits go to the next one."""
    topic, group = w.topic(1, replication=3), w.name("group")
    w.feed(topic, 3)
    consumer = w.consumer(group)
    consumer.subscribe([topic])
    w.read(consumer, 3)
    coordinator = w.control.admin.describe_group(group).coordinator.id
    with killed(w, coordinator):
        w.until(lambda: w.error(consumer.commit) == "none", 30, 0.2)
        return {"committed": w.group_offsets(group)}


@scenario(_brokers=ONLY, error="NOT_ENOUGH_REPLICAS", after="none")
def too_few_replicas_without_retries(w):
    """min.insync.replicas=2 and one of two replicas dead: NOT_ENOUGH_REPLICAS; then it works."""
    topic = w.topic(1, replication=2, min_insync_replicas=2)
    config = {"acks": "all", "retries": 0, "enable.idempotence": False}
    producer = w.producer(config)
    producer.send(topic, b"first")(20)
    partition = w.control.admin.describe_topic(topic).partitions[0]
    other = next(b for b in partition.replicas if b != partition.leader)
    with killed(w, other):
        w.until(lambda: len(w.control.admin.describe_topic(topic).partitions[0].isr) == 1)
        error = w.error(lambda: producer.send(topic, b"x")(20))
    w.until(lambda: len(w.control.admin.describe_topic(topic).partitions[0].isr) == 2)
    return {"error": error, "after": w.error(lambda: producer.send(topic, b"y")(20))}
