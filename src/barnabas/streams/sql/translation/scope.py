"""Names inside a query: relations by alias, their columns and their key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from barnabas.streams.nodes import TopologyNode
from barnabas.streams.schema import quoted
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Query
from barnabas.streams.sql.relations import Relation, close_name, unknown_relation
from barnabas.streams.sql.translation.records import SKIP, source

ROW_COLUMNS = {
    "rowtime": "unix_millis({row}_timestamp)",
    "rowpartition": "{row}_partition",
    "rowoffset": "{row}_offset",
    "rowkey": "cast({row}_key AS STRING)",
}
"""ksqlDB's columns that every row has; ROWTIME is in milliseconds, ROWKEY is KSQL's older name for
the key as text."""


@dataclass(frozen=True, slots=True)
class ScopeMember:
    """A relation in a query's FROM, with Spark's text of its columns at this point of the query.

    `row` is the prefix of the columns that every row has, such as `l.`.
    """

    alias: str
    relation: Relation
    columns: dict[str, str]
    """Lower-case name to Spark text."""
    row: str = ""

    def text(self, name: str) -> str | None:
        found = self.columns.get(name.lower())
        if found is None and name.lower() in ROW_COLUMNS:
            return ROW_COLUMNS[name.lower()].format(row=self.row)
        return found


@dataclass(frozen=True, slots=True)
class Scope:
    """The relations that an expression can refer to."""

    members: tuple[ScopeMember, ...]

    def member(self, alias: str) -> ScopeMember | None:
        return next((m for m in self.members if m.alias.lower() == alias.lower()), None)

    def resolve(self, node: exp.Column) -> str:
        """Returns Spark's text of `column`, `alias.column` or `column.field`; SqlError if it is
        unknown.
        """
        parts = [part.name for part in node.parts]
        member = self.member(parts[0]) if len(parts) > 1 else None
        if member is not None:
            text = member.text(parts[1])
            if text is None:
                raise _unknown(parts[1], (member,), node)
            return _fields(text, parts[2:])
        return _fields(self._unqualified(parts[0], node), parts[1:])

    def owner(self, node: exp.Column) -> tuple[ScopeMember, str] | None:
        """Returns the relation and the name of a plain column; None for a field of a struct."""
        parts = [part.name for part in node.parts]
        if len(parts) == 2 and (member := self.member(parts[0])) is not None:
            return (member, parts[1]) if member.text(parts[1]) is not None else None
        if len(parts) != 1:
            return None
        found = [m for m in self.members if m.text(parts[0]) is not None]
        return (found[0], parts[0]) if found else None

    def _unqualified(self, name: str, node: exp.Column) -> str:
        found = [m for m in self.members if m.text(name) is not None]
        if not found:
            raise _unknown(name, self.members, node)
        if len(found) > 1 and name.lower() not in ROW_COLUMNS:
            choices = " or ".join(f"{m.alias}.{name}" for m in found)
            raise at_node(SqlError(f"{name!r} is ambiguous: write {choices}"), node)
        return found[0].text(name) or ""


def own_columns(alias: str, relation: Relation) -> ScopeMember:
    """Returns the scope entry of a query's only relation, in which columns keep their names."""
    columns = {c.name.lower(): quoted(c.name) for c in relation.columns}
    return ScopeMember(alias, relation, columns)


def at_node(error: SqlError, node: exp.Expr) -> SqlError:
    """Returns the error with the position of an expression in the text."""
    starts = [part.meta.get("start") for part in node.walk()]
    known = [start for start in starts if isinstance(start, int)]
    if known:
        error.position = min(known)
    return error


def at_query(error: SqlError, query: Query) -> SqlError:
    """Returns the error with the text of the query, and the query's position if it has none."""
    if error.text is not None:
        return error
    position = query.position if error.position is None else error.position
    return type(error)(error.reason, query.text, position)


def _fields(text: str, names: Sequence[str]) -> str:
    return ".".join([text, *(quoted(name) for name in names)])


def _unknown(name: str, members: Sequence[ScopeMember], node: exp.Expr) -> SqlError:
    known = [c.name for m in members for c in m.relation.columns]
    where = " or ".join(m.relation.name for m in members)
    return at_node(SqlError(f"no column {name!r} in {where}{close_name(name, known)}"), node)


ROWKEY = "ROWKEY"
"""ksqlDB's name for the key of a FULL JOIN, which is not a column of either side."""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Rows of one or several relations.

    `key` has the columns with the rows' key: all key columns of one relation; in a join any one of
    them, because both sides of the equality have the same value. None if only `_key` has it.
    `key_text` is the key that a join of streams sets; without it the rows keep their key. `shared`
    are the two columns that a FULL JOIN compared: either can be null, so the key is COALESCE of
    them, which ksqlDB calls ROWKEY.
    """

    node: TopologyNode
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
    """Relations by lower-case name, and the options for reading them."""

    by_name: Mapping[str, Relation]
    starting: str = "earliest"
    on_error: str = SKIP

    def find(self, node: exp.Table) -> Relation:
        found = self.by_name.get(node.name.lower())
        if found is None:
            known = [relation.name for relation in self.by_name.values()]
            raise at_node(unknown_relation(node.name, known), node)
        return found


def rows_of(node: exp.Expr, relations: Relations) -> QueryRows:
    """Returns the rows of one relation."""
    if not isinstance(node, exp.Table):
        raise at_node(
            UnsupportedError(
                "a streaming query reads streams and tables only: create one for this expression"
            ),
            node,
        )
    relation = relations.find(node)
    alias = node.alias or node.name
    member = own_columns(alias, relation)
    columns = relation.key_columns
    key = None if not columns else tuple((alias.lower(), c.name.lower()) for c in columns)
    rows = source(relation, relations.starting, relations.on_error)
    return QueryRows(rows, Scope((member,)), key)


def is_key_column(tree: exp.Expr, rows: QueryRows) -> bool:
    owner = rows.scope.owner(tree) if isinstance(tree, exp.Column) else None
    return owner is not None and (owner[0].alias.lower(), owner[1].lower()) in (rows.key or ())


def with_shared_key(tree: exp.Expr, rows: QueryRows) -> exp.Expr:
    """Returns an expression in which ROWKEY is replaced by its meaning."""
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


def is_shared_key(tree: exp.Expr, rows: QueryRows) -> bool:
    """Returns whether an expression is COALESCE of the two columns that a FULL JOIN compared."""
    if not rows.shared or not isinstance(tree, exp.Coalesce):
        return False
    parts = [tree.this, *tree.expressions]
    if not all(isinstance(part, exp.Column) for part in parts):
        return False
    return {rows.scope.resolve(part) for part in parts} == {
        rows.scope.resolve(column) for column in rows.shared
    }
