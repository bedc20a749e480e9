"""Columns sent at once end up where the same records sent one by one do, in the same order."""

import random

import pyarrow as pa
import pytest

from barnabas import Producer, TopicPartition
from barnabas.clients.producer.column_producer import ColumnProducer
from barnabas.model.errors import BrokerError, ClosedError, LocalError
from barnabas.model.records import GroupMetadata, OffsetAndMetadata

pytestmark = pytest.mark.integration
COUNT = 3000


@pytest.fixture
def rows():
    dice = random.Random(5)
    keys = [dice.choice([None, b"", b"key%d" % dice.randrange(50)]) for _ in range(COUNT)]
    values = [dice.choice([None, b"%d" % n, b"%d " % n * 40, b"x" * 3000]) for n in range(COUNT)]
    return keys, values


def settings(broker, **more):
    return {"bootstrap.servers": broker.bootstrap_servers, "batch.size": 2000, **more}


def by_partition(broker, topic, **options):
    found = {}
    for record in broker.records(topic, **options):
        found.setdefault(record.partition, []).append((record.key, record.value))
    return found


def test_same_as_one_by_one(broker, topic_name, rows):
    keys, values = rows
    keyed = [(key, value) for key, value in zip(keys, values, strict=True) if key is not None]
    one, other = (broker.topic(f"{topic_name}-{name}", partitions=5) for name in "ab")
    with Producer(settings(broker)) as producer:
        for key, value in keyed:
            producer.send(one, value, key)
    with ColumnProducer(settings(broker)) as producer:
        for start in range(0, len(keyed), 700):
            part = keyed[start : start + 700]
            columns = [pa.array([None, *column]).slice(1) for column in zip(*part, strict=True)]
            sent = producer.send_columns(other, columns[1], columns[0])
            producer.flush(30)
            sent.check()
            assert sent.done
    assert by_partition(broker, one) == by_partition(broker, other)


def test_rows_without_a_key_spread_and_given_partitions_are_kept(broker, topic_name, rows):
    _, values = rows
    broker.topic(topic_name, partitions=3)
    given = [None if number % 3 else number % 2 for number in range(COUNT)]
    with ColumnProducer(settings(broker)) as producer:
        producer.send_columns(topic_name, pa.array(values), None, pa.array(given, pa.int32()))
    found = by_partition(broker, topic_name)
    assert sum(map(len, found.values())) == COUNT
    assert len(found) == 3
    for partition in (0, 1):
        wanted = [(None, v) for v, p in zip(values, given, strict=True) if p == partition]
        rest = iter(found[partition])
        assert all(row in rest for row in wanted), "in order, others in between"


def test_times_of_their_own(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    values = [b"%d" % number for number in range(500)]
    times = [None if number % 7 == 0 else 10_000 + number for number in range(500)]
    with ColumnProducer(settings(broker)) as producer:
        producer.send_columns(
            topic_name, pa.array(values), pa.array(values), None, pa.array(times, pa.int64())
        )
    found = {int(record.value): record.timestamp for record in broker.records(topic_name)}
    for number, time in enumerate(times):
        assert found[number] > 10**12 if time is None else found[number] == time


def test_in_a_transaction(broker, topic_name, rows):
    keys, values = (pa.array(column) for column in rows)
    broker.topic(topic_name, partitions=2)
    with ColumnProducer(settings(broker, **{"transactional.id": topic_name})) as producer:
        producer.init_transactions()
        with pytest.raises(LocalError):
            producer.send_columns(topic_name, values, keys)
        for ending in (producer.abort_transaction, producer.commit_transaction):
            producer.begin_transaction()
            producer.send_columns(topic_name, values, keys)
            ending()
    assert len(broker.records(topic_name, read_committed=True)) == COUNT


def test_invalid_columns_raise_an_error_that_names_the_cause(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    values = pa.array([b"v"])
    with ColumnProducer(settings(broker)) as producer:
        for wrong, error in ((-1, LocalError), (2, BrokerError)):
            with pytest.raises(error, match="partition"):
                producer.send_columns(topic_name, values, None, pa.array([wrong], pa.int32()))


def test_a_batch_that_is_split_answers_for_each_part(broker, topic_name):
    """The broker takes 500 bytes at most: batches are cut until they fit, or cannot be cut."""
    broker.topic(topic_name, partitions=1, config={"max.message.bytes": 500})
    with ColumnProducer(settings(broker)) as producer:
        sent = producer.send_columns(topic_name, pa.array([b"%04d" % n * 20 for n in range(100)]))
        producer.flush(30)
        sent.check()
        assert sent.done
        sent = producer.send_columns(topic_name, pa.array([b"x" * 900] + [b"fits"] * 5))
        producer.flush(30)
        with pytest.raises(BrokerError):
            sent.check()
    assert len(broker.records(topic_name)) == 105


def test_rows_and_offsets_are_committed_together(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    topic_partition, group = TopicPartition(topic_name, 0), GroupMetadata(topic_name)
    values = pa.array([b"%d" % number for number in range(20)])
    with ColumnProducer(settings(broker, **{"transactional.id": topic_name})) as producer:
        producer.init_transactions()
        for turn in range(5):
            producer.begin_transaction()
            producer.send_columns(topic_name, values)
            producer.commit_with_offsets({topic_partition: OffsetAndMetadata(turn)}, group)
            committed = broker.admin.list_group_offsets([topic_name], require_stable=True)
            assert committed[topic_name][topic_partition].offset == turn
            assert len(broker.records(topic_name, read_committed=True)) == 20 * (turn + 1)


def test_a_producer_that_was_overtaken_commits_neither(broker, topic_name):
    broker.topic(topic_name)
    mine = settings(broker, **{"transactional.id": topic_name})
    topic_partition, group = TopicPartition(topic_name, 0), GroupMetadata(topic_name)
    with ColumnProducer(mine) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send_columns(topic_name, pa.array([b"a"]))
        with ColumnProducer(mine) as other:
            other.init_transactions()
        with pytest.raises((BrokerError, LocalError)):
            producer.commit_with_offsets({topic_partition: OffsetAndMetadata(1)}, group)
    assert broker.records(topic_name, read_committed=True) == []
    assert not broker.admin.list_group_offsets([topic_name])[topic_name]


def test_flush_after_close_raises(broker, topic_name):
    producer = ColumnProducer(settings(broker))
    producer.close()
    with pytest.raises(ClosedError):
        producer.flush()
