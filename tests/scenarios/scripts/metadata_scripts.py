"""Topics that appear, grow, shrink and go while clients use them."""

from scenarios.registry import scenario

FRESH = {"metadata.max.age.ms": 500}
KEYS = [b"key-%d" % n for n in range(24)]


def send_all(w, producer, topic, count=24, keys=KEYS, seconds=20, **more):
    """Send and wait; returns the partitions used."""
    deliveries = [
        producer.send(topic, b"%d" % n, keys[n % len(keys)] if keys else None, **more)
        for n in range(count)
    ]
    return sorted({delivery(seconds).partition for delivery in deliveries})


def until_partitions(w, producer, topic, wanted):
    """Send records until `wanted` partitions were used; the partitions used at last."""
    return w.until(lambda: (p := send_all(w, producer, topic)) == wanted and p, 8, 0.2) or send_all(
        w, producer, topic
    )


@scenario(before=[0], after=[0, 1, 2])
def new_partitions_receive_keyed_records(w):
    """A topic grows from 1 to 3 partitions under a producer that sends records with keys."""
    topic = w.topic(1)
    producer = w.producer(FRESH)
    before = send_all(w, producer, topic)
    w.grow(topic, 3)
    return {"before": before, "after": until_partitions(w, producer, topic, [0, 1, 2])}


@scenario(after=[0, 1, 2])
def new_partitions_receive_records_without_keys(w):
    """A topic grows from 1 to 3 partitions under a producer that sends records without keys."""
    topic = w.topic(1)
    producer = w.producer({**FRESH, "batch.size": 512})
    send_all(w, producer, topic, 3, keys=None)
    w.grow(topic, 3)
    used = set()

    def all_used():
        used.update(send_all(w, producer, topic, 20, keys=None))
        return len(used) == 3

    w.until(all_used, 10, 0.1)
    return {"after": sorted(used)}


@scenario(partition=2)
def a_new_partition_can_be_named(w):
    """After a topic grew, a record for the new partition is delivered there."""
    topic = w.topic(1)
    producer = w.producer(FRESH)
    send_all(w, producer, topic, 1)
    w.grow(topic, 3)

    def delivered():
        try:
            return producer.send(topic, b"x", partition=2)(5)
        except Exception:  # noqa: BLE001 - every library has its own
            return None

    return {"partition": w.until(delivered, 8, 0.2).partition}


@scenario(before=[0], after=[0, 1, 2])
def partitions_for_shows_growth(w):
    """`partitions_for` returns new partitions once the metadata's age has passed."""
    topic = w.topic(1)
    producer = w.producer(FRESH)
    send_all(w, producer, topic, 1)
    before = producer.partitions_for(topic)
    w.grow(topic, 3)

    def grown():
        send_all(w, producer, topic, 1)
        found = producer.partitions_for(topic)
        return found if len(found) == 3 else None

    return {"before": before, "after": w.until(grown, 8, 0.1) or producer.partitions_for(topic)}


@scenario(counts=[[0, 1], [0, 1, 2, 3]])
def a_topic_grows_twice(w):
    """A producer follows two extensions of a topic."""
    topic = w.topic(1)
    producer = w.producer(FRESH)
    send_all(w, producer, topic, 1)
    seen = []
    for total in (2, 4):
        w.grow(topic, total)
        seen.append(until_partitions(w, producer, topic, list(range(total))))
    return {"counts": seen}


@scenario(partitions=[0, 1, 2], records=3)
def a_group_reads_new_partitions(w):
    """A subscribed consumer is assigned new partitions and reads their records."""
    topic = w.topic(1)
    consumer = w.consumer(w.name("group"), metadata_max_age_ms=500)
    consumer.subscribe([topic])
    w.join(consumer)
    w.grow(topic, 3)
    w.settle(consumer, sizes=[3])
    for number in range(3):
        w.feed(topic, [b"x"], number)
    return {
        "partitions": [number for _, number in sorted(consumer.assignment())],
        "records": len(w.read(consumer, 3)),
    }


@scenario(failed=0, partitions=[0])
def a_topic_is_recreated_with_fewer_partitions(w):
    """A topic is deleted and created again with 1 instead of 3 partitions under a producer."""
    topic = w.topic(3)
    producer = w.producer({**FRESH, "delivery.timeout.ms": 15000, "request.timeout.ms": 5000})
    send_all(w, producer, topic)
    w.recreate(topic)
    # Until the new metadata is known, records for the former partitions may fail.
    w.until(lambda: w.error(lambda: send_all(w, producer, topic, seconds=4)) == "none", 12, 0.2)
    places = []
    deliveries = [producer.send(topic, b"x", key) for key in KEYS[:12]]
    outcomes = [w.error(lambda d=d: places.append(d(4))) for d in deliveries]
    return {
        "failed": sum(name != "none" for name in outcomes),
        "partitions": sorted({place.partition for place in places}),
    }


@scenario(stored=True)
def a_topic_is_recreated_under_a_producer(w):
    """A topic is deleted and created again; the producer continues with the new one."""
    topic = w.topic(1)
    producer = w.producer(FRESH)
    send_all(w, producer, topic, 2)
    w.recreate(topic)
    w.until(lambda: w.error(lambda: producer.send(topic, b"new")(20)) == "none", 10)
    return {"stored": [record.value for record in w.stored(topic)][-1:] == [b"new"]}


@scenario(values=[b"n0", b"n1"])
def a_topic_is_recreated_under_a_group(w):
    """A subscribed consumer reads the records of a topic that was deleted and created again."""
    topic = w.topic(1)
    w.feed(topic, 4)
    config = {"metadata_max_age_ms": 500, "allow_auto_create_topics": False}
    consumer = w.consumer(w.name("group"), **config)
    consumer.subscribe([topic])
    w.read(consumer, 4)
    w.recreate(topic)
    w.feed(topic, [b"n0", b"n1"])
    found = []

    def more():
        try:
            found.extend(consumer.poll(0.1))
        except Exception:  # noqa: BLE001 - confluent-kafka reports the deletion
            return False
        return len(found) >= 2

    w.until(more, 15, 0)
    return {"values": [record.value for record in found]}


@scenario(partition=0, partitions=1)
def producing_creates_a_topic(w):
    """With automatic creation, the first record creates its topic with the default partitions."""
    topic = w.adopt(w.name())
    producer = w.producer()
    sent = producer.send(topic, b"x")(20)
    return {"partition": sent.partition, "partitions": w.count(topic)}


@scenario(created=False)
def reading_creates_no_topic(w):
    """allow.auto.create.topics=false: a subscription does not create its topic."""
    topic = w.name()
    consumer = w.consumer(w.name("group"), allow_auto_create_topics=False)
    consumer.subscribe([topic])
    w.error(lambda: w.quiet(consumer))
    return {"created": w.exists(topic)}


@scenario(values=[b"0", b"1"])
def a_topic_is_created_after_the_subscription(w):
    """A consumer subscribed before its topic existed reads it once it is there."""
    topic = w.name()
    config = {"allow_auto_create_topics": False, "metadata_max_age_ms": 500}
    consumer = w.consumer(w.name("group"), **config)
    consumer.subscribe([topic])
    w.error(lambda: consumer.poll(0.2))
    w.ensure(topic)
    w.feed(topic, 2)
    found = []

    def more():
        try:
            found.extend(consumer.poll(0.1))
        except Exception:  # noqa: BLE001 - confluent-kafka reports the unknown topic
            return False
        return len(found) >= 2

    w.until(more, 15, 0)
    return {"values": [record.value for record in found]}


@scenario(topics=2, records=4)
def a_pattern_reads_all_matching_topics(w):
    """A pattern subscription reads every topic that matches, and no other."""
    prefix = w.name("pattern")
    for suffix in ("-a", "-b"):
        w.feed(w.topic(1, name=prefix + suffix), 2)
    w.feed(w.topic(1, name="x" + prefix), 2)
    consumer = w.consumer(w.name("group"))
    consumer.subscribe_pattern(f"{prefix}-.*")
    found = w.read(consumer, 4)
    return {"topics": len({record.topic for record in found}), "records": len(found)}


@scenario(values=[b"0", b"1"])
def a_pattern_finds_a_new_topic(w):
    """A pattern subscription reads a topic that is created later."""
    prefix = w.name("pattern")
    w.topic(1, name=prefix + "-a")
    consumer = w.consumer(w.name("group"), metadata_max_age_ms=500)
    consumer.subscribe_pattern(f"{prefix}-.*")
    w.join(consumer)
    w.feed(w.topic(1, name=prefix + "-b"), 2)
    return {"values": [record.value for record in w.read(consumer, 2)]}


@scenario(assigned=1, commit="none")
def a_pattern_drops_a_deleted_topic(w):
    """A pattern subscription gives up a deleted topic, and commits work after that."""
    prefix = w.name("pattern")
    kept, gone = (w.topic(1, name=prefix + suffix) for suffix in ("-a", "-b"))
    w.feed(kept, 3)
    w.feed(gone, 3)
    config = {} if w.client.name == "aiokafka" else {"allow_auto_create_topics": False}
    consumer = w.consumer(w.name("group"), metadata_max_age_ms=500, **config)
    consumer.subscribe_pattern(f"{prefix}-.*")
    w.read(consumer, 6)
    w.delete(gone)

    def dropped():
        try:
            consumer.poll(0.1)
        except Exception:  # noqa: BLE001 - confluent-kafka reports the deletion
            return False
        return consumer.assignment() == [(kept, 0)]

    w.until(dropped, 15, 0)
    w.feed(kept, 1)
    w.read(consumer, 1)
    return {"assigned": len(consumer.assignment()), "commit": w.error(consumer.commit)}


@scenario(delivered=False)
def a_partition_that_does_not_exist(w):
    """A record for partition 7 of a topic with one partition is rejected."""
    topic = w.topic(1)
    producer = w.producer(
        {"max.block.ms": 1500} if w.client.name.startswith(("barnabas", "java")) else {}
    )
    producer.send(topic, b"first")(20)
    name = w.error(lambda: producer.send(topic, b"x", partition=7)(20))
    return {"delivered": name == "none"}


@scenario(error="INVALID_TOPIC_EXCEPTION")
def a_topic_name_that_is_not_allowed(w):
    """A record for a topic with a blank in its name fails with INVALID_TOPIC_EXCEPTION."""
    # aiokafka looks for the topic until this time is over.
    producer = w.producer({"request.timeout.ms": 2000} if w.client.name == "aiokafka" else None)
    return {"error": w.error(lambda: producer.send("not allowed", b"x")(20))}


@scenario(partitions=[0, 1, 2, 3])
def partitions_for_a_topic(w):
    """`partitions_for` returns all partition numbers."""
    return {"partitions": w.producer().partitions_for(w.topic(4))}


@scenario(partitions=[0, 1], records=6)
def one_producer_two_topics(w):
    """One producer serves topics of different size."""
    small, large = w.topic(1), w.topic(2)
    producer = w.producer()
    send_all(w, producer, small, 2)
    used = send_all(w, producer, large, 4)
    return {"partitions": used, "records": len(w.stored(small)) + len(w.stored(large))}
