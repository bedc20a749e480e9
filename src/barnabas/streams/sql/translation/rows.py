"""The rows of a query's FROM: one relation or several, what their columns are called, their key."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from barnabas.streams.nodes import Node
from barnabas.streams.sql.catalog.relations import Relation, unknown_relation
from barnabas.streams.sql.language.errors import UnsupportedError
from barnabas.streams.sql.translation.records import SKIP, source
from barnabas.streams.sql.translation.scope import Scope, at_node, own_columns

ROWKEY = "ROWKEY"
"""ksqlDB's name for the key of a FULL JOIN, which is in no column of either side."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one or several relations.

    `key` are the columns that hold the rows' key: of one relation all of them together, of a join
    any one of them, both sides of an equality. None where only `_key` itself knows. `key_text`
    is the key that a join of streams gives its rows; without one they keep the key they have.
    `shared` are the two columns that a FULL JOIN compared: either may be null, so the key is
    COALESCE of them, which ksqlDB calls ROWKEY.
    """

    node: Node
    scope: Scope
    key: tuple[tuple[str, str], ...] | None = None
    """Pairs of alias and column, in lower case."""
    key_text: str | None = None
    shared: tuple[exp.Column, ...] = ()

    @property
    def is_table(self) -> bool:
        return self.node.is_table


@dataclass(frozen=True, slots=True)
class Relations:
    """Relations by name in any case, and where new queries begin to read streams."""

    by_name: Mapping[str, Relation]
    starting: str = "earliest"
    on_error: str = SKIP

    def find(self, node: exp.Table) -> Relation:
        found = self.by_name.get(node.name.lower())
        if found is None:
            known = [relation.name for relation in self.by_name.values()]
            raise at_node(unknown_relation(node.name, known), node)
        return found


def rows_of(node: exp.Expr, relations: Relations) -> Rows:
    """The rows of one relation."""
    if not isinstance(node, exp.Table):
        raise at_node(
            UnsupportedError(
                "only streams and tables can be read by a streaming query: create one for it"
            ),
            node,
        )
    relation = relations.find(node)
    alias = node.alias or node.name
    member = own_columns(alias, relation)
    columns = relation.key_columns
    key = None if not columns else tuple((alias.lower(), c.name.lower()) for c in columns)
    rows = source(relation, relations.starting, relations.on_error)
    return Rows(rows, Scope((member,)), key)


def is_key_column(tree: exp.Expr, rows: Rows) -> bool:
    owner = rows.scope.owner(tree) if isinstance(tree, exp.Column) else None
    return owner is not None and (owner[0].alias.lower(), owner[1].lower()) in (rows.key or ())


def with_shared_key(tree: exp.Expr, rows: Rows) -> exp.Expr:
    """An expression with what ROWKEY means in its place."""
    if not rows.shared:
        return tree

    if any(ROWKEY.lower() in member.columns for member in rows.scope.members):
        return tree

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.table or node.name.upper() != ROWKEY:
            return node
        first, *others = (column.copy() for column in rows.shared)
        return exp.Coalesce(this=first, expressions=others)

    return tree.transform(replaced)


def is_shared_key(tree: exp.Expr, rows: Rows) -> bool:
    """Whether an expression is COALESCE of the two columns that a FULL JOIN compared."""
    if not rows.shared or not isinstance(tree, exp.Coalesce):
        return False
    parts = [tree.this, *tree.expressions]
    if not all(isinstance(part, exp.Column) for part in parts):
        return False
    return {rows.scope.resolve(part) for part in parts} == {
        rows.scope.resolve(column) for column in rows.shared
    }
