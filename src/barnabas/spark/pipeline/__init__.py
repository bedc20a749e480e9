"""Pipelines as definitions: a source, steps, a sink, a checkpoint; run by `barnabas pipeline run`.

What is here is frozen and knows nothing of Spark: a file that declares a pipeline imports fast and
starts nothing. `assembly` turns a definition into a query, `runner` runs it.

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
    DeadLetters,
    FormatSink,
    Pipeline,
    Sink,
    Source,
    TableSink,
    TopicSink,
)
from barnabas.spark.pipeline.steps import (
    AddColumns,
    Apply,
    Drop,
    Select,
    Sql,
    Step,
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
