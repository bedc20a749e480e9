"""A client that reaches no broker, or no topic, says so: in the log, by ping() and by an error."""

import logging
import socket
import threading
from contextlib import closing

import pytest
from support.security.secure_broker import Certificates

from barnabas import AuthenticationError, Consumer, DeadlineError, Producer, TopicPartition, aio
from barnabas.model.errors import BrokerError, ConfigError, UnavailableError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

REFUSED = {"bootstrap.servers": "127.0.0.1:1"}
BAD_HOST = {"bootstrap.servers": "no-such-host.invalid:9092"}
GROUP = {"group.id": "g", "auto.offset.reset": "earliest"}


@pytest.fixture
def warnings(caplog):
    """The warnings of the clients, as texts."""
    with caplog.at_level(logging.WARNING, "barnabas"):
        yield lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def closed_broker():
    """A broker that creates no topics."""
    with Broker(config={"auto.create.topics.enable": "false"}) as running:
        yield running


# -- the log ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "reason"), [(REFUSED, "connection refused"), (BAD_HOST, "Name or service not known")]
)
def test_an_unreachable_host_is_logged_once(config, reason, warnings):
    with Consumer(config, **GROUP) as consumer:
        consumer.subscribe(["orders"])
        for _ in range(8):
            assert consumer.poll(0.25) == {}
    told = [text for text in warnings() if reason in text]
    assert len(told) == 1, warnings()
    assert config["bootstrap.servers"] in told[0]


def test_an_assigned_consumer_logs_it_too(warnings):
    with Consumer(REFUSED) as consumer:
        consumer.assign([("orders", 0)])
        for _ in range(4):
            assert consumer.poll(0.25) == {}
    assert len([text for text in warnings() if "connection refused" in text]) == 1


def test_a_producer_logs_it_before_a_send_fails(warnings):
    with (
        Producer(REFUSED, max_block_ms=1000) as producer,
        pytest.raises(UnavailableError, match="connection refused"),
    ):
        producer.send("orders", b"1").result(5)
    assert len([text for text in warnings() if "connection refused" in text]) == 1


@pytest.mark.parametrize("how", ["subscribe", "assign"])
def test_a_missing_topic_is_logged_once(closed_broker, how, warnings):
    address = closed_broker.bootstrap_servers
    with Consumer(bootstrap_servers=address, **GROUP) as consumer:
        if how == "subscribe":
            consumer.subscribe(["nope"])
        else:
            consumer.assign([("nope", 0)])
        for _ in range(16):
            assert consumer.poll(0.25) == {}
    told = [text for text in warnings() if "'nope'" in text]
    assert len(told) == 1, warnings()
    assert "does not exist" in told[0]


def test_a_missing_partition_is_logged(broker, topic_name, warnings):
    broker.topic(topic_name, partitions=3)
    with Consumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        consumer.assign([(topic_name, 99)])
        for _ in range(8):
            assert consumer.poll(0.25) == {}
    told = [text for text in warnings() if "no partition 99" in text]
    assert len(told) == 1, warnings()


def test_a_topic_that_is_created_on_demand_is_no_warning(broker, topic_name, warnings):
    with Consumer(bootstrap_servers=broker.bootstrap_servers, **GROUP) as consumer:
        consumer.subscribe([topic_name])
        while not consumer.assignment():
            consumer.poll(0.1)
    assert warnings() == []


def test_a_subscribed_topic_is_read_soon_after_its_creation(closed_broker):
    address = closed_broker.bootstrap_servers
    with Consumer(bootstrap_servers=address, **GROUP) as consumer:
        consumer.subscribe(["later"])
        assert consumer.poll(1) == {}
        closed_broker.topic("later")
        with Producer(bootstrap_servers=address) as producer:
            producer.send("later", b"1")
        while not consumer.poll(0.5):
            pass


# -- the time limit --------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [REFUSED, BAD_HOST])
def test_poll_raises_when_no_broker_was_ever_reached(config):
    with Consumer(config, **GROUP, bootstrap_timeout_ms=400) as consumer:
        consumer.subscribe(["orders"])
        for _ in range(2):
            with pytest.raises(UnavailableError, match=r"bootstrap\.timeout\.ms.*cannot connect"):
                consumer.poll(30)


async def test_the_asyncio_poll_does_too():
    async with aio.Consumer(REFUSED, **GROUP, bootstrap_timeout_ms=400) as consumer:
        await consumer.subscribe(["orders"])
        with pytest.raises(UnavailableError, match="connection refused"):
            await consumer.poll(30)


def test_a_broker_that_comes_up_in_time_is_used():
    with Broker() as broker:
        address = broker.bootstrap_servers
        broker.topic("orders")
        broker.stop()
        with Consumer(bootstrap_servers=address, bootstrap_timeout_ms=60_000) as consumer:
            consumer.assign([("orders", 0)])
            assert consumer.poll(0.5) == {}
            broker.start()
            assert consumer.position(TopicPartition("orders", 0), timeout=30) == 0


def test_an_outage_after_the_first_contact_does_not_raise(warnings):
    with Broker() as broker:
        broker.topic("orders")
        settings = {"metadata.max.age.ms": 100, "bootstrap.timeout.ms": 300}
        with Consumer(settings, bootstrap_servers=broker.bootstrap_servers) as consumer:
            consumer.assign([("orders", 0)])
            consumer.position(TopicPartition("orders", 0))
            broker.stop()
            for _ in range(6):
                assert consumer.poll(0.25) == {}
    assert any("no broker can be reached" in text for text in warnings())


def test_the_time_limit_is_checked():
    with pytest.raises(ConfigError, match=r"bootstrap\.timeout\.ms"):
        Consumer(REFUSED, bootstrap_timeout_ms=-5)


# -- ping ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Consumer, Producer])
def test_ping_succeeds_and_fails_with_the_reason(broker, kind):
    with kind(bootstrap_servers=broker.bootstrap_servers) as client:
        client.ping()
    for config, reason in ((REFUSED, "connection refused"), (BAD_HOST, "not known")):
        with kind(config) as client, pytest.raises(UnavailableError, match=reason):
            client.ping()


@pytest.mark.parametrize("kind", [aio.Consumer, aio.Producer])
async def test_ping_for_asyncio(broker, kind):
    async with kind(bootstrap_servers=broker.bootstrap_servers) as client:
        await client.ping()
    async with kind(REFUSED) as client:
        with pytest.raises(UnavailableError, match="connection refused"):
            await client.ping()


@pytest.mark.parametrize("kind", [Consumer, Producer])
def test_ping_gives_up_on_a_silent_server(kind):
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            kind(bootstrap_servers=address) as client,
            pytest.raises(DeadlineError, match=address),
        ):
            client.ping(timeout=0.3)


@pytest.mark.parametrize("kind", [Consumer, Producer])
def test_ping_names_a_server_of_another_protocol(kind):
    def answer(server):
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with (
            kind(bootstrap_servers=address) as client,
            pytest.raises(UnavailableError, match="HTTP"),
        ):
            client.ping()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.mark.parametrize("kind", [Consumer, Producer])
def test_ping_names_a_tls_mismatch(broker, certificates, kind):
    tls = {"security.protocol": "SSL", "ssl.ca.location": certificates.ca}
    with (
        kind(tls, bootstrap_servers=broker.bootstrap_servers) as client,
        pytest.raises(AuthenticationError, match="without TLS"),
    ):
        client.ping()


# -- the assignment --------------------------------------------------------------------------------


def test_wait_for_assignment_makes_later_records_visible(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    with (
        Consumer(bootstrap_servers=broker.bootstrap_servers, group_id=topic_name) as consumer,
        Producer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        consumer.subscribe([topic_name])
        found = consumer.wait_for_assignment(30)
        assert found == {TopicPartition(topic_name, 0), TopicPartition(topic_name, 1)}
        producer.send(topic_name, b"after")
        while not consumer.poll(0.2):
            pass


async def test_wait_for_assignment_for_asyncio(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    address = broker.bootstrap_servers
    async with aio.Consumer(bootstrap_servers=address, group_id=topic_name) as consumer:
        await consumer.subscribe([topic_name])
        assert len(await consumer.wait_for_assignment(30)) == 2


def test_wait_for_assignment_names_the_reason_it_ended(closed_broker):
    with Consumer(bootstrap_servers=closed_broker.bootstrap_servers, **GROUP) as consumer:
        consumer.subscribe(["nope"])
        with pytest.raises(DeadlineError, match=r"nope.*does not exist"):
            consumer.wait_for_assignment(1)
    with Consumer(REFUSED, **GROUP) as consumer:
        consumer.subscribe(["orders"])
        with pytest.raises(UnavailableError, match="connection refused"):
            consumer.wait_for_assignment(1)


def test_wait_for_assignment_raises_what_poll_raises(closed_broker):
    closed_broker.fail("join_group", "GROUP_AUTHORIZATION_FAILED", times=None)
    closed_broker.topic("orders")
    with Consumer(bootstrap_servers=closed_broker.bootstrap_servers, **GROUP) as consumer:
        consumer.subscribe(["orders"])
        with pytest.raises(BrokerError, match="GROUP_AUTHORIZATION_FAILED"):
            consumer.wait_for_assignment(10)
