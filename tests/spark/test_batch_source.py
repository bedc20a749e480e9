"""Batch reads equal what a plain consumer sees."""

import pytest

from barnabas import Producer

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
