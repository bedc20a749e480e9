"""The broker for tests: its helpers, its faults, its clock."""

import contextlib
import threading
import time

import pytest

from barnabas import Consumer, Producer
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, DeadlineError, LocalError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def broker():
    """One of our own: these tests make it misbehave."""
    with Broker(in_memory=True) as running:
        yield running


@pytest.fixture(autouse=True)
def _healthy(broker):
    yield
    broker.heal()


def until(condition, seconds=60):
    pause = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        pause.wait(0.02)
    return False


def test_records_in_and_out(broker):
    topic = broker.topic(partitions=3)
    (metadata,) = broker.produce(topic, "v", key="k", headers={"h": b"1"}, partition=2)
    (record,) = broker.records(topic)
    assert (metadata.partition, metadata.offset) == (2, 0)
    assert (record.partition, record.key, record.value) == (2, b"k", b"v")
    assert list(record.headers) == [("h", b"1")]


def test_waiting_for_records_has_an_end(broker):
    topic = broker.topic()
    with pytest.raises(DeadlineError, match="has 0 records"):
        broker.records(topic, at_least=1, timeout=0.1)
    threading.Timer(0.1, broker.produce, (topic, "late")).start()
    assert len(broker.records(topic, at_least=1)) == 1


def test_a_failure_that_passes_is_survived(broker):
    topic = broker.topic()
    failure = broker.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)
    broker.produce(topic, "v")
    assert failure.hits == 2
    assert len(broker.records(topic)) == 1


def test_a_failure_that_stays_reaches_the_caller(broker):
    broker.fail("CreateTopics", ErrorCode.POLICY_VIOLATION)
    with pytest.raises(BrokerError, match="POLICY_VIOLATION"):
        broker.topic("refused")
    assert "refused" not in [topic.name for topic in broker.admin.list_topics()]


def test_a_dropped_connection_is_survived(broker):
    topic = broker.topic()
    failure = broker.fail("Produce", None)
    broker.produce(topic, "v")
    assert failure.hits == 1
    assert [record.value for record in broker.records(topic)] == [b"v"]


def test_metadata_may_fail_too(broker):
    topic = broker.topic()
    failure = broker.fail("Metadata", "LEADER_NOT_AVAILABLE", times=2)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(topic, b"v").result(60)
    assert failure.hits == 2


def test_requests_are_seen(broker):
    topic = broker.topic()
    with Producer({"bootstrap.servers": broker.bootstrap_servers, "client.id": "seen"}) as producer:
        producer.send(topic, b"v").result(60)
    assert [item.client_id for item in broker.requests("Produce")][-1] == "seen"
    assert len(broker.requests()) > len(broker.requests("Produce"))


def test_a_paused_broker_hangs_and_goes_on(broker):
    topic = broker.topic()
    broker.pause()
    threading.Timer(0.2, broker.resume).start()
    began = time.monotonic()
    broker.produce(topic, "v")
    assert time.monotonic() - began >= 0.15


def test_the_clock_makes_retention_due(broker):
    topic = broker.topic(config={"retention.ms": 60_000})
    broker.produce(topic, "old")
    broker.clock.advance(30_000)
    assert len(broker.records(topic)) == 1
    broker.clock.advance(3_600_000)
    assert until(lambda: not broker.records(topic))


def test_the_clock_ends_transactions(broker):
    topic = broker.topic()
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic}
    with Producer(config) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic, b"never committed").result(60)

        def states():
            return {item.transactional_id: item.state for item in broker.admin.list_transactions()}

        assert states()[topic] == "Ongoing"
        broker.clock.advance(300_000)
        assert until(lambda: states()[topic] == "CompleteAbort")
        assert broker.records(topic, read_committed=True) == []
        with contextlib.suppress(BrokerError):
            producer.abort_transaction()


def test_the_clock_ends_sessions(broker):
    topic = broker.topic()
    config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": topic}
    with Consumer(config) as consumer:
        consumer.subscribe([topic])

        def assigned():
            consumer.poll(0.1)
            return consumer.assignment()

        def members():
            group = broker.admin.describe_groups([topic]).ok.get(topic)
            return () if group is None else group.members

        assert until(assigned)
        assert len(members()) == 1
        broker.clock.advance(3_600_000)
        assert until(lambda: not members())


def test_the_clock_gives_the_timestamps(broker):
    topic = broker.topic(config={"message.timestamp.type": "LogAppendTime"})
    broker.clock.advance(86_400_000)
    broker.produce(topic, "v")
    (record,) = broker.records(topic)
    assert abs(record.timestamp - broker.clock.now_ms()) < 60_000
    with pytest.raises(ValueError, match="negative time"):
        broker.clock.advance(-1)


def test_a_restart_keeps_data_and_address():
    with Broker() as broker:
        topic = broker.topic()
        broker.produce(topic, "kept")
        before = broker.bootstrap_servers
        broker.restart()
        assert broker.bootstrap_servers == before
        assert [record.value for record in broker.records(topic)] == [b"kept"]


def test_back_to_a_snapshot():
    with Broker(in_memory=True) as broker:
        topic = broker.topic()
        broker.produce(topic, "kept")
        address, kept = broker.bootstrap_servers, broker.snapshot()
        later = broker.topic()
        for _ in range(2):
            broker.produce(topic, "gone")
            broker.restore(kept)
            assert [record.value for record in broker.records(topic)] == [b"kept"]
        assert broker.bootstrap_servers == address
        assert later not in [listing.name for listing in broker.admin.list_topics()]
    assert not kept.exists()


def test_nothing_is_left_behind():
    before = set(threading.enumerate())
    broker = Broker().start()
    directory = broker.data_dir
    broker.topic()
    with pytest.raises(LocalError, match="already running"):
        broker.start()
    broker.stop()
    broker.stop()
    assert not directory.exists()
    assert not set(threading.enumerate()) - before
    with pytest.raises(LocalError, match="not running"):
        broker.pause()


def test_a_failed_start_names_the_reason_and_leaves_nothing(broker):
    before = set(threading.enumerate())
    with pytest.raises(Exception, match="in use"):
        Broker(port=broker.port).start()
    assert not set(threading.enumerate()) - before


def test_a_start_is_quick():
    took = []
    for _ in range(5):
        began = time.perf_counter()
        broker = Broker(in_memory=True).start()
        took.append(time.perf_counter() - began)
        broker.stop()
    assert min(took) < 0.1


def test_calls_on_a_broker_that_is_not_running_fail_at_once():
    """They failed with the address 127.0.0.1:0 before the start, and after one minute later."""
    broker = Broker()

    def check_calls():
        for call in (
            lambda: broker.topic(),
            lambda: broker.produce("t", "v"),
            lambda: broker.records("t"),
            lambda: broker.admin,
            broker.pause,
        ):
            with pytest.raises(LocalError, match="the broker is not running: call start"):
                call()

    check_calls()
    with pytest.raises(LocalError, match="the broker is not running"):
        _ = broker.bootstrap_servers
    with broker:
        broker.produce(broker.topic(), "v")
    check_calls()


def test_a_start_that_takes_too_long(monkeypatch):
    broker = Broker()
    with monkeypatch.context() as patch:
        patch.setattr(broker._ready, "wait", lambda _seconds: False)
        with pytest.raises(DeadlineError, match="the broker did not start within 30 s"):
            broker.start()
    broker.stop()
