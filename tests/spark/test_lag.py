"""The consumer groups of a query: its position, its lag and its topic ids."""

import json
import subprocess
import sys
import threading

import pytest
from support.network.scrape import Scrape, wait_for_metric
from support.pipelines.spark_driver import DrivenQuery

from barnabas import TopicPartition
from barnabas.spark import lag, serve_metrics, watch_lag
from barnabas.spark.source.group_offsets import TOPIC_IDS_PARTITION, StoredTopicIds
from barnabas.spark.source.offsets import read
from barnabas.spark.source.planner import DataLossError

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


def stream(spark, source, topic, **options):
    given = {"startingOffsets": "earliest", **options}
    return spark.readStream.format("barnabas").options(**source, subscribe=topic, **given).load()


def finish(query):
    assert query.awaitTermination(200)
    assert query.exception() is None


def described(broker, group):
    command = [sys.executable, "-m", "barnabas.cli.main", "groups", "describe", group]
    flags = ["--bootstrap-server", broker.bootstrap_servers, "--format", "json"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_query_is_a_group_to_the_tools(spark, broker, source, topic_name, tmp_path):
    broker.topic(topic_name, partitions=2)
    broker.produce(topic_name, *[str(n) for n in range(6)], partition=0)
    broker.produce(topic_name, "x", partition=1)
    told, heard = {}, threading.Event()

    def hear(query, found):
        told.setdefault(query, found)
        if query == topic_name:
            heard.set()

    listener = watch_lag(spark, hear)
    server = serve_metrics(spark)
    try:
        frame = stream(spark, source, topic_name, maxOffsetsPerTrigger="4")
        writer = frame.writeStream.format("noop").queryName(topic_name)
        query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
        query = query.start()
        finish(query)
        assert heard.wait(60), "Spark tells its listeners when it has the time"
        url = server.url.removesuffix("/metrics")
        name = "barnabas_query_rows_total"
        wait_for_metric(url, name, lambda rows: rows == 7, group=topic_name)
        phases = Scrape(url)("barnabas_query_batch_seconds", group=topic_name, phase="addBatch")
        assert phases is not None
    finally:
        server.close()
        spark.streams.removeListener(listener)
    metrics = told[topic_name].metrics()
    assert metrics["maxOffsetsBehindLatest"] >= metrics["avgOffsetsBehindLatest"] > 0
    assert lag(query.lastProgress).total == 0
    group = f"spark-kafka-source-{topic_name}"
    broker.produce(topic_name, "later", partition=1)
    shown = json.dumps(described(broker, group))
    committed = broker.admin.list_group_offsets([group])[group]
    topic_partitions = [TopicPartition(topic_name, number) for number in (0, 1)]
    assert [committed[topic_partition].offset for topic_partition in topic_partitions] == [6, 1]
    assert group in shown
    assert '"lag": 1' in shown


def test_group_of_a_query(broker, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b")
    servers = broker.bootstrap_servers
    named = {"kafka.group.id": f"{topic_name}-group"}
    for options in ({"commitOffsets": "false"}, named, {"groupIdPrefix": "mine"}):
        with DrivenQuery(servers, topic_name, **{"commitOffsets": "true", **options}) as query:
            query.until(2)
            query.step()

    def groups():
        found = {item.group_id for item in broker.admin.list_groups()}
        return {group.removesuffix("-topics") for group in found if topic_name in group}

    wait_for(lambda: len(groups()) == 2)
    assert groups() == {f"{topic_name}-group", f"mine-{topic_name}"}


def test_a_topic_recreated_while_the_query_was_stopped(broker, topic_name):
    """The new topic is longer than the old one: only its id differs."""
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b", "c")
    with DrivenQuery(broker.bootstrap_servers, topic_name, commitOffsets="true") as query:
        query.until(3)
        query.step()
        wait_for(lambda: is_marked(broker, topic_name, query))
        broker.admin.delete_topic(topic_name)
        wait_for(lambda: topic_name not in [topic.name for topic in broker.admin.list_topics()])
        broker.topic(topic_name)
        broker.produce(topic_name, *"defgh")
        query.restart()
        lost = rf"{topic_name}-0: everything from offset 3 on: the topic was deleted and created"
        with pytest.raises(DataLossError, match=lost):
            query.step()
        query.restart(failOnDataLoss="false")
        query.until(8)
        assert [row["value"] for row in query.rows[3:]] == [b"d", b"e", b"f", b"g", b"h"]
        assert json.loads(query.start) == {topic_name: {"0": 5}}


def is_marked(broker, topic, query):
    group = f"spark-kafka-source-{topic}-topics"
    committed = broker.admin.list_group_offsets([group])[group].get(TOPIC_IDS_PARTITION)
    mark = None if committed is None else StoredTopicIds.parse(committed.metadata)
    return mark is not None and bool(mark.ids_at(read(json.loads(query.start))))


def wait_for(condition, seconds=90):
    pause = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")
