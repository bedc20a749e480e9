"""Definitions of streams and tables: each call returns a new definition and runs nothing.

>>> orders = Stream("orders", "user string, amount double")
>>> orders.filter("amount > 100").group_by("user").count().to("large-orders").label
'to large-orders'
"""

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes import (
    Aggregate,
    ApplyFrame,
    CallSink,
    Changes,
    ErrorPolicy,
    Expression,
    Filter,
    Fold,
    JoinKind,
    Map,
    MapStyle,
    Merge,
    Named,
    OnError,
    Project,
    Rekey,
    RowSink,
    SparkSink,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    Through,
    Topic,
    TopicSource,
    TopologyNode,
    ViewSink,
    WithColumns,
)
from barnabas.streams.schema import RESERVED, Schema, SchemaLike, schema_of_result
from barnabas.streams.windows import DurationLike, Emit, Window, milliseconds

Predicate = Expression | Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Negated:
    """The opposite of a predicate; a class, because it is pickled to the workers."""

    predicate: Callable[[Any], bool]

    def __call__(self, record: object) -> bool:
        return not self.predicate(record)

    @property
    def __name__(self) -> str:
        return f"not {getattr(self.predicate, '__name__', 'function')}"


def negated(predicate: Predicate) -> Predicate:
    """Returns a predicate that is true where the given one is false or null.

    >>> negated("amount > 5")
    'not coalesce((amount > 5), false)'
    """
    if isinstance(predicate, str):
        return f"not coalesce(({predicate}), false)"
    return Negated(predicate)


class StreamOrTable:
    """Operators that streams and tables share. Frozen."""

    __slots__ = ("node",)

    node: TopologyNode
    _table = False

    def __init__(
        self, source: str | Topic | TopologyNode, schema: SchemaLike | None = None, **settings: Any
    ) -> None:
        """Creates a definition that reads a topic.

        Args:
            source: The name of a topic, a `Topic`, or a node of another definition.
            schema: The columns of the value: DDL, a dataclass or a `Schema`.
            settings: Further fields of `Topic`.

        Raises:
            ConfigError: The node is a table where a stream is needed, or the reverse.
        """
        if isinstance(source, str):
            made = None if schema is None else Schema.of(schema)
            source = Topic(source, made, **settings)
        node = TopicSource(source, self._table) if isinstance(source, Topic) else source
        if node.is_table is not self._table:
            given, wanted = ("table", "stream") if node.is_table else ("stream", "table")
            raise ConfigError(f"{node.label!r} is a {given}, a {wanted} is expected")
        object.__setattr__(self, "node", node)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"cannot set {name}: a definition is frozen")

    def filter(
        self,
        predicate: Predicate,
        *,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Self:
        """Keeps the rows for which a SQL expression or a Python function is true.

        Args:
            predicate: A Spark SQL expression, or a function that gets a record and returns a bool.
            on_error: The reaction to an exception of the function; see `Topology`.
            dead_letter_topic: The topic for "dlq"; by default `<topology>.dlq`.
        """
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        return type(self)(Filter(self.node, predicate, policy))

    def where(
        self,
        predicate: Predicate,
        *,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Self:
        """Does the same as `filter`."""
        return self.filter(predicate, on_error=on_error, dead_letter_topic=dead_letter_topic)

    def select(self, *names: str, **columns: Expression) -> Self:
        """Replaces the columns: names that are kept, and new columns by expression.

        >>> orders = Stream("orders", "user string, amount double")
        >>> orders.select("user", cents="amount * 100").node.label
        'select user, cents'
        """
        return type(self)(Project(self.node, (*((n, n) for n in names), *columns.items())))

    def with_columns(self, **columns: Expression) -> Self:
        """Adds columns by expression and keeps the others; a column of the same name is replaced.

        The expressions see the row as it was before: one cannot refer to another.

        >>> orders = Stream("orders", "price double, pieces int")
        >>> orders.with_columns(total="price * pieces").node.label
        'with columns total'

        Raises:
            ConfigError: No column is given, or a name is reserved, such as `_key`.
        """
        if not columns:
            raise ConfigError("with_columns() needs at least one column, such as total='a + b'")
        reserved = [name for name in columns if name in RESERVED]
        if reserved:
            raise ConfigError(f"with_columns(): {reserved[0]} is reserved; select_key() sets a key")
        return type(self)(WithColumns(self.node, tuple(columns.items())))

    def map(
        self,
        function: Callable[[Any], object],
        *,
        into: SchemaLike | None = None,
        style: MapStyle = "row",
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Self:
        """Applies a Python function to each record, or with `style` "arrow" or "pandas" to each
        batch.

        Args:
            function: Called with a record; its result replaces the record's columns.
            into: The columns of the result; by default those of the function's return annotation.
            style: "row", or "arrow" and "pandas" for a function of whole batches.
            on_error: The reaction to an exception of the function: "stop", "skip" or "dlq"; by
                default the topology's policy. A function of batches is then called again for each
                row of the batch that failed.
            dead_letter_topic: The topic for "dlq"; by default `<topology>.dlq`.
        """
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        made = schema_of_result(function, into)
        return type(self)(Map(self.node, function, made, style, policy))

    def to(self, topic: str | Topic, **settings: Any) -> RowSink:
        """Writes to a topic, exactly once; the changes of a table to a compacted topic.

        Args:
            topic: The name of the topic, or a `Topic`.
            settings: Fields of `Topic`, such as `key_column` or `partitions`.
        """
        return RowSink(self.node, Topic(topic, **settings) if isinstance(topic, str) else topic)

    def apply(self, function: Callable[[Any], object]) -> Self:
        """Applies any function from a Spark DataFrame to a DataFrame, when the query is built.

        Args:
            function: Gets the rows with the reserved columns (`_key`, `_timestamp`, ...). Reserved
                columns that its result lacks are null. It must not aggregate or join streams: use
                `group_by` and `join`, whose state this package manages.
        """
        return type(self)(ApplyFrame(self.node, function))

    def to_format(
        self,
        format: str,  # noqa: A002 - the word that users know
        *,
        mode: str = "append",
        **options: str,
    ) -> SparkSink:
        """Writes to one of Spark's own sinks: `to_format("parquet", path="/data/orders")`.

        Args:
            format: The name of the format, such as "parquet", "delta" or "console".
            mode: Spark's output mode: "append", "update" or "complete".
            options: The options of the format.
        """
        return SparkSink(self.node, format, mode, tuple(options.items()))

    def for_each(self, function: Callable[[Any, int], None]) -> CallSink:
        """Calls a function with each micro-batch, a DataFrame, and its number; at least once."""
        return CallSink(self.node, function)


class Stream(StreamOrTable):
    """A stream of records.

    Example:
        >>> clicks = Stream("clicks", "page string, user string")
        >>> clicks.filter("page = '/'").to("home-page").label
        'to home-page'
    """

    __slots__ = ()

    def flat_map(
        self,
        function: Callable[[Any], Iterable[object]],
        *,
        into: SchemaLike | None = None,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> "Stream":
        """Applies a Python function that returns any number of records; for `on_error` see
        `map`."""
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        made = schema_of_result(function, into, many=True)
        return Stream(Map(self.node, function, made, "rows", policy))

    def branch(self, *predicates: Predicate) -> tuple["Stream", ...]:
        """Splits the stream: each row is in the stream of the first predicate that is true.

        Returns:
            One stream per predicate, and a last one with the remaining rows.
        """
        branches, rest = [], self.node
        for predicate in predicates:
            branches.append(Stream(Filter(rest, predicate)))
            rest = Filter(rest, negated(predicate))
        return (*branches, Stream(rest))

    def merge(self, *others: "Stream") -> "Stream":
        """Returns the rows of several streams with the same columns."""
        return Stream(Merge((self.node, *(other.node for other in others))))

    def select_key(
        self,
        key: Expression | Callable[[Any], object],
        *,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> "Stream":
        """Sets another key, from an expression or a function; for `on_error` see `map`."""
        return Stream(Rekey(self.node, key, ErrorPolicy.of(on_error, dead_letter_topic)))

    def group_by(
        self, *keys: Expression | Callable[[Any], object], **named: Expression
    ) -> "Groups":
        """Groups the rows by expressions, by one Python function, or by default by their key.

        Args:
            keys: Names of columns, or one function that returns the key of a record.
            named: Expressions by the name of the key column.
        """
        if len(keys) == 1 and callable(keys[0]) and not named:
            return Groups(Rekey(self.node, keys[0]), (("key", "_key"),))
        return Groups(self.node, _keys(keys, named))

    def join(  # noqa: PLR0913 - the options of a join are passed by name
        self,
        other: "Stream | Table",
        *,
        on: Expression | None = None,
        kind: JoinKind = "inner",
        within: DurationLike | tuple[DurationLike, DurationLike] | None = None,
        grace: DurationLike = 0,
        columns: dict[str, Expression] | None = None,
        aliases: tuple[str, str] = ("left", "right"),
    ) -> "Stream":
        """Joins with a stream, or with a table.

        Args:
            other: A stream or a table.
            on: With a stream, a condition over both sides: "left.id = right.order_id". With a
                table, an expression over this stream's row that gives the table's key. By default
                the keys are compared.
            kind: "inner", "left", "right" or "full"; with a table "inner" or "left".
            within: The largest time between two rows of streams, or a pair of times before and
                after.
            grace: How long the join waits for late rows.
            columns: The columns of the result by expression; by default all of both sides.
            aliases: The names of the two sides in expressions.

        Raises:
            ConfigError: `within` is missing for two streams, or given for a table.
        """
        chosen = None if columns is None else tuple(columns.items())
        if isinstance(other, Table):
            if within is not None:
                raise ConfigError(
                    "'within' is for two streams: a table is joined at each row's time"
                )
            if kind not in ("inner", "left"):
                raise ConfigError(f"{kind} join: a stream joins a table with inner or left")
            return Stream(StreamTableJoin(self.node, other.node, kind, chosen, aliases, on))
        if within is None:
            raise ConfigError("a join of two streams needs 'within': it limits the state")
        pair = within if isinstance(within, tuple) else (within, within)
        before, after = (milliseconds(side) for side in pair)
        times = (before, after, milliseconds(grace))
        return Stream(StreamJoin(self.node, other.node, kind, chosen, aliases, on, *times))

    def through(self, topic: str | Topic, **settings: Any) -> "Stream":
        """Writes to a topic and continues with the records of that topic."""
        made = Topic(topic, **settings) if isinstance(topic, str) else topic
        return Stream(Through(self.node, made, table=False))

    def to_table(self, topic: str | Topic | None = None, **settings: Any) -> "Table":
        """Returns the latest value of each key, stored in a compacted topic; a null value
        deletes."""
        made = Topic(topic, **settings) if isinstance(topic, str) else topic
        return Table(Through(self.node, made, table=True))


class Table(StreamOrTable):
    """The latest row of each key; its changes are a stream.

    Example:
        >>> users = Table("users", "name string, city string")
        >>> users.filter("city = 'Basel'").view("/tmp/users.db").label
        'view view in /tmp/users.db'
    """

    __slots__ = ()
    _table = True

    def changes(self) -> Stream:
        """Returns each change as a row, deletions as tombstones."""
        return Stream(Changes(self.node))

    to_stream = changes

    def group_by(self, *keys: Expression, **named: Expression) -> "Groups":
        """Groups the current rows: a row that changes moves from its old group to its new group."""
        return Groups(self.node, _keys(keys, named))

    def join(
        self,
        other: "Table",
        *,
        on: Expression | None = None,
        kind: JoinKind = "inner",
        columns: dict[str, Expression] | None = None,
        aliases: tuple[str, str] = ("left", "right"),
    ) -> "Table":
        """Joins two tables by key, or by a foreign key.

        Args:
            other: The right table.
            on: A foreign key: an expression over this table's row that gives the other table's key.
            kind: "inner", "left", "right" or "full"; with `on` "inner" or "left".
            columns: The columns of the result by expression; by default all of both sides.
            aliases: The names of the two tables in expressions.
        """
        if on is not None and kind not in ("inner", "left"):
            raise ConfigError(f"{kind} join: a join by a foreign key is inner or left")
        chosen = None if columns is None else tuple(columns.items())
        return Table(TableJoin(self.node, other.node, kind, chosen, aliases, on))

    def view(self, path: str, name: str = "view") -> ViewSink:
        """Writes the table to a SQLite file that `barnabas.streams.TableView` reads."""
        return ViewSink(self.node, str(path), name)


@dataclass(frozen=True, slots=True)
class Groups:
    """Grouped rows; an aggregate turns them into a table."""

    node: TopologyNode
    keys: Named
    window: Window | None = None
    emitting: Emit = Emit.CHANGES
    late_topic: str | None = None

    def windowed(self, window: Window) -> "Groups":
        """Divides each group by time."""
        if self.node.is_table:
            raise ConfigError("a table cannot be windowed: use its changes()")
        return dataclasses.replace(self, window=window)

    def emit(self, when: Emit | str) -> "Groups":
        """Sets when results are written: at each change, or once when a window is closed."""
        chosen = Emit(when)
        if chosen is Emit.FINAL and self.window is None:
            raise ConfigError("emit('final') needs a window: other results never become final")
        return dataclasses.replace(self, emitting=chosen)

    def late_to(self, topic: str) -> "Groups":
        """Writes rows that arrive after their windows are closed to a topic, instead of dropping
        them.
        """
        if self.window is None:
            raise ConfigError("late_to() needs a window: other rows are never late")
        return dataclasses.replace(self, late_topic=topic)

    def aggregate(self, **aggregates: Expression) -> "Any":
        """Computes any Spark aggregates by name, such as `total="sum(amount)"`.

        Returns:
            A `Table`; with `emit("final")` a `Stream`, because final results do not change.
        """
        node = Aggregate(
            self.node,
            self.keys,
            tuple(aggregates.items()),
            self.window,
            self.emitting,
            self.late_topic,
        )
        return Table(node) if node.is_table else Stream(node)

    def count(self, name: str = "count") -> "Any":
        """Counts the rows of each group."""
        return self.aggregate(**{name: "count(*)"})

    def sum(self, column: Expression, name: str = "sum") -> "Any":
        """Adds up an expression over the rows of each group."""
        return self.aggregate(**{name: f"sum({column})"})

    def avg(self, column: Expression, name: str = "avg") -> "Any":
        """Returns the average of an expression over the rows of each group."""
        return self.aggregate(**{name: f"avg({column})"})

    def min(self, column: Expression, name: str = "min") -> "Any":
        """Returns the smallest value of an expression in each group."""
        return self.aggregate(**{name: f"min({column})"})

    def max(self, column: Expression, name: str = "max") -> "Any":
        """Returns the largest value of an expression in each group."""
        return self.aggregate(**{name: f"max({column})"})

    def fold(
        self,
        initial: Callable[[], object],
        function: Callable[[Any, Any], object],
        *,
        into: SchemaLike | None = None,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Table:
        """Applies a Python function to the records of each group, in their order.

        If `on_error` (see `map`) is "skip" or "dlq", a record for which the function raises an
        exception leaves the state of its group unchanged.

        Args:
            initial: Returns the state of a new group.
            function: Gets the state and a record and returns the next state; None deletes the
                group.
            into: The columns of the state; by default those of the function's return annotation.
            on_error: The reaction to an exception of the function.
            dead_letter_topic: The topic for "dlq".
        """
        if self.window is not None or self.node.is_table:
            raise ConfigError("fold() needs groups of a stream without windows: use aggregate()")
        key = self.keys[0][1] if len(self.keys) == 1 else _struct(self.keys)
        node = self.node if key == "_key" else Rekey(self.node, key)
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        return Table(Fold(node, initial, function, schema_of_result(function, into), policy))


def _keys(keys: Iterable[object], named: dict[str, Expression]) -> Named:
    made = []
    for key in keys:
        if not isinstance(key, str):
            raise ConfigError("group_by() takes one function, or any number of expressions")
        if not key.isidentifier():
            raise ConfigError(f"give {key!r} a name: group_by(name={key!r})")
        made.append((key.lstrip("_") or key, key))
    return (*made, *named.items()) or (("key", "_key"),)


def _struct(keys: Named) -> Expression:
    pairs = ", ".join(f"'{name}', {key}" for name, key in keys)
    return f"named_struct({pairs})"
