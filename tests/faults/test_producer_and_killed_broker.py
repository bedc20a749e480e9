"""A broker killed and restarted under an idempotent producer: nothing acknowledged is lost,
nothing is stored twice, order is kept."""

import threading

import pytest
from support.cluster.broker_process import BrokerProcess
from support.soak import SOAK

from barnabas import Producer, SimpleConsumer

pytestmark = pytest.mark.faults

KILLS = 12 if SOAK else 3
PAUSE_SECONDS = 0.7


def test_kill_minus_nine_loses_and_repeats_nothing(tmp_path):
    with BrokerProcess(tmp_path) as broker:
        stop = threading.Event()
        futures = []
        with Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=1) as producer:
            writer = threading.Thread(target=write, args=(producer, futures, stop))
            writer.start()
            for _ in range(KILLS):
                stop.wait(PAUSE_SECONDS)
                broker.kill()
                broker.start()
            stop.wait(PAUSE_SECONDS)
            stop.set()
            writer.join()
            producer.flush(60)
        acknowledged = [future.result(0) for future in futures]
        stored = read_all(broker.bootstrap_servers)
    assert broker.kills == KILLS
    assert len(acknowledged) > 1000
    assert len(stored) == len(set(stored)), "a record is stored twice"
    assert stored == [b"%d" % n for n in range(len(futures))], "lost or reordered"
    assert [item.offset for item in acknowledged] == list(range(len(futures)))


def write(producer, futures, stop):
    number = 0
    while not stop.is_set():
        for _ in range(20):
            futures.append(producer.send("t", b"%d" % number))
            number += 1
        stop.wait(0.005)


def read_all(address):
    with SimpleConsumer(bootstrap_servers=address) as consumer:
        end = consumer.latest_offset("t", 0)
        position, values = 0, []
        while position < end:
            records, position = consumer.fetch("t", 0, position).decode()
            values += [record.value for record in records]
    return values
