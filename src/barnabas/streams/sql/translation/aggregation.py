"""GROUP BY: splits the SELECT list into groups, aggregates, and expressions over them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from barnabas.streams.nodes import Aggregate, Filter, TopologyNode
from barnabas.streams.schema import quoted
from barnabas.streams.sql.language.dialect import BarnabasSql
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import EmitClause, Query, WindowClause, WindowKind
from barnabas.streams.sql.translation.expressions import (
    is_aggregate,
    plain_text,
    spark_text,
    without_alias,
)
from barnabas.streams.sql.translation.scope import QueryRows, at_node
from barnabas.streams.windows import Emit, Shape, Window

DEFAULT_GRACE_MS = 86_400_000
"""ksqlDB's default: a day. With EMIT FINAL the default is 0; otherwise results would be a day late.
"""

WINDOW_COLUMNS = {
    "windowstart": "unix_millis(window_start)",
    "windowend": "unix_millis(window_end)",
}


@dataclass(slots=True)
class Grouping:
    """Groups and aggregates, collected while the SELECT list is translated.

    `names` has the column of each group, by the text of its expression.
    """

    rows: QueryRows
    query: Query
    groups: list[tuple[str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    aggregates: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_group(self, tree: exp.Expr, name: str) -> None:
        self.groups.append((name, spark_text(tree, self.rows.scope.resolve)))
        self.names[self._identity(tree)] = name

    def group_of(self, tree: exp.Expr) -> str | None:
        """Returns the column of a group, if the expression is one."""
        return self.names.get(self._identity(tree))

    def _identity(self, tree: exp.Expr) -> str:
        """Returns the same text for `region` and `p.region`."""
        try:
            return spark_text(tree, self.rows.scope.resolve)
        except SqlError:
            return plain_text(tree)

    def text(self, tree: exp.Expr) -> str:
        """Returns Spark's text of an expression of the SELECT list or HAVING, over groups and
        aggregates.
        """
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
        """Returns the node with translated children; a ksqlDB function is translated after its
        arguments.
        """
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
            f"{tree.name} is neither in GROUP BY nor inside an aggregate: add it to GROUP BY, "
            "or select one value of the group, for example with LATEST_BY_OFFSET"
        )
        raise at_node(SqlError(reason), tree)

    def key_texts(self) -> tuple[str, ...]:
        """Returns the values of the record's key, from the key of the groups: a deleted row has
        only that.
        """
        if len(self.groups) == 1 and self.query.window is None:
            return ("_key",)
        names = tuple(f"_key.{quoted(name)}" for name, _ in self.groups)
        if self.query.window is None:
            return names
        return (*names, "unix_millis(_key.window_start)", "unix_millis(_key.window_end)")

    def node(self, having: str | None) -> TopologyNode:
        """Returns the node of the groups, with HAVING after it."""
        # As in ksqlDB, a row whose group key is null is in no group.
        known = " AND ".join(f"({text}) IS NOT NULL" for _, text in self.groups)
        made: TopologyNode = Aggregate(
            Filter(self.rows.node, known),
            tuple(self.groups),
            tuple(self.aggregates.values()) or (("_aggregate_0", "count(*)"),),
            _window(self.query.window, self.query.emit),
            Emit.FINAL if self.query.emit is EmitClause.FINAL else Emit.CHANGES,
        )
        return made if having is None else Filter(made, having)


def group_names(
    groups: Sequence[exp.Expr], items: Sequence[tuple[str, exp.Expr]], rows: QueryRows
) -> list[str]:
    """Returns a name for each group: that of the result column which shows it, or a generated
    one."""
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


def check_groups(groups: Sequence[exp.Expr], rows: QueryRows, window: WindowClause | None) -> None:
    if rows.is_table and window is not None:
        relation = rows.scope.members[0].relation.name
        raise UnsupportedError(
            f"{relation} is a table, and WINDOW needs a stream. Omit WINDOW, or group the stream "
            "that the table is derived from"
        )
    for tree in groups:
        if isinstance(tree, exp.Literal) and not tree.is_string:
            raise at_node(SqlError("GROUP BY takes columns and expressions, not numbers"), tree)


def _window(window: WindowClause | None, emit: EmitClause | None) -> Window | None:
    if window is None:
        return None
    default = 0 if emit is EmitClause.FINAL else DEFAULT_GRACE_MS
    grace = default if window.grace_ms is None else window.grace_ms
    shapes = {
        WindowKind.TUMBLING: Shape.TUMBLING,
        WindowKind.HOPPING: Shape.HOPPING,
        WindowKind.SESSION: Shape.SESSION,
    }
    advance = window.size_ms if window.advance_ms is None else window.advance_ms
    if advance > window.size_ms:
        raise SqlError("a HOPPING window must not advance by more than its size")
    return Window(shapes[window.kind], window.size_ms, advance, grace)
