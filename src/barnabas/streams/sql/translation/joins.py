"""FROM and JOIN: joins relations two at a time, from left to right.

While a join is built, its sides are called `l` and `r`. Afterwards every column of a side is
available as `alias__column`, so that the names of the sides cannot clash.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from barnabas.streams.nodes import (
    Filter,
    JoinKind,
    Named,
    Rekey,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    TopologyNode,
)
from barnabas.streams.schema import quoted
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Query, Within
from barnabas.streams.sql.translation.expressions import spark_text
from barnabas.streams.sql.translation.records import KeyCodec
from barnabas.streams.sql.translation.scope import (
    QueryRows,
    Relations,
    Scope,
    ScopeMember,
    at_node,
    is_key_column,
    rows_of,
)

LEFT, RIGHT = "l", "r"
Equality = tuple[exp.Expr, exp.Expr]
"""An expression of the left side, and one of the right side."""
_KINDS: Mapping[str, JoinKind] = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}
DEFAULT_GRACE_MS = 86_400_000
"""ksqlDB's default: a day."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides of a join."""

    left: QueryRows
    right: QueryRows
    kind: JoinKind
    on: exp.Expr
    within: Within | None

    def equality(self) -> Equality:
        """Returns the first equality between an expression of the left side and one of the right
        side.
        """
        for part in conjunction(self.on):
            if isinstance(part, exp.EQ):
                sides = (part.this, part.expression)
                if self._is_of(sides[0], self.left) and self._is_of(sides[1], self.right):
                    return sides
                if self._is_of(sides[1], self.left) and self._is_of(sides[0], self.right):
                    return sides[1], sides[0]
        self._check_names()
        raise at_node(
            UnsupportedError("ON needs an equality between columns of the two sides"), self.on
        )

    def _check_names(self) -> None:
        both = Scope((*self.left.scope.members, *self.right.scope.members))
        for column in self.on.find_all(exp.Column):
            both.resolve(column)

    @staticmethod
    def _is_of(tree: exp.Expr, rows: QueryRows) -> bool:
        columns = list(tree.find_all(exp.Column))
        return bool(columns) and all(rows.scope.owner(c) is not None for c in columns)

    def by_key(self, equal: Equality) -> exp.Expr:
        """Returns the left expression of a lookup by the right table's key; SqlError for other
        conditions.
        """
        member = self.right.scope.members[0]
        keys = [column.name for column in member.relation.key_columns]
        owner = self.right.scope.owner(equal[1]) if isinstance(equal[1], exp.Column) else None
        if len(keys) != 1 or owner is None or owner[1].lower() != keys[0].lower():
            known = ", ".join(keys)
            raise at_node(
                UnsupportedError(
                    f"a table is looked up by its key ({known}): to look {member.alias} up by "
                    "another column, create a table with that key"
                ),
                self.on,
            )
        if len(list(conjunction(self.on))) > 1:
            raise at_node(
                UnsupportedError(
                    "a table is looked up by its key alone: move the rest of ON to WHERE"
                ),
                self.on,
            )
        if member.relation.window is not None:
            raise at_node(
                UnsupportedError("a table of windows cannot be looked up by its key alone"), self.on
            )
        return equal[0]

    def keyed(self, node: TopologyNode, equal: Equality) -> QueryRows:
        """Returns the rows of a stream with the compared value as their key."""
        key = self.names(equal)
        rows = self.rows(node, key, equal)
        if rows.shared:
            texts = ", ".join(rows.scope.resolve(column) for column in rows.shared)
            return replace(rows, key_text=f"coalesce({texts})")
        if not key:
            return rows
        member = rows.scope.member(key[0][0])
        assert member is not None
        return replace(rows, key_text=member.text(key[0][1]))

    def names(self, equal: Equality) -> tuple[tuple[str, str], ...]:
        """Returns the columns of an equality that the join never makes null, as (alias, column)."""
        sides = {
            "inner": (self.left, self.right),
            "left": (self.left,),
            "right": (self.right,),
            "full": (),
        }[self.kind]
        found = []
        for tree, rows in zip(equal, (self.left, self.right), strict=True):
            owner = rows.scope.owner(tree) if isinstance(tree, exp.Column) else None
            if owner is not None and rows in sides:
                found.append((owner[0].alias.lower(), owner[1].lower()))
        return tuple(found)

    def rows(
        self,
        node: TopologyNode,
        key: tuple[tuple[str, str], ...] | None,
        equal: Equality | None = None,
    ) -> QueryRows:
        """Returns the joined rows; `equal` is the compared equality if it is their key."""
        members = tuple(
            ScopeMember(
                m.alias,
                m.relation,
                {name: quoted(f"{m.alias.lower()}__{name}") for name in m.columns},
            )
            for m in (*self.left.scope.members, *self.right.scope.members)
        )
        return QueryRows(node, Scope(members), key, shared=self._shared(equal))

    def _shared(self, equal: Equality | None) -> tuple[exp.Column, ...]:
        if self.kind != "full" or equal is None:
            return ()
        columns = tuple(tree for tree in equal if isinstance(tree, exp.Column))
        return columns if len(columns) == len(equal) else ()

    def columns(self) -> Named:
        return tuple(
            (f"{m.alias.lower()}__{name}", text)
            for m in self._sides().members
            for name, text in m.columns.items()
        )

    def _sides(self) -> Scope:
        """Returns the names that the sides have inside the join."""
        return Scope(
            tuple(
                ScopeMember(m.alias, m.relation, _prefixed(m.columns, side), f"{side}.")
                for side, rows in ((LEFT, self.left), (RIGHT, self.right))
                for m in rows.scope.members
            )
        )

    def codec(self) -> KeyCodec:
        return KeyCodec(self.right.scope.members[0].relation)

    def no_within(self, reason: str) -> None:
        if self.within is not None:
            raise at_node(SqlError(f"WITHIN is for two streams: {reason}"), self.on)


def _prefixed(columns: Mapping[str, str], side: str) -> dict[str, str]:
    return {name: f"{side}.{text}" for name, text in columns.items()}


def conjunction(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the operands of AND."""
    if isinstance(tree, exp.And):
        yield from conjunction(tree.this)
        yield from conjunction(tree.expression)
    elif isinstance(tree, exp.Paren):
        yield from conjunction(tree.this)
    else:
        yield tree


def read_from(tree: exp.Select, query: Query, relations: Relations) -> QueryRows:
    """Returns the rows of a query's FROM clause."""
    begin = tree.args.get("from_")
    if begin is None:
        raise UnsupportedError("a streaming query needs a FROM")
    rows = rows_of(begin.this, relations)
    for number, join in enumerate(tree.args.get("joins") or ()):
        within = query.withins[number] if number < len(query.withins) else None
        rows = _joined(rows, rows_of(join.this, relations), join, within)
    return rows


def _joined(left: QueryRows, right: QueryRows, join: exp.Join, within: Within | None) -> QueryRows:
    kind = _KINDS.get(str(join.side or "").upper())
    if kind is None or str(join.kind or "").upper() in ("CROSS", "SEMI", "ANTI"):
        raise at_node(UnsupportedError("streams join by INNER, LEFT, RIGHT or FULL JOIN"), join)
    on = join.args.get("on")
    if on is None:
        raise at_node(SqlError("JOIN needs ON, with an equality of columns of both sides"), join)
    _check_aliases(left, right, join)
    sides = Sides(left, right, kind, on, within)
    if left.is_table:
        return _tables(sides) if right.is_table else _reject_table_stream(sides)
    return _stream_with_table(sides) if right.is_table else _streams(sides)


def _check_aliases(left: QueryRows, right: QueryRows, join: exp.Join) -> None:
    alias = right.scope.members[0].alias
    if left.scope.member(alias) is not None:
        raise at_node(SqlError(f"{alias!r} occurs twice: give one an alias"), join)


def _streams(sides: Sides) -> QueryRows:
    if sides.within is None:
        raise at_node(
            UnsupportedError(
                "a join of two streams needs WITHIN, which limits its state: "
                "JOIN … WITHIN 1 HOUR ON …"
            ),
            sides.on,
        )
    equal = sides.equality()
    grace = sides.within.grace_ms
    node = StreamJoin(
        _by_text(sides.left, equal[0]),
        _by_text(sides.right, equal[1]),
        sides.kind,
        sides.columns(),
        (LEFT, RIGHT),
        before_ms=sides.within.before_ms,
        after_ms=sides.within.after_ms,
        grace_ms=DEFAULT_GRACE_MS if grace is None else grace,
    )
    rows = sides.keyed(node, equal)
    return replace(rows, node=_with_rest(sides, rows, equal))


def _with_rest(sides: Sides, rows: QueryRows, equal: Equality) -> TopologyNode:
    """Applies the other conditions of ON after an inner join."""
    rest = [
        part
        for part in conjunction(sides.on)
        if part.this is not equal[0] and part.this is not equal[1]
    ]
    if not rest:
        return rows.node
    if sides.kind != "inner":
        raise at_node(
            UnsupportedError(
                "ON of an outer join of streams takes one equality: create filtered streams first"
            ),
            rest[0],
        )
    return Filter(rows.node, " AND ".join(spark_text(p, rows.scope.resolve) for p in rest))


def _stream_with_table(sides: Sides) -> QueryRows:
    if sides.kind not in ("inner", "left"):
        raise at_node(
            UnsupportedError("a stream joins a table with INNER or LEFT JOIN"),
            sides.on,
        )
    sides.no_within("a stream is joined with the table's current row")
    equal = sides.equality()
    expression = sides.by_key(equal)
    looked_up = spark_text(expression, sides.left.scope.resolve)
    # The key of the result is the value that was looked up. With it as the stream's key, the keys
    # of both sides have the same type.
    node = StreamTableJoin(
        Rekey(sides.left.node, sides.codec().encoded([looked_up])),
        sides.right.node,
        sides.kind,
        sides.columns(),
        (LEFT, RIGHT),
    )
    return sides.keyed(node, equal)


def _tables(sides: Sides) -> QueryRows:
    sides.no_within("two tables are joined by their current rows")
    equal = sides.equality()
    expression = sides.by_key(equal)
    if is_key_column(expression, sides.left):
        return _tables_by_key(sides, equal)
    if sides.kind not in ("inner", "left"):
        raise at_node(
            UnsupportedError("a join by a foreign key is an INNER or LEFT JOIN"),
            sides.on,
        )
    looked_up = sides.codec().encoded([spark_text(expression, sides.left.scope.resolve)])
    return sides.rows(_table_join(sides, looked_up), sides.left.key)


def _tables_by_key(sides: Sides, equal: Equality) -> QueryRows:
    relations = [side.scope.members[0].relation for side in (sides.left, sides.right)]
    if len({KeyCodec(relation).key_type for relation in relations}) > 1:
        raise at_node(
            UnsupportedError("the keys of these tables have different formats"),
            sides.on,
        )
    return sides.rows(_table_join(sides, None), sides.names(equal), equal)


def _table_join(sides: Sides, on: str | None) -> TableJoin:
    names = (LEFT, RIGHT)
    return TableJoin(sides.left.node, sides.right.node, sides.kind, sides.columns(), names, on)


def _reject_table_stream(sides: Sides) -> QueryRows:
    right = sides.right.scope.members[0].alias
    raise at_node(
        UnsupportedError(f"a table cannot be joined with a stream: put {right} first, in FROM"),
        sides.on,
    )


def _by_text(rows: QueryRows, tree: exp.Expr) -> TopologyNode:
    """Returns the rows with the text of an expression as key: both sides then have keys of one
    type.
    """
    return Rekey(rows.node, f"cast({spark_text(tree, rows.scope.resolve)} AS STRING)")
