"""Produce requests: the kept bytes around a lone batch say what a whole encoding says."""

import threading
from types import SimpleNamespace

import pytest

from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.requests import ProduceRequests
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.wire._produce_hot import SingleBatchForm
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

TOPIC_ID = Uuid(range(16))


class Connection:
    ready = True

    def __init__(self, version):
        self.version = version

    def single_form(self, version, head, tail):
        return SingleBatchForm(version, b"", head, tail)

    def version_of(self, request):
        return self.version


def batch_of(size, partition=1, topic="t"):
    made = ProducerBatch(TopicPartition(topic, partition), 0, 0, threading.Lock(), None)
    made.payload = bytearray(size)
    return made


def requests_of(settings, topic_id=TOPIC_ID):
    topics = {name: SimpleNamespace(topic_id=topic_id) for name in ("t", "u")}
    return ProduceRequests(settings, SimpleNamespace(topics=topics, generation=1))


def bytes_of(request, version):
    return b"".join(bytes(part) for part in request.encode(version))


@pytest.mark.parametrize("version", range(3, ProduceRequest.MAX_VERSION + 1))
@pytest.mark.parametrize("transactional_id", [None, "mine"])
def test_a_lone_batch_is_encoded_as_any_other(settings_of, version, transactional_id):
    settings = settings_of(transactional_id=transactional_id, request_timeout_ms=1234)
    requests, connection = requests_of(settings), Connection(version)
    for size in (61, 126, 127, 128, 16_383, 70_000, 90):
        batch = batch_of(size)
        request, chosen = requests.make([batch], connection, None)
        data = [PartitionProduceData(1, batch.payload)]
        whole = ProduceRequest(transactional_id, -1, 1234, [TopicProduceData("t", TOPIC_ID, data)])
        assert chosen == version
        assert bytes_of(request, chosen) == bytes_of(whole, version)


def test_another_connection_or_another_topic_of_the_name_is_noticed(settings_of):
    requests = requests_of(settings_of())
    first, _ = requests.make([batch_of(61)], Connection(9), None)
    second, version = requests.make([batch_of(61)], Connection(13), None)
    assert version == 13
    assert bytes_of(first, 9) != bytes_of(second, 13)
    connection = Connection(13)
    before, _ = requests.make([batch_of(61)], connection, None)
    requests._metadata.topics["t"].topic_id = Uuid(b"x" * 16)
    after, _ = requests.make([batch_of(61)], connection, None)
    assert bytes_of(before, 13) != bytes_of(after, 13)


def test_without_a_topic_id_names_are_used(settings_of):
    requests = requests_of(settings_of(), ZERO_UUID)
    assert requests.make([batch_of(61)], Connection(13), None)[1] == 12
    batches = [batch_of(61), batch_of(61, topic="u")]
    assert requests.make(batches, Connection(13), None)[1] == 12


def test_a_transaction_may_hold_the_version_back(settings_of):
    requests, connection = requests_of(settings_of()), Connection(13)
    assert requests.make([batch_of(61)], connection, 11)[1] == 11
    assert requests.make([batch_of(61)], connection, None)[1] == 13


def test_batches_of_one_topic_stand_together(settings_of):
    requests = requests_of(settings_of())
    batches = [batch_of(61, 0), batch_of(61, 0, "u"), batch_of(61, 1)]
    request, _ = requests.make(batches, Connection(9), None)
    assert [(topic.name, len(topic.partition_data)) for topic in request.topic_data] == [
        ("t", 2),
        ("u", 1),
    ]


def test_a_route_lasts_as_long_as_its_metadata_and_its_connection(settings_of):
    requests, connection, batch = requests_of(settings_of()), Connection(13), batch_of(61)
    requests.add_route(batch.partition, 5)
    assert requests.route(batch.partition) is None  # there was no request
    request, version = requests.make([batch], connection, None)
    requests.add_route(batch.partition, 5)
    route = requests.route(batch.partition)
    assert (route.node_id, route.connection) == (5, connection)
    assert route.form.frame(1, batch.payload).endswith(bytes_of(request, version))
    connection.ready = False
    assert requests.route(batch.partition) is None
    connection.ready = True
    assert requests.route(batch.partition) is route
    requests._metadata.generation += 1
    assert requests.route(batch.partition) is None


@pytest.mark.parametrize(
    ("config", "version"),
    [
        ({"acks": 0, "enable_idempotence": False}, 13),
        ({"compression_type": "gzip"}, 13),
        ({"transactional_id": "mine"}, 13),
        ({}, 8),
    ],
)
def test_other_requests_have_no_route(settings_of, config, version):
    requests, batch = requests_of(settings_of(**config)), batch_of(61)
    requests.make([batch], Connection(version), None)
    requests.add_route(batch.partition, 5)
    assert requests.route(batch.partition) is None
