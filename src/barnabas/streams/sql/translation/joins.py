"""FROM and JOIN: relations brought together, two at a time, from left to right.

While a join is made, its sides are called `l` and `r`. Afterwards every column of a side is there
as `alias__column`, so that names of the two never meet.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from barnabas.streams.nodes import (
    JoinKind,
    Named,
    Node,
    Rekey,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    Where,
)
from barnabas.streams.schema import quoted
from barnabas.streams.sql.catalog.relations import Relation
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.sql.language.statements import Query, Within
from barnabas.streams.sql.translation.expressions import spark_text
from barnabas.streams.sql.translation.keys import KeyCodec
from barnabas.streams.sql.translation.records import SKIP, source
from barnabas.streams.sql.translation.scope import Member, Scope, at_node, own_columns

LEFT, RIGHT = "l", "r"
_KINDS: Mapping[str, JoinKind] = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}
DEFAULT_GRACE_MS = 86_400_000
"""ksqlDB's: a day."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one or several relations.

    `key` are the columns that hold the rows' key: of one relation all of them together, of a join
    any one of them, both sides of an equality. None where only `_key` itself knows. `key_text`
    is the key that a join of streams gives its rows; without one they keep the key they have.
    """

    node: Node
    scope: Scope
    key: tuple[tuple[str, str], ...] | None = None
    """Pairs of alias and column, in lower case."""
    key_text: str | None = None

    @property
    def is_table(self) -> bool:
        return self.node.is_table


def read_from(tree: exp.Select, query: Query, relations: "Relations") -> Rows:
    """The rows of a query's FROM clause."""
    begin = tree.args.get("from_")
    if begin is None:
        raise UnsupportedError("a streaming query needs a FROM")
    rows = _relation(begin.this, relations)
    for number, join in enumerate(tree.args.get("joins") or ()):
        within = query.withins[number] if number < len(query.withins) else None
        rows = _joined(rows, _relation(join.this, relations), join, within)
    return rows


@dataclass(frozen=True, slots=True)
class Relations:
    """Relations by name in any case, and where new queries begin to read streams."""

    by_name: Mapping[str, Relation]
    starting: str = "earliest"
    on_error: str = SKIP

    def find(self, node: exp.Table) -> Relation:
        from barnabas.streams.sql.catalog.relations import unknown_relation

        found = self.by_name.get(node.name.lower())
        if found is None:
            known = [relation.name for relation in self.by_name.values()]
            raise at_node(unknown_relation(node.name, known), node)
        return found


def _relation(node: exp.Expr, relations: Relations) -> Rows:
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


def _joined(left: Rows, right: Rows, join: exp.Join, within: Within | None) -> Rows:
    kind = _KINDS.get(str(join.side or "").upper())
    if kind is None or str(join.kind or "").upper() in ("CROSS", "SEMI", "ANTI"):
        raise at_node(UnsupportedError("streams join by INNER, LEFT, RIGHT or FULL JOIN"), join)
    on = join.args.get("on")
    if on is None:
        raise at_node(SqlError("JOIN needs ON, with an equality of columns of both sides"), join)
    _check_aliases(left, right, join)
    pair = _Pair(left, right, kind, on, within)
    if left.is_table:
        return pair.table_table() if right.is_table else pair.refused_table_stream()
    return pair.stream_table() if right.is_table else pair.stream_stream()


def _check_aliases(left: Rows, right: Rows, join: exp.Join) -> None:
    alias = right.scope.members[0].alias
    if left.scope.member(alias) is not None:
        raise at_node(SqlError(f"{alias!r} is there twice: give one an alias"), join)


@dataclass(frozen=True, slots=True)
class _Pair:
    left: Rows
    right: Rows
    kind: JoinKind
    on: exp.Expr
    within: Within | None

    def stream_stream(self) -> Rows:
        if self.within is None:
            raise at_node(
                UnsupportedError(
                    "two streams join WITHIN a time, or every row would be kept for ever: "
                    "JOIN … WITHIN 1 HOUR ON …"
                ),
                self.on,
            )
        equal = self._equality()
        grace = self.within.grace_ms
        node = StreamJoin(
            _by_text(self.left, equal[0]),
            _by_text(self.right, equal[1]),
            self.kind,
            self._columns(),
            (LEFT, RIGHT),
            before_ms=self.within.before_ms,
            after_ms=self.within.after_ms,
            grace_ms=DEFAULT_GRACE_MS if grace is None else grace,
        )
        rows = self._keyed(node, equal)
        return replace(rows, node=self._with_rest(rows, equal))

    def _with_rest(self, rows: Rows, equal: tuple[exp.Expr, exp.Expr]) -> Node:
        """What ON asks for beside the equality: of an inner join, a condition after it."""
        rest = [
            part
            for part in _conjunction(self.on)
            if part.this is not equal[0] and part.this is not equal[1]
        ]
        if not rest:
            return rows.node
        if self.kind != "inner":
            raise at_node(
                UnsupportedError(
                    "an outer join of streams goes by one equality: filter the sides by streams "
                    "of their own first"
                ),
                rest[0],
            )
        return Where(rows.node, " AND ".join(spark_text(p, rows.scope.resolve) for p in rest))

    def stream_table(self) -> Rows:
        if self.kind not in ("inner", "left"):
            raise at_node(
                UnsupportedError(
                    "a stream joins a table by INNER or LEFT JOIN: each of its rows "
                    "looks the table up"
                ),
                self.on,
            )
        self._no_within("a stream looks a table up as it is at that moment")
        equal = self._equality()
        expression = self._by_key(equal)
        looked_up = spark_text(expression, self.left.scope.resolve)
        # The key of the result is what was looked up: with it as the stream's key, both sides have
        # a key of one type.
        node = StreamTableJoin(
            Rekey(self.left.node, self._codec().encoded([looked_up])),
            self.right.node,
            self.kind,
            self._columns(),
            (LEFT, RIGHT),
        )
        return self._keyed(node, equal)

    def table_table(self) -> Rows:
        self._no_within("two tables join as they are at that moment")
        equal = self._equality()
        expression = self._by_key(equal)
        owner = self.left.scope.owner(expression) if isinstance(expression, exp.Column) else None
        by_key = owner is not None and (owner[0].alias.lower(), owner[1].lower()) in (
            self.left.key or ()
        )
        if not by_key and self.kind not in ("inner", "left"):
            raise at_node(
                UnsupportedError("tables join by a foreign key with INNER or LEFT JOIN only"),
                self.on,
            )
        on = None
        if by_key and len({KeyCodec(s.scope.members[0].relation).key_type for s in self.sides}) > 1:
            raise at_node(
                UnsupportedError("the keys of these tables are written in different formats"),
                self.on,
            )
        if not by_key:
            looked_up = spark_text(expression, self.left.scope.resolve)
            on = self._codec().encoded([looked_up])
        node = TableJoin(
            self.left.node, self.right.node, self.kind, self._columns(), (LEFT, RIGHT), on
        )
        key = self.left.key
        if by_key:
            key = self._names(equal)
        return self._rows(node, key)

    def _keyed(self, node: Node, equal: tuple[exp.Expr, exp.Expr]) -> Rows:
        """The rows of a stream, with the value that both sides share as their key."""
        key = self._names(equal)
        rows = self._rows(node, key)
        if not key:
            return rows
        member = rows.scope.member(key[0][0])
        assert member is not None
        return Rows(node, rows.scope, key, member.text(key[0][1]))

    def _names(self, equal: tuple[exp.Expr, exp.Expr]) -> tuple[tuple[str, str], ...]:
        """The columns of an equality that are never null by the join, as (alias, column)."""
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

    def refused_table_stream(self) -> Rows:
        right = self.right.scope.members[0].alias
        raise at_node(
            UnsupportedError(
                f"a table cannot look up a stream: put the stream {right} first, in FROM"
            ),
            self.on,
        )

    @property
    def sides(self) -> tuple[Rows, Rows]:
        return (self.left, self.right)

    def _no_within(self, reason: str) -> None:
        if self.within is not None:
            raise at_node(SqlError(f"WITHIN is for two streams: {reason}"), self.on)

    def _equality(self) -> tuple[exp.Expr, exp.Expr]:
        """The first equality of an expression of the left side and one of the right."""
        for part in _conjunction(self.on):
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
    def _is_of(tree: exp.Expr, rows: Rows) -> bool:
        columns = list(tree.find_all(exp.Column))
        return bool(columns) and all(rows.scope.owner(c) is not None for c in columns)

    def _by_key(self, equal: tuple[exp.Expr, exp.Expr]) -> exp.Expr:
        """The left's expression, when the right's is the key of its table and nothing else is
        asked for."""
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
        if len(list(_conjunction(self.on))) > 1:
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

    def _codec(self) -> KeyCodec:
        return KeyCodec(self.right.scope.members[0].relation)

    def _sides(self) -> Scope:
        """The names of both sides while they are being joined."""
        return Scope(
            tuple(
                Member(m.alias, m.relation, _prefixed(m.columns, side), f"{side}.")
                for side, rows in ((LEFT, self.left), (RIGHT, self.right))
                for m in rows.scope.members
            )
        )

    def _columns(self) -> Named:
        return tuple(
            (f"{m.alias.lower()}__{name}", text)
            for m in self._sides().members
            for name, text in m.columns.items()
        )

    def _rows(self, node: Node, key: tuple[tuple[str, str], ...] | None) -> Rows:
        members = tuple(
            Member(
                m.alias,
                m.relation,
                {name: quoted(f"{m.alias.lower()}__{name}") for name in m.columns},
            )
            for m in (*self.left.scope.members, *self.right.scope.members)
        )
        return Rows(node, Scope(members), key)


def _by_text(rows: Rows, tree: exp.Expr) -> Node:
    """The rows with the text of an expression as their key: a key of one type on both sides."""
    return Rekey(rows.node, f"cast({spark_text(tree, rows.scope.resolve)} AS STRING)")


def _prefixed(columns: Mapping[str, str], side: str) -> dict[str, str]:
    return {name: f"{side}.{text}" for name, text in columns.items()}


def _conjunction(tree: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(tree, exp.And):
        yield from _conjunction(tree.this)
        yield from _conjunction(tree.expression)
    elif isinstance(tree, exp.Paren):
        yield from _conjunction(tree.this)
    else:
        yield tree
