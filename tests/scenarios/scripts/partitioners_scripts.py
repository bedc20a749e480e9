"""Which partition a record goes to."""

from scenarios.registry import scenario
from scenarios.scripts.metadata_scripts import send_all

KEYS = [b"key-%d" % n for n in range(100)]
ROUND_ROBIN = {"partitioner.class": "round_robin"}


@scenario(partitions=1)
def one_key_one_partition(w):
    """All records of one key go to one partition."""
    topic = w.topic(5)
    return {"partitions": len(send_all(w, w.producer(), topic, 20, keys=[b"user-1"]))}


@scenario(
    partitions={b"a": 5, b"b": 6, b"alpha": 1, b"user-42": 1, b"\x00\xff": 4, b"Stra\xc3\x9fe": 4}
)
def keys_are_hashed_by_murmur2(w):
    """A key's partition is the one that Kafka's default partitioner computes."""
    topic = w.topic(7)
    producer = w.producer()
    keys = [b"a", b"b", b"alpha", b"user-42", b"\x00\xff", "Straße".encode()]
    return {"partitions": {key: producer.send(topic, b"x", key)(20).partition for key in keys}}


@scenario(partitions=1)
def an_empty_key_is_a_key(w):
    """Records with an empty key go to one partition, as those of any other key."""
    topic = w.topic(5)
    return {"partitions": len(send_all(w, w.producer({"batch.size": 64}), topic, 30, keys=[b""]))}


@scenario(partitions=[0, 1, 2, 3])
def many_keys_use_all_partitions(w):
    """A hundred keys use all four partitions."""
    return {"partitions": send_all(w, w.producer(), w.topic(4), 100, keys=KEYS)}


@scenario(partitions=[2])
def a_named_partition_wins_over_the_key(w):
    """A record with a key and a partition goes to that partition."""
    return {"partitions": send_all(w, w.producer(), w.topic(4), 10, keys=KEYS, partition=2)}


@scenario(partitions=[1])
def a_named_partition_without_a_key(w):
    """A record without a key and with a partition goes to that partition."""
    return {"partitions": send_all(w, w.producer(), w.topic(3), 10, keys=None, partition=1)}


@scenario(partitions=[0])
def the_only_partition_takes_all(w):
    """Records of a topic with one partition go there, with or without keys."""
    topic, producer = w.topic(1), w.producer()
    used = set(send_all(w, producer, topic, 10)) | set(send_all(w, producer, topic, 10, keys=None))
    return {"partitions": sorted(used)}


@scenario(partitions=[0, 1, 2])
def records_without_keys_sent_one_at_a_time(w):
    """Records without keys, each awaited, are spread over all partitions."""
    topic, producer = w.topic(3), w.producer({"batch.size": 512})
    used = {producer.send(topic, b"v" * 100)(20).partition for _ in range(150)}
    return {"partitions": sorted(used)}


@scenario(partitions=[0, 1, 2])
def records_without_keys_sent_in_bursts(w):
    """Bursts of records without keys are spread over all partitions."""
    topic, producer = w.topic(3), w.producer({"batch.size": 1024, "linger.ms": 5})
    deliveries = [producer.send(topic, b"v" * 100) for _ in range(600)]
    return {"partitions": sorted({delivery(20).partition for delivery in deliveries})}


@scenario(partitions=[0, 1, 2], within_half_of_fair_share=True)
def records_without_keys_are_spread_evenly(w):
    """No partition receives less than half of its fair share of records without keys."""
    topic, producer = w.topic(3), w.producer({"batch.size": 256, "linger.ms": 2})
    for delivery in [producer.send(topic, b"v" * 100) for _ in range(900)]:
        delivery(20)
    spread = w.spread(topic)
    fair = min(spread.values()) >= 150 if spread else False
    return {"partitions": list(spread), "within_half_of_fair_share": fair}


@scenario(counts=[4, 4, 4])
def round_robin_is_even(w):
    """The round-robin partitioner gives every partition the same number of records."""
    topic, producer = w.topic(3), w.producer(ROUND_ROBIN)
    send_all(w, producer, topic, 12, keys=None)
    return {"counts": list(w.spread(topic).values())}


@scenario(counts=[4, 4, 4])
def round_robin_ignores_keys(w):
    """The round-robin partitioner also spreads the records of one key."""
    topic, producer = w.topic(3), w.producer(ROUND_ROBIN)
    send_all(w, producer, topic, 12, keys=[b"same"])
    return {"counts": list(w.spread(topic).values())}


@scenario(first=[6, 6], second=[6, 6])
def round_robin_counts_per_topic(w):
    """Records sent to two topics in turn use both partitions of each."""
    first, second = w.topic(2), w.topic(2)
    producer = w.producer(ROUND_ROBIN)
    for n in range(12):
        producer.send(first, b"%d" % n)(20)
        producer.send(second, b"%d" % n)(20)
    return {
        "first": list(w.spread(first).values()),
        "second": list(w.spread(second).values()),
    }


@scenario(partition=True)
def two_producers_agree_on_a_key(w):
    """Two producers send records of one key to the same partition."""
    topic = w.topic(9)
    places = {w.producer().send(topic, b"x", b"account-17")(20).partition for _ in range(2)}
    return {"partition": len(places) == 1}


@scenario(ordered=True)
def a_key_keeps_its_order(w):
    """The records of one key are read in the order in which they were sent."""
    topic, producer = w.topic(4), w.producer({"linger.ms": 5})
    for delivery in [producer.send(topic, b"%d" % n, KEYS[n % 5]) for n in range(200)]:
        delivery(20)
    orders = {}
    for record in w.stored(topic):
        orders.setdefault(record.key, []).append(int(record.value))
    return {"ordered": len(orders) == 5 and all(o == sorted(o) for o in orders.values())}


@scenario(partitions=[0, 1, 2])
def keys_can_be_ignored(w):
    """partitioner.ignore.keys=true spreads the records of one key."""
    config = {"partitioner.ignore.keys": True, "batch.size": 512}
    topic, producer = w.topic(3), w.producer(config)
    used = {producer.send(topic, b"v" * 100, b"same")(20).partition for _ in range(150)}
    return {"partitions": sorted(used)}


@scenario(delivered=False)
def a_negative_partition_is_refused(w):
    """A record for partition -5 is rejected."""
    topic, producer = w.topic(2), w.producer()
    producer.send(topic, b"first")(20)
    name = w.error(lambda: producer.send(topic, b"x", partition=-5)(20))
    return {"delivered": name == "none"}
