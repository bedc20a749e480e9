"""Decoded columns: by the source's options, on any frame, and values that cannot be decoded."""

import io
import json

import fastavro
import pytest

from barnabas import Producer
from barnabas.spark import decode, encode

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]

EVENT = "id long, name string, at timestamp, tags array<string>"
AVRO = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "map", "values": "int"}},
    ],
}


def load(spark, source, topic, **options):
    return spark.read.format("barnabas").options(**source, subscribe=topic, **options).load()


def values(frame):
    return [row.value for row in sorted(frame.collect(), key=lambda row: row.offset)]


def send(broker, topic, *records):
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for record in records:
            producer.send(topic, record)


def avro(value):
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(AVRO), value)
    return stream.getvalue()


def test_json_by_schema_and_inferred(spark, broker, source, topic_name):
    broker.topic(topic_name)
    event = {"id": 1, "name": "a", "at": "2024-05-01T10:00:00Z", "tags": ["x"], "more": {"y": 1.5}}
    send(broker, topic_name, json.dumps(event).encode(), b'{"id": 2}', None)
    first, second, third = values(
        load(spark, source, topic_name, **{"value.format": "json", "value.schema": EVENT})
    )
    assert (first.id, first.name, first.tags) == (1, "a", ["x"])
    assert first.at.isoformat() == "2024-05-01T10:00:00"
    assert (second.id, second.name, second.tags) == (2, None, None)
    assert third is None
    inferred = load(spark, source, topic_name, **{"value.format": "json"})
    kind = inferred.schema["value"].dataType.simpleString()
    assert (
        kind == "struct<id:bigint,name:string,at:string,tags:array<string>,more:struct<y:double>>"
    )
    assert values(inferred)[0].more.y == 1.5


def test_a_user_schema_decodes_only_what_it_names(spark, broker, source, topic_name):
    broker.topic(topic_name)
    broker.produce(topic_name, '{"id": 1, "name": "a"}', key="k")
    read = spark.read.format("barnabas").options(
        **source, subscribe=topic_name, **{"value.format": "json", "key.format": "string"}
    )
    (row,) = read.schema("key string, value struct<name:string>").load().collect()
    assert (row.key, row.value.asDict()) == ("k", {"name": "a"})


@pytest.mark.parametrize(
    ("name", "schema", "data"),
    [
        ("csv", "id long, name string, tags map<string,int>", b'7,n,"{""a"":1}"'),
        ("avro", json.dumps(AVRO), avro({"id": 7, "name": "n", "tags": {"a": 1}})),
        (
            "confluent-avro",
            json.dumps(AVRO),
            b"\0\0\0\0\5" + avro({"id": 7, "name": "n", "tags": {"a": 1}}),
        ),
    ],
)
def test_csv_and_avro(spark, broker, source, topic_name, name, schema, data):
    broker.topic(topic_name)
    send(broker, topic_name, data, b"")
    options = {"value.format": name, "value.schema": schema, "on.decode.error": "null"}
    first, second = values(load(spark, source, topic_name, **options))
    assert first.asDict() == {"id": 7, "name": "n", "tags": {"a": 1}}
    assert second is None


def test_a_value_that_does_not_decode_fails_and_is_named(spark, broker, source, topic_name):
    broker.topic(topic_name)
    send(broker, topic_name, b'{"id": 1}', b'{"id": "x"}')
    frame = load(spark, source, topic_name, **{"value.format": "json", "value.schema": "id long"})
    wrong = rf"{topic_name}-0 at offset 1: value field 'id': .x. is not of type bigint"
    with pytest.raises(Exception, match=wrong):
        frame.collect()
    with pytest.raises(Exception, match=r"value.schema='id lon': type 'lon' is not one of"):
        load(spark, source, topic_name, **{"value.format": "json", "value.schema": "id lon"})


def test_dead_letters_of_a_stream_are_written_once(spark, broker, source, topic_name, tmp_path):
    """Although the micro-batch is read twice by foreachBatch, and replayed after that."""
    broker.topic(topic_name, partitions=2)
    dead = broker.topic(f"{topic_name}.dlq")
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for n in range(20):
            value = b"broken" if n % 5 == 0 else b'{"id": %d}' % n
            producer.send(topic_name, value, b"k%d" % n, [("h", b"1")], n % 2, n + 1)
    good = []

    def twice(frame, batch_id):
        assert frame.count() == 16
        good[:] = sorted(row.value.id for row in frame.collect())

    options = {"value.format": "json", "value.schema": "id long", "on.decode.error": "dlq"}
    frame = (
        spark.readStream.format("barnabas")
        .options(**source, subscribe=topic_name, startingOffsets="earliest", **options)
        .load()
    )
    for _ in range(2):
        query = frame.writeStream.foreachBatch(twice).option("checkpointLocation", str(tmp_path))
        query = query.trigger(availableNow=True).start()
        assert query.awaitTermination(200)
        (tmp_path / "commits" / "0").unlink()
    assert good == [n for n in range(20) if n % 5]
    letters = broker.records(dead, read_committed=True)
    assert sorted(letter.key for letter in letters) == [b"k0", b"k10", b"k15", b"k5"]
    letter = next(letter for letter in letters if letter.key == b"k5")
    headers = dict(letter.headers)
    assert (letter.value, headers["h"]) == (b"broken", b"1")
    assert (headers["dlq.topic"], headers["dlq.partition"]) == (topic_name.encode(), b"1")
    assert (headers["dlq.offset"], headers["dlq.timestamp"]) == (b"2", b"6")
    assert letter.timestamp == 6
    assert headers["dlq.error.message"].startswith(b"value is not JSON")


def test_frames(spark, broker, source, topic_name):
    broker.topic(topic_name)
    dead = broker.topic(f"{topic_name}-dead")
    send(broker, topic_name, b'{"id": 1}', b"broken")
    raw = load(spark, source, topic_name)
    told = decode(raw, "json", "id long", on_error="column").orderBy("offset").collect()
    assert [(row.value, row.value_error is None) for row in told] == [((1,), True), (None, False)]
    kept = decode(raw, "json", "id long", on_error="dlq", dead_letters={**source, "topic": dead})
    assert [row.value.id for row in kept.collect()] == [1]
    assert [letter.value for letter in broker.records(dead)] == [b"broken"]
    typed = decode(raw, "json", "id long", on_error="null").where("value is not null")
    written = encode(typed, "avro")
    schema = '{"type":"record","name":"R","fields":[{"name":"id","type":["null","long"]}]}'
    assert [row.value.id for row in decode(written, "avro", schema).collect()] == [1]
    packed = encode(typed.selectExpr("value.id"), "json", columns=["id"])
    assert [row.value for row in packed.collect()] == ['{"id":1}']
    with pytest.raises(Exception, match="cannot be decoded; the first"):
        decode(raw, "json", "id long").collect()
