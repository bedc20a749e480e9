"""What a definition accepts, and the words for what it does not."""

import pytest

from barnabas.spark.pipeline import (
    DeadLetters,
    Pipeline,
    Source,
    Sql,
    TableSink,
    TopicSink,
    Where,
)
from barnabas.spark.pipeline.definition import PipelineError
from barnabas.streams.pipeline_runner import Figures


def pipeline(**changes):
    given = {
        "name": "p",
        "source": Source("in", format="json", schema="a int"),
        "sink": TopicSink("out"),
        "checkpoint": "/tmp/c",
    }
    return Pipeline(**{**given, **changes})


def test_what_it_needs_to_reach_the_cluster():
    made = pipeline(bootstrap_servers="h:1", kafka={"client.id": "x"})
    assert made.cluster.options() == {"kafka.bootstrap.servers": "h:1", "kafka.client.id": "x"}


def test_topics():
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
def test_what_is_wrong_is_named(make, key, words):
    with pytest.raises(PipelineError, match=words) as caught:
        make()
    assert caught.value.key == key


def test_figures_of_a_progress():
    progress = {"batchId": 4, "numInputRows": 50, "durationMs": {"triggerExecution": 100}}
    figures = Figures.of(progress, 7)
    assert figures.line("p") == "p  batch 4  500 rows/s  lag 7  100 ms"
    assert Figures.of({**progress, "durationMs": {}}, None).line("p").endswith("lag -  0 ms")
