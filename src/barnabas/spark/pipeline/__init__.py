"""Pipelines as definitions: a source, steps, a sink, a checkpoint; run by `barnabas pipeline run`.

Definitions are frozen and import no Spark: a file that declares a pipeline is imported fast and
starts nothing. `barnabas.streams.pipelines` compiles a definition to a topology and runs it.

>>> from barnabas.spark.pipeline import Pipeline, Source, Sql, TopicSink
>>> pipeline = Pipeline(
...     name="spending",
...     bootstrap_servers="localhost:9092",
...     source=Source("orders", format="json", schema="user string, amount double"),
...     steps=[Sql("SELECT user, amount FROM input WHERE amount > 0")],
...     sink=TopicSink("payments", key="user"),
...     checkpoint="./checkpoints/spending",
... )
"""

from barnabas.spark.pipeline.definition import (
    AddColumns,
    Apply,
    DeadLetters,
    Drop,
    FormatSink,
    Pipeline,
    Select,
    Sink,
    Source,
    Sql,
    Step,
    TableSink,
    TopicSink,
    Watermark,
    Where,
)

__all__ = [
    "AddColumns",
    "Apply",
    "DeadLetters",
    "Drop",
    "FormatSink",
    "Pipeline",
    "Select",
    "Sink",
    "Source",
    "Sql",
    "Step",
    "TableSink",
    "TopicSink",
    "Watermark",
    "Where",
]
