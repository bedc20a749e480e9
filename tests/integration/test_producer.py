"""The producer against a real broker: its guarantees and its errors."""

import json
import threading
from concurrent.futures import Future
from contextlib import suppress

import pytest

from barnabas import (
    BrokerError,
    DeadlineError,
    ErrorCode,
    Producer,
    SimpleConsumer,
)
from barnabas.model.errors import BarnabasError, ClosedError, ConfigError, LocalError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


@pytest.fixture
def producer_of(broker):
    made = []

    def make(**config):
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **config})
        made.append(producer)
        return producer

    yield make
    for producer in made:
        producer.close(5)


def read_all(broker, topic, partition=0, **config):
    with SimpleConsumer(bootstrap_servers=broker.bootstrap_servers, **config) as consumer:
        end = consumer.latest_offset(topic, partition)
        position, records = 0, []
        while position < end:
            more, position = consumer.fetch(topic, partition, position).decode()
            records += more
    return records


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_are_stored_as_sent(broker, producer_of, topic_name, codec):
    producer = producer_of(compression_type=codec)
    sent = [(b"k%d" % n, b"value %d " % n * 20, [("h", b"%d" % n)]) for n in range(200)]
    futures = [producer.send(topic_name, value, key, headers) for key, value, headers in sent]
    assert [future.result(60).offset for future in futures] == list(range(200))
    stored = read_all(broker, topic_name)
    assert [(r.key, r.value, list(r.headers)) for r in stored] == sent


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_levels_of_acknowledgement(broker, producer_of, topic_name, acks):
    producer = producer_of(acks=acks)
    futures = [producer.send(topic_name, b"%d" % n) for n in range(50)]
    producer.flush(10)
    offsets = [future.result(1).offset for future in futures]
    assert offsets == ([-1] * 50 if acks == "0" else list(range(50)))
    producer_of().send(topic_name, b"last").result(60)
    assert len(read_all(broker, topic_name)) == 51


def test_given_timestamps_and_partitions_are_kept():
    with (
        Broker({"num.partitions": 3}) as three,
        Producer(bootstrap_servers=three.bootstrap_servers) as producer,
    ):
        metadata = producer.send("t", b"v", partition=2, timestamp=1234567).result(60)
        assert (metadata.partition, metadata.timestamp) == (2, 1234567)
        assert [item.partition for item in producer.partitions_for("t")] == [0, 1, 2]
        with pytest.raises(BrokerError, match="partitions 0 to 2, not 7"):
            producer.send("t", b"v", partition=7).result(60)


def test_keyless_records_spread_in_batches_and_round_robin_in_turn():
    with Broker({"num.partitions": 4}) as four:
        with Producer(bootstrap_servers=four.bootstrap_servers, batch_size=1000) as sticky:
            places = [sticky.send("t", b"x" * 100) for _ in range(400)]
            used = {future.result(60).partition for future in places}
        with Producer(
            bootstrap_servers=four.bootstrap_servers, partitioner_class="round_robin"
        ) as turns:
            order = [turns.send("u", b"x").result(60).partition for _ in range(8)]
    assert used == {0, 1, 2, 3}
    assert [(number - order[0]) % 4 for number in order] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_a_batch_the_broker_finds_too_large_is_split_and_all_arrives(topic_name):
    with Broker({"message.max.bytes": 2000}) as small:
        with Producer(bootstrap_servers=small.bootstrap_servers, linger_ms=50) as producer:
            futures = [producer.send(topic_name, b"%03d" % n * 30) for n in range(100)]
            offsets = [future.result(60).offset for future in futures]
        assert sorted(offsets) == list(range(100))
        values = [record.value for record in read_all(small, topic_name)]
        assert values == [b"%03d" % n * 30 for n in range(100)]


@pytest.mark.parametrize("transactional", [False, True])
def test_many_batches_too_large_at_once(broker, producer_of, transactional):
    """Batches in flight behind a split batch are rejected and sent again after its parts."""
    for turn in range(8):
        topic = broker.topic(config={"max.message.bytes": 500})
        own_id = {"transactional_id": f"{topic}-{turn}"} if transactional else {}
        producer = producer_of(batch_size=2000, linger_ms=50, **own_id)
        if transactional:
            producer.init_transactions()
            producer.begin_transaction()
        values = [b"%04d" % number * 20 for number in range(100)]
        futures = [producer.send(topic, value) for value in values]
        offsets = [future.result(30).offset for future in futures]
        if transactional:
            producer.commit_transaction()
        assert offsets == list(range(100))
        assert [record.value for record in broker.records(topic)] == values


def test_a_single_record_too_large_fails_by_name(producer_of, topic_name):
    producer = producer_of(max_request_size=10_000_000)
    with pytest.raises(BrokerError) as caught:
        producer.send(topic_name, b"x" * 2_000_000).result(60)
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    with pytest.raises(BrokerError, match=r"max\.request\.size"):
        producer.send(topic_name, b"x" * 20_000_000).result(60)
    producer.send(topic_name, b"small").result(60)


def test_serializers_interceptors_and_callbacks(broker, producer_of, topic_name):
    heard = []

    class Interceptor:
        def on_send(self, record):
            return record

        def on_acknowledgement(self, record, metadata, error):
            heard.append((record.value, metadata.offset, error))

    producer = producer_of(
        value_serializer=lambda value: json.dumps(value).encode(),
        key_serializer=str.encode,
        interceptor_classes=[Interceptor()],
    )
    called = threading.Event()
    producer.send(topic_name, {"n": 1}, "key", on_delivery=lambda *_: called.set()).result(60)
    assert called.wait(60)
    record = read_all(broker, topic_name)[0]
    assert (record.key, record.value) == (b"key", b'{"n": 1}')
    assert heard == [(b'{"n": 1}', 0, None)]


def test_an_invalid_topic_name_is_explained(producer_of, topic_name):
    producer = producer_of()
    producer.send(topic_name, b"warm").result(60)
    with pytest.raises(BrokerError, match="characters other than"):
        producer.send("no/topic", b"v").result(60)


def test_a_full_buffer_blocks_and_then_reports_it():
    with Broker() as broker:
        producer = Producer(
            bootstrap_servers=broker.bootstrap_servers,
            buffer_memory=40_000,
            max_block_ms=200,
            delivery_timeout_ms=31_000,
            request_timeout_ms=1000,
        )
        producer.send("t", b"warm").result(60)
    for _ in range(2):
        producer.send("t", b"x" * 10_000)
    with pytest.raises(DeadlineError, match=r"buffer\.memory"):
        producer.send("t", b"x" * 10_000).result(60)
    with pytest.raises(DeadlineError):
        producer.close(0.1)


def test_use_after_close_is_an_error_and_close_is_idempotent(broker, topic_name):
    producer = Producer(bootstrap_servers=broker.bootstrap_servers)
    future = producer.send(topic_name, b"v")
    producer.close()
    producer.close()
    assert future.done()
    with pytest.raises(ClosedError):
        producer.send(topic_name, b"v")


def test_an_unknown_topic_is_named_within_the_time(topic_name):
    with (
        Broker({"auto.create.topics.enable": False}) as strict,
        Producer(bootstrap_servers=strict.bootstrap_servers, max_block_ms=500) as producer,
        pytest.raises(BarnabasError, match=topic_name),
    ):
        producer.send(topic_name, b"v").result(60)


def test_a_dead_cluster_is_named_within_the_time():
    with (
        Producer(bootstrap_servers="127.0.0.1:1", max_block_ms=500) as producer,
        pytest.raises(DeadlineError, match="connection refused"),
    ):
        producer.send("t", b"v").result(60)


def test_many_threads_may_send(broker, producer_of, topic_name):
    producer = producer_of(batch_size=2000)
    futures = []

    def work(number):
        futures.extend(producer.send(topic_name, b"%d-%d" % (number, n)) for n in range(500))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(future.result(60).offset for future in futures) == list(range(2000))
    values = [record.value for record in read_all(broker, topic_name)]
    for number in range(4):
        mine = [value for value in values if value.startswith(b"%d-" % number)]
        assert mine == [b"%d-%d" % (number, n) for n in range(500)]


def test_threads_that_wait_for_each_record_keep_their_order(producer_of, topic_name):
    producer = producer_of(linger_ms=0)
    offsets = {}

    def work(number):
        sent = (producer.send(topic_name, b"%d" % number, partition=0) for _ in range(50))
        offsets[number] = [future.result(30).offset for future in sent]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found == sorted(found) for found in offsets.values())
    assert sorted(offset for found in offsets.values() for offset in found) == list(range(200))


def test_records_sent_one_by_one_and_together_keep_their_order(broker, producer_of, topic_name):
    producer = producer_of(linger_ms=0)
    last = None
    for number in range(300):
        last = producer.send(topic_name, b"%d" % number, headers=[("n", b"%d" % number)])
        if number % 7:
            assert last.result(60).offset == number
    assert last.result(60).offset == 299
    assert [record.value for record in read_all(broker, topic_name)] == [
        b"%d" % number for number in range(300)
    ]


def test_an_invalid_record_does_not_affect_other_records_sent_at_once(producer_of, topic_name):
    producer = producer_of(linger_ms=0)
    for number in range(20):
        assert producer.send(topic_name, b"v").result(60).offset == number
        with pytest.raises(TypeError):
            producer.send(topic_name, b"v", headers=[("name", 5)])


@pytest.mark.parametrize(
    "code", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS, None]
)
def test_a_record_sent_at_once_is_tried_again(topic_name, code):
    with (
        Broker() as broker,
        Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0) as producer,
    ):
        for number in range(50):
            if number % 20 == 10:
                broker.fail("Produce", code, times=2)
            assert producer.send(topic_name, b"v").result(30).offset == number


def test_bad_configuration_fails_at_construction():
    with pytest.raises(ConfigError, match="missing required configuration"):
        Producer()
    with pytest.raises(ConfigError, match="not host:port"):
        Producer(bootstrap_servers="localhost")


@pytest.mark.parametrize("code", [ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TXN_STATE])
def test_after_a_failed_transaction_send_reports_it_at_once(topic_name, code):
    with (
        Broker({"num.partitions": 2}) as own,
        Producer(
            bootstrap_servers=own.bootstrap_servers, transactional_id=topic_name, linger_ms=60_000
        ) as producer,
    ):
        producer.init_transactions()
        producer.begin_transaction()
        own.fail("PRODUCE", code)
        lost = producer.send(topic_name, b"a", partition=0)
        open_batch = producer.send(topic_name, b"b", partition=1)
        assert lost.exception(10).code is code
        assert not open_batch.done()  # a record could be appended to it
        with pytest.raises(LocalError, match="must be aborted"):
            producer.send(topic_name, b"c", partition=1)
        producer.abort_transaction()
        producer.begin_transaction()
        producer.send(topic_name, b"d").result(60)
        producer.commit_transaction()


def test_an_abort_drops_every_batch_that_waits(topic_name):
    with (
        Broker() as own,
        Producer(
            bootstrap_servers=own.bootstrap_servers,
            transactional_id=topic_name,
            linger_ms=60_000,
            batch_size=200,
        ) as producer,
    ):
        producer.init_transactions()
        producer.begin_transaction()
        own.fail("PRODUCE", "INVALID_RECORD", times=None)
        # Two records fill a batch, and the first batch of an epoch goes alone: the rest waits.
        sent = []
        with suppress(LocalError):  # once the failure is heard of
            for _ in range(20):
                sent.append(producer.send(topic_name, bytes(50)))
        assert sent[0].exception(10).code is ErrorCode.INVALID_RECORD
        producer.abort_transaction(10)
        assert all(future.done() for future in sent)


def last_stable_offset(broker, topic):
    config = {"bootstrap_servers": broker.bootstrap_servers, "isolation_level": "read_committed"}
    with SimpleConsumer(**config) as consumer:
        return consumer.latest_offset(topic, 0)


@pytest.mark.parametrize("fails", [False, True])
def test_close_aborts_an_open_transaction(broker, topic_name, fails):
    """Readers of committed records would wait for transaction.timeout.ms otherwise."""
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic_name}
    with suppress(ValueError), Producer(config) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(topic_name, b"not committed").result(60)
        if fails:
            raise ValueError("a mistake of the program")
    with Producer(bootstrap_servers=broker.bootstrap_servers) as plain:
        end = plain.send(topic_name, b"plain").result(60).offset + 1
    assert last_stable_offset(broker, topic_name) == end
    read = read_all(broker, topic_name, isolation_level="read_committed")
    assert [record.value for record in read] == [b"plain"]


def test_a_callback_that_waits_for_another_record_gets_an_error(broker, topic_name):
    """The callback runs on the loop thread, which would have to read that record's response."""
    raised = Future()
    with Producer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0) as producer:

        def on_delivery(metadata, error):
            later = producer.send(topic_name, b"second")
            try:
                later.result(30)
            except LocalError as error:
                raised.set_result(error)

        producer.send(topic_name, b"first", on_delivery=on_delivery)
        assert "callback" in str(raised.result(30))
    assert [record.value for record in broker.records(topic_name)] == [b"first", b"second"]
