"""Where rows go in the end. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from barnabas.streams.nodes.node import OneParent, named
from barnabas.streams.nodes.topics import Topic


@dataclass(frozen=True, slots=True, eq=False)
class Sink(OneParent):
    """Where rows go in the end; one of the three below."""


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
    """Each micro-batch of rows, a Spark DataFrame, to a function: (frame, batch_id) -> None."""

    function: Callable[[Any, int], None]

    @property
    def label(self) -> str:
        return f"call {named(self.function)}"
