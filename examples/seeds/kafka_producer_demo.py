"""KafkaProducerDemo: one record with a key, sent with a callback.

python examples/seeds/kafka_producer_demo.py [host:port]
"""

import sys

from barnabas import Producer, RecordMetadata

ADDRESS = "192.168.239.131:9092"


def main(address: str = ADDRESS) -> None:
    props = {
        # required
        "bootstrap.servers": address,
        "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        "value.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        # optional
        "client.id": "client-0",
        "retries": 3,
        "acks": "all",
        "max.in.flight.requests.per.connection": 1,
        "linger.ms": 100,
        "batch.size": 10240,
        "buffer.memory": 10240,
    }
    producer = Producer(props)

    # Asynchronous; `producer.send("test1", "value1", key="key1").result()` waits for the record.
    producer.send("test1", "value1", key="key1", on_delivery=on_completion)

    producer.close()


def on_completion(metadata: RecordMetadata | None, error: BaseException | None) -> None:
    if metadata is None:
        print(f"failed: {error}", file=sys.stderr)
    else:
        print(metadata.topic)


if __name__ == "__main__":
    main(*sys.argv[1:])
