"""What a pipeline is: frozen values, checked when they are made. Nothing here runs anything.

A mistake is a PipelineError that names the key as a YAML file would have it, so that the same words
serve both kinds of files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.spark.client_settings import SERVERS, ClusterSettings
from barnabas.spark.pipeline.errors import PipelineError
from barnabas.spark.pipeline.steps import Step, check_step

MODES = ("append", "update", "complete")
GUARANTEES = ("exactly-once", "at-least-once")
AVAILABLE_NOW = "available-now"
RAW = "raw"


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
    """Where values go that do not decode; without a topic to `<topic>.dlq`."""

    topic: str | None = None


@dataclass(frozen=True, slots=True)
class TopicSink:
    """Records of a topic: `key` is an expression, the value all columns but those with `_`.

    With the format raw the columns are taken as they are: value, and key, headers, partition.
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
    """A table of a database: `sqlite:///counts.db` or `postgresql://user@host/name`.

    With `keys` a row takes the place of an earlier one with the same keys.
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
    """Any other format that Spark can write a stream to: console, parquet, delta."""

    format: str
    mode: str = "append"
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_text("sink.format", self.format)
        _check_word("sink.mode", self.mode, MODES)


Sink = TopicSink | TableSink | FormatSink


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A whole pipeline. `trigger` is an interval such as `10 seconds`, or `available-now`; without
    it a batch follows the other. `kafka` are client settings for source and sink."""

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
        """How source and sink reach the cluster."""
        return ClusterSettings({**self.kafka, SERVERS: self.bootstrap_servers})


def _check_text(key: str, value: str) -> None:
    if not value.strip():
        raise PipelineError(key, "is empty")


def _check_word(key: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise PipelineError(key, f"{value!r} must be one of: {', '.join(allowed)}")
