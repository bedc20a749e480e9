"""The sink: rows become records, exactly once, also after a replay."""

import json

import pytest

from barnabas import Producer

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


def frame_of(spark, rows, schema):
    return spark.createDataFrame(rows, schema)


def write(frame, source, **options):
    frame.write.format("barnabas").mode("append").options(**source, **options).save()


def test_columns(spark, broker, source, topic_name):
    broker.topic(topic_name, partitions=3)
    schema = (
        "topic string, key string, value binary, partition int, other long, "
        "headers array<struct<key:string,value:binary>>"
    )
    rows = [
        (topic_name, "k1", b"v1", 2, 1, [("h", b"1"), ("h", None)]),
        (topic_name, None, None, 1, 2, None),
    ]
    write(frame_of(spark, rows, schema), source)
    found = {r.partition: r for r in broker.records(topic_name)}
    assert (found[2].key, found[2].value) == (b"k1", b"v1")
    assert list(found[2].headers) == [("h", b"1"), ("h", None)]
    assert (found[1].key, found[1].value, list(found[1].headers)) == (None, None, [])


def test_the_topic_option_wins(spark, broker, source, topic_name):
    broker.topic(topic_name)
    write(
        frame_of(spark, [("nobody", "v")], "topic string, value string"), source, topic=topic_name
    )
    assert [r.value for r in broker.records(topic_name)] == [b"v"]


def test_invalid_options_are_named(spark, source):
    with pytest.raises(Exception, match="needs a column 'value'"):
        write(frame_of(spark, [("v",)], "v string"), source, topic="t")


def test_a_batch_write_with_its_name_is_written_once(spark, broker, source, topic_name):
    """For foreachBatch: the caller gives the query and the micro-batch."""
    broker.topic(topic_name)
    frame = frame_of(spark, [(str(n),) for n in range(20)], "value string")
    for batch in ("0", "0", "1"):
        write(frame, source, topic=topic_name, queryId=topic_name, batchId=batch)
    assert len(broker.records(topic_name, read_committed=True)) == 40
    with pytest.raises(Exception, match="is replayed with"):
        write(frame.limit(3), source, topic=topic_name, queryId=topic_name, batchId="1")


class Copy:
    """A query from one topic to another, that may be run again and again."""

    def __init__(self, spark, source, topics, checkpoint, tasks=2, **sink):
        self.tasks = {} if tasks == 1 else {"minPartitions": str(tasks)}
        self.spark, self.source, self.topics = spark, source, topics
        self.checkpoint, self.sink = checkpoint, sink

    def run(self):
        read = self.spark.readStream.format("barnabas").options(
            **self.source, subscribe=self.topics[0], startingOffsets="earliest", **self.tasks
        )
        write = read.load().select("key", "value").writeStream.format("barnabas")
        write = write.options(**self.source, topic=self.topics[1], **self.sink)
        query = write.option("checkpointLocation", str(self.checkpoint))
        query = query.trigger(availableNow=True).start()
        assert query.awaitTermination(200)
        assert query.exception() is None

    def forget_last_commit(self):
        """As if the driver had died after the sink's work and before its own note of it."""
        commits = [file for file in (self.checkpoint / "commits").iterdir() if file.name.isdigit()]
        max(commits, key=lambda file: int(file.name)).unlink()


def test_a_replayed_micro_batch_writes_nothing_twice(spark, broker, source, topic_name, tmp_path):
    topics = broker.topic(f"{topic_name}-in", partitions=2), broker.topic(f"{topic_name}-out")
    copy = Copy(spark, source, topics, tmp_path, tasks=1)
    sent = []
    for round_number in range(2):
        with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
            for n in range(50):
                sent.append(b"%d-%d" % (round_number, n))
                producer.send(topics[0], sent[-1], partition=n % 2)
        copy.run()
        copy.forget_last_commit()
        copy.run()
    found = broker.records(topics[1], read_committed=True)
    assert sorted(r.value for r in found) == sorted(sent)
    offsets = sorted(tmp_path.joinpath("offsets").glob("[0-9]*"))
    assert json.loads(offsets[-1].read_text().splitlines()[-1]) == {topics[0]: {"0": 50, "1": 50}}


def test_at_least_once_writes_a_replay_again(spark, broker, source, topic_name, tmp_path):
    topics = broker.topic(f"{topic_name}-in"), broker.topic(f"{topic_name}-out")
    broker.produce(topics[0], "a", "b", "c")
    copy = Copy(spark, source, topics, tmp_path, deliveryGuarantee="at-least-once")
    copy.run()
    copy.forget_last_commit()
    copy.run()
    found = sorted(r.value for r in broker.records(topics[1]))
    assert found == [b"a", b"a", b"b", b"b", b"c", b"c"]
