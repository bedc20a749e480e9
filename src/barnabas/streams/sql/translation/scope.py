"""What names mean inside a query: relations by alias, their columns, and columns every row has."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from barnabas.streams.schema import quoted
from barnabas.streams.sql.catalog.relations import Relation, close_name
from barnabas.streams.sql.language.errors import SqlError

ROW_COLUMNS = {
    "rowtime": "unix_millis({row}_timestamp)",
    "rowpartition": "{row}_partition",
    "rowoffset": "{row}_offset",
    "rowkey": "cast({row}_key AS STRING)",
}
"""Columns of ksqlDB that every row has; ROWTIME is in milliseconds, ROWKEY is KSQL's older name
of the key as text."""


@dataclass(frozen=True, slots=True)
class Member:
    """A relation in a query's FROM: how its columns are written where the query stands now.

    `row` stands before the columns that every row has, such as `l.`.
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
    """The relations that an expression may speak of."""

    members: tuple[Member, ...]

    def member(self, alias: str) -> Member | None:
        return next((m for m in self.members if m.alias.lower() == alias.lower()), None)

    def resolve(self, node: exp.Column) -> str:
        """The Spark text of `column`, `alias.column` or `column.field`; SqlError otherwise."""
        parts = [part.name for part in node.parts]
        member = self.member(parts[0]) if len(parts) > 1 else None
        if member is not None:
            text = member.text(parts[1])
            if text is None:
                raise _unknown(parts[1], (member,), node)
            return _fields(text, parts[2:])
        return _fields(self._unqualified(parts[0], node), parts[1:])

    def owner(self, node: exp.Column) -> tuple[Member, str] | None:
        """The relation and the column that a plain column is of; None for a field of a struct."""
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
            raise at_node(SqlError(f"{name!r} is in more than one: write {choices}"), node)
        return found[0].text(name) or ""


def own_columns(alias: str, relation: Relation) -> Member:
    """A relation that is alone: its columns under their own names."""
    columns = {c.name.lower(): quoted(c.name) for c in relation.columns}
    return Member(alias, relation, columns)


def at_node(error: SqlError, node: exp.Expr) -> SqlError:
    """An error that knows where in the text its expression begins."""
    starts = [part.meta.get("start") for part in node.walk()]
    known = [start for start in starts if isinstance(start, int)]
    if known:
        error.position = min(known)
    return error


def _fields(text: str, names: Sequence[str]) -> str:
    return ".".join([text, *(quoted(name) for name in names)])


def _unknown(name: str, members: Sequence[Member], node: exp.Expr) -> SqlError:
    known = [c.name for m in members for c in m.relation.columns]
    where = " or ".join(m.relation.name for m in members)
    return at_node(SqlError(f"no column {name!r} in {where}{close_name(name, known)}"), node)
