"""A segment file vanishes under a broker: all other records are served, and the gap is logged."""

import confluent_kafka
import pytest
from support.cluster.broker_process import BrokerProcess

from barnabas import Admin, Producer

pytestmark = pytest.mark.faults

RECORDS = 4000


@pytest.mark.parametrize("clean", [True, False], ids=["clean stop", "kill -9"])
def test_consumers_read_everything_but_the_missing_segment(tmp_path, capfd, clean):
    broker = BrokerProcess(tmp_path)
    config = {"bootstrap.servers": broker.bootstrap_servers}
    with broker:
        with Admin(config) as admin, Producer(config) as producer:
            admin.create_topic("t", 1, configs={"segment.bytes": "65536"})
            for number in range(RECORDS):
                producer.send("t", b"%d" % number + b"." * 60, partition=0)
                if number % 50 == 49:
                    producer.flush(20)
        broker.stop() if clean else broker.kill()
        segments = sorted(tmp_path.rglob("t-0/*.log"))
        assert len(segments) >= 4
        start, end = (int(path.stem) for path in segments[1:3])
        segments[1].unlink()
        broker.start()
        assert consumed(config) == [n for n in range(RECORDS) if not start <= n < end]
        assert consumed(config, first=start + 1)[0] == end
        with Producer(config) as producer:
            assert producer.send("t", b"next", partition=0).result(60).offset == RECORDS
    assert capfd.readouterr().err.count(f"offsets {start} to {end - 1} are missing") == 1


def consumed(config, first=0):
    """The offsets that librdkafka's consumer reads up to the end."""
    consumer = confluent_kafka.Consumer({**config, "group.id": "g", "enable.partition.eof": True})
    consumer.assign([confluent_kafka.TopicPartition("t", 0, first)])
    offsets = []
    while (message := consumer.poll(20)) is not None and message.error() is None:
        offsets.append(message.offset())
    consumer.close()
    return offsets
