"""Lag from the progress that Spark reports."""

from barnabas.model.ids import TopicPartition
from barnabas.spark.query_metrics import lag


def progress(*sources):
    return {"sources": [{"endOffset": end, "latestOffset": latest} for end, latest in sources]}


def test_metrics_have_sparks_names():
    found = lag(progress(('{"a":{"0":3,"1":5}}', {"a": {"0": 10, "1": 5}})))
    assert found.partitions == {TopicPartition("a", 0): 7, TopicPartition("a", 1): 0}
    assert found.total == 7
    assert found.metrics() == {
        "minOffsetsBehindLatest": 0.0,
        "maxOffsetsBehindLatest": 7.0,
        "avgOffsetsBehindLatest": 3.5,
    }


def test_new_partitions_count_from_the_beginning_and_nothing_is_negative():
    found = lag(progress(({"a": {"0": 9}}, {"a": {"0": 4, "1": 2}})))
    assert found.metrics()["maxOffsetsBehindLatest"] == 2.0
    assert found.total == 2


def test_other_sources_and_no_progress():
    assert lag(None) is None
    assert lag(progress((17, 18), (None, None), ("x", "y"))) is None
    assert lag(progress((17, 18), ({"a": {"0": 1}}, {"a": {"0": 2}}))).total == 1
