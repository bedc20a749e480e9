"""Records deleted by request do not come back when the broker is killed."""

import pytest
from support.cluster.broker_process import BrokerProcess

from barnabas import Admin, Producer, TopicPartition
from barnabas.admin.topic_types import EARLIEST

pytestmark = pytest.mark.faults

TOPIC_PARTITION = TopicPartition("t", 0)


def test_deleted_records_stay_deleted(tmp_path):
    with BrokerProcess(tmp_path) as broker:
        config = {"bootstrap.servers": broker.bootstrap_servers}
        with Admin(config) as admin, Producer(config) as producer:
            admin.create_topic("t", 1)
            for _ in range(10):
                producer.send("t", b"x", partition=0).result(60)
            assert admin.delete_records({TOPIC_PARTITION: 7})[TOPIC_PARTITION] == 7
        broker.kill()
        broker.start()
        with Admin(config) as admin:
            assert admin.list_offsets({TOPIC_PARTITION: EARLIEST})[TOPIC_PARTITION].offset == 7
