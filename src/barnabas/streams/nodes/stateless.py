"""Nodes that look at one row at a time, and those where rows come from. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from barnabas.streams.nodes.node import ErrorPolicy, Node, OneParent, named
from barnabas.streams.nodes.topics import Expression, Topic
from barnabas.streams.schema import Schema

Named = tuple[tuple[str, Expression], ...]
"""Columns by name, in order: (("total", "price * pieces"), ...)."""

MapStyle = Literal["row", "rows", "arrow", "pandas"]
"""One record to one, one to many, or whole batches: pyarrow.RecordBatch or pandas.DataFrame."""


@dataclass(frozen=True, slots=True, eq=False)
class Source(Node):
    """A topic read as a stream, or as a table: the latest value of each key, null deletes."""

    topic: Topic
    table: bool = False

    @property
    def is_table(self) -> bool:
        return self.table

    @property
    def label(self) -> str:
        return f"{'table' if self.table else 'stream'} {self.topic.name}"


@dataclass(frozen=True, slots=True, eq=False)
class RecordSource(Node):
    """Reads several topics, or all that match a pattern, with the columns of Spark's source.

    The rows have no reserved columns; only `Apply` nodes with `reserved=False` can follow.
    `options` are those of the source except the subscription.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"records of {self.pattern or ', '.join(self.topics)}"


@dataclass(frozen=True, slots=True, eq=False)
class Select(OneParent):
    """Other columns in place of the row's own; a generator such as `explode` makes rows."""

    columns: Named

    @property
    def label(self) -> str:
        return f"select {', '.join(name for name, _ in self.columns)}"


@dataclass(frozen=True, slots=True, eq=False)
class Where(OneParent):
    """Rows that hold; a table's row that does not hold any more is deleted."""

    predicate: Expression | Callable[[Any], bool]
    on_error: ErrorPolicy | None = None

    @property
    def label(self) -> str:
        return f"where {named(self.predicate)}"


@dataclass(frozen=True, slots=True, eq=False)
class Map(OneParent):
    """A Python function over records or over batches of them."""

    function: Callable[[Any], Any]
    into: Schema
    style: MapStyle = "row"
    on_error: ErrorPolicy | None = None

    @property
    def label(self) -> str:
        return f"{'flat map' if self.style == 'rows' else 'map'} {named(self.function)}"


@dataclass(frozen=True, slots=True, eq=False)
class Rekey(OneParent):
    """Another key; the column stays in the row. A Python function's result is a string."""

    key: Expression | Callable[[Any], Any]
    on_error: ErrorPolicy | None = None

    @property
    def label(self) -> str:
        return f"key by {named(self.key)}"


@dataclass(frozen=True, slots=True, eq=False)
class Merge(Node):
    """The rows of several streams of the same columns, in no order between them."""

    streams: tuple[Node, ...]

    @property
    def parents(self) -> tuple[Node, ...]:
        return self.streams

    @property
    def label(self) -> str:
        return "merge"


@dataclass(frozen=True, slots=True, eq=False)
class Through(OneParent):
    """Written to a topic and read from there: the duality, `table` says as what it is read."""

    topic: Topic | None
    table: bool

    @property
    def is_table(self) -> bool:
        return self.table

    @property
    def label(self) -> str:
        where = self.topic.name if self.topic else "a topic of its own"
        return f"{'table' if self.table else 'stream'} through {where}"


@dataclass(frozen=True, slots=True, eq=False)
class Changes(OneParent):
    """A table's changes as a stream, deletions (tombstones) included."""

    @property
    def is_table(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return "changes"


@dataclass(frozen=True, slots=True, eq=False)
class Apply(OneParent):
    """Any function from a Spark DataFrame to a DataFrame, called when the query is built.

    The frame has the row's columns and the reserved ones. A reserved column that the function
    leaves out is null afterwards, `_tombstone` false. With `reserved=False` the frame has no
    reserved columns and gets none.
    """

    function: Callable[[Any], Any]
    reserved: bool = True

    @property
    def label(self) -> str:
        return f"apply {named(self.function)}"
