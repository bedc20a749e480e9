"""Pipelines as definitions: a source, steps, a sink, a checkpoint; run by `barnabas pipeline run`.

Definitions are frozen and import no Spark: a file that declares a pipeline is imported fast and
starts nothing. `barnabas.streams.pipelines` compiles a definition to a topology and runs it. An
invalid value raises a PipelineError that names the key as a YAML file would have it, so the same
message serves YAML and Python files.

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.spark.options import SERVERS, ClusterSettings

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


MODES = ("append", "update", "complete")
GUARANTEES = ("exactly-once", "at-least-once")
AVAILABLE_NOW = "available-now"
RAW = "raw"
INPUT_VIEW = "input"


class PipelineError(ConfigError):
    """An invalid value of a definition.

    Args:
        key: The path of the value, such as `sink.mode` or `steps[2].sql`.
        problem: Says why the value is invalid.
    """

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem

    def at(self, location: str) -> ConfigError:
        """Returns an error that names the file, and the line if it is known, first."""
        return ConfigError(f"{location}: {self}")


# --- steps ---


@dataclass(frozen=True, slots=True)
class Where:
    """Keeps the rows for which the condition is true."""

    condition: str


@dataclass(frozen=True, slots=True)
class Select:
    """Replaces all columns by these expressions, in this order."""

    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class AddColumns:
    """Adds columns by name; a column of the same name is replaced."""

    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Drop:
    """Removes columns."""

    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Watermark:
    """Sets how late a row may arrive, by a timestamp column; limits the state of aggregations."""

    column: str
    delay: str


@dataclass(frozen=True, slots=True)
class Sql:
    """A Spark SQL query over the rows of the step before, as the table `input`."""

    query: str


@dataclass(frozen=True, slots=True)
class Apply:
    """A function from a DataFrame to a DataFrame, called on the driver when the query is built."""

    function: Callable[[Any], Any]


Step = Where | Select | AddColumns | Drop | Watermark | Sql | Apply


def check_step(step: Step, key: str) -> None:
    """Raises PipelineError if a text or a list is empty."""
    if not isinstance(step, Step):
        raise PipelineError(key, f"{step!r} is not a step")
    for name in step.__slots__:
        value = getattr(step, name)
        if not value or (isinstance(value, str) and not value.strip()):
            raise PipelineError(key, f"{name} is empty")


# --- sources and sinks ---


@dataclass(frozen=True, slots=True)
class Source:
    """Topics to read: one, several, or all that match a pattern.

    With a `format` other than raw the rows are the fields of the decoded value, and `_key`,
    `_topic`, `_partition`, `_offset`, `_timestamp`; raw rows have the columns of Spark's source.
    """

    topic: str | Sequence[str] = ()
    pattern: str | None = None
    format: str = RAW
    schema: str | None = None
    starting: str = "earliest"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.topic) == (self.pattern is not None):
            raise PipelineError("source", "needs a topic, or a pattern of topics")

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.topic,) if isinstance(self.topic, str) else tuple(self.topic)


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The topic for values that cannot be decoded; by default `<topic>.dlq`."""

    topic: str | None = None


@dataclass(frozen=True, slots=True)
class TopicSink:
    """Writes records to a topic.

    `key` is an expression. The value has all columns whose names do not start with `_`. With the
    format raw the rows have the sink's columns: value and, if wanted, key, headers, partition.
    """

    topic: str
    key: str | None = None
    format: str = "json"
    mode: str = "append"
    guarantee: str = "exactly-once"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text("sink.topic", self.topic)
        _check_word("sink.mode", self.mode, MODES)
        _check_word("sink.guarantee", self.guarantee, GUARANTEES)
        if self.format == RAW and self.key is not None:
            raise PipelineError("sink.key", "format raw takes the key from the column 'key'")


@dataclass(frozen=True, slots=True)
class TableSink:
    """Writes rows to a database table: `sqlite:///counts.db` or `postgresql://user@host/name`.

    With `keys` a row replaces an earlier row with the same keys.
    """

    database: str
    table: str
    keys: Sequence[str] = ()
    mode: str = "append"

    def __post_init__(self) -> None:
        _check_text("sink.database", self.database)
        _check_text("sink.table", self.table)
        _check_word("sink.mode", self.mode, MODES)


@dataclass(frozen=True, slots=True)
class FormatSink:
    """Writes to one of Spark's own formats, such as console, parquet or delta."""

    format: str
    mode: str = "append"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text("sink.format", self.format)
        _check_word("sink.mode", self.mode, MODES)


Sink = TopicSink | TableSink | FormatSink


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A complete pipeline.

    `trigger` is an interval such as `10 seconds`, or `available-now`; without it each micro-batch
    starts when the one before has ended. `kafka` has client settings for the source and the sink.
    """

    name: str
    source: Source
    sink: Sink
    checkpoint: str
    bootstrap_servers: str = "localhost:9092"
    steps: Sequence[Step] = ()
    dead_letters: DeadLetters | None = None
    trigger: str | None = None
    kafka: Mapping[str, str] = field(default_factory=dict)
    master: str | None = None
    spark: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text("name", self.name)
        if any(sign in self.name for sign in "/\0") or self.name.startswith("."):
            raise PipelineError("name", f"{self.name!r} cannot be the name of a file")
        _check_text("checkpoint", self.checkpoint)
        _check_text("bootstrap_servers", self.bootstrap_servers)
        if self.dead_letters is not None and self.source.format == RAW:
            raise PipelineError("dead_letters", "needs a source.format: raw values always decode")
        for number, step in enumerate(self.steps):
            check_step(step, f"steps[{number}]")

    @property
    def cluster(self) -> ClusterSettings:
        """The connection settings of source and sink."""
        return ClusterSettings({**self.kafka, SERVERS: self.bootstrap_servers})


def _check_text(key: str, value: str) -> None:
    if not value.strip():
        raise PipelineError(key, "is empty")


def _check_word(key: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise PipelineError(key, f"{value!r} must be one of: {', '.join(allowed)}")
