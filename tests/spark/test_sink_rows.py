"""Sending rows and continuing transactions, without Spark."""

import pyarrow as pa
import pytest

from barnabas.clients.producer.column_producer import ColumnProducer
from barnabas.model.errors import BarnabasError, LocalError
from barnabas.spark.sink.options import SinkOptions
from barnabas.spark.sink.transactional_write import (
    Epoch,
    ProducerCache,
    ReplayError,
    RowSender,
    clients,
    write_exactly_once,
)
from barnabas.testing import Broker

pytestmark = pytest.mark.integration


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def send(broker, topic, *batches, time=None, **settings):
    with ColumnProducer({"bootstrap.servers": broker.bootstrap_servers, **settings}) as producer:
        sending = RowSender(producer, topic, time)
        sending.send(batches)
        sending.finish()


def test_each_row_is_written_to_its_topic(broker, topic_name):
    other = broker.topic(f"{topic_name}-other")
    broker.topic(topic_name, partitions=3)
    rows = batch(
        topic=[topic_name, other, topic_name, topic_name],
        key=["k", "k", "k", None],
        value=["a", "b", "c", None],
        partition=pa.array([2, None, None, 1], pa.int32()),
    )
    send(broker, None, rows)
    assert [r.value for r in broker.records(other)] == [b"b"]
    found = {r.value: r.partition for r in broker.records(topic_name)}
    assert (found[b"a"], found[None]) == (2, 1)
    by_key = found[b"c"]
    send(broker, topic_name, batch(key=["k"], value=["d"]))
    assert {r.value: r.partition for r in broker.records(topic_name)}[b"d"] == by_key
    with pytest.raises(LocalError, match="'topic' is null"):
        send(broker, None, batch(topic=pa.array([None], pa.string()), value=["x"]))
    with pytest.raises(LocalError, match="no partition -2"):
        send(broker, topic_name, batch(value=["x"], partition=pa.array([-2], pa.int32())))


def test_times_and_partitioners(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    when = pa.array([1_700_000_000_123_456, None], pa.timestamp("us", tz="UTC"))
    send(broker, topic_name, batch(value=["then", "now"], when=when), time="when")
    found = {r.value: r.timestamp for r in broker.records(topic_name)}
    assert found[b"then"] == 1_700_000_000_123
    assert found[b"now"] > 1_700_000_000_123
    for number in range(2):
        rows = batch(key=["same"] * 200, value=[f"{number}-{n}" for n in range(200)])
        ignored = {"partitioner.ignore.keys": "true", "batch.size": "300"}
        send(broker, topic_name, rows, **(ignored if number else {}))
    records = broker.records(topic_name)
    assert len({r.partition for r in records if r.value.startswith(b"0-")}) == 1
    assert len({r.partition for r in records if r.value.startswith(b"1-")}) == 2


@pytest.fixture
def options(broker, topic_name):
    broker.topic(topic_name)
    texts = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic_name}
    made = SinkOptions.parse(texts, streaming=True)
    yield made
    for settings in list(clients._producers):
        clients.drop(dict(settings))


class Asked:
    """How often transactional ids were taken over."""

    def __init__(self, monkeypatch):
        self.count = 0
        original = ColumnProducer.init_transactions

        def init(producer, *args):
            self.count += 1
            original(producer, *args)

        monkeypatch.setattr(ColumnProducer, "init_transactions", init)


def write(options, epoch):
    return write_exactly_once(options, epoch, iter([batch(value=[f"{epoch.batch_id}"])]))


def values(broker, topic):
    return [r.value for r in broker.records(topic, read_committed=True)]


def test_a_continued_query_reads_the_topic_ids_once(broker, topic_name, options, monkeypatch):
    asked = Asked(monkeypatch)
    for number in range(4):
        assert write(options, Epoch(topic_name, number, 0, first_attempt=True)) == 1
    assert asked.count == 1
    # A replay, another attempt, a gap: who knows what happened in between.
    assert write(options, Epoch(topic_name, 3, 0, first_attempt=True)) == 0
    assert write(options, Epoch(topic_name, 4, 0, first_attempt=False)) == 1
    assert write(options, Epoch(topic_name, 6, 0, first_attempt=True)) == 1
    assert asked.count == 4
    assert values(broker, topic_name) == [b"0", b"1", b"2", b"3", b"4", b"6"]


@pytest.mark.parametrize("written", [True, False])
def test_a_fenced_worker_reads_the_epoch_before_it_writes(broker, topic_name, options, written):
    assert write(options, Epoch(topic_name, 0, 0, first_attempt=True)) == 1
    here, clients._producers = clients._producers, {}
    # Another worker, which this one knows nothing of: it writes the next one, or a replay.
    assert write(options, Epoch(topic_name, int(written), 0)) == int(written)
    there, clients._producers = clients._producers, here
    [settings] = here
    clients.record_write(dict(settings), Epoch(topic_name, 0, 0))
    again = write(options, Epoch(topic_name, 1, 0, first_attempt=True))
    assert again == int(not written)
    for producer in there.values():
        producer.close()
    assert values(broker, topic_name) == [b"0", b"1"]


def test_a_small_backlog_always_requests_new_offsets(broker, topic_name, options, monkeypatch):
    asked = Asked(monkeypatch)
    large = [batch(value=["x" * 300_000] * 2) for _ in range(3)]
    for number in range(2):
        epoch = Epoch(topic_name, number, 0, first_attempt=True)
        assert write_exactly_once(options, epoch, iter(large)) == 6
    assert asked.count == 2
    assert len(values(broker, topic_name)) == 12
    assert write_exactly_once(options, Epoch(topic_name, 1, 0), iter(large)) == 0
    assert write_exactly_once(options, Epoch(topic_name, 2, 0), iter([batch(value=[])])) == 0


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_small_writes_are_retried(topic_name, failures):
    with Broker() as own:
        own.topic(topic_name)
        texts = {"kafka.bootstrap.servers": own.bootstrap_servers, "topic": topic_name}
        options = SinkOptions.parse(texts, streaming=True)
        assert write(options, Epoch(topic_name, 0, 0, first_attempt=True)) == 1
        failure = own.fail("Produce", "INVALID_TXN_STATE", times=failures)
        assert write(options, Epoch(topic_name, 1, 0, first_attempt=True)) == 1
        assert failure.hits == failures
        assert values(own, topic_name) == [b"0", b"1"]
        own.fail("Produce", "INVALID_TXN_STATE", times=None)
        with pytest.raises(BarnabasError):
            write(options, Epoch(topic_name, 2, 0, first_attempt=True))
        own.heal()
        assert values(own, topic_name) == [b"0", b"1"]


def test_a_replay_with_other_rows_is_rejected_at_once(topic_name, options, monkeypatch):
    assert write(options, Epoch(topic_name, 0, 0)) == 1
    asked = Asked(monkeypatch)
    with pytest.raises(ReplayError, match="is replayed with 2"):
        write_exactly_once(options, Epoch(topic_name, 0, 0), iter([batch(value=["a", "b"])]))
    assert asked.count == 1


def test_an_expired_transactional_id_is_initialised_again():
    now = 0.0
    cache = ProducerCache(lambda: now)
    assert not cache.continues({}, Epoch("q", 0, 0)), "nothing was written before"
    cache.record_write({}, Epoch("q", 0, 0))
    now = 599.0
    assert cache.continues({}, Epoch("q", 1, 0))
    assert not cache.continues({"acks": "1"}, Epoch("q", 1, 0)), "another producer"
    now = 601.0
    assert not cache.continues({}, Epoch("q", 1, 0))
