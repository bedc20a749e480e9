"""Records with the KeyPartitioner of cn/xisun/partitioner.py, named by its path.

python examples/seeds/key_partitioner_demo.py [host:port]
"""

import sys

from barnabas import BarnabasError, Producer

ADDRESS = "192.168.239.131:9092"
TOPIC = "partitioned"


def main(address: str = ADDRESS) -> None:
    props = {
        "bootstrap.servers": address,
        "key.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        "value.serializer": "org.apache.kafka.common.serialization.StringSerializer",
        "partitioner.class": "cn.xisun.partitioner.KeyPartitioner",
    }
    with Producer(props) as producer:
        for key in ("key1", "key2"):
            metadata = producer.send(TOPIC, "value", key=key).result(10)
            print(f"{key} -> partition {metadata.partition}")
        try:
            producer.send(TOPIC, "value").result(10)
        except BarnabasError as error:
            print(f"no key: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
