"""Batch reads return the same records as a plain consumer."""

import pytest

from barnabas import Producer
from barnabas.model.errors import ConfigError

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]

COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


def rows(frame):
    return sorted(frame.collect(), key=lambda row: (row.topic, row.partition, row.offset))


def plain(broker, topic, **kwargs):
    return [
        (r.topic, r.partition, r.offset, r.key, r.value, r.timestamp)
        for r in broker.records(topic, **kwargs)
    ]


def seen(frame):
    return [
        (
            r.topic,
            r.partition,
            r.offset,
            None if r.key is None else bytes(r.key),
            None if r.value is None else bytes(r.value),
            round(r.timestamp.timestamp() * 1000),
        )
        for r in rows(frame)
    ]


def load(spark, source, topic, **options):
    return spark.read.format("barnabas").options(**source, subscribe=topic, **options).load()


def planned(source, topic, **options):
    """(partition, start, end) of each task, as the driver plans them."""
    from barnabas.spark.source.batch_reader import BatchReader
    from barnabas.spark.source.options import SourceOptions
    from barnabas.spark.source.schema import source_schema

    given = {**source, "subscribe": topic, **options}
    reader = BatchReader(SourceOptions.parse(given, streaming=False), source_schema(False))
    ranges = [item for task in reader.partitions() for item in task.ranges]
    return [(item.partition, item.start, item.end) for item in ranges]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_with_nulls(spark, broker, source, topic_name, codec):
    broker.topic(topic_name, partitions=2)
    with Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "compression.type": codec}
    ) as producer:
        for n in range(300):
            key = None if n % 3 == 0 else b"k%d" % n
            value = None if n % 5 == 0 else b"v" * (n % 50)
            producer.send(topic_name, value, key, partition=n % 2, timestamp=1_700_000_000_000 + n)
    frame = load(spark, source, topic_name)
    assert frame.columns == COLUMNS
    assert seen(frame) == plain(broker, topic_name)


def test_registered_by_itself(spark, broker, source, topic_name):
    """A session without registration finds the source by the name of its package."""
    broker.topic(topic_name)
    broker.produce(topic_name, "one")
    other = spark.newSession()
    assert [bytes(r.value) for r in load(other, source, topic_name).collect()] == [b"one"]


def test_an_empty_topic_has_no_rows(spark, broker, source, topic_name):
    broker.topic(topic_name, partitions=2)
    assert load(spark, source, topic_name).collect() == []


def test_headers_are_null_when_there_are_none(spark, broker, source, topic_name):
    broker.topic(topic_name)
    pairs = [("a", b"1"), ("a", None), ("ü", b"")]
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(topic_name, b"with", headers=pairs)
        producer.send(topic_name, b"without")
    first, second = rows(load(spark, source, topic_name, includeHeaders="true"))
    found = [(h.key, None if h.value is None else bytes(h.value)) for h in first.headers]
    assert found == pairs
    assert second.headers is None


def test_timestamp_types(spark, broker, source, topic_name):
    broker.topic(topic_name, config={"message.timestamp.type": "LogAppendTime"})
    broker.produce(topic_name, "x")
    assert [r.timestampType for r in load(spark, source, topic_name).collect()] == [1]


def test_transactions(spark, broker, source, topic_name):
    broker.topic(topic_name, partitions=2)
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic_name}
    with Producer(settings) as producer:
        producer.init_transactions()
        for number, commit in enumerate([True, False, True]):
            producer.begin_transaction()
            for n in range(20):
                producer.send(topic_name, b"%d-%d" % (number, n), partition=n % 2)
            producer.flush()
            producer.commit_transaction() if commit else producer.abort_transaction()
        producer.begin_transaction()
        producer.send(topic_name, b"open", partition=0)
        producer.flush()
        committed = load(spark, source, topic_name, **{"kafka.isolation.level": "read_committed"})
        assert seen(committed) == plain(broker, topic_name, read_committed=True)
        assert committed.count() == 40
        everything = load(spark, source, topic_name)
        assert seen(everything) == plain(broker, topic_name)
        assert everything.count() == 61
        producer.abort_transaction()


def test_starting_and_ending_offsets(spark, broker, source, topic_name):
    broker.topic(topic_name, partitions=2)
    times = {}
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for n in range(10):
            for partition in (0, 1):
                times[n] = 1_700_000_000_000 + n * 1000
                producer.send(topic_name, b"%d" % n, partition=partition, timestamp=times[n])

    def offsets(**options):
        return planned(source, topic_name, **options)

    def json(first, second):
        return f'{{"{topic_name}":{{"0":{first},"1":{second}}}}}'

    both = {"startingOffsets": json(7, -2), "endingOffsets": json(9, 2)}
    assert offsets(**both) == [(0, 7, 9), (1, 0, 2)]
    found = rows(load(spark, source, topic_name, **both))
    assert [(r.partition, r.offset) for r in found] == [(0, 7), (0, 8), (1, 0), (1, 1)]
    ends = offsets(startingOffsets=json(8, 9), endingOffsets=json(-1, -1))
    assert ends == [(0, 8, 10), (1, 9, 10)]
    times_both = offsets(startingTimestamp=str(times[8]), endingTimestamp=str(times[9]))
    assert times_both == [(0, 8, 9), (1, 8, 9)]
    by_time = {"startingOffsetsByTimestamp": json(times[9], times[8])}
    assert offsets(**by_time) == [(0, 9, 10), (1, 8, 10)]
    until = {"endingOffsetsByTimestamp": json(times[1], times[9] + 1)}
    assert offsets(**until) == [(0, 0, 1), (1, 0, 10)]
    late = {"startingTimestamp": str(times[9] + 1)}
    assert offsets(**late, startingOffsetsByTimestampStrategy="latest") == []
    with pytest.raises(ConfigError, match=r"startingOffsets.*no record at or after"):
        offsets(**late)
    with pytest.raises(ConfigError, match="startingOffsets must name every partition"):
        offsets(startingOffsets=f'{{"{topic_name}":{{"0":1}}}}')


def test_subscriptions_and_splits(spark, broker, source, topic_name):
    first, second = broker.topic(f"{topic_name}-a", partitions=2), broker.topic(f"{topic_name}-b")
    broker.produce(first, *[str(n) for n in range(10)], partition=0)
    broker.produce(first, *[str(n) for n in range(10)], partition=1)
    broker.produce(second, "x")
    read = spark.read.format("barnabas").options(**source)
    assert read.option("subscribePattern", f"{topic_name}-.").load().count() == 21
    assigned = spark.read.format("barnabas").options(**source, assign=f'{{"{first}":[1]}}').load()
    assert {r.partition for r in assigned.collect()} == {1}
    assert len(planned(source, first, minPartitions="4")) == 4
    split = load(spark, source, first, maxRecordsPerPartition="3")
    assert split.rdd.getNumPartitions() == 8
    assert seen(split) == plain(broker, first)


def test_columns_that_are_asked_for(spark, broker, source, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, "one", key="k")
    read = spark.read.format("barnabas").options(**source, subscribe=topic_name)
    (row,) = read.schema("offset long, value binary").load().collect()
    assert (row.offset, bytes(row.value), len(row)) == (0, b"one", 2)
    with pytest.raises(Exception, match="column 'valu' is not one of"):
        read.schema("valu binary").load().collect()
    with pytest.raises(Exception, match="column 'value' is binary, not string"):
        read.schema("value string").load().collect()


def test_filters_become_seeks(spark, broker, source, topic_name):
    broker.topic(topic_name, partitions=3)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for n in range(30):
            time = 1_700_000_000_000 + n * 1000
            producer.send(topic_name, b"%d" % n, partition=n % 3, timestamp=time)
    frame = load(spark, source, topic_name, pushFilters="true")

    everything = load(spark, source, topic_name).cache()

    def check(condition, partitions):
        found = frame.where(condition)
        assert seen(found) == seen(everything.where(condition))
        assert found.rdd.getNumPartitions() == partitions
        return len(seen(found))

    assert check("partition in (0, 2) and offset >= 8", 2) == 4
    assert check("timestamp >= timestamp '2023-11-14 22:13:45'", 3) == 5
    everything.unpersist()


def test_a_wrong_option_fails_at_once_and_is_named(spark, broker, source, topic_name):
    read = spark.read.format("barnabas").options(**source, subscribe=topic_name)
    with pytest.raises(Exception, match=r"unknown option .startingofset.*startingOffsets"):
        read.option("startingOfset", "earliest").load()
    with pytest.raises(Exception, match="UNKNOWN_TOPIC_OR_PARTITION"):
        load(spark, source, topic_name).collect()


def test_a_loss_names_its_offsets_and_gaps_are_not_losses(spark, broker, source, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, *[str(n) for n in range(10)])
    from barnabas import TopicPartition

    broker.admin.delete_records({TopicPartition(topic_name, 0): 4})
    start = {"startingOffsets": f'{{"{topic_name}":{{"0":1}}}}'}
    with pytest.raises(Exception, match=rf"{topic_name}-0: offsets 1 to 3: retention or"):
        load(spark, source, topic_name, **start).collect()
    rest = load(spark, source, topic_name, **start, failOnDataLoss="false")
    assert [r.offset for r in rows(rest)] == [4, 5, 6, 7, 8, 9]
