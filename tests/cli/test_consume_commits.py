"""The tools that read as a group commit what they printed, and nothing that they did not."""

import os
import subprocess
import sys

import pytest

from barnabas import Producer, TopicPartition
from barnabas.clients.group import Consumer

pytestmark = pytest.mark.integration


@pytest.fixture
def twenty(broker, topic_name):
    """Two partitions with ten records each."""
    broker.topic(topic_name, partitions=2)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(20):
            producer.send(topic_name, b"%02d" % number, partition=number % 2)
    return topic_name


@pytest.fixture
def read(cli, broker, twenty):
    """Runs a tool as the group `twenty`; the values that it printed."""

    def run(tool, limit, *more):
        arguments = {
            "consume": ("consume", twenty, "-g", twenty, "-n", limit, "--format", "raw"),
            "kafka-console-consumer": (
                *("kafka-console-consumer", "--bootstrap-server", broker.bootstrap_servers),
                *("--topic", twenty, "--group", twenty, "--from-beginning"),
                *("--max-messages", limit),
            ),
        }[tool]
        ran = cli(*arguments, *more, servers=broker.bootstrap_servers)
        assert ran.code == 0, ran.err
        return ran.lines

    return run


def committed(broker, topic):
    topic_partitions = [TopicPartition(topic, number) for number in range(2)]
    with Consumer(bootstrap_servers=broker.bootstrap_servers, group_id=topic) as consumer:
        found = consumer.committed(*topic_partitions)
    return sum(at.offset for at in found.values() if at is not None)


@pytest.mark.parametrize("tool", ["consume", "kafka-console-consumer"])
def test_the_next_run_goes_on_where_this_one_stopped(read, broker, twenty, tool):
    first = read(tool, 7)
    assert len(first) == 7
    assert committed(broker, twenty) == 7
    rest = read(tool, 13)
    assert sorted(first + rest) == [f"{number:02}" for number in range(20)]
    assert committed(broker, twenty) == 20


def test_records_that_a_filter_left_out_count_as_read(read, broker, twenty):
    assert read("consume", 1, "--filter-value", "04") == ["04"]
    seen = committed(broker, twenty)
    assert 0 < seen < 20
    rest = read("consume", 1, "--filter-value", "1[89]")
    assert rest[0] in ("18", "19")


def test_a_record_that_could_not_be_printed_is_read_again(broker, twenty):
    """The reader of the pipe ends: what it did not get is not committed."""
    command = [
        *(sys.executable, "-m", "barnabas.cli.main", "kafka-console-consumer"),
        *("--bootstrap-server", broker.bootstrap_servers, "--topic", twenty),
        *("--group", twenty, "--from-beginning", "--timeout-ms", "20000"),
    ]
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writing)
    assert b"Traceback" not in ran.stderr
    assert committed(broker, twenty) == 0


def test_a_bad_record_stops_the_console_before_it(cli, broker, twenty):
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(twenty, b"not an integer", partition=0)
    arguments = (
        *("kafka-console-consumer", "--bootstrap-server", broker.bootstrap_servers),
        *("--topic", twenty, "--group", f"{twenty}-int", "--from-beginning"),
        *("--value-deserializer", "org.apache.kafka.common.serialization.IntegerDeserializer"),
    )
    ran = cli(*arguments)
    assert ran.code != 0
    assert "Error processing message" in ran.err
    topic_partition = TopicPartition(twenty, 0)
    with Consumer(bootstrap_servers=broker.bootstrap_servers, group_id=f"{twenty}-int") as consumer:
        found = consumer.committed(topic_partition)[topic_partition]
    assert found is None or found.offset == 0
