"""The streaming source without Spark: new, truncated, moved, deleted and recreated partitions."""

import json
import threading

import pytest
from support.pipelines.spark_driver import DrivenQuery, plain, seen

from barnabas import Producer, TopicPartition
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.spark.source.planner import DataLossError
from barnabas.testing import Broker

pytestmark = pytest.mark.integration
EAGER_CLEANER = {"log.cleaner.min.cleanable.ratio": 0.01, "log.cleaner.backoff.ms": 20}


def wait_for(condition, seconds=60):
    pause = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")


def delete(broker, topic):
    broker.admin.delete_topic(topic)
    wait_for(lambda: topic not in [item.name for item in broker.admin.list_topics()])


def test_small_fetches_that_run_ahead_bring_everything_once(broker, topic_name):
    broker.topic(topic_name, partitions=2)
    servers = broker.bootstrap_servers
    with Producer({"bootstrap.servers": servers, "batch.size": 500}) as producer:
        for n in range(2000):
            producer.send(topic_name, b"%d" % n, b"k", partition=n % 2)
    with DrivenQuery(servers, topic_name, **{"kafka.max.partition.fetch.bytes": "2000"}) as query:
        query.until(2000)
        assert seen(query.rows) == plain(broker, topic_name)
        task = query._reader.partitions({}, json.loads(query.start))[0]
        first = query._reader.read(task)
        assert next(first).num_rows
        first.close()
        again = query.read("{}", query.start)
        assert seen(again) == seen(query.rows), "the consumer is free after a read that broke off"


def test_everything_a_topic_may_hold(broker, topic_name):
    """All codecs, headers, nulls, transactions that ended both ways, in one topic."""
    broker.topic(topic_name, partitions=2)
    servers = broker.bootstrap_servers
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        settings = {"bootstrap.servers": servers, "compression.type": codec}
        with Producer({**settings, "transactional.id": f"{topic_name}-{codec}"}) as producer:
            producer.init_transactions()
            for commits in (True, False):
                producer.begin_transaction()
                for n in range(30):
                    key = None if n % 3 == 0 else b"%d" % n
                    value = None if n % 4 == 0 else codec.encode() * n
                    producer.send(topic_name, value, key, [("h", b"%d" % n)] * (n % 3), n % 2)
                producer.flush()
                producer.commit_transaction() if commits else producer.abort_transaction()
    for level in ("read_committed", "read_uncommitted"):
        options = {"kafka.isolation.level": level, "includeHeaders": "true"}
        with DrivenQuery(servers, topic_name, **options) as query:
            committed = level == "read_committed"
            query.until(150 if committed else 300)
            assert query.step() == []
            assert seen(query.rows) == plain(broker, topic_name, read_committed=committed)
            row = next(row for row in query.rows if row["key"] == b"5")
            assert row["headers"] == [{"key": "h", "value": b"5"}] * 2
            assert next(row for row in query.rows if row["offset"] == 0)["headers"] is None


def test_a_compacted_topic_has_gaps_and_no_losses():
    with Broker(EAGER_CLEANER) as broker:
        config = {"cleanup.policy": "compact", "segment.bytes": 20_000}
        topic = broker.topic("compacted", config=config)
        for n in range(1200):
            broker.produce(topic, f"{n}" * 10, key=str(n % 10), partition=0)
        wait_for(lambda: len(broker.records(topic)) < 1000)
        with DrivenQuery(broker.bootstrap_servers, topic) as query:
            query.until(1)
            while query.step():
                pass
            values = {(row["key"], row["value"]) for row in query.rows}
            # The cleaner may have taken more since.
            assert {(r.key, r.value) for r in broker.records(topic)} <= values
            assert len(query.rows) < 1200
            assert json.loads(query.start) == {topic: {"0": 1200}}


def test_a_new_partition_whose_first_records_are_gone_already(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, "a")
    with DrivenQuery(broker.bootstrap_servers, topic_name) as query:
        query.until(1)
        broker.admin.create_partitions({topic_name: 2})
        wait_for(lambda: len(broker.admin.describe_topic(topic_name).partitions) == 2)
        with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
            for value in (b"b", b"c", b"d"):
                producer.send(topic_name, value, partition=1)
        broker.admin.delete_records({TopicPartition(topic_name, 1): 2})
        query.until(2)
        assert [row["value"] for row in query.rows] == [b"a", b"d"]


def test_a_topic_that_is_recreated_under_the_query(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b")
    with DrivenQuery(broker.bootstrap_servers, topic_name) as query:
        query.until(2)
        delete(broker, topic_name)
        broker.topic(topic_name)
        broker.produce(topic_name, "c", "d", "e")
        with pytest.raises(DataLossError) as failed:
            query.step()
        assert f"{topic_name}-0: everything from offset 2 on" in str(failed.value)
    with DrivenQuery(broker.bootstrap_servers, topic_name, failOnDataLoss="false") as query:
        query.until(3)
        delete(broker, topic_name)
        assert query.step() == []
        assert json.loads(query.start) == {}
        broker.topic(topic_name)
        broker.produce(topic_name, "f")
        query.until(4)
        assert [row["value"] for row in query.rows] == [b"c", b"d", b"e", b"f"]


def test_losses_name_their_offsets(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, *[str(n) for n in range(10)])
    topic_partition = TopicPartition(topic_name, 0)
    broker.admin.delete_records({topic_partition: 6})
    start = json.dumps({topic_name: {"0": 2}})
    options = {"kafkaConsumer.pollTimeoutMs": "300"}
    with DrivenQuery(broker.bootstrap_servers, topic_name, **options) as query:
        with pytest.raises(DataLossError, match="offsets 2 to 5: retention or a deletion"):
            query.read(start, json.dumps({topic_name: {"0": 10}}))
        with pytest.raises(DataLossError, match=r"offsets 10 to 14: the log was cut back.*at 10"):
            query.read(json.dumps({topic_name: {"0": 8}}), json.dumps({topic_name: {"0": 15}}))
        query.restart(failOnDataLoss="false")
        rows = query.read(start, json.dumps({topic_name: {"0": 15}}))
        assert [row["offset"] for row in rows] == [6, 7, 8, 9]


def test_least_and_most_per_trigger(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, *"abc")
    limits = {"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "6", "maxTriggerDelay": "1h"}
    with DrivenQuery(broker.bootstrap_servers, topic_name, **limits) as query:
        assert len(query.step()) == 3, "the first batch does not wait"
        broker.produce(topic_name, *"defg")
        assert query.step() == []
        broker.produce(topic_name, *"hijkl")
        assert [len(query.step()) for _ in range(3)] == [6, 0, 0]
        query.restart(maxTriggerDelay="1ms")
        assert len(query.step()) == 3


def test_partitions_are_cached_for_the_configured_time(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, "a")
    limit = {"partition.metadata.cache.ttl.ms": "3600000"}
    with (
        DrivenQuery(broker.bootstrap_servers, topic_name) as asks,
        DrivenQuery(broker.bootstrap_servers, topic_name, **limit) as knows,
    ):
        for query in (asks, knows):
            query.until(1)
        broker.admin.create_partitions({topic_name: 2})
        wait_for(lambda: len(broker.admin.describe_topic(topic_name).partitions) == 2)
        with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
            for partition in (0, 1):
                producer.send(topic_name, b"%d" % partition, partition=partition)
        asks.until(3)
        knows.until(2)
        assert knows.step() == []
        assert [row["value"] for row in knows.rows] == [b"a", b"0"]


def test_internal_topics_match_no_pattern(broker, topic_name):
    broker.topic(topic_name)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        producer.send(topic_name, b"x")
    servers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    from barnabas.spark.source.cluster import SourceCluster
    from barnabas.spark.source.options import SourceOptions

    pattern = {"subscribePattern": f"__consumer_offsets|{topic_name}"}
    cluster = SourceCluster(SourceOptions.parse({**servers, **pattern}, streaming=False))
    try:
        assert set(cluster.partitions()) == {TopicPartition(topic_name, 0)}
    finally:
        cluster.close()


def test_offset_requests_are_retried_as_often_as_configured(monkeypatch):
    from barnabas.spark.source import cluster as module
    from barnabas.spark.source.options import SourceOptions

    asked = []

    class Admin:
        def __init__(self, settings):
            pass

        def describe_topics(self, names):
            asked.append(names)
            raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE)

    monkeypatch.setattr(module, "Admin", Admin)
    given = {"kafka.bootstrap.servers": "h:1", "subscribe": "a"}
    retries = {"fetchOffset.numRetries": "2", "fetchOffset.retryIntervalMs": "1"}
    options = SourceOptions.parse({**given, **retries}, streaming=True)
    with pytest.raises(BrokerError):
        module.SourceCluster(options).view()
    assert len(asked) == 3
