"""The nodes of a topology: a frozen graph that says what to compute, not how. Pure.

Every row has, in addition to its own columns:

- `_key`: the key of the record, in the type that its topic or the last `select_key` gives it
  (string by default);
- `_timestamp`: the time of the record, or the result of the topic's `timestamp` expression;
- `_tombstone`: true for a record without a value; in a table it deletes the key;
- `_partition`, `_offset`: the position of the record; null after a grouping or a join.

Expressions are Spark SQL texts over these columns and the row's own columns. Some nodes
take a Python function instead. It is called with a record: the dataclass that the schema came from,
or an object with the columns as attributes. Nodes are compared by identity, because the graph
consists of references between them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from barnabas.model.errors import ConfigError
from barnabas.streams.schema import Schema
from barnabas.streams.windows import Emit, Window

__all__ = [
    "Aggregate",
    "ApplyFrame",
    "CallSink",
    "Changes",
    "ErrorPolicy",
    "Expression",
    "Filter",
    "Fold",
    "Join",
    "JoinKind",
    "Map",
    "MapStyle",
    "Merge",
    "Named",
    "OnError",
    "OneParent",
    "Project",
    "RecordSink",
    "RecordSource",
    "Rekey",
    "RowSink",
    "Sink",
    "SparkSink",
    "StreamJoin",
    "StreamTableJoin",
    "TableJoin",
    "Through",
    "Topic",
    "TopicSource",
    "TopologyNode",
    "ViewSink",
    "WithColumns",
]


Expression = str
OUTPUT_MODES = ("append", "update", "complete")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, and how its records become rows and rows become records.

    Args:
        name: The name of the topic.
        schema: The columns of the value.
        value_format: A format of `barnabas.spark.formats`, such as "json" or "avro".
        key_type: The Spark SQL type of the key.
        key_format: The format of the key.
        key_column: Adds the key to the rows as a column of this name. In a topic that is written,
            it names the column that becomes the key and is left out of the value.
        timestamp: An expression over the row for its time.
        starting: Where a new query starts to read: "earliest" or "latest".
        partitions: The number of partitions if the topic is created.
        options: Further options of the source.
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


OnError = Literal["stop", "skip", "dlq"]
"""Reaction to an exception of a Python function: the query stops, the row is skipped, or
the row becomes a dead letter."""


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """The reaction to a row for which a Python function raises an exception.

    `topic` is the dead-letter topic; None means `<topology>.dlq`.
    """

    action: OnError = "stop"
    topic: str | None = None

    def __post_init__(self) -> None:
        if self.action not in get_args(OnError):
            allowed = ", ".join(get_args(OnError))
            raise ConfigError(f"on_error={self.action!r}: must be one of {allowed}")
        if self.topic is not None and self.action != "dlq":
            raise ConfigError(f"dead_letter_topic={self.topic!r} needs on_error='dlq'")

    @classmethod
    def of(cls, on_error: OnError | None, topic: str | None) -> "ErrorPolicy | None":
        """Returns the policy of a step, or None if neither is given: then the topology's policy
        applies.
        """
        if on_error is None and topic is None:
            return None
        return cls(on_error or "dlq", topic)


@dataclass(frozen=True, slots=True, eq=False)
class TopologyNode:
    """Rows of a stream, or changes of a table if `is_table` is true."""

    @property
    def parents(self) -> tuple["TopologyNode", ...]:
        return ()

    @property
    def is_table(self) -> bool:
        return any(parent.is_table for parent in self.parents)

    @property
    def label(self) -> str:
        """A description of the node for messages and drawings."""
        return type(self).__name__.lower()


@dataclass(frozen=True, slots=True, eq=False)
class OneParent(TopologyNode):
    """A node with one input."""

    parent: TopologyNode

    @property
    def parents(self) -> tuple[TopologyNode, ...]:
        return (self.parent,)


def name_of(item: object) -> str:
    """Returns an expression as it is, and the name of a function."""
    return item if isinstance(item, str) else getattr(item, "__name__", type(item).__name__)


Named = tuple[tuple[str, Expression], ...]
"""Columns by name, in order: (("total", "price * pieces"), ...)."""

MapStyle = Literal["row", "rows", "arrow", "pandas"]
"""The unit that a function maps: a record to one record ("row") or to several ("rows"), or a whole
batch as a pyarrow.RecordBatch or a pandas.DataFrame."""


@dataclass(frozen=True, slots=True, eq=False)
class TopicSource(TopologyNode):
    """A topic that is read as a stream, or as a table: the latest value of each key, null deletes
    it.
    """

    topic: Topic
    table: bool = False

    @property
    def is_table(self) -> bool:
        return self.table

    @property
    def label(self) -> str:
        return f"{'table' if self.table else 'stream'} {self.topic.name}"


@dataclass(frozen=True, slots=True, eq=False)
class RecordSource(TopologyNode):
    """Reads several topics, or all that match a pattern, with the columns of Spark's source.

    The rows have no reserved columns; only `ApplyFrame` nodes with `reserved=False` can follow.
    `options` are those of the source without the subscription.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"records of {self.pattern or ', '.join(self.topics)}"


@dataclass(frozen=True, slots=True, eq=False)
class Project(OneParent):
    """Replaces the row's own columns; a generator such as `explode` can produce several rows."""

    columns: Named

    @property
    def label(self) -> str:
        return f"select {', '.join(name for name, _ in self.columns)}"


@dataclass(frozen=True, slots=True, eq=False)
class WithColumns(OneParent):
    """Adds columns to the row's own; a column of the same name is replaced."""

    columns: Named

    @property
    def label(self) -> str:
        return f"with columns {', '.join(name for name, _ in self.columns)}"


@dataclass(frozen=True, slots=True, eq=False)
class Filter(OneParent):
    """Keeps the rows for which the predicate is true; other rows of a table are deleted."""

    predicate: Expression | Callable[[Any], bool]
    on_error: ErrorPolicy | None = None

    @property
    def label(self) -> str:
        return f"where {name_of(self.predicate)}"


@dataclass(frozen=True, slots=True, eq=False)
class Map(OneParent):
    """Applies a Python function to records or to batches of records."""

    function: Callable[[Any], Any]
    into: Schema
    style: MapStyle = "row"
    on_error: ErrorPolicy | None = None

    @property
    def label(self) -> str:
        return f"{'flat map' if self.style == 'rows' else 'map'} {name_of(self.function)}"


@dataclass(frozen=True, slots=True, eq=False)
class Rekey(OneParent):
    """Sets another key; the column stays in the row. The result of a Python function becomes a
    string.
    """

    key: Expression | Callable[[Any], Any]
    on_error: ErrorPolicy | None = None

    @property
    def label(self) -> str:
        return f"key by {name_of(self.key)}"


@dataclass(frozen=True, slots=True, eq=False)
class Merge(TopologyNode):
    """The rows of several streams with the same columns, without an order between the streams."""

    streams: tuple[TopologyNode, ...]

    @property
    def parents(self) -> tuple[TopologyNode, ...]:
        return self.streams

    @property
    def label(self) -> str:
        return "merge"


@dataclass(frozen=True, slots=True, eq=False)
class Through(OneParent):
    """Writes rows to a topic and reads them from there, as a table if `table` is true."""

    topic: Topic | None
    table: bool

    @property
    def is_table(self) -> bool:
        return self.table

    @property
    def label(self) -> str:
        where = self.topic.name if self.topic else "an internal topic"
        return f"{'table' if self.table else 'stream'} through {where}"


@dataclass(frozen=True, slots=True, eq=False)
class Changes(OneParent):
    """The changes of a table as a stream, including deletions (tombstones)."""

    @property
    def is_table(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return "changes"


@dataclass(frozen=True, slots=True, eq=False)
class ApplyFrame(OneParent):
    """Any function from a Spark DataFrame to a DataFrame, called when the query is built.

    The frame has the row's columns and the reserved columns. A reserved column that the function's
    result lacks is null afterwards, `_tombstone` false. With `reserved=False` the frame has no
    reserved columns and gets none.
    """

    function: Callable[[Any], Any]
    reserved: bool = True

    @property
    def label(self) -> str:
        return f"apply {name_of(self.function)}"


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(OneParent):
    """Aggregates per group and, with a window, per window; the result is a table.

    The columns are the keys, `window_start` and `window_end` if there is a window, and the
    aggregates. `_key` is the key column if there is only one; otherwise a struct of the keys,
    `window_start` and `window_end`. Rows that arrive after all their windows are closed are written
    to `late_topic`, as JSON.
    """

    keys: Named
    aggregates: Named
    window: Window | None = None
    emit: Emit = Emit.CHANGES
    late_topic: str | None = None

    @property
    def is_table(self) -> bool:
        """False with EMIT FINAL: final results never change, so they are a stream."""
        return self.emit is Emit.CHANGES

    @property
    def label(self) -> str:
        results = ", ".join(name for name, _ in self.aggregates)
        keys = ", ".join(name for name, _ in self.keys)
        window = f" over {self.window}" if self.window else ""
        return f"{results} by {keys}{window}, emit {self.emit.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Fold(OneParent):
    """A Python function over the records of each key, in their order: (state, record) -> state."""

    initial: Callable[[], Any]
    function: Callable[[Any, Any], Any]
    into: Schema
    on_error: ErrorPolicy | None = None

    @property
    def is_table(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return f"aggregate by key with {name_of(self.function)}"


JoinKind = Literal["inner", "left", "right", "full"]


@dataclass(frozen=True, slots=True, eq=False)
class Join(TopologyNode):
    """Base class of the three joins. Expressions name the sides by `aliases`: "o.user".

    Without `columns` the result has the left side's columns, then those of the right side whose
    names are not taken.
    """

    left: TopologyNode
    right: TopologyNode
    kind: JoinKind = "inner"
    columns: Named | None = None
    aliases: tuple[str, str] = ("left", "right")

    def __post_init__(self) -> None:
        if self.aliases[0] == self.aliases[1]:
            raise ConfigError(f"both sides of a join are called {self.aliases[0]!r}")

    @property
    def parents(self) -> tuple[TopologyNode, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True, eq=False)
class StreamJoin(Join):
    """Joins two streams: rows for which `on` is true and whose times are close enough.

    The time of the right row is within [left - before_ms, left + after_ms]. `on` needs an equality;
    None means equal keys. Rows of an outer join without a partner are written when the grace period
    is over. The result has the left row's key, or the right row's if there is no left row, and the
    later time.
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
    """Joins each row of a stream with the table's row at that time: inner or left.

    `on` is an expression over the stream's row that is compared with the table's key; None means
    the stream's key. Within a micro-batch a row is joined with the table as of the row's time:
    changes of a key apply in the order of their offsets, and before rows of the same time.
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
    """Joins two tables by key or, with `on`, by a foreign key of the left table (inner, left)."""

    on: Expression | None = None

    @property
    def is_table(self) -> bool:
        return True

    @property
    def label(self) -> str:
        by = f" by foreign key {self.on}" if self.on else ""
        return f"{self.kind} join of tables{by}"


@dataclass(frozen=True, slots=True, eq=False)
class Sink(OneParent):
    """Base class of the ends of streams and tables."""


@dataclass(frozen=True, slots=True, eq=False)
class RowSink(Sink):
    """Writes rows to a topic, exactly once; the changes of a table to a compacted topic."""

    topic: Topic

    @property
    def label(self) -> str:
        return f"to {self.topic.name}"


@dataclass(frozen=True, slots=True, eq=False)
class ViewSink(Sink):
    """Writes a table to a SQLite file, exactly once, for queries from other processes."""

    path: str
    name: str

    @property
    def label(self) -> str:
        return f"view {self.name} in {self.path}"


@dataclass(frozen=True, slots=True, eq=False)
class CallSink(Sink):
    """Passes each micro-batch, a Spark DataFrame, to a function: (frame, batch_id) -> None.

    `mode` is Spark's output mode, for rows that an `ApplyFrame` node has aggregated.
    """

    function: Callable[[Any, int], None]
    mode: str = "append"

    @property
    def label(self) -> str:
        return f"call {name_of(self.function)}"


@dataclass(frozen=True, slots=True, eq=False)
class RecordSink(Sink):
    """Writes rows with the columns of Spark's sink (value, key, headers, partition) to a topic.

    Unlike `RowSink` it does not encode them. `mode` is Spark's output mode, `guarantee` the
    sink's `deliveryGuarantee`.
    """

    topic: str
    mode: str = "append"
    guarantee: str = "exactly-once"
    options: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        return f"to {self.topic}"


@dataclass(frozen=True, slots=True, eq=False)
class SparkSink(Sink):
    """One of Spark's own sinks, such as parquet, delta or console, without the reserved columns.

    The guarantee is that of the format. If the query has other sinks, each micro-batch is written
    as a batch, at least once, and `mode` has no effect.
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


def walk(roots: Iterable[TopologyNode]) -> Iterator[TopologyNode]:
    """Yields the roots and all nodes above them, parents first, each once."""
    seen: set[TopologyNode] = set()

    def visit(node: TopologyNode) -> Iterator[TopologyNode]:
        if node in seen:
            return
        seen.add(node)
        for parent in node.parents:
            yield from visit(parent)
        yield node

    for root in roots:
        yield from visit(root)
