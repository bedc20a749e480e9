"""Dead letters have the record and its origin."""

import datetime as dt

import pyarrow as pa

from barnabas.spark.dead_letters import sink_batch, take_letters


def batch():
    return pa.RecordBatch.from_pylist(
        [
            {
                "topic": "t",
                "partition": 3,
                "offset": n,
                "key": None,
                "value": b"v%d" % n,
                "timestamp": dt.datetime(1970, 1, 1, 0, 0, n, tzinfo=dt.UTC),
                "headers": [{"key": "h", "value": None}],
            }
            for n in range(3)
        ]
    )


def test_a_letter_has_its_record_and_the_reason():
    (letter,) = take_letters(batch(), {1: "why"})
    assert (letter.topic, letter.partition, letter.offset) == ("t", 3, 1)
    assert (letter.key, letter.value, letter.timestamp) == (None, b"v1", 1000)
    (row,) = sink_batch([letter], None).to_pylist()
    assert (row["topic"], row["key"], row["value"]) == ("t.dlq", None, b"v1")
    assert row["timestamp"] == dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)
    headers = [(pair["key"], pair["value"]) for pair in row["headers"]]
    assert headers == [
        ("h", None),
        ("dlq.topic", b"t"),
        ("dlq.partition", b"3"),
        ("dlq.offset", b"1"),
        ("dlq.timestamp", b"1000"),
        ("dlq.error.class", b"DecodeError"),
        ("dlq.error.message", b"why"),
    ]


def test_a_topic_for_all():
    rows = sink_batch(take_letters(batch(), {0: "a", 2: "b"}), "dead").to_pylist()
    assert [row["topic"] for row in rows] == ["dead", "dead"]
