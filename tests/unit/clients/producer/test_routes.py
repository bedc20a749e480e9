"""Lone batches: frames and answers by pattern say what the codec says."""

from types import SimpleNamespace

import pytest

from barnabas.clients.producer.requests import ProduceRequests
from barnabas.clients.producer.routes import Route
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.net.client_protocol import ClientProtocol
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

TOPIC_ID = Uuid(range(16))
PLACE = TopicPartition("t", 1)
VERSIONS = range(3, ProduceRequest.MAX_VERSION + 1)


class Connection:
    closed = False

    def __init__(self, version):
        self.version_of = lambda request: version
        self.protocol = ClientProtocol("client")

    def frame_of(self, request, version):
        return bytearray().join(self.protocol.frame_of(request, version))


def route_of(settings_of, version):
    metadata = SimpleNamespace(topics={"t": SimpleNamespace(topic_id=TOPIC_ID)})
    connection = Connection(version)
    form = ProduceRequests(settings_of(), metadata).form(PLACE, connection)
    return Route(1, connection, form, 7)


def answer(**fields):
    item = PartitionProduceResponse(index=1, **fields)
    topic = TopicProduceResponse(name="t", topic_id=TOPIC_ID, partition_responses=[item])
    return ProduceResponse(responses=[topic])


def frame_of(response, version):
    return memoryview(b"head" + b"".join(bytes(part) for part in response.encode(version)))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_frame_is_what_the_codec_makes(settings_of, version):
    route = route_of(settings_of, version)
    for size in (61, 61, 126, 127, 128, 16_383, 70_000, 90):
        payload = bytearray(size)
        data = [TopicProduceData("t", TOPIC_ID, [PartitionProduceData(1, payload)])]
        whole = ProduceRequest(None, -1, 30_000, data)
        assert route.frame(payload) == route.connection.frame_of(whole, version)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_answer_like_the_last_is_read_without_decoding(settings_of, version):
    route = route_of(settings_of, version)
    assert route.read(frame_of(answer(base_offset=5), version), 4) is None
    route.learn(answer(base_offset=5))
    assert route.read(frame_of(answer(base_offset=2**40), version), 4) == 2**40


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("fields", [{"error_code": 6}, {"log_append_time_ms": 9}])
def test_any_other_answer_is_left_to_the_codec(settings_of, version, fields):
    route = route_of(settings_of, version)
    route.learn(answer(base_offset=5, **fields))
    assert route.read(frame_of(answer(base_offset=6, **fields), version), 4) is None
    route.learn(answer(base_offset=5))
    assert route.read(frame_of(answer(base_offset=6, **fields), version), 4) is None
    assert route.read(frame_of(answer(base_offset=6), version)[:-1], 4) is None


def test_a_route_holds_for_its_connection_and_metadata(settings_of):
    route = route_of(settings_of, 13)
    assert route.holds(7)
    assert not route.holds(8)
    route.connection.closed = True
    assert not route.holds(7)
