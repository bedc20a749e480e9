"""KafkaSimpleExampleConsumer: reads one partition by offset; finds a new leader after a failure.

python examples/seeds/simple_consumer_example.py [port] [topic]
"""

import logging
import sys
import threading

from barnabas import BarnabasError, BrokerError, ErrorCode, SimpleConsumer

LOG = logging.getLogger("KafkaSimpleExampleConsumer")
LEADER_LOOKUP_CLIENT_ID = "leaderLookup"
FETCH_SIZE = 1000
MAX_ERRORS = 3


class KafkaSimpleExampleConsumer:
    """A consumer of the low level: the caller keeps the offset."""

    def __init__(self, so_timeout_ms: int = 10 * 1000, buffer_size: int = 1024 * 64) -> None:
        self.so_timeout_ms = so_timeout_ms
        self.buffer_size = buffer_size
        self.stop = threading.Event()

    def run(self, topic: str, partition: int, seed_brokers: list[str], port: int) -> None:
        leader = self.find_leader(seed_brokers, port, topic, partition)
        if leader is None:
            return
        client_id = f"client_{topic}_{partition}"
        consumer = self.connect([leader], client_id)
        offset = consumer.earliest_offset(topic, partition)
        errors = 0
        while not self.stop.is_set():
            try:
                fetched = consumer.fetch(topic, partition, offset, FETCH_SIZE)
            except BrokerError as error:
                errors += 1
                if errors > MAX_ERRORS:
                    break
                if error.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                    offset = consumer.latest_offset(topic, partition)
                    continue
                consumer.close()
                leader = self.find_new_leader(leader, topic, partition, seed_brokers, port)
                consumer = self.connect([leader], client_id)
                continue
            errors = 0
            read = 0
            for record in fetched.records():
                if record.offset < offset:
                    continue
                offset = record.offset + 1
                read += 1
                LOG.info("message : [%s]", (record.value or b"").decode())
            if read == 0:
                self.stop.wait(1.0)
        consumer.close()

    def connect(self, addresses: list[str], client_id: str) -> SimpleConsumer:
        return SimpleConsumer(
            {
                "bootstrap.servers": ",".join(addresses),
                "request.timeout.ms": self.so_timeout_ms,
                "receive.buffer.bytes": self.buffer_size,
                "client.id": client_id,
            }
        )

    def find_leader(
        self, seed_brokers: list[str], port: int, topic: str, partition: int
    ) -> str | None:
        """Returns host:port of the leader; sends the request to one seed broker after the other."""
        for host in seed_brokers:
            try:
                with self.connect([f"{host}:{port}"], LEADER_LOOKUP_CLIENT_ID) as lookup:
                    node = lookup.leader(topic, partition)
            except BarnabasError:
                LOG.exception("no metadata from %s:%d", host, port)
            else:
                return f"{node.host}:{node.port}"
        return None

    def find_new_leader(
        self, old_leader: str, topic: str, partition: int, seed_brokers: list[str], port: int
    ) -> str:
        """Three attempts, a second apart; the first one does not accept the old leader."""
        for attempt in range(3):
            leader = self.find_leader(seed_brokers, port, topic, partition)
            if leader is None:
                LOG.warning("no leader of %s-%d", topic, partition)
            elif leader == old_leader and attempt == 0:
                LOG.warning("the leader is still %s", old_leader)
            else:
                return leader
            self.stop.wait(1.0)
        raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, f"{topic}-{partition} has no new leader")


def main(port: str = "9092", topic: str = "test") -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
    KafkaSimpleExampleConsumer().run(topic, 0, ["127.0.0.1"], int(port))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
