"""GROUP BY: the SELECT list split into groups, aggregates, and what is made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from barnabas.streams.nodes import Aggregate, Node, Where
from barnabas.streams.schema import quoted
from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Emit, Query, Window, WindowKind
from barnabas.streams.sql.translation.expressions import plain_text, spark_text, without_alias
from barnabas.streams.sql.translation.functions import is_aggregate
from barnabas.streams.sql.translation.rows import Rows
from barnabas.streams.sql.translation.scope import at_node
from barnabas.streams.windows import Emit as EmitWhen
from barnabas.streams.windows import Shape
from barnabas.streams.windows import Window as WindowOf

DEFAULT_GRACE_MS = 86_400_000
"""ksqlDB's: a day. With EMIT FINAL it is nothing, or results would come a day late."""

WINDOW_COLUMNS = {
    "windowstart": "unix_millis(window_start)",
    "windowend": "unix_millis(window_end)",
}


@dataclass(slots=True)
class Grouping:
    """Groups and aggregates, collected while the SELECT list is read.

    `names` has the column of each group, by the text of its expression.
    """

    rows: Rows
    query: Query
    groups: list[tuple[str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    aggregates: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_group(self, tree: exp.Expr, name: str) -> None:
        self.groups.append((name, spark_text(tree, self.rows.scope.resolve)))
        self.names[self._identity(tree)] = name

    def group_of(self, tree: exp.Expr) -> str | None:
        """The column of a group, if the expression is one."""
        return self.names.get(self._identity(tree))

    def _identity(self, tree: exp.Expr) -> str:
        """One text for `region` and `p.region`."""
        try:
            return spark_text(tree, self.rows.scope.resolve)
        except SqlError:
            return plain_text(tree)

    def text(self, tree: exp.Expr) -> str:
        """An expression of the SELECT list or of HAVING, over groups and aggregates."""
        return str(self._replaced(tree).sql(dialect=BarnabasSql))

    def _replaced(self, tree: exp.Expr) -> exp.Expr:
        name = self.group_of(tree) if not isinstance(tree, exp.Literal) else None
        if name is not None:
            return exp.Var(this=quoted(name))
        if is_aggregate(tree):
            return exp.Var(this=quoted(self._aggregate(tree)))
        if isinstance(tree, exp.Column):
            return exp.Var(this=self._window_column(tree))
        return self._children(tree)

    def _children(self, tree: exp.Expr) -> exp.Expr:
        """The node with its parts replaced; a function of ksqlDB is written last, over them."""
        copy = tree.copy()
        for key, value in list(copy.args.items()):
            if isinstance(value, exp.Expr):
                copy.set(key, self._replaced(value))
            elif isinstance(value, list):
                items = [
                    self._replaced(item) if isinstance(item, exp.Expr) else item for item in value
                ]
                copy.set(key, items)
        return exp.Var(this=spark_text(copy, self.rows.scope.resolve))

    def _aggregate(self, tree: exp.Expr) -> str:
        text = spark_text(tree, self.rows.scope.resolve)
        if text not in self.aggregates:
            self.aggregates[text] = (f"_aggregate_{len(self.aggregates)}", text)
        return self.aggregates[text][0]

    def _window_column(self, tree: exp.Column) -> str:
        found = WINDOW_COLUMNS.get(tree.name.lower())
        if found is not None and self.query.window is not None:
            return found
        self.rows.scope.resolve(tree)
        reason = (
            f"{tree.name} is neither in GROUP BY nor inside of an aggregate: add it to GROUP BY, "
            "or say which value of the group is meant, as LATEST_BY_OFFSET does"
        )
        raise at_node(SqlError(reason), tree)

    def key_texts(self) -> tuple[str, ...]:
        """The values of the record's key, taken from the key that the groups have: a deleted
        row has that and nothing else."""
        if len(self.groups) == 1 and self.query.window is None:
            return ("_key",)
        names = tuple(f"_key.{quoted(name)}" for name, _ in self.groups)
        if self.query.window is None:
            return names
        return (*names, "unix_millis(_key.window_start)", "unix_millis(_key.window_end)")

    def node(self, having: str | None) -> Node:
        """The groups, with HAVING after them."""
        # A row without its group's key is in no group, as in ksqlDB.
        known = " AND ".join(f"({text}) IS NOT NULL" for _, text in self.groups)
        made: Node = Aggregate(
            Where(self.rows.node, known),
            tuple(self.groups),
            tuple(self.aggregates.values()) or (("_aggregate_0", "count(*)"),),
            _window(self.query.window, self.query.emit),
            EmitWhen.FINAL if self.query.emit is Emit.FINAL else EmitWhen.CHANGES,
        )
        return made if having is None else Where(made, having)


def group_names(
    groups: Sequence[exp.Expr], items: Sequence[tuple[str, exp.Expr]], rows: Rows
) -> list[str]:
    """A name for each group: that of the result's column which shows it, or one of its own."""
    texts = {plain_text(without_alias(item)): name for name, item in reversed(items)}
    by_column = {
        spark_text(bare, rows.scope.resolve): name
        for name, item in reversed(items)
        if isinstance(bare := without_alias(item), exp.Column)
        and rows.scope.owner(bare) is not None
    }
    names = []
    for number, tree in enumerate(groups):
        name = texts.get(plain_text(tree))
        if name is None and isinstance(tree, exp.Column):
            name = by_column.get(spark_text(tree, rows.scope.resolve))
        names.append(name if name is not None and name not in names else f"_group_{number}")
    return names


def check_groups(groups: Sequence[exp.Expr], rows: Rows, window: Window | None) -> None:
    if rows.is_table and window is not None:
        relation = rows.scope.members[0].relation.name
        raise UnsupportedError(
            f"{relation} is a table: its rows have no time of their own to be cut by. Leave out "
            "WINDOW, or group the stream that the table is made of"
        )
    for tree in groups:
        if isinstance(tree, exp.Literal) and not tree.is_string:
            raise at_node(SqlError("GROUP BY takes columns and expressions, not numbers"), tree)


def _window(window: Window | None, emit: Emit | None) -> WindowOf | None:
    if window is None:
        return None
    default = 0 if emit is Emit.FINAL else DEFAULT_GRACE_MS
    grace = default if window.grace_ms is None else window.grace_ms
    shapes = {
        WindowKind.TUMBLING: Shape.TUMBLING,
        WindowKind.HOPPING: Shape.HOPPING,
        WindowKind.SESSION: Shape.SESSION,
    }
    advance = window.size_ms if window.advance_ms is None else window.advance_ms
    if advance > window.size_ms:
        raise SqlError("a HOPPING window must not advance by more than its size")
    return WindowOf(shapes[window.kind], window.size_ms, advance, grace)
