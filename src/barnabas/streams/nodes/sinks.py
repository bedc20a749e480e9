"""Sinks: the ends of streams and tables. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes.node import OneParent, named
from barnabas.streams.nodes.topics import Topic


@dataclass(frozen=True, slots=True, eq=False)
class Sink(OneParent):
    """The end of a stream or a table; one of the classes below."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicSink(Sink):
    """To a topic, exactly once. Of a table: its changelog, in a compacted topic."""

    topic: Topic

    @property
    def label(self) -> str:
        return f"to {self.topic.name}"


@dataclass(frozen=True, slots=True, eq=False)
class ViewSink(Sink):
    """A table into a file of SQLite, exactly once, to be asked from outside."""

    path: str
    name: str

    @property
    def label(self) -> str:
        return f"view {self.name} in {self.path}"


@dataclass(frozen=True, slots=True, eq=False)
class CallSink(Sink):
    """Passes each micro-batch, a Spark DataFrame, to a function: (frame, batch_id) -> None.

    `mode` is Spark's output mode, for rows that an `Apply` node has aggregated.
    """

    function: Callable[[Any, int], None]
    mode: str = "append"

    @property
    def label(self) -> str:
        return f"call {named(self.function)}"


OUTPUT_MODES = ("append", "update", "complete")


@dataclass(frozen=True, slots=True, eq=False)
class RecordSink(Sink):
    """Writes rows with the columns of Spark's sink (value, key, headers, partition) to a topic.

    Unlike `TopicSink` it shapes no records. `mode` is Spark's output mode, `guarantee` the sink's
    `deliveryGuarantee`.
    """

    topic: str
    mode: str = "append"
    guarantee: str = "exactly-once"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"to {self.topic}"


@dataclass(frozen=True, slots=True, eq=False)
class FormatSink(Sink):
    """One of Spark's own sinks, such as parquet, delta or console, without the reserved columns.

    The guarantee is that of the format. Beside other sinks of the same query each micro-batch is
    written as a batch, at least once; `mode` then counts for nothing.
    """

    format: str
    mode: str = "append"
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.mode not in OUTPUT_MODES:
            raise ConfigError(f"mode={self.mode!r}: must be one of {', '.join(OUTPUT_MODES)}")

    @property
    def label(self) -> str:
        return f"to format {self.format}"
