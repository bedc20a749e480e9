"""Valid and invalid definitions of pipelines."""

import pytest

from barnabas.spark.pipeline import (
    DeadLetters,
    Pipeline,
    PipelineError,
    Source,
    Sql,
    TableSink,
    TopicSink,
    Where,
)
from barnabas.spark.query_metrics import QueryFigures


def pipeline(**changes):
    given = {
        "name": "p",
        "source": Source("in", format="json", schema="a int"),
        "sink": TopicSink("out"),
        "checkpoint": "/tmp/c",
    }
    return Pipeline(**{**given, **changes})


def test_connection_settings_get_the_prefix_of_kafka():
    made = pipeline(bootstrap_servers="h:1", kafka={"client.id": "x"})
    assert made.cluster.options() == {"kafka.bootstrap.servers": "h:1", "kafka.client.id": "x"}


def test_a_source_takes_one_topic_or_several():
    assert Source("a").topics == ("a",)
    assert Source(["a", "b"]).topics == ("a", "b")


@pytest.mark.parametrize(
    ("make", "key", "words"),
    [
        (lambda: Source(), "source", "a topic"),
        (lambda: Source("a", pattern="b"), "source", "a topic"),
        (lambda: TopicSink("t", mode="upsert"), "sink.mode", "append, update, complete"),
        (lambda: TopicSink("t", guarantee="maybe"), "sink.guarantee", "exactly-once"),
        (lambda: TopicSink(" "), "sink.topic", "empty"),
        (lambda: TopicSink("t", key="k", format="raw"), "sink.key", "column 'key'"),
        (lambda: TableSink("sqlite:///x", ""), "sink.table", "empty"),
        (lambda: pipeline(name="a/b"), "name", "file"),
        (lambda: pipeline(checkpoint=""), "checkpoint", "empty"),
        (lambda: pipeline(steps=[Sql("SELECT 1"), Where(" ")]), "steps[1]", "condition is empty"),
        (lambda: pipeline(steps=["SELECT 1"]), "steps[0]", "not a step"),
        (
            lambda: pipeline(source=Source("in"), dead_letters=DeadLetters()),
            "dead_letters",
            "source.format",
        ),
    ],
)
def test_invalid_options_are_named(make, key, words):
    with pytest.raises(PipelineError, match=words) as caught:
        make()
    assert caught.value.key == key


def test_figures_of_a_progress():
    progress = {"batchId": 4, "numInputRows": 50, "durationMs": {"triggerExecution": 100}}
    behind = {"endOffset": {"t": {"0": 3}}, "latestOffset": {"t": {"0": 10}}}
    figures = QueryFigures.of({**progress, "sources": [behind]})
    assert figures.line("p") == "p  batch 4  500 rows/s  lag 7  100 ms"
    assert QueryFigures.of({**progress, "durationMs": {}}).line("p").endswith("lag -  0 ms")
