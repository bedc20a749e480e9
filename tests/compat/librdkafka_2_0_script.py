"""Runs under the old client's own interpreter: produce, read back, print both as JSON."""

import json
import sys

import confluent_kafka


def main(address, topic, codec, idempotent):
    config = {"bootstrap.servers": address, "linger.ms": 20}
    producer = confluent_kafka.Producer(
        {**config, "compression.type": codec, "enable.idempotence": idempotent}
    )
    written = [[f"k{n}", f"value {n} " * 30] for n in range(50)]
    for key, value in written:
        producer.produce(topic, value, key, partition=0, headers=[("h", b"1")])
    if producer.flush(20):
        raise SystemExit("records were not delivered")
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": address, "group.id": "unused", "enable.auto.commit": False}
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    read = []
    for _ in range(500):
        read.extend(consumer.consume(50, timeout=0.1))
        if len(read) >= len(written):
            break
    consumer.close()
    json.dump(
        {
            "version": confluent_kafka.libversion()[0],
            "written": written,
            "read": [[item.key().decode(), item.value().decode()] for item in read],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
