"""Scenarios of delivery: which records, in which order, and the error of a failed delivery."""

import socket

from scenarios.registry import KAFKA, SINGLE, scenario


def values_of(records):
    return [record.value for record in records]


def deliver(deliveries):
    return [delivery(20) for delivery in deliveries]


@scenario(in_order=True, offsets=True)
def records_arrive_in_order(w):
    """Five hundred records of one partition are stored in the order of the calls."""
    topic, producer = w.topic(1), w.producer({"linger.ms": 2})
    sent = deliver([producer.send(topic, b"%d" % n) for n in range(500)])
    return {
        "in_order": values_of(w.stored(topic)) == [b"%d" % n for n in range(500)],
        "offsets": [item.offset for item in sent] == list(range(500)),
    }


@scenario(offsets=[0, 1, 2])
def each_delivery_reports_its_offset(w):
    """The result of a delivery has the record's offset."""
    topic, producer = w.topic(1), w.producer()
    return {"offsets": [producer.send(topic, b"x")(20).offset for _ in range(3)]}


@scenario(offset_known=False, stored=3)
def without_acknowledgement_no_offset(w):
    """acks=0: delivery is reported without an offset, and the records are stored."""
    topic, producer = w.topic(1), w.producer({"acks": "0", "enable.idempotence": False})
    sent = deliver([producer.send(topic, b"x") for _ in range(3)])
    w.until(lambda: len(w.stored(topic)) == 3)
    known = any(item is not None and (item.offset or -1) >= 0 for item in sent)
    return {"offset_known": known, "stored": len(w.stored(topic))}


@scenario(offsets=[0, 1, 2])
def acknowledgement_by_the_leader(w):
    """acks=1: records are delivered with their offsets."""
    topic, producer = w.topic(1), w.producer({"acks": "1", "enable.idempotence": False})
    return {"offsets": [producer.send(topic, b"x")(20).offset for _ in range(3)]}


@scenario(headers=(("a", b"1"), ("b", b""), ("a", b"2"), ("n", None)))
def headers_are_kept(w):
    """Headers keep order, repeated names, empty and null values."""
    topic, producer = w.topic(1), w.producer()
    headers = [("a", b"1"), ("b", b""), ("a", b"2"), ("n", None)]
    producer.send(topic, b"x", headers=headers)(20)
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    return {"headers": w.read(consumer, 1)[0].headers}


@scenario(timestamps=[1_600_000_000_000, 1_600_000_000_001])
def timestamps_are_kept(w):
    """A record's own timestamp is stored and read."""
    topic, producer = w.topic(1), w.producer()
    for n in range(2):
        producer.send(topic, b"x", timestamp=1_600_000_000_000 + n)(20)
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    return {"timestamps": [record.timestamp for record in w.read(consumer, 2)]}


@scenario(replaced=True)
def the_broker_sets_the_time(w):
    """message.timestamp.type=LogAppendTime: the broker's time replaces the record's."""
    topic = w.topic(1, message_timestamp_type="LogAppendTime")
    w.producer().send(topic, b"x", timestamp=1_600_000_000_000)(20)
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    return {"replaced": w.read(consumer, 1)[0].timestamp > 1_700_000_000_000}


@scenario(pairs=[(b"k", None), (None, b"v"), (b"", b""), (b"k", b"v")])
def null_and_empty_are_told_apart(w):
    """Null and empty keys and values are read as they were sent."""
    topic, producer = w.topic(1), w.producer()
    for key, value in [(b"k", None), (None, b"v"), (b"", b""), (b"k", b"v")]:
        producer.send(topic, value, key)(20)
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    return {"pairs": [(record.key, record.value) for record in w.read(consumer, 4)]}


def _compressed(w, codec):
    topic = w.topic(1)
    producer = w.producer({"compression.type": codec, "linger.ms": 5})
    deliver([producer.send(topic, b"value %d " % n * 20) for n in range(50)])
    producer.close()
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    found = values_of(w.read(consumer, 50))
    return {"same": found == [b"value %d " % n * 20 for n in range(50)]}


@scenario(same=True)
def records_compressed_by_gzip(w):
    """Records written with gzip are read back."""
    return _compressed(w, "gzip")


@scenario(same=True)
def records_compressed_by_snappy(w):
    """Records written with snappy are read back."""
    return _compressed(w, "snappy")


@scenario(same=True)
def records_compressed_by_lz4(w):
    """Records written with lz4 are read back."""
    return _compressed(w, "lz4")


@scenario(same=True)
def records_compressed_by_zstd(w):
    """Records written with zstd are read back."""
    return _compressed(w, "zstd")


@scenario(same=True)
def the_topic_compresses(w):
    """A topic's own compression.type does not change what is read."""
    topic = w.topic(1, compression_type="gzip")
    producer = w.producer({"linger.ms": 5})
    deliver([producer.send(topic, b"v%d" % n) for n in range(50)])
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    return {"same": values_of(w.read(consumer, 50)) == [b"v%d" % n for n in range(50)]}


@scenario(error="MESSAGE_TOO_LARGE", next="none")
def a_record_over_the_clients_limit(w):
    """A record over max.request.size fails with MESSAGE_TOO_LARGE; the next one is delivered."""
    topic, producer = w.topic(1), w.producer({"max.request.size": 2000})
    error = w.error(lambda: producer.send(topic, b"x" * 5000)(20))
    return {"error": error, "next": w.error(lambda: producer.send(topic, b"y")(20))}


@scenario(error="MESSAGE_TOO_LARGE")
def headers_count_for_the_limit(w):
    """Headers count for max.request.size."""
    topic, producer = w.topic(1), w.producer({"max.request.size": 2000})
    headers = [("h", b"x" * 5000)]
    return {"error": w.error(lambda: producer.send(topic, b"x", headers=headers)(20))}


@scenario(error="MESSAGE_TOO_LARGE", next="none")
def a_record_over_the_topics_limit(w):
    """A record over the topic's max.message.bytes fails with MESSAGE_TOO_LARGE."""
    topic, producer = w.topic(1, max_message_bytes=1000), w.producer()
    error = w.error(lambda: producer.send(topic, b"x" * 5000)(20))
    return {"error": error, "next": w.error(lambda: producer.send(topic, b"y")(20))}


@scenario(error="MESSAGE_TOO_LARGE")
def a_record_over_the_buffer(w):
    """A record larger than buffer.memory fails at once instead of waiting for memory."""
    config = {"buffer.memory": 40_000, "max.block.ms": 15_000, "batch.size": 1000}
    topic, producer = w.topic(1), w.producer(config)
    producer.send(topic, b"first")(20)
    return {"error": w.error(lambda: producer.send(topic, b"x" * 100_000)(10))}


@scenario(same=True)
def a_large_record(w):
    """A record of 900 kB is delivered and read."""
    topic, producer = w.topic(1), w.producer()
    value = bytes(range(250)) * 3600
    producer.send(topic, value)(20)
    consumer = w.consumer()
    consumer.assign([(topic, 0)])
    return {"same": w.read(consumer, 1)[0].value == value}


@scenario(refused=True)
def sending_after_close(w):
    """A closed producer rejects records."""
    topic, producer = w.topic(1), w.producer()
    producer.send(topic, b"x")(20)
    producer.close()
    return {"refused": w.error(lambda: producer.send(topic, b"y")(5)) != "none"}


@scenario(stored=20)
def flush_sends_what_lingers(w):
    """flush() delivers records without waiting for linger.ms."""
    topic, producer = w.topic(1), w.producer({"linger.ms": 5000})
    for n in range(20):
        producer.send(topic, b"%d" % n)
    producer.flush()
    return {"stored": len(w.stored(topic))}


@scenario(stored=20)
def close_sends_what_lingers(w):
    """close() delivers records that still linger."""
    topic, producer = w.topic(1), w.producer({"linger.ms": 5000})
    for n in range(20):
        producer.send(topic, b"%d" % n)
    producer.close()
    return {"stored": len(w.stored(topic))}


@scenario(delivered=5)
def no_linger_sends_at_once(w):
    """linger.ms=0: records are delivered without flush()."""
    topic, producer = w.topic(1), w.producer()
    for n in range(5):
        producer.send(topic, b"%d" % n)
    w.until(lambda: len(w.stored(topic)) == 5, 10)
    return {"delivered": len(w.stored(topic))}


@scenario(delivered=False)
def an_unreachable_broker(w):
    """No broker at the address: the record fails within the configured time."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    def attempt():
        limits = {"delivery.timeout.ms": 1500, "request.timeout.ms": 1000, "max.block.ms": 1500}
        if w.client.name == "confluent-kafka":
            limits.pop("max.block.ms")
        if w.client.name == "kafka-python":
            limits["bootstrap.timeout.ms"] = 1500
        if w.client.name == "aiokafka":
            limits = {"request.timeout.ms": 1000}
        producer = w.client.producer(f"127.0.0.1:{port}", limits)
        try:
            producer.send("any", b"x")(10)
        finally:
            producer.close()

    return {"delivered": w.error(attempt) == "none"}


@scenario(_brokers=(SINGLE, KAFKA), stored=1)
def more_replicas_wanted_than_there_are(w):
    """min.insync.replicas above the number of replicas counts as the number of replicas."""
    topic = w.topic(1, replication=1, min_insync_replicas=2)
    w.producer({"acks": "all"}).send(topic, b"x")(20)
    return {"stored": len(w.stored(topic))}


@scenario(topics=10)
def one_producer_many_topics(w):
    """One producer delivers to ten topics."""
    topics = [w.topic(1) for _ in range(10)]
    producer = w.producer({"linger.ms": 2})
    sent = deliver([producer.send(topic, b"x") for topic in topics])
    return {"topics": len({item.topic for item in sent})}


@scenario(ordered=True, records=200)
def two_producers_one_partition(w):
    """Two producers write one partition; each one's order is kept."""
    topic = w.topic(1)
    producers = [w.producer({"linger.ms": 2}) for _ in range(2)]
    deliver([p.send(topic, b"%d" % n, b"%d" % i) for n in range(100) for i, p in _each(producers)])
    found = w.stored(topic)
    orders = [[int(r.value) for r in found if r.key == b"%d" % i] for i in range(2)]
    return {"ordered": all(order == sorted(order) for order in orders), "records": len(found)}


def _each(producers):
    return enumerate(producers)


@scenario(accepted=False)
def acks_that_do_not_exist(w):
    """acks=7 is rejected when the producer is created."""
    return {"accepted": w.error(lambda: w.producer({"acks": "7"})) == "none"}


@scenario(accepted=False)
def a_codec_that_does_not_exist(w):
    """compression.type=zip is rejected when the producer is created."""
    return {"accepted": w.error(lambda: w.producer({"compression.type": "zip"})) == "none"}


@scenario(records=1000, in_order=True)
def many_small_batches(w):
    """A thousand records in batches of 200 bytes keep their order."""
    topic, producer = w.topic(1), w.producer({"batch.size": 200})
    deliver([producer.send(topic, b"%d" % n) for n in range(1000)])
    found = [int(value) for value in values_of(w.stored(topic))]
    return {"records": len(found), "in_order": found == sorted(found)}


@scenario(leftover=0, next="none")
def a_failed_record_does_not_block_the_rest(w):
    """Of ten records one is too large for the topic; the other nine are delivered."""
    topic, producer = w.topic(1, max_message_bytes=1000), w.producer()
    outcomes = [
        w.error(lambda n=n: producer.send(topic, b"x" * (5000 if n == 4 else 10))(20))
        for n in range(10)
    ]
    return {"leftover": 9 - outcomes.count("none"), "next": outcomes[-1]}
