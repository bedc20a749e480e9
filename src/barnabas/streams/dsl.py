"""Streams and tables as one writes them down: each call gives a new definition, nothing runs.

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
    Apply,
    CallSink,
    Changes,
    ErrorPolicy,
    Expression,
    Fold,
    FormatSink,
    JoinKind,
    Map,
    MapStyle,
    Merge,
    Named,
    Node,
    OnError,
    Rekey,
    Select,
    Source,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    Through,
    Topic,
    TopicSink,
    ViewSink,
    Where,
)
from barnabas.streams.predicates import Predicate, negated
from barnabas.streams.schema import Schema, SchemaLike, schema_of_result
from barnabas.streams.windows import DurationLike, Emit, Window, milliseconds


class Rows:
    """What streams and tables have in common. Frozen."""

    __slots__ = ("node",)

    node: Node
    _table = False

    def __init__(
        self, source: str | Topic | Node, schema: SchemaLike | None = None, **settings: Any
    ) -> None:
        """A topic by its name, with its schema and any other field of `Topic`; or a node."""
        if isinstance(source, str):
            made = None if schema is None else Schema.of(schema)
            source = Topic(source, made, **settings)
        node = Source(source, self._table) if isinstance(source, Topic) else source
        if node.is_table is not self._table:
            raise ConfigError(f"{node.label!r} is a {'table' if node.is_table else 'stream'}")
        object.__setattr__(self, "node", node)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a definition is frozen: {name}")

    def filter(
        self,
        predicate: Predicate,
        *,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Self:
        """Rows for which an expression or a function is true; for `on_error` see `Topology`."""
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        return type(self)(Where(self.node, predicate, policy))

    def where(
        self,
        predicate: Predicate,
        *,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Self:
        """The same as `filter`."""
        return self.filter(predicate, on_error=on_error, dead_letter_topic=dead_letter_topic)

    def select(self, *names: str, **columns: Expression) -> Self:
        """Other columns: names that stay, and new ones by expression."""
        return type(self)(Select(self.node, (*((n, n) for n in names), *columns.items())))

    def map(
        self,
        function: Callable[[Any], Any],
        *,
        into: SchemaLike | None = None,
        style: MapStyle = "row",
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Self:
        """A Python function for each record; `style` "arrow" or "pandas": for each batch.

        Args:
            function: Called with a record; its result replaces the record's columns.
            into: The columns of the result; by default those of the function's annotation.
            style: "row", or "arrow" and "pandas" for a function of whole batches.
            on_error: What happens when the function raises an exception: "stop", "skip" or "dlq";
                by default the topology's policy. A function of batches is then called again for
                each row of the batch that failed.
            dead_letter_topic: The topic for "dlq"; by default `<topology>.dlq`.
        """
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        made = schema_of_result(function, into)
        return type(self)(Map(self.node, function, made, style, policy))

    def to(self, topic: str | Topic, **settings: Any) -> TopicSink:
        """To a topic, exactly once; a table's changes to a compacted one."""
        return TopicSink(self.node, Topic(topic, **settings) if isinstance(topic, str) else topic)

    def apply(self, function: Callable[[Any], Any]) -> Self:
        """Any function from a Spark DataFrame to a DataFrame, called when the query is built.

        Args:
            function: Gets the rows with the reserved columns (`_key`, `_timestamp`, ...). Columns
                that its result leaves out are null. It must not aggregate or join streams:
                use `group_by` and `join`, whose state this package keeps track of.
        """
        return type(self)(Apply(self.node, function))

    def to_format(
        self,
        format: str,  # noqa: A002 - the word that users know
        *,
        mode: str = "append",
        **options: str,
    ) -> FormatSink:
        """To one of Spark's own sinks: `to_format("parquet", path="/data/orders")`.

        Args:
            format: The name of the format, such as "parquet", "delta" or "console".
            mode: Spark's output mode: "append", "update" or "complete".
            options: The options of the format.
        """
        return FormatSink(self.node, format, mode, tuple(options.items()))

    def for_each(self, function: Callable[[Any, int], None]) -> CallSink:
        """Each micro-batch, as a DataFrame, to a function; at least once."""
        return CallSink(self.node, function)


class Stream(Rows):
    """Records one after the other."""

    __slots__ = ()

    def flat_map(
        self,
        function: Callable[[Any], Iterable[Any]],
        *,
        into: SchemaLike | None = None,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> "Stream":
        """A Python function that returns any number of records; for `on_error` see `map`."""
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        made = schema_of_result(function, into, many=True)
        return Stream(Map(self.node, function, made, "rows", policy))

    def branch(self, *predicates: Predicate) -> tuple["Stream", ...]:
        """One stream per predicate, each row in the first that holds; the last gets the rest."""
        branches, rest = [], self.node
        for predicate in predicates:
            branches.append(Stream(Where(rest, predicate)))
            rest = Where(rest, negated(predicate))
        return (*branches, Stream(rest))

    def merge(self, *others: "Stream") -> "Stream":
        """The rows of several streams with the same columns."""
        return Stream(Merge((self.node, *(other.node for other in others))))

    def select_key(
        self,
        key: Expression | Callable[[Any], Any],
        *,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> "Stream":
        """Another key, from an expression or a function; for `on_error` see `map`."""
        return Stream(Rekey(self.node, key, ErrorPolicy.of(on_error, dead_letter_topic)))

    def group_by(self, *keys: Expression | Callable[[Any], Any], **named: Expression) -> "Groups":
        """Groups by expressions, by one Python function, or by the key when there is neither."""
        if len(keys) == 1 and callable(keys[0]) and not named:
            return Groups(Rekey(self.node, keys[0]), (("key", "_key"),))
        return Groups(self.node, _keys(keys, named))

    def join(  # noqa: PLR0913 - what a join may say, each by its name
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
        """With a stream, `within` a time (or times before and after); or with a table.

        `on`: with a stream a condition over both sides, "left.id = right.order_id"; with a table
        an expression over this stream's row that is the table's key. By default the keys.
        """
        chosen = None if columns is None else tuple(columns.items())
        if isinstance(other, Table):
            if within is not None:
                raise ConfigError("a join with a table is at each row's own time: no 'within'")
            if kind not in ("inner", "left"):
                raise ConfigError(f"{kind} join: a table makes no rows of its own here")
            return Stream(StreamTableJoin(self.node, other.node, kind, chosen, aliases, on))
        if within is None:
            raise ConfigError("a join of two streams needs 'within': state cannot grow for ever")
        pair = within if isinstance(within, tuple) else (within, within)
        before, after = (milliseconds(side) for side in pair)
        times = (before, after, milliseconds(grace))
        return Stream(StreamJoin(self.node, other.node, kind, chosen, aliases, on, *times))

    def through(self, topic: str | Topic, **settings: Any) -> "Stream":
        """To a topic, and on from there."""
        made = Topic(topic, **settings) if isinstance(topic, str) else topic
        return Stream(Through(self.node, made, table=False))

    def to_table(self, topic: str | Topic | None = None, **settings: Any) -> "Table":
        """The latest value of each key, kept in a compacted topic; a null value deletes."""
        made = Topic(topic, **settings) if isinstance(topic, str) else topic
        return Table(Through(self.node, made, table=True))


class Table(Rows):
    """The latest row of each key; its changes are a stream."""

    __slots__ = ()
    _table = True

    def changes(self) -> Stream:
        """Each change as a row, deletions as tombstones."""
        return Stream(Changes(self.node))

    to_stream = changes

    def group_by(self, *keys: Expression, **named: Expression) -> "Groups":
        """Groups of the rows there are now: a changed row leaves its old group for its new one."""
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
        """By key, or `on` a foreign key: an expression over this table's row."""
        if on is not None and kind not in ("inner", "left"):
            raise ConfigError(f"{kind} join: a join by foreign key is inner or left")
        chosen = None if columns is None else tuple(columns.items())
        return Table(TableJoin(self.node, other.node, kind, chosen, aliases, on))

    def view(self, path: str, name: str = "view") -> ViewSink:
        """Into a SQLite file, to be asked with `barnabas.streams.TableView`."""
        return ViewSink(self.node, str(path), name)


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows in groups, on the way to a table."""

    node: Node
    keys: Named
    window: Window | None = None
    emitting: Emit = Emit.CHANGES
    late_topic: str | None = None

    def windowed(self, window: Window) -> "Groups":
        """Cut each group by time."""
        if self.node.is_table:
            raise ConfigError("a table has no windows: its rows change; window its changes()")
        return dataclasses.replace(self, window=window)

    def emit(self, when: Emit | str) -> "Groups":
        """On each change, or once when a window is closed."""
        chosen = Emit(when)
        if chosen is Emit.FINAL and self.window is None:
            raise ConfigError("without a window no result is ever final")
        return dataclasses.replace(self, emitting=chosen)

    def late_to(self, topic: str) -> "Groups":
        """Rows that come too late go there instead of nowhere."""
        if self.window is None:
            raise ConfigError("without a window no row is too late")
        return dataclasses.replace(self, late_topic=topic)

    def aggregate(self, **aggregates: Expression) -> "Any":
        """Any of Spark's aggregates by name; a `Table`, or a `Stream` when only final is told."""
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
        return self.aggregate(**{name: "count(*)"})

    def sum(self, column: Expression, name: str = "sum") -> "Any":
        return self.aggregate(**{name: f"sum({column})"})

    def avg(self, column: Expression, name: str = "avg") -> "Any":
        return self.aggregate(**{name: f"avg({column})"})

    def min(self, column: Expression, name: str = "min") -> "Any":
        return self.aggregate(**{name: f"min({column})"})

    def max(self, column: Expression, name: str = "max") -> "Any":
        return self.aggregate(**{name: f"max({column})"})

    def fold(
        self,
        initial: Callable[[], Any],
        function: Callable[[Any, Any], Any],
        *,
        into: SchemaLike | None = None,
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> Table:
        """A Python function over each group's records in order; None deletes the group.

        A record for which the function raises an exception leaves the group's state unchanged, if
        `on_error` (see `map`) is "skip" or "dlq".
        """
        if self.window is not None or self.node.is_table:
            raise ConfigError("fold() is for groups of a stream without windows: use aggregate()")
        key = self.keys[0][1] if len(self.keys) == 1 else _struct(self.keys)
        node = self.node if key == "_key" else Rekey(self.node, key)
        policy = ErrorPolicy.of(on_error, dead_letter_topic)
        return Table(Fold(node, initial, function, schema_of_result(function, into), policy))


def _keys(keys: Iterable[Any], named: dict[str, Expression]) -> Named:
    made = []
    for key in keys:
        if not isinstance(key, str):
            raise ConfigError("group by one function alone, or by expressions")
        if not key.isidentifier():
            raise ConfigError(f"give {key!r} a name: group_by(name={key!r})")
        made.append((key.lstrip("_") or key, key))
    return (*made, *named.items()) or (("key", "_key"),)


def _struct(keys: Named) -> Expression:
    pairs = ", ".join(f"'{name}', {key}" for name, key in keys)
    return f"named_struct({pairs})"
