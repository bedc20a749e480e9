"""The simple consumer against a real broker, and against ports where no broker is."""

import socket
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from barnabas import BrokerError, DeadlineError, ErrorCode, Producer, SimpleConsumer, TopicPartition
from barnabas.model.errors import BarnabasError, UnavailableError
from barnabas.security.mechanism import AuthenticationError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture
def consumer(broker):
    with SimpleConsumer(bootstrap_servers=broker.bootstrap_servers, fetch_max_wait_ms=50) as made:
        yield made


@pytest.fixture
def filled(broker, topic_name):
    """A topic with ten batches of ten records, a second apart."""
    with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for batch in range(10):
            for number in range(10):
                stamp = 1_700_000_000_000 + batch * 1000
                producer.send(topic_name, b"%d" % (batch * 10 + number), timestamp=stamp)
            producer.flush(10)
    return topic_name


def test_offsets_earliest_latest_and_by_time(consumer, filled):
    assert consumer.partitions(filled) == [0]
    assert consumer.earliest_offset(filled, 0) == 0
    assert consumer.latest_offset(filled, 0) == 100
    found = consumer.offset_for_time(filled, 0, 1_700_000_002_500)
    assert (found.offset, found.timestamp) == (30, 1_700_000_003_000)
    assert consumer.offset_for_time(filled, 0, 1_800_000_000_000) is None


def test_a_range_of_records_over_many_fetches(consumer, filled):
    assert [record.offset for record in consumer.records(filled, 0)] == list(range(100))
    assert [record.offset for record in consumer.records(filled, 0, 55, 71)] == list(range(55, 71))
    assert list(consumer.records(filled, 0, 100)) == []


def test_records_fails_when_the_end_is_never_reached():
    class Silent(SimpleConsumer):
        """Finds nothing, as at the end of a log."""

        def fetch(self, topic, partition, offset, *_, **__):
            return SimpleNamespace(decode=lambda: ([], offset))

    settings = {"bootstrap.servers": "localhost:1", "default.api.timeout.ms": 20}
    with Silent(settings) as consumer, pytest.raises(DeadlineError) as caught:
        list(consumer.records("t", 0, 100, 105))
    assert str(caught.value) == "t-0: no records from offset 100 on, although its end is 105"


def test_a_fetch_begins_at_its_offset_even_inside_a_batch(consumer, filled):
    fetched = consumer.fetch(filled, 0, 55)
    records, position = fetched.decode()
    assert [record.offset for record in records] == list(range(55, 100))
    assert position == 100
    assert fetched.high_watermark == 100
    assert fetched.log_start_offset == 0


def test_a_small_fetch_size_still_brings_one_whole_batch(consumer, filled):
    records, position = consumer.fetch(filled, 0, 0, fetch_size=1).decode()
    assert [record.offset for record in records] == list(range(10))
    assert position == 10


def test_at_the_end_there_is_nothing_for_now(consumer, filled):
    fetched = consumer.fetch(filled, 0, 100)
    assert fetched.decode() == ([], 100)


def test_records_also_come_as_arrow(consumer, filled):
    batch = consumer.fetch(filled, 0, 95).arrow()
    assert batch.column("offset").to_pylist() == [95, 96, 97, 98, 99]
    assert batch.column("value").to_pylist() == [b"95", b"96", b"97", b"98", b"99"]


@pytest.mark.parametrize("offset", [101, 5000])
def test_an_offset_out_of_range_is_the_callers_to_decide(consumer, filled, offset):
    with pytest.raises(BrokerError) as caught:
        consumer.fetch(filled, 0, offset)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert f"{filled}-0 at offset {offset}" in str(caught.value)


def test_committed_offsets_of_a_group_without_members(consumer, filled):
    group = f"group-of-{filled}"
    assert consumer.committed(group, filled, 0) is None
    consumer.commit(group, {TopicPartition(filled, 0): 42})
    assert consumer.committed(group, filled, 0) == 42


def test_it_goes_on_when_the_broker_comes_back(tmp_path):
    first = Broker(data_dir=tmp_path).start()
    with Producer(bootstrap_servers=first.bootstrap_servers) as producer:
        producer.send("t", b"before").result(60)
    with SimpleConsumer(bootstrap_servers=first.bootstrap_servers) as consumer:
        assert [r.value for r in consumer.fetch("t", 0, 0).records()] == [b"before"]
        first.stop()
        with Broker(data_dir=tmp_path, port=first.port):
            assert [r.value for r in consumer.fetch("t", 0, 0).records()] == [b"before"]


def test_a_leader_that_is_gone_is_looked_up_anew(consumer, filled, monkeypatch):
    consumer.partitions(filled)
    asked, gone = [], True
    refresh, connection = consumer._router.refresh, consumer._router.connection

    def connect(address):
        if gone:
            raise UnavailableError("gone")
        return connection(address)

    def look(topic):
        nonlocal gone
        gone = False
        asked.append(topic)
        refresh(topic)

    monkeypatch.setattr(consumer._router, "refresh", look)
    monkeypatch.setattr(consumer._router, "connection", connect)
    assert consumer.partitions(filled) == [0]
    gone = True
    assert consumer.leader(filled, 0).port
    assert asked == [filled] * 2


def test_errors_name_an_unknown_topic_or_partition_before_the_timeout(broker):
    with SimpleConsumer(
        bootstrap_servers=broker.bootstrap_servers, default_api_timeout_ms=300
    ) as consumer:
        with pytest.raises(BarnabasError, match="'no-such-topic'"):
            consumer.partitions("no-such-topic")
        with pytest.raises(BarnabasError, match="no-such-topic"):
            consumer.fetch("no-such-topic", 0, 0)


@contextmanager
def listening(serve):
    """A server of something that is not Kafka; `serve(connection)` per connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                with peer:
                    peer.settimeout(60)
                    try:
                        serve(peer)
                    except OSError:
                        continue

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def zookeeper(peer):
    if peer.recv(4) == b"srvr":
        peer.sendall(b"Zookeeper version: 3.9.3, built on a day\n")


def tls(peer):
    # An alert as a server sends it to a client that did not say a TLS hello, or whose hello
    # it does not like.
    peer.recv(4096)
    peer.sendall(b"\x15\x03\x03\x00\x02\x02\x28")


def http(peer):
    peer.recv(4096)
    peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize(
    ("serve", "error", "message"),
    [
        (zookeeper, DeadlineError, "is a ZooKeeper server, not a broker"),
        (tls, AuthenticationError, "expects TLS: set security.protocol to SSL"),
        (http, DeadlineError, "is an HTTP server, not a broker"),
    ],
)
def test_the_error_for_a_wrong_port_names_the_protocol_found_there(serve, error, message):
    with (
        listening(serve) as address,
        SimpleConsumer(bootstrap_servers=address, default_api_timeout_ms=2000) as consumer,
        pytest.raises(error, match=message),
    ):
        consumer.partitions("t")


def test_the_error_for_tls_on_a_plaintext_port_names_the_cause():
    with (
        listening(http) as address,
        SimpleConsumer(
            bootstrap_servers=address, security_protocol="SSL", default_api_timeout_ms=2000
        ) as consumer,
        pytest.raises(DeadlineError, match=r"wrong version number|TLS|SSL"),
    ):
        consumer.partitions("t")
