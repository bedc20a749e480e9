"""The definitions: a frozen graph of what is to be computed, apart from how it is run. Pure.

Every row has, beside its own columns:

- `_key`: the record's key, of the type its topic or its last re-keying says (string by default);
- `_timestamp`: the record's time, or what the topic's `timestamp` expression makes of the row;
- `_tombstone`: true for a record without a value: of a table, the key's deletion;
- `_partition`, `_offset`: where the record lies; null after a grouping or a join.

Expressions are Spark SQL texts over these and the row's own columns. Where a function is allowed,
it is Python's: called with a record (the dataclass the schema came from, or an object with the
columns as attributes). A node is equal to itself only: a graph is told by who points at whom.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from barnabas.streams.schema import Schema
from barnabas.streams.windows import Emit, Window

Expression = str
Named = tuple[tuple[str, Expression], ...]
"""Columns by name, in order: (("total", "price * pieces"), ...)."""

JoinKind = Literal["inner", "left", "right", "full"]
MapStyle = Literal["row", "rows", "arrow", "pandas"]
"""One record to one, one to many, or whole batches: pyarrow.RecordBatch or pandas.DataFrame."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and how its records are read and written.

    `value_format` and `key_format` are names of `barnabas.spark.formats`. `key_column` shows the
    key in the rows under a name; in a topic that is written it names the column that becomes the
    key and stays out of the value. `timestamp` is an expression over the row for its time.
    """

    name: str
    schema: Schema | None = None
    value_format: str = "json"
    key_type: str = "string"
    key_format: str = "string"
    key_column: str | None = None
    timestamp: Expression | None = None
    starting: str = "earliest"
    partitions: int | None = None
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Rows of a stream or the changes of a table; `is_table` says which."""

    @property
    def parents(self) -> tuple["Node", ...]:
        return ()

    @property
    def is_table(self) -> bool:
        return any(parent.is_table for parent in self.parents)

    @property
    def label(self) -> str:
        """What the node does, for people."""
        return type(self).__name__.lower()


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
class OneParent(Node):
    parent: Node

    @property
    def parents(self) -> tuple[Node, ...]:
        return (self.parent,)


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

    @property
    def label(self) -> str:
        return f"where {_named(self.predicate)}"


@dataclass(frozen=True, slots=True, eq=False)
class Map(OneParent):
    """A Python function over records or over batches of them."""

    function: Callable[[Any], Any]
    into: Schema
    style: MapStyle = "row"

    @property
    def label(self) -> str:
        return f"{'flat map' if self.style == 'rows' else 'map'} {_named(self.function)}"


@dataclass(frozen=True, slots=True, eq=False)
class Rekey(OneParent):
    """Another key; the column stays in the row. A Python function's result is a string."""

    key: Expression | Callable[[Any], Any]

    @property
    def label(self) -> str:
        return f"key by {_named(self.key)}"


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
class Aggregate(OneParent):
    """Groups and, with a window, their windows; the result is a table.

    Its columns: the keys, `window_start` and `window_end` where there is a window, the aggregates.
    Its `_key`: the only key itself; else a struct of the keys and `window_start`, `window_end`.
    `late_topic` gets rows, as JSON, that come when all their windows are closed.
    """

    keys: Named
    aggregates: Named
    window: Window | None = None
    emit: Emit = Emit.CHANGES
    late_topic: str | None = None

    @property
    def is_table(self) -> bool:
        """When only final results are told they never change: a stream of them."""
        return self.emit is Emit.CHANGES

    @property
    def label(self) -> str:
        what = ", ".join(name for name, _ in self.aggregates)
        by = ", ".join(name for name, _ in self.keys)
        over = f" over {self.window}" if self.window else ""
        return f"{what} by {by}{over}, emit {self.emit.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Fold(OneParent):
    """A Python function over the records of each key, in order: (state, record) -> state."""

    initial: Callable[[], Any]
    function: Callable[[Any, Any], Any]
    into: Schema

    @property
    def is_table(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return f"aggregate by key with {_named(self.function)}"


@dataclass(frozen=True, slots=True, eq=False)
class Join(Node):
    """What the three joins share. Sides are known in expressions by `aliases`: "o.user".

    `columns` None: the left side's columns, then those of the right whose names are free.
    """

    left: Node
    right: Node
    kind: JoinKind = "inner"
    columns: Named | None = None
    aliases: tuple[str, str] = ("left", "right")

    @property
    def parents(self) -> tuple[Node, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class StreamJoin(Join):
    """Two streams: rows for which `on` holds and whose times are near enough.

    The right row's time is in [left's - before_ms, left's + after_ms]. `on` needs an equality; None
    means equal keys. Outer rows are told when the grace is over. The result has the left's key,
    or the right's where there is no left, and the later time.
    """

    on: Expression | None = None
    before_ms: int = 0
    after_ms: int = 0
    grace_ms: int = 0

    @property
    def is_table(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"{self.kind} join of streams within -{self.before_ms}/+{self.after_ms} ms"


@dataclass(frozen=True, slots=True, eq=False)
class StreamTableJoin(Join):
    """Each stream row with the table's row of that moment: inner or left.

    `on` is an expression over the stream's row, compared with the table's key; None means the
    stream's key. Within a micro-batch both sides go in the order of their offsets, merged by
    time, a table's change before a stream's row of the same time.
    """

    on: Expression | None = None

    @property
    def is_table(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"{self.kind} join with table"


@dataclass(frozen=True, slots=True, eq=False)
class TableJoin(Join):
    """Two tables by key or, with `on`, the left's foreign key to the right's key (inner, left)."""

    on: Expression | None = None

    @property
    def is_table(self) -> bool:
        return True

    @property
    def label(self) -> str:
        by = f" by foreign key {self.on}" if self.on else ""
        return f"{self.kind} join of tables{by}"


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
        return f"call {_named(self.function)}"


def _named(what: object) -> str:
    return what if isinstance(what, str) else getattr(what, "__name__", type(what).__name__)
