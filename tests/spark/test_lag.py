"""What tools see of a query: a group with its position, lag, and who the topics are."""

import json
import subprocess
import sys
import threading

import pytest

from barnabas import TopicPartition
from barnabas.spark import lag, watch_lag

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


def stream(spark, source, topic, **options):
    given = {"startingOffsets": "earliest", **options}
    return spark.readStream.format("barnabas").options(**source, subscribe=topic, **given).load()


def run(frame, checkpoint, **trigger):
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    return writer.trigger(**(trigger or {"availableNow": True})).start()


def finish(query):
    assert query.awaitTermination(60)
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
    told = {}
    listener = watch_lag(spark, lambda query, found: told.setdefault(query, found))
    try:
        frame = stream(spark, source, topic_name, maxOffsetsPerTrigger="4")
        writer = frame.writeStream.format("noop").queryName(topic_name)
        query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
        query = query.start()
        finish(query)
    finally:
        spark.streams.removeListener(listener)
    metrics = told[topic_name].metrics()
    assert metrics["maxOffsetsBehindLatest"] >= metrics["avgOffsetsBehindLatest"] > 0
    assert lag(query.lastProgress).total == 0
    group = f"spark-kafka-source-{topic_name}"
    broker.produce(topic_name, "later", partition=1)
    shown = json.dumps(described(broker, group))
    committed = broker.admin.list_group_offsets([group])[group]
    places = [TopicPartition(topic_name, number) for number in (0, 1)]
    assert [committed[place].offset for place in places] == [6, 1]
    assert group in shown
    assert '"lag": 1' in shown


def test_no_group_when_told_so_and_the_group_that_is_named(
    spark, broker, source, topic_name, tmp_path
):
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b")
    finish(run(stream(spark, source, topic_name, commitOffsets="false"), tmp_path / "one"))
    named = {"kafka.group.id": f"{topic_name}-group"}
    finish(run(stream(spark, source, topic_name, **named), tmp_path / "two"))
    prefixed = stream(spark, source, topic_name, groupIdPrefix="mine")
    finish(run(prefixed, tmp_path / "three"))
    groups = {item.group_id for item in broker.admin.list_groups() if topic_name in item.group_id}
    assert groups == {
        f"{topic_name}-group",
        f"mine-{topic_name}",
        f"{topic_name}-group-topics",
        f"mine-{topic_name}-topics",
    }


def test_a_topic_recreated_while_the_query_was_stopped(spark, broker, source, topic_name, tmp_path):
    """The new topic is longer than the old one was: only its id tells."""
    broker.topic(topic_name)
    broker.produce(topic_name, "a", "b", "c")
    finish(run(stream(spark, source, topic_name), tmp_path))
    broker.admin.delete_topic(topic_name)
    wait_for(lambda: topic_name not in [topic.name for topic in broker.admin.list_topics()])
    broker.topic(topic_name)
    broker.produce(topic_name, *"defgh")
    failing = run(stream(spark, source, topic_name), tmp_path)
    lost = rf"{topic_name}-0: everything from offset 3 on: the topic was deleted and created again"
    with pytest.raises(Exception, match=lost):
        failing.awaitTermination(60)
    seen = []
    frame = stream(spark, source, topic_name, failOnDataLoss="false")
    writer = frame.writeStream.foreachBatch(
        lambda rows, _: seen.extend(bytes(row.value) for row in rows.collect())
    )
    writer = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    finish(writer.start())
    assert sorted(seen) == [b"d", b"e", b"f", b"g", b"h"]
    text = (tmp_path / "offsets").joinpath("2").read_text().splitlines()[-1]
    assert json.loads(text) == {topic_name: {"0": 5}}


def wait_for(condition, seconds=40):
    pause = threading.Event()
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")
