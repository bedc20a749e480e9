"""The high-level consumer: n streams of a topic, a thread per stream, coordinated by ZooKeeper.

python examples/seeds/high_level_consumer.py [host:port of ZooKeeper] [topic]
"""

import sys
import threading

from barnabas import ConsumerConnector
from barnabas.clients.connector import MessageStream

STREAMS = 3


def main(zookeeper: str = "127.0.0.1:2181", topic: str = "test") -> None:
    props = {
        "zookeeper.connect": zookeeper,
        "group.id": "group1",
        "zookeeper.session.timeout.ms": "6000",
        "auto.offset.reset": "smallest",
        "auto.commit.interval.ms": "1000",
    }
    connector = ConsumerConnector(props)
    # Which topic has how many streams; a thread reads each stream.
    message_streams = connector.create_message_streams({topic: STREAMS})
    threads = [
        threading.Thread(target=consume, args=(number, stream))
        for number, stream in enumerate(message_streams[topic])
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        connector.shutdown()  # ends the streams, and so the threads
        for thread in threads:
            thread.join()
        sys.exit(130)


def consume(number: int, stream: MessageStream) -> None:
    for record in stream:
        value = (record.value or b"").decode()
        # One write per line: print() writes the line end apart, and threads would mix their lines.
        sys.stdout.write(f"thread {number}: partition = {record.partition}, value = {value}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
