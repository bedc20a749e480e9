"""KafkaConsumerDemo: a member of a group that prints every record of a topic until Ctrl-C.

python examples/seeds/kafka_consumer_demo.py [host:port]
"""

import sys

from barnabas import Consumer

ADDRESS = "192.168.239.131:9092"


def main(address: str = ADDRESS) -> None:
    props = {
        # required
        "bootstrap.servers": address,
        "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
        "value.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
        "group.id": "group1",
        # optional
        "enable.auto.commit": "true",
        "auto.commit.interval.ms": "1000",
        "auto.offset.reset": "earliest ",
        "client.id": "test_client_id",
    }
    consumer = Consumer(props)

    consumer.subscribe(["test"])

    while True:
        for records in consumer.poll(0.1).values():
            for record in records:
                print(
                    f"topic = {record.topic}, partition = {record.partition}, "
                    f"offset = {record.offset}, key = {record.key}, value = {record.value}",
                    flush=True,
                )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
